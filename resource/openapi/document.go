package openapi

// Generation of a document, which is rendered in variant.go. describe calls resource here, and
// lookup, blobs and command in other files, for each part of the catalog. All of them add to
// builder.doc. Then profile.go simplifies it, and dialect.go converts it to a version of OpenAPI.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/version"
)

// builder generates one document. It is used once and by one goroutine. The sets of names begin
// empty for each document, so a name does not depend on documents that were generated before.
type builder struct {
	c   *resource.Catalog
	o   *settings
	now *lifecycle
	doc *root

	full          bool                          // the profile
	queries       bool                          // the version of OpenAPI has QUERY
	base          string                        // of the default server
	names         names                         // of components
	nouns         names                         // in operation ids
	ids           names                         // of operations
	models        map[model]string              // component of each model
	filterNames   map[*resource.Resource]string // component of the parameter filter
	commonHeaders []string                      // header fields of every response
	shown         []*described                  // resources that have been described so far
	csvName       string                        // component of text/csv
}

// describe generates the document of a catalog. The order of the parts decides which of two equal
// names gets a number. It is the order of the catalog, which makes the document identical in every
// process.
func describe(c *resource.Catalog, o *settings, now *lifecycle, key renderingKey) *root {
	b := &builder{c: c, o: o, now: now, full: key.Full, queries: key.Version == "3.2", base: key.base,
		names: names{}, nouns: names{}, ids: names{}, models: map[model]string{},
		filterNames: map[*resource.Resource]string{}}
	b.doc = &root{OpenAPI: "3.1.0", Security: o.rootRequirements(), Tags: []tag{},
		Paths: ordered[*pathItem]{}}
	b.doc.Components.Schemas = ordered[*schemaObject]{}
	b.reserve() // before any type of the application
	b.doc.Servers = b.servers()
	// Before any operation, because each response refers to these header fields.
	b.commonHeaders = b.versionHeaders()
	if o.RateLimit {
		b.commonHeaders = append(b.commonHeaders, "RateLimit", "RateLimit-Policy")
	}
	// The names are those of the application. reserve keeps types away from them.
	for i := range o.Security {
		b.doc.Components.SecuritySchemes.add(o.Security[i].Name, o.Security[i].object())
	}
	// Lookups and commands refer to the schemas and jobs of resources, so these are first.
	for _, r := range resource.PartsOf[*resource.Resource](c) {
		b.resource(r)
	}
	for _, l := range resource.PartsOf[*resource.Lookup](c) {
		b.lookup(l)
	}
	for _, p := range resource.PartsOf[*blob.Collection](c) {
		b.blobs(p)
	}
	for _, cmd := range resource.PartsOf[*command.Command](c) {
		b.command(cmd)
	}
	b.doc.Info = b.newInfo()
	if !b.full {
		b.simplify()
	}
	return b.doc
}

// reserve reserves the component names of this package, so that types of the application get other
// ones. Otherwise the name of the problem schema would depend on whether a type of the application
// called Problem is described before it.
func (b *builder) reserve() {
	for _, name := range []string{"Problem", "Violation", "JSONPatch"} {
		b.names[name] = true
	}
	for i := range b.o.Security {
		b.names[b.o.Security[i].Name] = true
	}
}

// newInfo returns the info object. A contract without a Negotiator has only a name. describe calls
// newInfo last, although info is first in the document. OpenAPI marks operations as deprecated, but
// has no member for the status of an API, its dates and its successor. The members with the prefix
// x- are specification extensions.
func (b *builder) newInfo() info {
	c := &b.now.contract
	out := info{Title: b.o.Title, Version: c.Name, Description: b.descriptionText(),
		TermsOfService: b.o.TermsOfService,
		Contact:        b.o.Contact, License: b.o.License, Status: string(b.now.status),
		Deprecation: stamp(c.Deprecated),
		Sunset:      stamp(c.Sunset), Successor: c.Successor}
	return out
}

// generalText applies to every catalog and is stated once instead of in each operation: HEAD, which
// would double the document, and the errors of unknown paths and methods.
const generalText = `## General

HEAD is available for each GET, with the same parameters and header fields.
A method that a path does not list is rejected with 405 and ` + "`Allow`" + `, an unknown method with 501.
A path with a trailing slash is redirected (308) to the one without.

Every error is a problem document (RFC 9457) with the media type ` + "`application/problem+json`" + `,
regardless of ` + "`Accept`" + `. Use its type to distinguish errors. New types may be added at any time.
The response ` + "`default`" + ` describes all problems that are not listed.

Unknown parameters and unknown members of a request body are rejected;
` + "`Prefer: handling=lenient`" + ` ignores them.
Clients must ignore unknown members of a response, because members may be added.

Responses are compressed with gzip if the client accepts it.
Request bodies may be compressed with gzip.`

// descriptionText returns the description of the API.
func (b *builder) descriptionText() string {
	general := generalText
	if !b.full {
		general += "\n\n" + profileText
	}
	parts := []string{b.o.Description, general, b.versionsText()}
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

// versionsText describes the contract and how a request names it.
func (b *builder) versionsText() string {
	if b.o.Negotiator == nil {
		return ""
	}
	c := &b.now.contract
	s := "## Versions\n\nThis is contract " + c.Name + " of the API. " + b.statusText()
	s += "\n\nA request names it in one or more of these ways. If there are several, they must agree:\n"
	for _, way := range b.namingText() {
		s += "\n- " + way
	}
	s += "\n\n"
	if len(b.now.names) > 0 {
		s += "It is selected by the names " + strings.Join(b.now.names, ", ") +
			", with or without a leading v. "
	}
	return s + b.defaultText()
}

// statusText describes the status of the contract. It is empty for a contract that is current and
// has no Sunset.
func (b *builder) statusText() string {
	c := &b.now.contract
	var s string
	switch b.now.status {
	case version.Preview:
		s = "It is a preview that may still change, and only its full name selects it."
	case version.Deprecated:
		s = "It is deprecated; new clients should use a later contract."
	case version.Retired:
		s = "It is retired: all requests are rejected with 410."
	}
	// The date is also announced for a contract that is not deprecated yet.
	if b.now.status != version.Retired && !c.Sunset.IsZero() {
		s = sentences(s, "From "+stamp(c.Sunset)+" on, requests are rejected with 410")
	}
	return s
}

// addTag declares a tag if there is none of this name. A command below a collection shares its tag.
func (b *builder) addTag(name, description string) {
	if !slices.ContainsFunc(b.doc.Tags, func(t tag) bool { return t.Name == name }) {
		b.doc.Tags = append(b.doc.Tags, tag{name, description})
	}
}

// resource describes the paths of a resource, first the collection, so that its schemas are defined
// first. Parameters that all methods share belong to the path item, which saves a copy in each
// operation.
func (b *builder) resource(r *resource.Resource) {
	d := b.describeResource(r)
	b.addTag(d.name, "The collection /"+d.name+" and its items.")
	b.shown = append(b.shown, d)

	list := &pathItem{Parameters: b.versionParameters(), Get: d.list()}
	if b.queries {
		list.Query = d.query(list.Get)
	}
	if r.Can(resource.OpCreate) {
		list.Post = d.create()
	}
	// After POST, because accept looks at the operation to decide whether Accept-Post is sent.
	list.Options = d.options("options"+pascal(d.name), d.name, "the collection "+d.name,
		append(accept("Accept-Post", list.Post), "Accept-Query")...)
	b.doc.Paths.add("/"+d.name, list)

	item := &pathItem{Parameters: append([]*parameter{d.idParameter()}, b.versionParameters()...),
		Get: d.get()}
	if r.Can(resource.OpReplace) {
		item.Put = d.replace()
	}
	if r.Can(resource.OpPatch) {
		item.Patch = d.patch()
	}
	if r.Can(resource.OpDelete) {
		item.Delete = d.delete()
	}
	item.Options = d.options("options"+d.noun, d.name, article(d.word),
		accept("Accept-Patch", item.Patch)...)
	b.doc.Paths.add("/"+d.name+"/{id}", item)
	d.links()
	if r.Can(resource.OpRestore) {
		b.doc.Paths.add("/"+d.name+"/{id}/restore", &pathItem{Parameters: item.Parameters, Post: d.restore(),
			Options: d.options("optionsRestore"+d.noun, d.name, "the restoration of "+article(d.word))})
	}
}
