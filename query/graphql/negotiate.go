package graphql

// Content negotiation: the media type and the content coding of a response.

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// The media types of requests and responses.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"
	mediaHTML     = "text/html"
	mediaEvents   = eventstream.ContentType
)

// mediaName is the name in vendor media types, as in application/vnd.shop.1.graphql+json.
const mediaName = "graphql"

// form is the format of a response.
type form uint8

const (
	// plain is application/json. Clients cannot distinguish a response of this type from that of a
	// proxy, except by status 200. Therefore each well-formed GraphQL request has status 200
	// (GraphQL over HTTP, section 6.4.1).
	plain form = iota
	// responseJSON is application/graphql-response+json, or a vendor media type. Request errors have a
	// 4xx status (section 6.4.2).
	responseJSON
	// html is the page.
	html
	// events is text/event-stream with an event for each result.
	events
)

// The media types in order of preference. If a client accepts both JSON types by name with equal
// weight, it gets the newer one. A client that names neither, such as with */*, gets the older one.
var (
	offersOld = []string{mediaJSON, mediaResponse, mediaEvents, mediaHTML}
	offersNew = []string{mediaResponse, mediaJSON, mediaEvents, mediaHTML}
	formsOld  = []form{plain, responseJSON, events, html}
	formsNew  = []form{responseJSON, plain, events, html}
)

// negotiate selects the format and the content coding of the response. withPage allows the page.
func (x *exchange) negotiate(withPage bool) error {
	lines := x.r.Header["Accept"]
	var ok bool
	switch sel := contract.From(x.r.Context()); {
	case sel.Range(mediaName) != "":
		x.form, ok = x.vendor(sel, lines)
	case len(lines) == 1 && lines[0] == mediaResponse:
		x.form, ok = responseJSON, true
	case len(lines) == 0, len(lines) == 1 && (lines[0] == "*/*" || lines[0] == mediaJSON):
		if ok = true; x.r.Method == http.MethodPost {
			x.matchRequest(sel)
		}
	default:
		x.form, ok = accept(lines, withPage)
		x.acceptsEvents = x.form == events || slices.ContainsFunc(lines, namesEvents) && admitsEvents(lines)
	}
	if !ok {
		return problem.New(problem.NotAcceptable,
			"Accept must allow "+mediaResponse+", "+mediaJSON+" or "+mediaEvents+".")
	}
	return x.encodings()
}

// accept selects a format by the Accept header.
func accept(lines []string, withPage bool) (form, bool) {
	offers, forms := offersOld, formsOld
	if slices.ContainsFunc(lines, namesResponse) {
		offers, forms = offersNew, formsNew
	}
	if !withPage {
		offers, forms = offers[:len(offers)-1], forms[:len(forms)-1]
	}
	if !slices.ContainsFunc(lines, namesEvents) { // a wildcard does not select events
		at := slices.Index(forms, events)
		offers = slices.Delete(slices.Clone(offers), at, at+1)
		forms = slices.Delete(slices.Clone(forms), at, at+1)
	}
	i, ok := header.Accept(lines, offers)
	if !ok {
		return plain, false
	}
	return forms[i], true
}

// namesResponse reports whether line contains the newer media type. Weights are evaluated by
// header.Accept.
func namesResponse(line string) bool { return strings.Contains(strings.ToLower(line), mediaResponse) }

// namesEvents reports whether line contains the media type of events. A wildcard does not select
// events.
func namesEvents(line string) bool { return strings.Contains(strings.ToLower(line), mediaEvents) }

// admitsEvents reports whether events are acceptable.
func admitsEvents(lines []string) bool {
	_, ok := header.Accept(lines, []string{mediaEvents})
	return ok
}

// vendor negotiates with the vendor media type of the selected version as the first choice.
func (x *exchange) vendor(sel contract.Selection, lines []string) (form, bool) {
	i, ok := header.Accept(lines, []string{sel.Range(mediaName), mediaResponse, mediaJSON})
	switch i {
	case 0:
		if ok {
			x.media = []string{sel.ContentType(mediaName)}
		}
		return responseJSON, ok
	case 1:
		return responseJSON, ok
	}
	return plain, ok
}

// matchRequest responds to a request in a vendor media type with this type, if the client has no
// preference.
func (x *exchange) matchRequest(sel contract.Selection) {
	if t := sel.ContentType(mediaName); t != mediaJSON && sel.Content(mediaName) {
		x.form, x.media = responseJSON, []string{t}
	}
}

// encodings selects the content codings of the response.
func (x *exchange) encodings() error {
	lines, ok := x.r.Header["Accept-Encoding"]
	x.enc = header.Encodings{Identity: true}
	if !ok {
		return nil
	}
	enc := header.AcceptEncoding(lines)
	if !enc.Identity && !enc.Gzip {
		return problem.New(problem.NotAcceptable,
			"Accept-Encoding must allow identity or gzip.")
	}
	x.enc = enc
	return nil
}
