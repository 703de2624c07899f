package compat

import "github.com/stoa-go/stoa/version"

// Compare returns the changes from one snapshot to another: those that break clients first, then in
// the order of kind and place. It returns none if clients cannot observe a difference. Dates are
// compared only if both snapshots are of the same contract, because each contract has its own.
//
// A part that one of the snapshots does not have, such as SDL, is reported as one change. Responses
// are compared if both snapshots have one for the same request.
func Compare(before, after *Snapshot) []version.Change {
	c := &comparison{}
	c.compareParts(before, after)
	if len(before.OpenAPI) > 0 && len(after.OpenAPI) > 0 {
		c.compareOpenAPI(before.OpenAPI, after.OpenAPI)
	}
	if before.SDL != "" && after.SDL != "" {
		c.compareSDL(before.SDL, after.SDL)
	}
	c.compareResponses(before, after)
	return c.result()
}
