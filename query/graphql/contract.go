package graphql

import (
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/version"
)

var _ version.Reserver = (*Handler)(nil)

// ownNames are the parameters of a request, in content and in URLs.
var ownNames = []string{"query", "documentId", "operationName", "variables", "extensions"}

// Reserve returns an error if a name that means the version of the API means something else in requests of GraphQL: member
// in their content, parameter in their URLs. A [version.Negotiator] asks for it when it is made.
//
// A member version beside query is that of [version.Body], which takes it out before it is read here; one in variables or
// extensions is never looked at. An answer does not repeat it, since GraphQL says which members an answer has (section 7.1).
func (h *Handler) Reserve(member, parameter string) error {
	if slices.Contains(ownNames, member) {
		return fmt.Errorf("graphql: the member %s cannot mean the version, since requests have it", member)
	}
	if slices.Contains(ownNames, parameter) {
		return fmt.Errorf("graphql: the query parameter %s cannot mean the version, since requests have it",
			parameter)
	}
	return nil
}
