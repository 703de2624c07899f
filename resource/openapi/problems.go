package openapi

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// problemSchema describes problems. The schema is the same for all contracts.
func (b *builder) problemSchema() *schemaObject {
	if b.doc.Components.Schemas.has("Problem") {
		return schemaRef("Problem")
	}
	// Not an enum: new types may be added by the library and the application.
	var types []string
	for k := range problem.Kinds() {
		types = append(types, k.URI())
	}
	typ := &schemaObject{Type: typeNames{"string"}, Format: "uri-reference", ExtensibleEnum: types,
		Description: "What sort of problem it is. Programs go by this, and expect sorts that they do not know."}
	status := integer(400, 599)
	status.Description = "That of the response."
	errors := array(schemaRef("Violation"))
	errors.Description = "The places that are wrong."
	s := &schemaObject{Type: typeNames{"object"}, Description: "RFC 9457.",
		Required: []string{"type", "title", "status"}, Properties: ordered[*schemaObject]{
			{"type", typ},
			{"title", textOf("A short text, always the same for a type.")},
			{"status", status},
			{"detail", textOf("What happened this time.")},
			{"instance", &schemaObject{Type: typeNames{"string"}, Format: "uri-reference",
				Description: "Identifies this time in the log."}},
			{"errors", errors},
		}}
	s.Properties = append(s.Properties, b.problemExtensions()...)
	b.doc.Components.Schemas.add("Problem", s)
	b.doc.Components.Schemas.add("Violation", violationSchema())
	return schemaRef("Problem")
}

// problemExtensions returns the extension members (RFC 9457 section 3.2).
func (b *builder) problemExtensions() ordered[*schemaObject] {
	versions := array(text())
	versions.Description = "The contracts that are served, newest first, where the version is the problem."
	available := array(text())
	available.Description = "The media types that are served, where Accept is the problem."
	out := ordered[*schemaObject]{
		{"supported-versions", versions},
		{"available", available},
		{"existing", &schemaObject{Type: typeNames{"string"}, Format: "uri-reference",
			Description: "The item that is in the way."}},
		{"limit", &schemaObject{Type: typeNames{"integer"}, Description: "How many bytes are admitted."}},
	}
	for _, r := range b.c.Resources() {
		if r.Batches() {
			out.add("operation", index("The operation of the batch that was refused, from 0."))
			out.add("etag", textOf("The entity tag that the item of this operation has, if it was not the expected one."))
			break
		}
	}
	if slices.ContainsFunc(b.c.Commands(), func(c *resource.Command) bool { return c.Into() != nil }) {
		out = append(out, importExtensions()...)
	}
	return out
}

// violationSchema describes one violation.
func violationSchema() *schemaObject {
	return &schemaObject{Type: typeNames{"object"},
		Description: "A place that is wrong: one of `pointer`, `parameter` and `header` says where.",
		Properties: ordered[*schemaObject]{
			{"pointer", textOf("A JSON Pointer (RFC 6901) into the content of the request.")},
			{"parameter", textOf("A parameter of the URL.")},
			{"header", textOf("A header field.")},
			{"code", textOf("What is wrong, for programs.")},
			{"detail", textOf("What is wrong, for people.")},
			{"operation", index("The operation of the JSON Patch, from 0.")},
		}}
}

// index describes a position in a list.
func index(description string) *schemaObject {
	return &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0), Description: description}
}
