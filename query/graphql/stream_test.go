package graphql_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// The frames of a stream with one result.
const (
	acceptEvents = "Accept: text/event-stream"
	typeEvents   = "Content-Type: text/event-stream"
	theEnd       = "event: complete\ndata: \n\n"
)

// only is the content of a stream with one result.
func only(result string) string { return "event: next\ndata: " + result + "\n\n" + theEnd }

// eventsOf reads a stream: "name data" for each event.
func eventsOf(t *testing.T, body string) []string {
	t.Helper()
	var all []string
	for r := eventstream.NewReader(strings.NewReader(body), nil); ; {
		e, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e.Name+" "+string(e.Data))
	}
}

// wantEvents checks that a stream has one result with an error of that code, and its end.
func wantEvents(t *testing.T, res *answer, code string) {
	t.Helper()
	want(t, res, 200, typeEvents)
	all := eventsOf(t, res.body)
	if len(all) != 2 || !strings.HasPrefix(all[0], `next {"errors":[{`) ||
		strings.Contains(all[0], `"data"`) || !strings.Contains(all[0], `"code":"`+code+`"`) ||
		all[1] != "complete " {
		t.Errorf("%s: want one result with %s, and complete: %q", res.line, code, all)
	}
}

// TestSSEContentType, and the rest of the header.
func TestSSEContentType(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	for _, fields := range [][]string{{acceptEvents}, {acceptEvents, "Accept-Encoding: gzip"}} {
		res := send(t, h, "POST /graphql", append(fields, jsonBody, "", typenameBody)...)
		wantBody(t, res, 200, only(typenameIs), typeEvents, "Cache-Control: no-store",
			"X-Content-Type-Options: nosniff",
			"Content-Length:", "Content-Encoding:", "X-Accel-Buffering: no", "Vary: Accept, Accept-Encoding")
	}
}

// TestSSEOperations: what has one result has one event, whatever becomes of it.
func TestSSEOperations(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) {
		s.opts.Limits.Depth, s.opts.Limits.Cost, s.opts.Logger = 3, 100, quiet
		s.opts.Fields = append(s.opts.Fields, graphql.Query("boom",
			func(context.Context, struct{}) (string, error) { panic("secret") }, nil))
	})
	post := func(t *testing.T, body string) *answer {
		return send(t, h, "POST /graphql", jsonBody, acceptEvents, "", body)
	}
	tests := []struct{ name, body, code string }{
		{"TestSSEParseError", `{"query":"{"}`, "GRAPHQL_PARSE_FAILED"},
		{"TestSSEValidationError", `{"query":"{unknown}"}`, "GRAPHQL_VALIDATION_FAILED"},
		{"TestSSEVariablesError", `{"query":"query($id:ID!){order(id:$id){id}}"}`, "BAD_USER_INPUT"},
		{"TestSSEOperationName", `{"query":"query A{__typename} query B{__typename}"}`,
			"OPERATION_RESOLUTION_FAILURE"},
		{"TestSSELimits: depth", `{"query":"{orders{nodes{customer{name}}}}"}`, "GRAPHQL_VALIDATION_FAILED"},
		{"TestSSELimits: cost", `{"query":"{orders(first:200){nodes{id}}}"}`, "BAD_USER_INPUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantEvents(t, post(t, tt.body), tt.code)
		})
	}
	wantBody(t, post(t, `{"query":"mutation{patchOrder(id:1,input:{status:paid}){status}}"}`), 200,
		only(`{"data":{"patchOrder":{"status":"paid"}}}`), typeEvents) // TestSSEMutation
	// TestSSEFieldError, TestSSEPanic
	for _, query := range []string{`{boom}`, `{orders(first:-1){totalCount}}`} {
		res := post(t, `{"query":"`+query+`"}`)
		all := eventsOf(t, res.body)
		if len(all) != 2 || !strings.Contains(all[0], `"errors":[`) ||
			!strings.Contains(all[0], `"data":{`) || strings.Contains(all[0], "secret") {
			t.Errorf("%s: %q", query, all)
		}
	}
}

// TestSSEFrames: results arrive as they are: one JSON object in one event, without a member id, in UTF-8.
func TestSSEFrames(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const note = "zwei\nZeilen ü€😀"
	send(t, h, "POST /graphql", jsonBody, "", body(t,
		`mutation{patchOrder(id:1,input:{note:"zwei\nZeilen ü€😀"}){id}}`))
	res := send(t, h, "POST /graphql", jsonBody, acceptEvents, "", body(t, "{ order(id: 1)\n{ note } }"))
	all := eventsOf(t, res.body)
	if len(all) != 2 || all[0] != `next {"data":{"order":{"note":"zwei\nZeilen ü€😀"}}}` ||
		!jsontext.Value(all[0][5:]).IsValid() {
		t.Errorf("%q, want the note %q", all, note)
	}
}

// TestSSERefused: what is no operation, or not asked as it should be, has a status.
func TestSSERefused(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, watched(t, nil), func(s *setup) { s.opts.Batch = 2 })
	get := func(document string) string { return "GET /graphql?query=" + url.QueryEscape(document) }
	const sub = `{"query":"subscription{orderChanged{id}}"}`
	tests := []struct {
		name   string
		line   string
		rest   []string
		status int
		fields []string
	}{
		{"TestSSENotJSON", postGraphQL, []string{acceptEvents, jsonBody, "", "{"}, 400, nil},
		{"TestSSENotJSON: no request", postGraphQL, []string{acceptEvents, jsonBody, "", "{}"}, 400, nil},
		{"TestSSENotJSON: a batch", postGraphQL,
			[]string{acceptEvents, jsonBody, "", "[" + typenameBody + "]"}, 400, nil},
		{"TestSSEMediaType", postGraphQL, []string{acceptEvents, "Content-Type: text/plain", "",
			typenameBody}, 415, nil},
		{"TestSSEMutationByGet", get("mutation{__typename}"), []string{acceptEvents}, 405,
			[]string{"Allow: POST, OPTIONS"}},
		{"TestSSEForbiddenOrigin", get("{__typename}"), []string{acceptEvents, "Sec-Fetch-Site: cross-site"},
			403, nil},
		{"TestSSEForbiddenOrigin: a POST", postGraphQL,
			[]string{acceptEvents, "Origin: https://evil.example", jsonBody, "", sub}, 403, nil},
		{"TestSSEIdempotencyKey", postGraphQL,
			[]string{acceptEvents, `Idempotency-Key: "k"`, jsonBody, "", typenameBody}, 400, nil},
		{"TestSSEIdempotencyKey: a subscription", postGraphQL,
			[]string{acceptEvents, `Idempotency-Key: "k"`, jsonBody, "", sub}, 400, nil},
		{"TestSSEIdempotencyKey: in extensions", postGraphQL, []string{acceptEvents, jsonBody, "",
			`{"query":"mutation{__typename}","extensions":{"idempotencyKey":"k"}}`}, 400, nil},
		{"TestSSEPut", "PUT /graphql", []string{acceptEvents}, 405,
			[]string{"Allow: GET, HEAD, POST, OPTIONS"}},
		{"TestSSEDelete", "DELETE /graphql?operationId=1", []string{acceptEvents}, 405,
			[]string{"Allow: GET, HEAD, POST, OPTIONS"}},
		{"TestSSENotAcceptable", postGraphQL, []string{acceptNew, jsonBody, "", sub}, 400, nil},
		{"TestSSEAcceptWildcard: a subscription", postGraphQL, []string{"Accept: */*", jsonBody, "", sub},
			200, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, tt.line, tt.rest...)
			want(t, res, tt.status, tt.fields...)
			if media := res.header.Get("Content-Type"); !strings.Contains(media, "json") ||
				!strings.Contains(res.body, `"errors"`) {
				t.Errorf("%s: %s", media, res.body)
			}
			if strings.Contains(tt.name, "cceptable") && !strings.Contains(res.body, "text/event-stream") {
				t.Errorf("which media type is needed? %s", res.body)
			}
		})
	}
}

// TestSSEAccept: the Accept field selects event streams, by its preferences.
func TestSSEAccept(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	tests := []struct{ name, accept, media string }{
		{"TestSSEAcceptList", "text/event-stream, application/json;q=0.9", "text/event-stream"},
		{"TestSSEAcceptWildcard", "*/*", "application/json; charset=utf-8"},
		{"a client that takes all of them",
			"application/graphql-response+json, application/json, text/event-stream, multipart/mixed",
			"application/graphql-response+json; charset=utf-8"},
		{"parameters", "text/event-stream; charset=utf-8", ""},
		{"not at all", "text/event-stream;q=0, application/json", "application/json; charset=utf-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "POST /graphql", "Accept: "+tt.accept,
				"Content-Type: application/json; charset=utf-8", "", typenameBody)
			if got := res.header.Get("Content-Type"); tt.media != "" &&
				(res.status != 200 || got != tt.media) {
				t.Errorf("%d %s, want %s", res.status, got, tt.media)
			}
		})
	}
	// TestSSEToken: there is no mode in which a token means anything.
	wantBody(t, send(t, h, "POST /graphql?token=x", acceptEvents, jsonBody, "X-GraphQL-Event-Stream-Token: x",
		"", typenameBody), 200, only(typenameIs))
	wantBody(t, send(t, h, "GET /graphql?query={__typename}", acceptEvents), 200, only(typenameIs),
		typeEvents)
	// TestSSEHead
	wantBody(t, send(t, h, "HEAD /graphql?query={__typename}", acceptEvents), 200, "", typeEvents,
		"Cache-Control: no-store")
}

// listener reads a stream.
type listener struct {
	t    *testing.T
	body io.ReadCloser
	*eventstream.Reader
	comments atomic.Int32
	res      *http.Response
}

// listen asks for a stream.
func (s *site) listen(t *testing.T, line string, rest ...string) *listener {
	t.Helper()
	r := request(t, line, rest...)
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "http", "api.example.com"
	res, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(100*time.Hour, func() { res.Body.Close() }) // those of the bubble
	t.Cleanup(func() {
		late.Stop()
		res.Body.Close()
	})
	l := &listener{t: t, body: res.Body, res: res}
	l.Reader = eventstream.NewReader(res.Body,
		&eventstream.ReaderOptions{Comment: func(string) { l.comments.Add(1) }})
	return l
}

// subscribe is listen for a subscription by POST.
func (s *site) subscribe(t *testing.T, document string) *listener {
	t.Helper()
	return s.listen(t, postGraphQL, jsonBody, acceptEvents, "", body(t, document))
}

// expect checks the next frames, "EOF" for the end. "*" matches any rest.
func (l *listener) expect(want ...string) {
	l.t.Helper()
	for _, w := range want {
		e, err := l.Next()
		got := e.Name + " " + string(e.Data)
		if err != nil {
			got = err.Error()
		}
		before, any := strings.CutSuffix(w, "*")
		if got != w && !(any && strings.HasPrefix(got, before)) {
			l.t.Fatalf("got  %.1000s\nwant %s", got, w)
		}
	}
}

// TestSSESubscription: by POST and, for an EventSource of a page of ours, by GET.
func TestSSESubscription(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		rest       []string
	}{
		{"TestSSESubscription", postGraphQL, []string{jsonBody, acceptEvents, "", body(t, changes)}},
		{"TestSSESubscriptionByGet", "GET /graphql?query=" + url.QueryEscape(changes),
			[]string{acceptEvents}},
		{"TestSSESameOriginEventSource", "GET /graphql?query=" + url.QueryEscape(changes),
			[]string{acceptEvents, "Sec-Fetch-Site: same-origin"}},
		{"a client that takes all kinds of answers", postGraphQL,
			[]string{jsonBody,
				"Accept: application/graphql-response+json, application/json, text/event-stream", "",
				body(t, changes)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newTestHandler(t, watched(t, nil))
				s := serve(t, h, h)
				// TestSSEFlushed: the header has come, or this would wait
				l := s.listen(t, tt.line, tt.rest...)
				if l.res.StatusCode != 200 || l.res.Header.Get("Content-Type") != "text/event-stream" {
					t.Fatalf("%s %s", l.res.Status, l.res.Header)
				}
				synctest.Wait()
				do(t, h, paying)
				l.expect("next " + isPaid)
				do(t, h, sending)
				l.expect("next " + strings.Replace(isPaid, "paid", "sent", 1))
				if l.comments.Load() != 1 {
					t.Errorf("%d comments, want one in front of all", l.comments.Load())
				}
				l.body.Close() // TestSSEClientCloses
				synctest.Wait()
			})
		})
	}
}

// TestSSEHeartbeat: no stream is silent for longer than 15 seconds.
func TestSSEHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, &feed.Options{BookmarkInterval: -1})) // nothing else is sent
		l := serve(t, h, h).subscribe(t, changes)
		began := time.Now()
		go func() {
			time.Sleep(61 * time.Second)
			do(t, h, paying)
		}()
		l.expect("next " + isPaid)
		if n := l.comments.Load(); n != 5 || time.Since(began) != 61*time.Second {
			t.Errorf("%d comments in %v, want 5", n, time.Since(began))
		}
		go func() {
			time.Sleep(14 * time.Second)
			do(t, h, sending)
		}()
		l.expect("next *")
		if n := l.comments.Load(); n != 5 {
			t.Errorf("%d comments although there were results", n)
		}
	})
}

// TestSSEEnds: a client reconnects unless it has received complete.
func TestSSEEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		end  func(t *testing.T, s *site, f *feed.Feed, h *graphql.Handler)
		last []string
	}{
		{"TestSSEShutdown", func(t *testing.T, s *site, _ *feed.Feed, _ *graphql.Handler) {
			if err := s.Shutdown(t.Context()); err != nil { // it waits for the stream
				t.Error(err)
			}
		}, []string{"EOF"}},
		{"the handler is shut down", func(t *testing.T, _ *site, _ *feed.Feed,
			h *graphql.Handler) {
			h.Shutdown(t.Context())
		}, []string{"EOF"}},
		{"the feed is closed", func(_ *testing.T, _ *site, f *feed.Feed, _ *graphql.Handler) { f.Close() },
			[]string{"EOF"}},
		{"TestSSEExpiry", func(*testing.T, *site, *feed.Feed, *graphql.Handler) {}, []string{"EOF"}},
		{"the subscriber has to be authenticated", func(t *testing.T, _ *site, _ *feed.Feed,
			h *graphql.Handler) {
			do(t, h, sending)
		},
			[]string{`next {"errors":[{"message":*`, "complete ", "EOF"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f *feed.Feed
				var strange atomic.Bool
				h := newTestHandler(t, watched(t, nil), func(s *setup) {
					f = s.catalog.Feed
					s.orders.Public = false
					s.orders.Authorize = func(ctx context.Context, _ resource.Op, _, _ *order) error {
						if ctx.Value(callerKey{}) != nil && strange.Load() {
							return resource.ErrUnauthenticated
						}
						return nil
					}
				})
				outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), callerKey{}, "x"),
						time.Hour)
					defer cancel()
					h.ServeHTTP(w, r.WithContext(ctx))
				})
				s := serve(t, outer, h)
				l := s.subscribe(t, changes)
				synctest.Wait()
				do(t, h, paying)
				l.expect("next " + isPaid)
				strange.Store(true)
				done := make(chan struct{})
				go func() {
					defer close(done)
					tt.end(t, s, f, h)
				}()
				l.expect(tt.last...)
				<-done
			})
		})
	}
}

// TestStreamsOfSession: streams and sockets end with the session that a middleware has set.
func TestStreamsOfSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil), func(s *setup) { s.opts.Socket.Ping = time.Hour })
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(middleware.WithSession(r.Context(),
				middleware.Session[struct{}]{Principal: "ann", Expires: time.Now().Add(time.Minute)})))
		})
		s := serve(t, outer, h)
		begin := time.Now()
		s.subscribe(t, changes).expect("EOF")
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("the stream ended after %v, want 1m", took)
		}
		s.socket(t).talk(initMessage, ackMessage, "x 4403 Forbidden: the authorization has expired")
		if took := time.Since(begin); took != 2*time.Minute {
			t.Errorf("the socket ended after %v, want 1m", took-time.Minute)
		}
	})
}

// TestSSEShutdownAnswers: a query that runs is answered.
func TestSSEShutdownAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, func(s *setup) {
			s.opts.Fields = append(s.opts.Fields,
				graphql.Query("soon", func(context.Context, struct{}) (string, error) {
					time.Sleep(2 * time.Second)
					return "now", nil
				}, nil))
		})
		s := serve(t, h, h)
		done := make(chan error)
		go func() {
			time.Sleep(time.Second)
			done <- s.Shutdown(context.Background())
		}()
		s.subscribe(t, "{soon}").expect(`next {"data":{"soon":"now"}}`, "complete ", "EOF")
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestSSEShutDown: new subscriptions are rejected.
func TestSSEShutDown(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, watched(t, nil))
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, send(t, h, postGraphQL, jsonBody, acceptEvents, "", body(t, changes)), 503, "Retry-After: *")
	want(t, send(t, h, postGraphQL, jsonBody, acceptEvents, "", typenameBody), 200, typeEvents)
}

// TestSSEStreams: a caller has so many at a time and no more, and then a status, of which clients know that they have to wait.
func TestSSEStreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil), func(s *setup) {
			s.catalog.Principal, s.catalog.Limits.Streams = func(context.Context) string { return "ann" }, 1
		})
		s := serve(t, h, h)
		l := s.subscribe(t, changes)
		more := send(t, h, postGraphQL, jsonBody, acceptEvents, "", body(t, changes))
		wantCode(t, more, 429, "RATE_LIMITED")
		want(t, more, 429, "Retry-After: *")
		// it has an end
		want(t, send(t, h, postGraphQL, jsonBody, acceptEvents, "", typenameBody), 200, typeEvents)
		l.body.Close()
		synctest.Wait()
		if again := s.subscribe(t, changes); again.res.StatusCode != 200 {
			t.Errorf("%s, although the first has ended", again.res.Status)
		}
	})
}

// TestSSEResume: with after, or with the Last-Event-ID of an EventSource, which has precedence
// because it is newer.
func TestSSEResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, h, h)
		first := s.subscribe(t, places)
		synctest.Wait()
		for n := range 5 {
			do(t, h, price(n+1))
		}
		var ids, cursors []string
		for range 5 {
			e, err := first.Next()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, e.ID)
			_, cursor, _ := strings.Cut(string(e.Data), `"cursor":"`)
			cursor, _, _ = strings.Cut(cursor, `"`)
			cursors = append(cursors, cursor)
		}
		if diff := cmp.Diff(cursors, ids); diff != "" {
			t.Errorf("ids (-cursors +ids):\n%s", diff)
		}
		variables := func(cursor string) string {
			return strings.TrimSuffix(body(t, places), "}") + "," + after(cursor) + "}"
		}
		is := func(cents string) string {
			return `next {"data":{"orderChanged":{"id":"1","order":{"cents":` + cents + `},*`
		}
		s.listen(t, postGraphQL, jsonBody, acceptEvents, "", variables(ids[2])).expect(is("4"), is("5"))
		s.listen(t, postGraphQL, jsonBody, acceptEvents, "Last-Event-ID: "+ids[3], "",
			variables(ids[0])).expect(is("5"))
		s.listen(t, postGraphQL, jsonBody, acceptEvents, "Last-Event-ID: yesterday", "",
			variables(ids[0])).expect(`next {"errors":[*`, "complete ")
		foreign := feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}.String()
		// TestSSECursorExpired, TestSSESourceError
		expired := s.listen(t, postGraphQL, jsonBody, acceptEvents, "", variables(foreign))
		e, err := expired.Next()
		if err != nil || !strings.Contains(string(e.Data), `"code":"CURSOR_EXPIRED"`) ||
			strings.Contains(string(e.Data), `"data"`) {
			t.Errorf("%s, %v", e.Data, err)
		}
		expired.expect("complete ", "EOF")
	})
}

// TestBookmarks: a subscriber without events receives positions to resume from, but no results.
func TestBookmarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		idle := serve(t, h, h).subscribe(t, places)
		ended := make(chan error)
		go func() {
			_, err := idle.Next()
			ended <- err
		}()
		synctest.Wait() // it has read what is there, which is no event
		if err := h.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != io.EOF {
			t.Errorf("it ended with %v", err)
		}
		if at, err := feed.ParseCursor(idle.LastID()); err != nil || at.IsZero() {
			t.Errorf("the id is %q: %v", idle.LastID(), err)
		}
	})
}

// TestSSEClientStalls: a client that does not read is disconnected, and others are not affected.
func TestSSEClientStalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var listening atomic.Int32
		h := newTestHandler(t, watched(t, nil))
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			listening.Add(1)
			defer listening.Add(-1)
			h.ServeHTTP(w, r)
		})
		s := serve(t, outer, h)
		stalled, quick := s.subscribe(t, places), s.subscribe(t, places)
		_ = stalled
		synctest.Wait()
		began := time.Now()
		for n := range 100 { // the client of the test has a buffer
			do(t, h, price(n+1))
			quick.expect("next *")
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the others waited for %v", waited)
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if n := listening.Load(); n != 1 {
			t.Errorf("%d are listening, want 1", n)
		}
	})
}

// TestSSEAuthorizationPerEvent: an item that is hidden by now has no event.
func TestSSEAuthorizationPerEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hidden atomic.Bool
		h := newTestHandler(t, watched(t, nil), func(s *setup) {
			s.orders.Public = false
			s.orders.Authorize = func(ctx context.Context, _ resource.Op, _, _ *order) error {
				if ctx.Value(callerKey{}) != nil && hidden.Load() {
					return resource.ErrForbidden
				}
				return nil
			}
		})
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, "x")))
		})
		l := serve(t, outer, h).subscribe(t, changes)
		synctest.Wait()
		do(t, h, paying)
		l.expect("next " + isPaid)
		hidden.Store(true)
		do(t, h, price(7))
		do(t, h, price(8))
		synctest.Wait()
		hidden.Store(false)
		do(t, h, sending)
		l.expect("next " + strings.Replace(isPaid, "paid", "sent", 1))
	})
}

// TestSSEPanic: after the first event the connection is aborted, so that the client sees an error.
func TestSSEPanic(t *testing.T) {
	t.Parallel()
	t.Run("of a result", func(t *testing.T) {
		t.Parallel()
		explode(t, func(h http.Handler) { do(t, h, sending) })
	})
	// In the goroutine of a timer, where it would end the process.
	t.Run("of a comment", func(t *testing.T) {
		t.Parallel()
		explode(t, func(http.Handler) { time.Sleep(16 * time.Second) })
	})
}

// explode has a writer panic that has sent a result, by what is done next.
func explode(t *testing.T, next func(h http.Handler)) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil), func(s *setup) { s.opts.Logger = quiet })
		writer := &exploding{}
		outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writer.ResponseWriter = w
			h.ServeHTTP(writer, r)
		})
		s := serve(t, outer, h)
		s.ErrorLog = silentLog
		l := s.subscribe(t, changes)
		synctest.Wait()
		do(t, h, paying)
		l.expect("next " + isPaid)
		writer.armed.Store(true)
		next(h)
		if _, err := l.Next(); err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

// TestSSELines: every line of a stream is one of the protocol's.
func TestSSELines(t *testing.T) {
	t.Parallel()
	res := send(t, newTestHandler(t), postGraphQL, jsonBody, acceptEvents, "", typenameBody)
	for line := range strings.Lines(res.body) {
		name, _, _ := strings.Cut(strings.TrimRight(line, "\n"), ":")
		if !slices.Contains([]string{"event", "data", ""}, name) {
			t.Errorf("line %q", line)
		}
	}
}
