package graphql_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// ask is the request line of a query by GET.
func ask(document string) string { return "GET /graphql?query=" + url.QueryEscape(document) }

// TestCaching: RFC 9110, sections 8.8.3, 13.1.2 and 15.4.5, and RFC 9111, section 5.2.2: answers to GET can be kept.
func TestCaching(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Cache = "private, max-age=5" })
	const orders = "{orders{nodes{id cents}}}"
	first := send(t, h, ask(orders))
	tag := first.header.Get("Etag")
	want(t, first, 200, "Cache-Control: private, max-age=5", "Vary: Accept, Accept-Encoding", "Etag: *")
	tests := []struct {
		name   string
		fields []string
		status int
	}{
		{"known", []string{"If-None-Match: " + tag}, 304},
		{"known weakly", []string{"If-None-Match: W/" + tag}, 304},
		{"one of several", []string{`If-None-Match: "a", ` + tag}, 304},
		{"any", []string{"If-None-Match: *"}, 304},
		{"another", []string{`If-None-Match: "a"`}, 200},
		{"no tag", []string{"If-None-Match: a"}, 200},
		{"of another type", []string{"If-None-Match: " + tag, acceptNew}, 200},
		{"of another coding", []string{"If-None-Match: " + tag, "Accept-Encoding: gzip, identity;q=0"}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"GET", "HEAD"} {
				res := send(t, h, strings.Replace(ask(orders), "GET", method, 1), tt.fields...)
				want(t, res, tt.status, "Cache-Control: private, max-age=5", "Vary: Accept, Accept-Encoding",
					"Etag: *")
				if tt.status == 304 {
					wantBody(t, res, 304, "", "Etag: "+tag, "Content-Type:", "Content-Length:")
				}
			}
		})
	}
}

// TestNotCached: a tag is of the items as they are, and what has errors is not kept.
func TestNotCached(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const orders = "{orders{nodes{id cents}}}"
	tag := send(t, h, ask(orders)).header.Get("Etag")
	want(t, send(t, h, ask(orders), "If-None-Match: "+tag), 304)
	create := `{"query":"mutation{createOrder(input:{customerId:\"bob\",cents:5}){id}}"}`
	want(t, send(t, h, "POST /graphql", jsonBody, "", create), 200, "Etag:", "Cache-Control: no-store")
	want(t, send(t, h, ask(orders), "If-None-Match: "+tag), 200)
	broken := send(t, h, ask(`{order(id:"1"){id} orders(first:-1){nodes{id}}}`), "If-None-Match: *")
	want(t, broken, 200, "Etag:", "Cache-Control: no-store")
	if g := read(t, broken); len(g.Errors) != 1 || g.Data == nil {
		t.Errorf("a part of the answer is %s", broken.body)
	}
}

// TestVaryIsMerged: a middleware outside may have said more.
func TestVaryIsMerged(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	for before, after := range map[string]string{
		"Origin": "Origin, Accept, Accept-Encoding", "accept": "accept, Accept-Encoding", "*": "*",
	} {
		w := httptest.NewRecorder()
		w.Header().Set("Vary", before)
		h.ServeHTTP(w, request(t, ask("{__typename}")))
		want(t, received("GET", w.Result()), 200, "Vary: "+after)
	}
}

// TestCompressed: a compressed response has the same content and its own entity tag.
func TestCompressed(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	document := "{" + repeat("a%d:__typename ", 90) + "}"
	plain := send(t, h, ask(document))
	zipped := send(t, h, ask(document), "Accept-Encoding: gzip")
	want(t, zipped, 200, "Content-Encoding: gzip")
	r, err := gzip.NewReader(strings.NewReader(zipped.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil || string(text) != plain.body {
		t.Errorf("%v: compressed it is %s", err, text)
	}
	if plain.header.Get("Etag") == zipped.header.Get("Etag") {
		t.Error("both have one tag")
	}
	want(t, send(t, h, ask(document), "Accept-Encoding: gzip", "If-None-Match: "+zipped.header.Get("Etag")),
		304)
}

// TestUnauthenticated: a response to an executed operation is 200, and WWW-Authenticate asks for
// credentials (RFC 9110, section 11.6.1).
func TestUnauthenticated(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) {
		s.opts.Challenge = `Bearer realm="shop"`
		s.orders.Authorize = func(_ context.Context, op resource.Op, _, _ *order) error {
			if op == resource.OpGet || op == resource.OpList {
				return nil
			}
			return resource.ErrUnauthenticated
		}
	})
	create := `{"query":"mutation{createOrder(input:{customerId:\"bob\",cents:5}){id}}"}`
	for _, accept := range []string{acceptOld, acceptNew} {
		res := send(t, h, "POST /graphql", jsonBody, accept, "", create)
		want(t, res, 200, `WWW-Authenticate: Bearer realm="shop"`, "Cache-Control: no-store")
	}
	note := `{"query":"{a:__typename}","variables":{"x":"\"code\":\"UNAUTHENTICATED\""}}`
	want(t, send(t, h, "POST /graphql", jsonBody, "", note), 200, "WWW-Authenticate:")
}

// TestTimeout: a slow store is canceled, and the client receives the partial result.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan error, 1)
		h := newTestHandler(t, func(s *setup) {
			s.opts.Timeout = 2 * time.Second
			s.orderOps.Get = func(ctx context.Context, _ string) (resource.Item[order], error) {
				<-ctx.Done()
				stopped <- context.Cause(ctx)
				return resource.Item[order]{}, ctx.Err()
			}
		})
		began := time.Now()
		res := send(t, h, "POST /graphql", jsonBody, acceptNew, "",
			`{"query":"{__typename order(id:\"1\"){id}}"}`)
		want(t, res, 200)
		if g := read(t, res); len(g.Errors) != 1 || time.Since(began) != 2*time.Second {
			t.Errorf("after %v: %s", time.Since(began), res.body)
		}
		if err := <-stopped; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the store was told %v", err)
		}
	})
}

// TestClientGone: after a disconnect nothing is sent, and no partial response.
func TestClientGone(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	h := newTestHandler(t, func(s *setup) {
		s.opts.Timeout = -1
		s.orderOps.Get = func(ctx context.Context, _ string) (resource.Item[order], error) {
			leave()
			<-ctx.Done()
			return resource.Item[order]{}, ctx.Err()
		}
	})
	defer func() {
		if v := recover(); v != http.ErrAbortHandler {
			t.Errorf("the handler ended with %v", v)
		}
	}()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, request(t, ask(`{order(id:"1"){id}}`)).WithContext(ctx))
	t.Errorf("answered: %s", w.Body)
}

// TestLargeResponse: a response much larger than the buffers is complete.
func TestLargeResponse(t *testing.T) {
	t.Parallel()
	note := strings.Repeat("x", 5000)
	h := newTestHandler(t, func(s *setup) {
		for range 300 {
			if _, err := s.orderOps.Create(t.Context(), order{Customer: "ada", Note: note}); err != nil {
				t.Fatal(err)
			}
		}
		s.orders.MaxPageSize = 1000
	})
	res := send(t, h, "POST /graphql", jsonBody, "", `{"query":"{orders(first:1000){nodes{note}}}"}`)
	want(t, res, 200)
	if n := strings.Count(res.body, note); n != 300 {
		t.Errorf("%d notes came", n)
	}
	read(t, res)
}

var _ http.Handler = (*graphql.Handler)(nil)
