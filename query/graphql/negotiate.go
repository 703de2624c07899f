package graphql

import (
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// The media types of requests and answers.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"
	mediaHTML     = "text/html"
	mediaEvents   = eventstream.ContentType
)

// mediaName is what requests and answers are called in the media types of a vendor, where contracts are told by them:
// application/vnd.shop.1.graphql+json.
const mediaName = "graphql"

// form is what an answer looks like.
type form uint8

const (
	// plain is application/json. Whoever reads it cannot tell an answer of ours from a proxy's but by its status, so every
	// request that is understood is answered 200 (GraphQL over HTTP, section 6.4.1).
	plain form = iota
	// response is application/graphql-response+json, or the vendor's type of a contract. It says by itself whose answer it
	// is, so the status tells how the request went (section 6.4.2).
	response
	// html is the page.
	html
	// events is text/event-stream, one event for each result.
	events
)

// The offers for each wish, most wanted first. Who names both types alike means the newer one, and who names neither, as
// with */*, is an old client.
var (
	offersOld = []string{mediaJSON, mediaResponse, mediaEvents, mediaHTML}
	offersNew = []string{mediaResponse, mediaJSON, mediaEvents, mediaHTML}
	formsOld  = []form{plain, response, events, html}
	formsNew  = []form{response, plain, events, html}
)

// negotiate settles the form of the answer, and its coding. The page is only for those who ask with GET.
func (x *exchange) negotiate(withPage bool) error {
	lines := x.r.Header["Accept"]
	var ok bool
	switch sel := version.From(x.r.Context()); {
	case sel != nil && sel.Range(mediaName) != "":
		x.form, ok = x.vendor(sel, lines)
	case len(lines) == 1 && lines[0] == mediaResponse:
		x.form, ok = response, true
	case len(lines) == 0, len(lines) == 1 && (lines[0] == "*/*" || lines[0] == mediaJSON):
		if ok = true; sel != nil && x.r.Method == http.MethodPost {
			x.inKind(sel)
		}
	default:
		x.form, ok = accept(lines, withPage)
		x.eventful = x.form == events || slices.ContainsFunc(lines, namesEvents) && admitsEvents(lines)
	}
	if !ok {
		return problem.New(problem.NotAcceptable,
			"Answers are "+mediaResponse+", "+mediaJSON+" or "+mediaEvents+".")
	}
	return x.encodings()
}

// accept chooses among the forms.
func accept(lines []string, withPage bool) (form, bool) {
	offers, forms := offersOld, formsOld
	if slices.ContainsFunc(lines, namesResponse) {
		offers, forms = offersNew, formsNew
	}
	if !withPage {
		offers = offers[:len(offers)-1]
	}
	i, ok := header.Accept(lines, offers)
	if !ok {
		return plain, false
	}
	return forms[i], true
}

// namesResponse is generous: whoever names the newer type at all knows it, and its weight is read elsewhere.
func namesResponse(line string) bool { return strings.Contains(strings.ToLower(line), mediaResponse) }

// namesEvents reports whether the type of events is there by name: whoever takes anything means one answer.
func namesEvents(line string) bool { return strings.Contains(strings.ToLower(line), mediaEvents) }

func admitsEvents(lines []string) bool {
	_, ok := header.Accept(lines, []string{mediaEvents})
	return ok
}

// vendor negotiates with the vendor's type of the contract, which the client names, as the first offer.
func (x *exchange) vendor(sel *version.Selection, lines []string) (form, bool) {
	i, ok := header.Accept(lines, []string{sel.Range(mediaName), mediaResponse, mediaJSON})
	switch i {
	case 0:
		if ok {
			x.media = []string{sel.ContentType(mediaName)}
		}
		return response, ok
	case 1:
		return response, ok
	}
	return plain, ok
}

// inKind answers content of the vendor's type in the same, if nothing else is wished.
func (x *exchange) inKind(sel *version.Selection) {
	if t := sel.ContentType(mediaName); t != mediaJSON && sel.Content(mediaName) {
		x.form, x.media = response, []string{t}
	}
}

// encodings settles which codings the answer may have.
func (x *exchange) encodings() error {
	lines, ok := x.r.Header["Accept-Encoding"]
	x.enc = header.Encodings{Identity: true}
	if !ok {
		return nil
	}
	enc := header.AcceptEncoding(lines)
	if !enc.Identity && !enc.Gzip {
		return problem.New(problem.NotAcceptable,
			"Answers are sent as they are or with gzip, and this request takes neither.")
	}
	x.enc = enc
	return nil
}
