package openapi

// The schema of problem details. responses.go refers to it in each error response.

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/problem"
)

// problemSchema describes problems. The schema is the same for all contracts. Violation is a
// component of its own, so that generators give it a name.
func (b *builder) problemSchema() *schemaObject {
	if b.doc.Components.Schemas.has("Problem") {
		return schemaRef("Problem")
	}
	// Not an enum: new types may be added by the library and the application.
	var types []string
	for k := range problem.Kinds() {
		if b.full {
			types = append(types, k.URI())
		}
	}
	// x-extensible-enum is an extension that documentation tools display and validators ignore.
	typ := &schemaObject{Type: typeNames{"string"}, Format: "uri-reference", ExtensibleEnum: types,
		Description: "The problem type. Programs use it to distinguish errors and must expect unknown types."}
	status := integer(400, 599)
	status.Description = "The status of the response."
	errors := array(schemaRef("Violation"))
	errors.Description = "The errors in the request."
	// RFC 9457 requires no member. This library always sends these three.
	s := &schemaObject{Type: typeNames{"object"}, Description: "RFC 9457.",
		Required: []string{"type", "title", "status"}, Properties: ordered[*schemaObject]{
			{"type", typ},
			{"title", textOf("A short text, the same for all problems of a type.")},
			{"status", status},
			{"detail", textOf("A description of this occurrence.")},
			{"instance", &schemaObject{Type: typeNames{"string"}, Format: "uri-reference",
				Description: "Identifies this occurrence in the server's log."}},
			{"errors", errors},
		}}
	if b.full {
		s.Properties = append(s.Properties, b.problemExtensions()...)
	}
	b.doc.Components.Schemas.add("Problem", s)
	b.doc.Components.Schemas.add("Violation", violationSchema())
	return schemaRef("Problem")
}

// problemExtensions returns the extension members (RFC 9457 section 3.2). They are members of the
// one schema instead of a schema for each type. Clients receive all problems as one type, and
// generators cannot select a schema by a URI that is open for extension.
func (b *builder) problemExtensions() ordered[*schemaObject] {
	versions := array(text())
	versions.Description = "The contracts that are served, newest first, in problems of the version."
	available := array(text())
	available.Description = "The media types that are served, in problems of Accept."
	out := ordered[*schemaObject]{
		{"supported-versions", versions},
		{"available", available},
		{"existing", &schemaObject{Type: typeNames{"string"}, Format: "uri-reference",
			Description: "The path of the conflicting item."}},
		{"limit", &schemaObject{Type: typeNames{"integer"}, Description: "The maximum size in bytes."}},
	}
	// One resource with batches is enough, because the schema is that of all operations.
	for _, r := range b.c.Resources() {
		if r.Describe().Batches {
			out.add("operation", index("The index of the failed operation of the batch, from 0."))
			out.add("etag", textOf("The current entity tag of the item, if it was not the expected one."))
			break
		}
	}
	isImport := func(c *command.Command) bool { return c.Into() != nil }
	if slices.ContainsFunc(resource.PartsOf[*command.Command](b.c), isImport) {
		out = append(out, importExtensions()...)
	}
	return out
}

// violationSchema describes one violation. None of the members is required: an error of the whole
// body has neither pointer nor parameter.
func violationSchema() *schemaObject {
	return &schemaObject{Type: typeNames{"object"},
		Description: "An error in the request. One of `pointer`, `parameter` and `header` is its location.",
		Properties: ordered[*schemaObject]{
			{"pointer", textOf("A JSON Pointer (RFC 6901) into the request body.")},
			{"parameter", textOf("The name of a parameter.")},
			{"header", textOf("The name of a header field.")},
			{"code", textOf("The error code, for programs.")},
			{"detail", textOf("A description of the error.")},
			{"operation", index("The index of the operation of the JSON Patch, from 0.")},
		}}
}

// index describes a position in a list.
func index(description string) *schemaObject {
	return &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0), Description: description}
}
