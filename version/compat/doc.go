// Package compat compares contracts, the versions of an API. It reports what changed for clients,
// and whether the change breaks them.
//
// A [Snapshot] holds what clients can observe of one contract: its OpenAPI document, its GraphQL
// schema, its dates, and the status codes, header fields and errors of real responses. [Record]
// makes one from a handler. [Snapshot.Encode] writes it as JSON that is committed beside the
// program, one short line for each parameter or member, so that its changes can be reviewed.
//
// [Compare] returns the differences of two snapshots, and [Check] applies the rules of version names
// to all snapshots of an API:
//
//   - PATCH: no [version.Change] at all. Descriptions, examples and names of schemas are not observable.
//   - MINOR: no change that is [version.Change.Breaking].
//   - MAJOR: any change. The older contract ends after its deprecation period only.
//
// # What breaks
//
// A change breaks clients in two cases: a request that was valid is no longer valid or has another
// effect, or a response can have content that the contract excluded. So limits and enums of
// requests may become wider, and those of responses narrower. An additional value of an enum that
// responses contain breaks strict clients, such as generated ones, and needs a new major version.
// Three additions are exempt, because clients must ignore or generalize what is new: members of
// objects, problem types (RFC 9457 section 3.1.1) and status codes (RFC 9110 section 15).
//
// [Kinds] returns the complete list. Package versiontest applies the rules as a test. A program applies
// them when it starts if it passes the result of [MustLoad] as [version.Options.Snapshots]; other
// programs do not link this package.
package compat
