package openapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// Options adjust a [Document]. The zero value describes a catalog without versions at the root of the host that serves
// the document.
type Options struct {
	// Title names the API; "API" if empty.
	Title string
	// Description says what the API is for, in CommonMark. What holds for every API of the library is added to it.
	Description string
	// TermsOfService is the URL of a page.
	TermsOfService string
	// Contact and License are said of the API; nil says nothing.
	Contact *Contact
	License *License

	// Contract is the full name of the contract that the catalog serves. Without a Negotiator it is only the version in
	// the document, "1.0.0" if empty.
	Contract string
	// Negotiator is what stands before the catalog; nil means that there are no versions.
	Negotiator *version.Negotiator

	// Servers are where the API is: URLs, or paths on the host that serves the document. Empty means "/". They stand
	// before whatever names the contract in the path, and where it is named in the host, those that are URLs say with
	// which scheme and port.
	Servers []string

	// Security are the ways to say who one is. Any one of them will do.
	Security []SecurityScheme
	// Secured says which operations of which resources, lookups, blobs and commands, by name, need one of Security. That of
	// a command is [resource.OpInvoke]. Nil means all. It must always answer alike.
	Secured func(name string, op resource.Op) bool

	// REST are the options of the handler that the document describes. Nil is the zero value.
	REST *rest.Options

	// IdempotencyKey says that requests which change something may have an Idempotency-Key, though the catalog keeps none:
	// somebody in front of it does, such as [idempotency.Guard.Wrap]. What the catalog keeps is described by itself, with
	// what a key is worth for each operation.
	IdempotencyKey bool
	// RateLimit says that requests are counted: 429, and the RateLimit fields.
	RateLimit bool
	// Whole leaves the parameter fields out of the document, though it is served. An answer to a request with it has only
	// some of the members, so as long as it is described no member of an item can be called required. Without it clients
	// that are generated from the document have better types.
	Whole bool
}

// Contact is whom to ask about the API.
type Contact struct {
	Name  string `json:"name,omitzero"`
	URL   string `json:"url,omitzero"`
	Email string `json:"email,omitzero"`
}

// License is under which terms the API can be used: its name, and its identifier in the list of SPDX or a URL, but not
// both.
type License struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier,omitzero"`
	URL        string `json:"url,omitzero"`
}

// Document is the OpenAPI document of a catalog. It is an [http.Handler], and all its methods are safe for concurrent
// use.
//
// It is made when it is first asked for, and again when what it says of its contract has changed: time makes a contract
// deprecated and retired, and changes which names lead to it.
type Document struct {
	catalog *resource.Catalog
	opts    Options

	mu   sync.Mutex
	made *rendering // nil: not yet
}

// New describes a catalog. opts may be nil. It panics on what cannot be meant: a contract that the Negotiator does not have,
// servers that are no URLs, and security schemes that are incomplete.
func New(c *resource.Catalog, opts *Options) *Document {
	d := &Document{catalog: c}
	if opts != nil {
		d.opts = *opts
	}
	o := &d.opts
	if c == nil {
		panic("openapi: New needs a catalog")
	}
	if o.Title == "" {
		o.Title = "API"
	}
	if o.Contract == "" && o.Negotiator == nil {
		o.Contract = "1.0.0"
	}
	if o.Negotiator != nil && !slices.ContainsFunc(o.Negotiator.Contracts(), o.describes) {
		panic(fmt.Sprintf("openapi: Options.Contract is %q, which is no contract of Options.Negotiator", o.Contract))
	}
	o.checkServers()
	o.checkSecurity()
	return d
}

func (o *Options) describes(c version.Contract) bool { return c.Name == o.Contract }

// checkServers panics on a server to which no path can be appended.
func (o *Options) checkServers() {
	if len(o.Servers) == 0 {
		o.Servers = []string{"/"}
	}
	for _, s := range o.Servers {
		u, err := url.Parse(s)
		if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "" && !strings.HasPrefix(s, "/") ||
			u.Host != "" && u.Scheme == "" {
			panic(fmt.Sprintf("openapi: Options.Servers has %q, which is neither a path nor a URL without a query", s))
		}
	}
}

// JSON returns the document. It is the same, octet for octet, for the same catalog and options, in every process. The
// caller may keep it and must not change it.
func (d *Document) JSON() []byte { return d.current().json }

// current returns the document as it is now.
func (d *Document) current() *rendering {
	// To make it takes some milliseconds, for which others wait: they would only make the same.
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.currentLifecycle()
	if d.made == nil || !d.made.of.equal(&now) {
		d.made = newRendering(d.catalog, &d.opts, now)
	}
	return d.made
}
