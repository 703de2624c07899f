package openapi

// The options and the Document. New rejects options that cannot be described, so that
// generation in document.go cannot fail later. render decides when a document is generated.

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

// Options configures a [Document]. The zero value describes a catalog without versions at the root
// of the host that serves the document. Nil means the zero value.
type Options struct {
	// Title is the name of the API. Default "API".
	Title string
	// Description describes the API in CommonMark. A section that applies to every API of this
	// library is added.
	Description string
	// TermsOfService is the URL of a page. Empty omits it.
	TermsOfService string
	// Contact and License describe the API. Nil omits them.
	Contact *Contact
	License *License

	// Contract is the full name of the contract that the catalog serves. Without a Negotiator, it
	// is the version in the document, with the default "1.0.0".
	Contract string
	// Negotiator is the negotiator that serves the catalog. Nil means that the API has no versions.
	Negotiator *version.Negotiator

	// Servers are the base URLs of the API, or paths on the host that serves the document. Default
	// is Base of REST followed by the path prefix that [http.StripPrefix] has removed from the request of
	// the document, or "/". The path segment that names a contract is appended to them. If the host names
	// the contract, URLs in Servers provide the scheme and the port.
	Servers []string

	// Security lists the authentication schemes. A request needs one of them. The default are the schemes
	// in Challenge of REST, which has the default bearer, if a part of the catalog has Authorize or
	// Scope.
	Security []SecurityScheme
	// Secured reports whether an operation needs one of Security. name is that of a resource,
	// lookup, blob collection or command; the operation of a command is [command.OpInvoke]. The
	// results must not change. Nil means that all operations need one, and with the default of Security
	// those of the parts with Authorize or Scope.
	Secured func(name string, op resource.Op) bool

	// REST are the options of the handler that the document describes. Nil means the zero value.
	REST *rest.Options

	// IdempotencyKey declares that a middleware such as [idempotency.Guard.Wrap] supports
	// Idempotency-Key. Leave it false if the catalog does: then the document describes keys with
	// the guarantee for each operation.
	IdempotencyKey bool
	// RateLimit declares that requests are limited, and adds 429 and the RateLimit fields. Default
	// false.
	RateLimit bool
}

// Contact is the contact for the API.
type Contact struct {
	Name  string `json:"name,omitzero"`
	URL   string `json:"url,omitzero"`
	Email string `json:"email,omitzero"`
}

// License is the license of the API: its name, and either an SPDX identifier or a URL.
type License struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier,omitzero"`
	URL        string `json:"url,omitzero"`
}

// Document is the OpenAPI document of a catalog in several variants. It implements [http.Handler].
// All methods are safe for concurrent use.
//
// A variant is generated on first use. It is generated again when the status or the names of its
// contract have changed, for example because the contract is deprecated from a certain time on.
type Document struct {
	catalog *resource.Catalog
	opts    settings

	mu       sync.Mutex
	of       *lifecycle // of all renderings; nil before the first use
	rendered map[renderingKey]*rendering
}

// settings are Options with their defaults.
type settings struct {
	Options
	derived bool // Security is the default
	mixed   bool // and a part has no policy
}

// renderingKey is a variant, normalized, and the base path of the default server.
type renderingKey struct {
	Variant
	base string
}

// maxRenderings limits the memory for renderings. There are 12 variants for each base path, and a
// handler could be mounted under a prefix with a wildcard.
const maxRenderings = 48

// New returns the document of c. opts may be nil. New panics if c is nil, if the Negotiator does
// not have the Contract, if a server is not a path or a URL, or if a security scheme is incomplete.
func New(c *resource.Catalog, opts *Options) *Document {
	d := &Document{catalog: c}
	if opts != nil {
		d.opts.Options = *opts
	}
	o := &d.opts
	if c == nil {
		panic("openapi: New: catalog is nil; pass the catalog to describe")
	}
	if o.Title == "" {
		o.Title = "API"
	}
	// The format requires info.version. With a Negotiator there is no default: an empty Contract is
	// a mistake, which the next check reports.
	if o.Contract == "" && o.Negotiator == nil {
		o.Contract = "1.0.0"
	}
	if o.Negotiator != nil && !slices.ContainsFunc(o.Negotiator.Contracts(), o.describes) {
		panic(fmt.Sprintf("openapi: Options.Contract %q is not a contract of Options.Negotiator", o.Contract))
	}
	o.checkServers()
	o.checkSecurity()
	o.deriveSecurity(c)
	return d
}

func (o *Options) describes(c version.Contract) bool { return c.Name == o.Contract }

// checkServers panics if a server is not a path or URL that paths can be appended to. Clients
// append the path of an operation to the URL, so it cannot end with a query or a fragment. A path
// without a host is relative to the URL from which the document was read.
func (o *Options) checkServers() {
	for _, s := range o.Servers {
		u, err := url.Parse(s)
		if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Host == "" && !strings.HasPrefix(s, "/") ||
			u.Host != "" && u.Scheme == "" {
			panic(fmt.Sprintf("openapi: Options.Servers: %q is not a path or an absolute URL without query "+
				"and fragment", s))
		}
	}
}

// JSON returns the default variant: OpenAPI 3.1 with the default profile. See [Document.Render].
func (d *Document) JSON() []byte { return d.Render(nil) }

// YAML returns the default variant as YAML. See [Document.Render].
func (d *Document) YAML() []byte { return d.Render(&Variant{YAML: true}) }

// Render returns a variant of the document; nil means the zero value. It is identical for the same
// catalog, options and contract status in every process. The caller must not modify it. Render
// panics if the version is unknown.
func (d *Document) Render(v *Variant) []byte {
	if v == nil {
		v = &Variant{}
	}
	return d.render(v.normalized(), "").text
}

// render returns a rendering for the current status of the contract. The status is computed for
// each call: a contract becomes deprecated or retired when a date is reached. Nothing calls this
// package then.
func (d *Document) render(v Variant, base string) *rendering {
	// Rendering takes some milliseconds. Concurrent callers wait for the result.
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.opts.currentLifecycle()
	if d.of == nil || !d.of.equal(&now) || len(d.rendered) >= maxRenderings {
		d.of, d.rendered = &now, map[renderingKey]*rendering{}
	}
	key := renderingKey{v, base}
	if d.rendered[key] == nil {
		d.rendered[key] = newRendering(d.catalog, &d.opts, &now, key)
	}
	return d.rendered[key]
}
