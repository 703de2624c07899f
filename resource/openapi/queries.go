package openapi

// The method QUERY (RFC 10008) of lists and lookups. OpenAPI describes it since version 3.2. Called by
// document.go and lookups.go.

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
)

const mediaURLForm = "application/x-www-form-urlencoded"

// queryText describes how QUERY differs from GET.
const queryText = "Does what GET does, with its parameters as the members of the content. The method " +
	"is safe and idempotent (RFC 10008). `Location` is the path of the equivalent GET, if that is short"

// query describes QUERY of the collection. get is GET.
func (d *described) query(get *operation) *operation {
	op := d.resourceOperation("query"+pascal(d.name), resource.OpList, "Query "+d.name, queryText)
	var rest []*parameter
	for _, p := range get.Parameters {
		// The profile decides how GET describes filters. The content has each comparison.
		if d.full || p.Name != "where" && p.Ref != "#/components/parameters/Filter" &&
			!slices.ContainsFunc(d.where, func(w *parameter) bool { return w.Name == p.Name }) {
			rest = append(rest, p)
		}
	}
	where := d.where
	if d.full {
		where = nil // they are among those of GET
	}
	d.addQuery(op, where, rest, get.Responses)
	return op
}

// addQuery makes the query parameters of GET members of the content, and keeps its header fields. The
// responses are those of GET, with the errors of content.
func (d *described) addQuery(op *operation, where, parameters []*parameter, responses ordered[*response]) {
	content := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false,
		Properties: ordered[*schemaObject]{}}
	for _, p := range slices.Concat(where, parameters) {
		shared := p
		if p.Ref != "" {
			shared = d.doc.Components.Parameters.get(p.Ref[len("#/components/parameters/"):])
		}
		if shared.In != "query" {
			op.Parameters = append(op.Parameters, p)
			continue
		}
		s := shared.Schema
		if s == nil {
			s = shared.Content[0].value.Schema
		}
		member := *s
		if member.Description == "" {
			member.Description = shared.Description
		}
		content.Properties.add(shared.Name, &member)
		if shared.Required {
			content.Required = append(content.Required, shared.Name)
		}
	}
	op.RequestBody = &requestBody{Required: true, Content: ordered[*mediaType]{
		{mediaJSON, &mediaType{Schema: content}},
		{mediaURLForm, &mediaType{Schema: textOf("The members as in the query of the URL.")}}}}
	for _, r := range responses {
		own := *r.value
		if own.Ref == "" && r.name < "400" {
			own.Headers = slices.Clone(own.Headers)
			for _, h := range d.headers("Location", "Content-Location") {
				if !own.Headers.has(h.name) {
					own.Headers = append(own.Headers, h)
				}
			}
		}
		op.Responses.add(r.name, &own)
	}
	for _, status := range []int{413, 415, 422} {
		d.addProblem(op, status)
	}
}
