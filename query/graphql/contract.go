package graphql

import (
	"fmt"
	"slices"
)

// ownNames are the parameters of a request, in JSON and in URLs.
var ownNames = []string{"query", "documentId", "operationName", "variables", "extensions"}

// Reserve implements version.Reserver. It returns an error if the name of a version parameter is
// also a parameter of a GraphQL request: member in the content, parameter in the URL. A
// version.Negotiator calls it when it is created.
//
// version.Body removes a member named version before the content is parsed here. Members of
// variables and extensions are not affected. A response does not repeat the version, because
// section 7.1 defines its members.
func (h *Handler) Reserve(member, parameter string) error {
	if slices.Contains(ownNames, member) {
		return fmt.Errorf("graphql: member %s of a request cannot select the version; choose another name",
			member)
	}
	if slices.Contains(ownNames, parameter) {
		return fmt.Errorf("graphql: query parameter %s of a request cannot select the version; choose "+
			"another name",
			parameter)
	}
	return nil
}
