// Package resource is the core of Stoa. It adds schema, policy, validation, transactions,
// idempotency keys, older contracts and change feeds to a collection of items. Protocols serve the
// result.
//
// The main types are a [Collection], which an application implements over its storage; an [Item], a
// value with a [Rev]; a [Resource], the collection with schema and policy; and a [Catalog], the
// resources that are served together:
//
//	type Note struct {
//		ID   string `json:"id" readOnly:"true"`
//		Text string `json:"text" required:"true" maxLength:"500"`
//	}
//
//	notes := memory.New[Note](nil) // or your own store
//	catalog := resource.NewCatalog(nil, resource.New("notes", notes, nil))
//	http.ListenAndServe("localhost:8080", rest.New(catalog, nil))
//
// Package rest serves a catalog as REST, package graphql as GraphQL, and package openapi describes
// it.
//
// # Implementing a store
//
// Declare what the store implements, so that the compiler reports a missing method or a wrong
// signature:
//
//	var _ resource.Collection[Task] = (*Store)(nil)
//	var _ resource.Creator[Task] = (*Store)(nil)
//	var _ resource.Deleter = (*Store)(nil)
//
// Implement [Collection], which has two methods. Add a capability, an interface of one method, for
// each further operation: [Creator] for POST, [Replacer] for PUT and PATCH, [Deleter] for DELETE,
// and so on. Only operations that the store implements are served. Then run the tests of package
// resourcetest against the store. The requirements:
//
//   - Every write is a compare-and-swap on the revision that was read, in one atomic step. A stale
//     revision writes nothing and returns [ErrStale].
//   - A revision is never used twice for an id; see [NewRev].
//   - Values that are passed in and returned are copies.
//   - Errors are the sentinels of this package, bare or wrapped, and [Taken] and [Invalid] for
//     fields.
//   - List yields in the requested order, ends at the limit, and yields nothing after an error.
//
// # Serving resources
//
// [New] returns a Resource, [Options] declare policy and queries, and [NewCatalog] combines
// resources for the protocols.
//
// # Change feeds
//
// With a [feed.Feed] in CatalogOptions every write becomes an event. Clients subscribe to a
// collection or to an item with text/event-stream or GraphQL. [Resource.Watch] yields the events in
// the type of the Resource, as far as policy and filter allow. A subscriber receives every event
// after its cursor, or the error [feed.ErrExpired]. A store that has a stream of changes implements
// feed.Watcher and needs no feed.
//
// # Actions and binary content
//
// Package command serves a function as an action: its input is validated like an item, and the
// policy is checked before the function is called. Package blob serves binary content. Both are
// kinds of [Part], and an application can add others.
//
// # Several contracts
//
// [View] serves a Resource with the type of an older contract: the collection, the policy and the
// writes are the same. A view can have a view. Make one Catalog for each contract; a
// version.Negotiator selects the catalog that a request names. Package contract has the contract of a
// request, for protocols and applications. Entity tags, media types, links and cursors then identify
// the contract.
//
// # Implementing a protocol
//
// A protocol gets its resources from a [Catalog], by [Catalog.Resource], [Catalog.Resources] and [PartsOf].
// They are bound to the catalog: their relations lead to other resources of it, and what they write names
// the caller by its Principal. A protocol accesses a collection only by the methods of Resource and [Raw],
// so policy, validation and retries apply to every protocol, and no update is lost. [Problem] returns the
// problem details of an error. A [Key] is an argument of every write.
package resource
