package graphql

import (
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// mediaSDL is the media type of schemas in tools. It is not registered, so text/plain is the
// default.
const mediaSDL = "application/graphql"

// serveSDL handles requests for the schema. Errors are problem details.
func (x *exchange) serveSDL() {
	var d *problem.Details
	switch {
	case x.h.opts.NoIntrospection:
		d = problem.New(problem.NotFound, "There is nothing at this path.")
	case x.r.Method == http.MethodOptions:
		x.options(allowRead)
		return
	case x.r.Method != http.MethodGet && x.r.Method != http.MethodHead:
		d = resource.Problem(badMethod(x.r.Method, allowRead))
	default:
		d = x.sendSDL()
	}
	if d != nil {
		problem.Write(x.w, x.r, d)
	}
}

// sendSDL sends the schema, or returns a problem. Its Cache-Control is that of responses, because a
// schema may be as private as data.
func (x *exchange) sendSDL() *problem.Details {
	offers := []string{"text/plain", mediaSDL}
	i, ok := header.Accept(x.r.Header["Accept"], offers)
	if !ok {
		return problem.New(problem.NotAcceptable, "Accept must allow text/plain or "+mediaSDL+".")
	}
	if err := x.encodings(); err != nil {
		return resource.Problem(err)
	}
	h := x.w.Header()
	h["Cache-Control"] = x.h.cache
	h["X-Content-Type-Options"] = nosniff
	header.AddVary(h, varyAnswer)
	x.began = true
	x.h.sdlDoc.Serve(x.w, x.r, offers[i]+"; charset=utf-8")
	return nil
}
