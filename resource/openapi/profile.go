package openapi

// The default profile, which is for generated clients: one schema for each status, few parameters
// and one type for all errors. describe in document.go calls simplify, which removes parts of the
// full document. Parts with another form, such as filters, depend on builder.full in other files.

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource/patch"
)

// profileText is the part of the general text that only the default profile has.
const profileText = `This document is for generated clients. ` +
	"With the parameter `profile=full`" + ` it also describes
OPTIONS, conditional reads, preferences, partial items, lines, feeds, batches, JSON Patch, all
header fields and all statuses of errors.`

// operations returns the operations of a path in the order of the document.
func (p *pathItem) operations() []*operation {
	all := []*operation{p.Get, p.Put, p.Post, p.Delete, p.Options, p.Patch, p.Query}
	return slices.DeleteFunc(all, func(op *operation) bool { return op == nil })
}

// simplify removes from the full document what the default profile leaves out. Paths without an
// operation and components without a reference are removed too.
func (b *builder) simplify() {
	for _, p := range b.doc.Paths {
		p.value.Options = nil
		for _, op := range p.value.operations() {
			reads := op == p.value.Get || op == p.value.Query
			creates := op == p.value.Put && op.Responses.has("201")
			op.Parameters = slices.DeleteFunc(op.Parameters, func(p *parameter) bool {
				return isRare(p, reads, creates)
			})
			if len(op.Parameters) == 0 {
				op.Parameters = nil // absent instead of empty
			}
			if body := op.RequestBody; body != nil {
				body.Content = simpleContent(body.Content)
				if name := body.Content[0].name; name == mediaJSON || name == patch.MergeType {
					body.Description = "" // the limits, and how the other media types differ
				}
			}
			simplifyResponses(op, reads)
		}
	}
	b.doc.Paths = slices.DeleteFunc(b.doc.Paths, func(p entry[*pathItem]) bool {
		return len(p.value.operations()) == 0
	})
	for _, r := range b.doc.Components.Responses {
		r.value.Headers = nil
	}
	b.doc.prune()
}

// isRare reports whether a parameter is left out. If-Match remains for writes, which prevents lost
// updates, and If-None-Match for a PUT that may create the item. Prefer remains if a preference
// adds to the response.
func isRare(p *parameter, reads, creates bool) bool {
	switch strings.TrimPrefix(p.Ref, "#/components/parameters/") {
	case "": // inline: expand of writes, and the columns of an import
		return (p.Name == "expand" || p.Name == "fields") && !reads
	case "Before", "IfModifiedSince", "IfUnmodifiedSince", "Range", "IfRange", "ReprDigest", "ContentDigest",
		"Prefer", "PreferReturn", "PreferMinimal":
		return true
	case "IfMatch":
		return reads
	case "IfNoneMatch":
		return !creates
	}
	return false
}

// simpleContent returns the one media type that generated clients send or receive. A merge patch is
// preferred to a JSON Patch, and lines to CSV. A type of the contract is present only if it has to
// name the contract. Files have no schema and keep their media types.
func simpleContent(c ordered[*mediaType]) ordered[*mediaType] {
	if len(c) > 0 && c[0].value.Schema == nil {
		return c
	}
	isVendor := func(m entry[*mediaType]) bool { return strings.HasPrefix(m.name, "application/vnd.") }
	is := func(name string) func(entry[*mediaType]) bool {
		return func(m entry[*mediaType]) bool { return m.name == name }
	}
	for _, match := range []func(entry[*mediaType]) bool{is(patch.MergeType), isVendor, is(mediaJSON),
		is(mediaNDJSON)} {
		if i := slices.IndexFunc(c, match); i >= 0 {
			return c[i : i+1]
		}
	}
	return c
}

// usualStatuses are the errors of almost every operation, which the description does not repeat.
var usualStatuses = []string{"400", "406", "413", "414", "415", "421", "429", "500", "503"}

// simplifyResponses leaves the successes and one response for all errors, so that generators have
// one type of error for all operations. The description lists the statuses. 412 needs a precondition,
// which a read does not have.
func simplifyResponses(op *operation, reads bool) {
	hasContent := slices.ContainsFunc(op.Responses, func(r entry[*response]) bool {
		return r.name[0] == '2' && len(r.value.Content) > 0
	})
	var kept ordered[*response]
	var errors []string
	for _, r := range op.Responses {
		status, err := strconv.Atoi(r.name)
		switch {
		case err != nil: // default
			kept.add(r.name, r.value)
		case status >= 400:
			if !slices.Contains(usualStatuses, r.name) && (status != 412 || !reads) {
				errors = append(errors, r.name)
			}
		case status == 206, status >= 300, status == 204 && hasContent: // need a request header field
		default:
			r.value.Content = simpleContent(r.value.Content)
			usual := []string{"ETag", "Retry-After"}
			if len(r.value.Content) == 0 { // otherwise the content has the id
				usual = append(usual, "Location")
			}
			r.value.Headers = slices.DeleteFunc(r.value.Headers, func(h entry[*headerObject]) bool {
				return !slices.Contains(usual, h.name)
			})
			if len(r.value.Headers) == 0 {
				r.value.Headers = nil
			}
			if !reads { // the example is that of the item
				for _, m := range r.value.Content {
					m.value.Examples = nil
				}
			}
			kept.add(r.name, r.value)
		}
	}
	op.Responses = kept
	if len(errors) > 0 {
		op.Description = sentences(op.Description, "Errors: "+strings.Join(errors, ", "))
	}
}

// prune removes the components to which nothing refers, directly or through other components.
func (r *root) prune() {
	c := &r.Components
	used := map[string]bool{}
	var follow func(v any)
	follow = func(v any) {
		text, _ := json.Marshal(v) // the model has no values that cannot be encoded
		for part := range bytes.SplitSeq(text, []byte(`"#/components/`)) {
			ref, _, _ := bytes.Cut(part, []byte{'"'})
			if name := string(ref); !used[name] {
				used[name] = true
				if target := c.find(name); target != nil {
					follow(target)
				}
			}
		}
	}
	follow(r.Paths)
	c.Schemas = keep(c.Schemas, "schemas/", used)
	c.Responses = keep(c.Responses, "responses/", used)
	c.Parameters = keep(c.Parameters, "parameters/", used)
	c.Examples = keep(c.Examples, "examples/", used)
	c.Headers = keep(c.Headers, "headers/", used)
}

// find returns the component with a path such as schemas/Order; nil if there is none.
func (c *components) find(path string) any {
	kind, name, _ := strings.Cut(path, "/")
	switch kind {
	case "schemas":
		return c.Schemas.get(name)
	case "responses":
		return c.Responses.get(name)
	case "parameters":
		return c.Parameters.get(name)
	case "headers":
		return c.Headers.get(name)
	}
	return nil // examples refer to nothing
}

// keep returns the components that are used.
func keep[T any](list ordered[T], prefix string, used map[string]bool) ordered[T] {
	return slices.DeleteFunc(list, func(e entry[T]) bool { return !used[prefix+e.name] })
}
