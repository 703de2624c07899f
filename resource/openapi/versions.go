package openapi

// How requests name the contract of the document, and its life cycle. Called by document.go and
// operations.go; everything is read from the Negotiator.

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/version"
)

// lifecycle is the state of a contract: its status, its dates and its names. It changes while the
// process runs. It is a snapshot: one document is generated from one, so its parts cannot
// contradict each other.
type lifecycle struct {
	contract version.Contract // only Name without a Negotiator
	status   version.Status   // "" without a Negotiator
	names    []string         // names that select it, shortest first
	fallback string           // contract of requests that name none
	served   []string         // contracts that are not retired, newest first
}

// currentLifecycle reads the lifecycle from the Negotiator, for the current time. It is called for
// each request, so it must stay cheap.
func (o *Options) currentLifecycle() lifecycle {
	now := lifecycle{contract: version.Contract{Name: o.Contract}}
	n := o.Negotiator
	if n == nil {
		return now
	}
	for _, c := range n.Contracts() {
		if c.Name == o.Contract {
			now.contract = c
		}
		if n.Status(c.Name) != version.Retired {
			now.served = append(now.served, c.Name)
		}
	}
	now.status, now.names, now.fallback = n.Status(o.Contract), n.Names(o.Contract), n.Default()
	return now
}

// equal compares the fields that can change. The default and the dates are fixed when the
// Negotiator is created.
func (s *lifecycle) equal(t *lifecycle) bool {
	return s.status == t.status && slices.Equal(s.names, t.names) && slices.Equal(s.served, t.served)
}

// shortest returns the shortest name of the contract. A contract that is not served has its full
// name only.
func (s *lifecycle) shortest() string {
	if len(s.names) == 0 {
		return s.contract.Name
	}
	return s.names[0]
}

// pattern matches the names that select the contract, with or without a leading v. Names consist of
// digits and dots, so the escapes of QuoteMeta mean the same in ECMA-262.
func (s *lifecycle) pattern() string {
	names := s.names
	if len(names) == 0 {
		names = []string{s.contract.Name}
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^v?(" + strings.Join(quoted, "|") + ")$"
}

// links reports whether responses of the contract have Link fields about its life cycle.
func (s *lifecycle) links() bool {
	c := &s.contract
	return c.OpenAPI != "" || c.DeprecationLink != "" || c.SunsetLink != "" || !c.Deprecated.IsZero() ||
		!c.Sunset.IsZero()
}

// deprecated reports whether operations are marked as deprecated. A retired contract is too,
// because generators know no stronger mark.
func (s *lifecycle) deprecated() bool {
	return s.status == version.Deprecated || s.status == version.Retired
}

// stamp formats a date; "" for the zero time. Header fields use other formats for the same dates:
// RFC 9745 a number, RFC 8594 an HTTP date.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// strategies returns those of the Negotiator.
func (o *Options) strategies() []version.Strategy {
	if o.Negotiator == nil {
		return nil
	}
	return o.Negotiator.Strategies()
}

// strategies returns the strategies that operations describe. The default profile omits them if the
// URL names the contract, or if it is the default. Otherwise it describes the first strategy that is
// possible for each method.
func (b *builder) strategies() []version.Strategy {
	all := b.o.strategies()
	if b.full {
		return all
	}
	if b.now.fallback == b.now.contract.Name || hasStrategy[version.Path](b) || hasStrategy[version.Host](b) {
		return nil
	}
	for _, s := range all {
		switch s.(type) {
		case version.Query, version.Header, version.MediaType:
			return []version.Strategy{s}
		}
	}
	return all
}

// vendorTypes returns the media types of the contract for the representation called name, one for
// each MediaType strategy. They contain the full name: a representation is always of exactly one
// contract.
func (b *builder) vendorTypes(name string) []string {
	var out []string
	for _, s := range b.strategies() {
		if m, ok := s.(version.MediaType); ok {
			out = append(out, "application/vnd."+m.Vendor+"."+b.now.contract.Name+"."+name+"+json")
		}
	}
	return out
}

// servers returns the base URLs of the contract: each server with each path and host that names it.
// The servers themselves are included if another strategy can name the contract, or if it is the
// default. Tools use the first entry by default. Entries that name the contract are therefore
// before those that do not.
func (b *builder) servers() []server {
	bases := b.bases()
	var out []server
	add := func(url, description string) {
		if !slices.ContainsFunc(out, func(s server) bool { return s.URL == url }) {
			out = append(out, server{url, description})
		}
	}
	// located: the URL can name the contract. elsewhere: the URL need not name it.
	located, elsewhere := false, b.now.fallback == b.now.contract.Name
	for _, s := range b.o.strategies() {
		switch s := s.(type) {
		case version.Path:
			located = true
			for _, base := range bases {
				// The shortest name also reaches later minor versions, if the contract of the
				// document is the newest of its major version.
				add(strings.TrimSuffix(base, "/")+"/v"+b.now.shortest(), "The path names the contract.")
			}
		case version.Host:
			located = true
			for _, url := range b.hostServers(&s) {
				add(url, "The host names the contract.")
			}
		default:
			elsewhere = true
		}
	}
	// Operations of the default profile have no other way to name the contract.
	isDefault := b.now.fallback == b.now.contract.Name
	if located && (!elsewhere || !b.full && !isDefault) {
		return out
	}
	for _, base := range bases {
		description := ""
		switch {
		case located && isDefault:
			description = "Neither path nor host names a contract. The default is this one."
		case located:
			description = "Neither path nor host names a contract, so the request must name it in another " +
				"way."
		}
		add(base, description)
	}
	return out
}

// hostServers returns the servers with a host that names the contract. Scheme, port and path are
// those of a server with the same domain; without one, https is assumed. A label cannot contain
// dots, so 1.1 becomes 1-1, as [version.Host] expects.
func (b *builder) hostServers(h *version.Host) []string {
	prefix := h.Prefix
	if prefix == "" {
		prefix = "api-v"
	}
	label := prefix + strings.ReplaceAll(b.now.shortest(), ".", "-") + "."
	var out []string
	for _, domain := range h.Domains {
		before := len(out)
		for _, base := range b.bases() {
			u, err := url.Parse(base)
			if err != nil || !strings.EqualFold(u.Hostname(), domain) {
				continue
			}
			u.Host = label + u.Host // including its port
			out = append(out, u.String())
		}
		if len(out) == before {
			out = append(out, "https://"+label+domain)
		}
	}
	return out
}

// versionParameters returns the parameters that can name the contract. They are optional, because a
// request may name the contract in another way. MediaType has no parameter: OpenAPI ignores
// parameters called Accept and describes media types with the content.
func (b *builder) versionParameters() []*parameter {
	var out []*parameter
	for _, s := range b.strategies() {
		p := &parameter{Schema: &schemaObject{Type: typeNames{"string"}, Pattern: b.now.pattern()},
			Example: quote(b.now.contract.Name)}
		var component string
		switch s := s.(type) {
		case version.Query:
			p.Name, p.In = orElse(s.Name, "version"), "query"
			component = "Query" + pascal(p.Name)
			p.Description = "Names the contract. " + b.defaultText()
		case version.Header:
			p.Name, p.In = s.Name, "header"
			component = "Header" + pascal(p.Name)
			p.Description = "Names the contract. Every response has the selected contract in the same " +
				"field. " + b.defaultText()
		default:
			continue
		}
		if !b.doc.Components.Parameters.has(component) {
			b.doc.Components.Parameters.add(component, p)
		}
		// A reference for each path item: a path item lists its parameters itself.
		out = append(out, &parameter{Ref: "#/components/parameters/" + component})
	}
	return out
}

// orElse returns s, or otherwise if s is empty.
func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// defaultText describes requests that name no contract.
func (b *builder) defaultText() string {
	switch b.now.fallback {
	case "":
		return "A request that names no contract is rejected."
	case b.now.contract.Name:
		return "A request that names no contract uses this one."
	}
	return "A request that names no contract uses " + b.now.fallback + "."
}

// bodyMembers returns the members of POST and PUT bodies that can name the contract. [version.Body]
// removes the member before the body is validated, so a type of the application does not declare
// it.
func (b *builder) bodyMembers() ordered[*schemaObject] {
	var out ordered[*schemaObject]
	for _, s := range b.strategies() {
		if s, ok := s.(version.Body); ok {
			out.add(orElse(s.Name, "version"), &schemaObject{
				Type: typeNames{"string"}, Pattern: b.now.pattern(),
				Examples: jsonStrings(b.now.contract.Name),
				Description: "Names the contract; it is not part of the item. It is only allowed in POST " +
					"and PUT, and the response " +
					"repeats it. Other requests name the contract in the URL or the header: in a merge " +
					"patch " +
					"this member would be data, a JSON Patch is an array, and GET, HEAD and DELETE have no " +
					"body.",
			})
		}
	}
	return out
}

// versionHeaders returns the header fields of every response of the contract, and defines them.
// describe calls it before it describes operations, which refer to the fields.
func (b *builder) versionHeaders() []string {
	var out []string
	for _, s := range b.strategies() {
		if h, ok := s.(version.Header); ok {
			name := h.Name
			b.addHeader(name, &headerObject{Schema: text(), Example: quote(b.now.contract.Name),
				Description: "The full name of the contract that was selected."})
			out = append(out, name)
		}
	}
	if !b.now.contract.Deprecated.IsZero() {
		out = append(out, "Deprecation")
	}
	if !b.now.contract.Sunset.IsZero() {
		out = append(out, "Sunset")
	}
	if b.now.links() {
		out = append(out, "Link")
	}
	return out
}

// namingText describes how a request can name the contract. A strategy of the application is
// described by its Source.
func (b *builder) namingText() []string {
	full, short := b.now.contract.Name, b.now.shortest()
	var out []string
	for _, s := range b.o.strategies() {
		switch s := s.(type) {
		case version.Path:
			out = append(out, "the first segment of the path: `/v"+short+"` or `/"+short+"`")
		case version.Host:
			for _, url := range b.hostServers(&s) {
				out = append(out, "the host: `"+url+"`")
			}
		case version.Query:
			out = append(out, "the query parameter `"+orElse(s.Name, "version")+"="+short+"`")
		case version.Header:
			out = append(out, "the header field `"+s.Name+": "+short+
				"`; every response has it, with the full name")
		case version.MediaType:
			out = append(out, "media types in `Accept`, and in `Content-Type` of POST and PUT: "+
				"`application/vnd."+s.Vendor+"."+
				short+".<name>+json`, also without `+json`; a response has `application/vnd."+s.Vendor+"."+
				full+
				".<name>+json`, with the name of an item for lists too. A type without a number can be "+
				"requested but "+
				"names no contract")
		case version.Body:
			out = append(out, "the member `"+orElse(s.Name, "version")+
				"` of the JSON object in the body of POST or PUT: "+
				"`\""+orElse(s.Name, "version")+"\": \""+short+"\"`")
		default:
			out = append(out, s.Source())
		}
	}
	return out
}
