package compat

// Change is one difference between two contracts, or between two snapshots of one contract.
type Change struct {
	// Kind is what changed.
	Kind Kind `json:"kind"`
	// Breaking is Kind.Breaking: the change needs a new major version.
	Breaking bool `json:"breaking"`
	// Place is where it changed: an operation such as "GET /orders", a member of a schema such as
	// "Order.status", or a GraphQL type or field such as "Query.orders(first:)".
	Place string `json:"place"`
	// Before and After are the values; empty if there was or is none.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Text is one sentence about the change, without the place.
	Text string `json:"text"`
	// Also are further places with the same change, sorted.
	Also []string `json:"also,omitempty"`
}

// String returns the place and the sentence.
func (c Change) String() string {
	text := c.Place + ": " + c.Text
	if len(c.Also) > 0 {
		text += " Also: " + join(c.Also) + "."
	}
	return text
}

// Compare returns the changes from one snapshot to another: those that break clients first, then in
// the order of kind and place. It returns none if clients cannot observe a difference. Dates are
// compared only if both snapshots are of the same contract, because each contract has its own.
//
// A part that one of the snapshots does not have, such as SDL, is reported as one change. Responses
// are compared if both snapshots have one for the same request.
func Compare(before, after *Snapshot) []Change {
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
