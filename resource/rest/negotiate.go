package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/schema"
)

// What a catalog does for the contract that a version.Negotiator has selected: entity tags that differ by contract, media
// types that name it, and URLs that stay in it. Without a Negotiator there is no selection, and nothing of this shows.

// Reserve returns an error if a name that means the version of the API means something else here: member in content that
// is written, parameter in queries. Either may be empty. A Negotiator asks for it when it is made.
func (h *Handler) Reserve(member, parameter string) error {
	if parameter != "" && slices.Contains(ownParameters, parameter) {
		return fmt.Errorf("rest: query parameter %s cannot select the version: it is a parameter of lists", parameter)
	}
	for _, rt := range h.routes {
		switch {
		case rt.command != nil:
			if hasField(rt.command.Input(), member) || hasField(rt.command.Output(), member) {
				return fmt.Errorf("rest: member %s cannot select the version: command %s has it", member, rt.name)
			}
		case rt.lookup != nil:
			if rt.lookup.Input().Field(parameter) != nil {
				return fmt.Errorf("rest: query parameter %s cannot select the version: lookup %s has it",
					parameter, rt.name)
			}
		case rt.resource != nil:
			if err := reserve(rt.resource, member, parameter); err != nil {
				return err
			}
		}
	}
	return nil
}

// Opaque reports whether a request is for [Blobs], whose content is stored as it is: a Negotiator leaves it alone.
func (h *Handler) Opaque(r *http.Request) bool {
	x := call{h: h, r: r}
	first, _, _ := strings.Cut(x.path()[1:], "/")
	rt := find(h.table, first)
	return rt != nil && rt.blobs != nil
}

// ownParameters are the parameters of every list.
var ownParameters = []string{"limit", "sort", "after", "before", "fields", "expand", "filter", lastEventParameter}

func hasField(t *schema.Type, name string) bool { return t != nil && t.Field(name) != nil }

// reserve returns an error if a name means something in a resource.
func reserve(r *resource.Resource, member, parameter string) error {
	if r.Can(resource.OpCreate) || r.Can(resource.OpReplace) {
		if r.Type().Field(member) != nil || slices.Contains(r.Describe().Relations, member) {
			return fmt.Errorf("rest: member %s cannot select the version: items of %s have it", member, r.Name())
		}
	}
	if len(r.Describe().Query.Filter[parameter]) > 0 {
		return fmt.Errorf("rest: query parameter %s cannot select the version: %s filters by that field",
			parameter, r.Name())
	}
	return nil
}

// media is what the representation that this exchange is about is called in the media types of a vendor.
func (x *call) media() string {
	if x.batched {
		return batchName
	}
	return x.route.media
}

// jsonOffer is how items are served.
var jsonOffer = []string{mediaJSON}

// acceptable refuses a request for what an item is not served as, before it is carried out (RFC 9110 section 15.5.7), and
// settles the form of the answer.
func (x *call) acceptable() error {
	lines := x.r.Header["Accept"]
	if len(lines) == 0 || len(lines) == 1 && (lines[0] == "*/*" || lines[0] == mediaJSON) {
		if x.sel != nil {
			x.inKind()
		}
		return nil
	}
	_, err := x.negotiate(lines, jsonOffer)
	return err
}

// inKind settles the form of the answer to a client that takes JSON: it is that of the content, unless the client asks for
// another.
func (x *call) inKind() {
	if media := x.media(); x.sel.Content(media) {
		x.speak(media)
	}
}

// negotiate chooses among offers, of which the first is JSON. In front of it stands the vendor's type of this contract,
// for a client that asks for it by name, and for one that sends it and does not ask for anything.
func (x *call) negotiate(lines, offers []string) (index int, err error) {
	media := x.media()
	wanted := x.sel.Range(media)
	if wanted == "" {
		i, ok := header.Accept(lines, offers)
		if !ok {
			return 0, x.notAcceptable(offers)
		}
		if i == 0 {
			x.inKind()
		}
		return i, nil
	}
	i, ok := header.Accept(lines, append([]string{wanted}, offers...))
	switch {
	case !ok:
		return 0, x.notAcceptable(offers)
	case i == 0:
		x.speak(media)
		return 0, nil
	}
	return i - 1, nil
}

// speak makes the vendor's type the form of the answer, where that is wanted. It differs from JSON by nothing but its name,
// which is enough for another entity tag (RFC 9110 section 8.8.1).
func (x *call) speak(media string) {
	name := x.sel.ContentType(media)
	if name == mediaJSON {
		return
	}
	x.mediaType = []string{name}
	x.contractTag = x.sel.Contract() + "+vnd"
	if strings.HasSuffix(name, "+json") {
		x.contractTag = x.sel.Contract() + "+json"
	}
}

// etagSuffix names, in an entity tag, what makes a representation differ from others of its shape and coding: the contract and
// the form, and which part of the item it is.
func (x *call) etagSuffix(p *selection, body []byte) string {
	which := p.etagSuffix(body)
	switch {
	case x.contractTag == "":
		return which
	case which == "":
		return x.contractTag
	}
	return x.contractTag + "." + which
}

// forms returns all media types that stand for what offers do, this contract's own in front.
func (x *call) forms(offers []string) []string {
	if own := x.sel.MediaType(x.media()); own != "" {
		return append([]string{own}, offers...)
	}
	return offers
}

// acceptPost returns the value of Accept-Post; nil if there is no POST.
func (x *call) acceptPost() []string {
	if x.sel == nil || x.route.acceptPost == nil {
		return x.route.acceptPost
	}
	if x.route.posts[0] != mediaJSON { // which no vendor has a name for
		return x.route.acceptPost
	}
	return []string{strings.Join(x.forms(x.route.posts), ", ")}
}

// understands reports whether media is the vendor's type for the content of this request. A patch has a type of its own,
// which names no version.
func (x *call) understands(accepted []string) bool {
	return accepted[0] == mediaJSON && x.sel.Content(x.media())
}

// versionMember returns the member that named the contract in the content, as it stands in the answer; nil if none did. It is known
// when the content has been read.
func (x *call) versionMember() []byte {
	name, contract, ok := x.sel.Member()
	if !ok {
		return nil
	}
	b, err := jsontext.AppendQuote(nil, name)
	if err == nil {
		b, err = jsontext.AppendQuote(append(b, ':'), contract)
	}
	if err != nil {
		return nil // it is no text, so no JSON can have named it
	}
	return b
}

// href returns the URL of an item, with these parameters and the one that keeps the contract.
func (x *call) href(name, id, params string) string {
	return withParams(x.base()+"/"+name+"/"+url.PathEscape(id), joinParams(params, x.sel.Query()))
}

// withParams puts parameters behind a URL.
func withParams(ref, params string) string {
	if params == "" {
		return ref
	}
	return ref + "?" + params
}

// joinParams joins two lists of parameters.
func joinParams(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
