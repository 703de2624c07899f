package main

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// peer is one GraphQL server for the shop.
type peer struct {
	name    string
	handler func(s *shop.Shop) http.Handler
}

var (
	byHand    = peer{report.ByHand, handHandler}
	stoa      = peer{report.Stoa, stoaHandler}
	gqlgen    = peer{"gqlgen", gqlgenserver.Handler}
	gophers   = peer{"graph-gophers", gophersHandler}
	graphqlGo = peer{"graphql-go", graphqlGoHandler}
)

// peers returns all peers, without gqlgen if the program was built without its code.
func peers() []peer {
	all := []peer{byHand, stoa, gqlgen, gophers, graphqlGo}
	if !gqlgenserver.Available {
		all = slices.Delete(all, 2, 3)
	}
	return all
}

// peers returns the peers that take part in a job.
func (j *job) peers() []peer {
	return slices.DeleteFunc(peers(), func(p peer) bool {
		switch p.name {
		case byHand.name:
			return !j.byHand
		case stoa.name:
			return false
		}
		return !j.others
	})
}

// stoaHandler returns Stoa with its defaults.
func stoaHandler(s *shop.Shop) http.Handler {
	return graphql.New(resource.NewCatalog(nil, s.Parts()...), nil)
}

// job is one kind of request.
type job struct {
	name      string
	document  string
	variables []map[string]any // used in turn
	// byHand and others report whether the peer by hand and the other servers take part. Stoa
	// always does.
	byHand, others bool
	// distinct means that no two requests have the same document.
	distinct bool
}

const (
	listDocument = `query Orders($first: Int) {
  orders(first: $first) {
    nodes {
      id status totalCents note placedAt
      customer { id name email }
      shipments { id carrier parcels }
    }
  }
}`
	plainDocument = `query Plain($first: Int) {
  orders(first: $first) { nodes { id status totalCents note placedAt } }
}`
	itemDocument = `query Order($id: ID!) {
  order(id: $id) {
    id status totalCents note placedAt
    customer { id name email }
    shipments { id carrier parcels }
  }
}`
	patchDocument = `mutation Patch($id: ID!, $input: PatchOrderInput!) {
  patchOrder(id: $id, input: $input) { id note }
}`
)

var (
	list100 = job{
		name:      report.GraphQLList,
		document:  listDocument,
		variables: first(100),
		byHand:    true,
		others:    true,
	}
	item = job{name: "one item, two relations", document: itemDocument,
		variables: []map[string]any{{"id": "o000042"}}, byHand: true, others: true}
	patch = job{name: "mutation", document: patchDocument, byHand: true, others: true,
		variables: []map[string]any{patchOf("a"), patchOf("b")}}
	introspect = job{
		name:      "introspection",
		document:  introspectionDocument,
		variables: []map[string]any{nil},
		others:    true,
	}
	miss = job{
		name:      "list of 100, document never seen",
		document:  listDocument,
		variables: first(100),
		distinct:  true,
	}
	itemMiss = job{name: "one item, document never seen", document: itemDocument,
		variables: []map[string]any{{"id": "o000042"}}, distinct: true}
	list1000 = job{
		name:      "list of 1,000",
		document:  plainDocument,
		variables: first(1000),
		byHand:    true,
		others:    true,
	}
	list10000 = job{
		name:      "list of 10,000",
		document:  plainDocument,
		variables: first(10000),
		byHand:    true,
		others:    true,
	}

	jobs = []job{list100, item, patch, introspect, miss, itemMiss, list1000, list10000}
)

// first returns the variables of a list.
func first(n int) []map[string]any { return []map[string]any{{"first": n}} }

// patchOf returns the variables of the mutation. Two notes alternate, because a write without a
// change does less.
func patchOf(note string) map[string]any {
	return map[string]any{"id": "o000042", "input": map[string]any{"note": note}}
}

// bodies returns the requests of a job.
func (j *job) bodies() [][]byte {
	var out [][]byte
	for _, v := range j.variables {
		body, err := json.Marshal(struct {
			Query     string         `json:"query"`
			Variables map[string]any `json:"variables,omitempty"`
		}{j.document, v})
		if err != nil {
			panic(err)
		}
		out = append(out, body)
	}
	return out
}

// introspectionDocument selects the members that all peers support. They differ in newer members.
const introspectionDocument = `query IntrospectionQuery {
  __schema {
    queryType { name }
    mutationType { name }
    subscriptionType { name }
    types { ...FullType }
    directives { name description locations args { ...InputValue } }
  }
}
fragment FullType on __Type {
  kind name description
  fields(includeDeprecated: true) {
    name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
  }
  inputFields { ...InputValue }
  interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
fragment TypeRef on __Type {
  kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
}`
