package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// bubble is synctest.Test for a parallel test. Time does not pass while any goroutine runs, so a
// slow processor does not cause timeouts.
func bubble(t *testing.T, do func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, do)
}

func TestFeedOfACollection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		s := open(t, h, "GET /orders", streamType)
		want(t, s.answer(), http.StatusOK, "Content-Type: text/event-stream", "Cache-Control: no-store", "X-Accel-Buffering: no",
			"Vary: Accept, Accept-Encoding, Prefer", "X-Content-Type-Options: nosniff", "Connection: close", "Content-Length:",
			"Content-Encoding:", "Event-Cursor: *", "Etag:", "Accept-Post:")
		same(t, "beginning", "retry: *\n\nid: *\n\n", plain(s.read()))

		create(t, h, "/orders", `{"customerId":"ann"}`)
		same(t, "created", "id: *\nevent: created\ndata: "+
			`{"id":1,"customerId":"ann","status":"open","cents":0,"note":null}`+"\n\n", plain(s.read()))
		want(t, send(t, h, "PATCH /orders/1", mergeBody, "", `{"note":"two\nlines"}`), http.StatusOK)
		same(t, "updated", "id: *\nevent: updated\ndata: "+
			`{"id":1,"customerId":"ann","status":"open","cents":0,"note":"two\nlines"}`+"\n\n", plain(s.read()))
		want(t, send(t, h, "PATCH /orders/1", mergeBody, "", `{"note":"two\nlines"}`), http.StatusOK)
		same(t, "nothing has changed", "", s.read())
		want(t, send(t, h, "DELETE /orders/1"), http.StatusNoContent)
		same(t, "deleted", "id: *\nevent: deleted\ndata: {\"id\":1}\n\n", plain(s.read()))
		create(t, h, "/users", `{"id":"u","name":"U"}`)
		same(t, "another collection", "", s.read())
		if s.ended() {
			t.Error("the stream has ended")
		}
	})
}

// TestFeedDataIsWhatGETAnswers: the data of an event is byte for byte the body of a GET, also with
// fields.
func TestFeedDataIsWhatGETAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		queries := []string{"", "?fields=note,id", "?fields=status", "?fields=id,note"}
		var streams []*stream
		for _, q := range queries {
			streams = append(streams, open(t, h, "GET /orders"+q, streamType))
			streams[len(streams)-1].read()
		}
		item := create(t, h, "/orders", `{"customerId":"<&>\u2028","note":"ü","tags":["a"]}`)
		for i, q := range queries {
			got := streams[i].newEvents()
			same(t, q, []string{"created " + send(t, h, "GET "+item+q).body}, got)
		}
	})
}

func TestFeedFilters(t *testing.T) {
	tests := []struct {
		query string
		want  []string // of cents 1, then 5 and paid, then 9, then open again, then deleted
	}{
		{"status=open", []string{"created 1", "deleted", "created 9", "deleted"}},
		{"status=paid", []string{"created 5", "updated 9", "deleted"}},
		{"cents.gte=5&cents.lt=9", []string{"created 5", "deleted"}},
		{"cents.gte=5", []string{"created 5", "updated 9", "updated 9", "deleted"}},
		{`filter={"or":[{"cents":{"lt":5}},{"status":{"eq":"paid"}}]}`, []string{"created 1", "updated 5", "updated 9", "deleted"}},
		{"customerId=nobody", nil},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := api(t, fed(newFeed(t)))
				s := open(t, h, "GET /orders?fields=cents&"+tt.query, streamType)
				item := create(t, h, "/orders", `{"customerId":"ann","cents":1}`)
				for _, doc := range []string{`{"cents":5,"status":"paid"}`, `{"cents":9}`, `{"status":"open"}`} {
					want(t, send(t, h, "PATCH "+item, mergeBody, "", doc), http.StatusOK)
				}
				want(t, send(t, h, "DELETE "+item), http.StatusNoContent)
				var got []string
				for _, e := range s.newEvents() {
					e = strings.NewReplacer(`{"cents":`, "", ` {"id":1}`, "", "}", "").Replace(e)
					got = append(got, e)
				}
				same(t, tt.query, tt.want, got)
			})
		})
	}
}

func TestFeedRefusals(t *testing.T) {
	const foreign = "Last-Event-ID: AcQ_tkSe6jcFCNQqAlvSYmc"
	tests := []struct {
		name   string
		line   string
		fields []string
		kind   problem.Kind
		errors []string
	}{
		{"sort", "GET /orders?sort=cents", nil, problem.InvalidParameter, []string{"?sort unsupported"}},
		{"several", "GET /orders?limit=1&expand=customer&after=x&before=y", nil, problem.InvalidParameter,
			[]string{"?after unsupported", "?before unsupported", "?expand unsupported", "?limit unsupported"}},
		{"sort, leniently", "GET /orders?sort=cents", []string{"Prefer: handling=lenient"}, problem.InvalidParameter,
			[]string{"?sort unsupported"}},
		{"unknown", "GET /orders?x=1", nil, problem.InvalidParameter, []string{"?x unknownParameter"}},
		{"unknown field", "GET /orders?fields=x", nil, problem.InvalidParameter, []string{"?fields unknownField"}},
		{"wrong value", "GET /orders?cents.lt=x", nil, problem.InvalidParameter, []string{"?cents.lt invalidValue"}},
		{"badly escaped", "GET /orders?status=%zz", nil, problem.BadRequest, nil},
		{"item: filter", "GET /orders/1?status=open", nil, problem.InvalidParameter, []string{"?status unknownParameter"}},
		{"item: expand", "GET /orders/1?expand=customer", nil, problem.InvalidParameter, []string{"?expand unsupported"}},
		{"item: unknown field", "GET /orders/1?fields=x", nil, problem.InvalidParameter, []string{"?fields unknownField"}},
		{"no cursor", "GET /orders", []string{"Last-Event-ID: 7"}, problem.InvalidCursor, []string{"Last-Event-ID: invalidCursor"}},
		{"no cursor in the URL", "GET /orders?lastEventId=7", nil, problem.InvalidCursor, []string{"?lastEventId invalidCursor"}},
		{"empty in the URL", "GET /orders?lastEventId=", nil, problem.InvalidCursor, []string{"?lastEventId invalidCursor"}},
		{"two cursors", "GET /orders?lastEventId=AcQ_tkSe6jcFCNQqAlvSYmc&lastEventId=x", nil, problem.InvalidCursor,
			[]string{"?lastEventId invalidCursor"}},
		{"two fields", "GET /orders", []string{foreign, "Last-Event-ID: x"}, problem.InvalidCursor,
			[]string{"Last-Event-ID: invalidCursor"}},
		{"a good field, and none in the URL", "GET /orders?lastEventId=7", []string{foreign}, problem.InvalidCursor,
			[]string{"?lastEventId invalidCursor"}},
		{"of another log", "GET /orders", []string{foreign}, problem.CursorExpired, []string{"Last-Event-ID: expired"}},
		{"of another log, in the URL", "GET /orders?lastEventId=AcQ_tkSe6jcFCNQqAlvSYmc", nil, problem.CursorExpired,
			[]string{"?lastEventId expired"}},
		{"item: of another log", "GET /orders/1", []string{foreign}, problem.CursorExpired, []string{"Last-Event-ID: expired"}},
		{"end of a stream", "GET /orders", []string{"Last-Event-ID: expired"}, problem.CursorExpired,
			[]string{"Last-Event-ID: expired"}},
		{"key", "GET /orders", []string{"Idempotency-Key: k"}, problem.InvalidHeader, []string{"Idempotency-Key: unsupported"}},
		{"item: key", "GET /orders/1", []string{"Idempotency-Key: k"}, problem.InvalidHeader,
			[]string{"Idempotency-Key: unsupported"}},
		{"no tag", "GET /orders", []string{"If-None-Match: nonsense"}, problem.InvalidHeader, []string{"If-None-Match: syntax"}},
		{"item: no tag", "GET /orders/1", []string{"If-Match: nonsense"}, problem.InvalidHeader, []string{"If-Match: syntax"}},
		{"compressed only", "GET /orders", []string{"Accept-Encoding: gzip, identity;q=0"}, problem.NotAcceptable, nil},
		{"no item", "GET /orders/1", nil, problem.NotFound, nil},
		{"no id", "GET /orders/01", nil, problem.NotFound, nil},
		{"no id, from a cursor", "GET /orders/01", []string{foreign}, problem.NotFound, nil},
		{"not served", "GET /orders/1/2", nil, problem.NotFound, nil},
		{"another method", "DELETE /orders", nil, problem.MethodNotAllowed, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, fed(newFeed(t)))
			fields := append([]string{streamType}, tt.fields...)
			d := wantProblem(t, send(t, h, tt.line, fields...), tt.kind)
			wantErrors(t, d, tt.errors...)
			if strings.HasPrefix(tt.line, "GET ") { // rule 75
				wantProblem(t, send(t, h, "HEAD "+tt.line[len("GET "):], fields...), tt.kind)
			}
		})
	}
}

func TestRule052StreamsAreOffered(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	const asRows = "text/csv; charset=utf-8; header=present"
	tests := []struct {
		name   string
		fed    bool
		accept string
		want   string // the media type; "" is 406
		list   string // that of a list, if it differs
	}{
		{"asked for", true, "text/event-stream", "text/event-stream", ""},
		{"in other letters", true, "Text/Event-Stream", "text/event-stream", ""},
		{"any text", true, "text/*", "", asRows}, // a stream is sent only if its media type is requested by name
		{"any text, or anything", true, "text/html, text/*;q=0.9, */*;q=0.8", "application/json", asRows},
		{"anything before JSON", true, "*/*, application/json;q=0.5, application/x-ndjson;q=0.4", "application/json", asRows},
		{"stream before any text", true, "text/*;q=0.7, text/event-stream;q=0.8, application/json;q=0.5", "text/event-stream", ""},
		{"anything is JSON", true, "*/*", "application/json", ""},
		{"JSON first", true, "text/event-stream;q=0.5, application/json", "application/json", ""},
		{"stream first", true, "application/json;q=0.5, text/event-stream", "text/event-stream", ""},
		{"not the stream", true, "text/event-stream;q=0, */*", "application/json", ""},
		{"neither", true, "text/html", "", ""},
		{"with a parameter", true, "text/event-stream;charset=latin1", "", ""},
		{"no feed", false, "text/event-stream", "", ""},
		{"no feed, but JSON", false, "text/event-stream, application/json;q=0.1", "application/json", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) {
				if tt.fed {
					s.catalog.Feed = f
				}
			})
			create(t, h, "/orders", `{"customerId":"ann"}`)
			for _, target := range []string{"/orders", "/orders/1"} {
				res := send(t, h, "HEAD "+target, "Accept: "+tt.accept)
				wanted := tt.want
				if tt.list != "" && target == "/orders" {
					wanted = tt.list
				}
				if wanted == "" {
					wantProblem(t, res, problem.NotAcceptable)
					d := wantProblem(t, send(t, h, "GET "+target, "Accept: "+tt.accept), problem.NotAcceptable)
					offers := []string{"application/json", "application/x-ndjson", "text/csv", "text/event-stream"}
					if target != "/orders" {
						offers = []string{"application/json", "text/event-stream"}
					}
					if !tt.fed {
						offers = offers[:len(offers)-1]
					}
					same(t, "available", offers, d.Available)
					continue
				}
				want(t, res, http.StatusOK, "Content-Type: "+wanted)
			}
		})
	}
}

// TestRule075HeadOfAStream: HEAD returns the header fields of the stream and ends.
func TestRule075HeadOfAStream(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		create(t, h, "/orders", `{"customerId":"ann"}`)
		for _, target := range []string{"/orders?status=open", "/orders/1"} {
			head := send(t, h, "HEAD "+target, streamType)
			get := open(t, h, "GET "+target, streamType).answer()
			same(t, target, get.header, head.header)
			wantBody(t, head, http.StatusOK, "")
		}
	})
}

// TestFeedResumes disconnects after each event, and before the first, and resumes in every
// supported way.
func TestFeedResumes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		begin := eventCursor(t, h, "GET /orders")
		all := open(t, h, "GET /orders?fields=id,cents", streamType)
		same(t, "Event-Cursor of the stream", begin, all.answer().header.Get("Event-Cursor"))
		for i := range 4 {
			item := create(t, h, "/orders", `{"customerId":"ann","cents":1}`)
			want(t, send(t, h, "PATCH "+item, mergeBody, "", `{"cents":2}`), http.StatusOK)
			if i%2 == 0 {
				want(t, send(t, h, "DELETE "+item), http.StatusNoContent)
			}
		}
		text := all.read()
		_, frames, _ := strings.Cut(text, "\n\n") // after retry
		_, frames, _ = strings.Cut(frames, "\n\n")
		parts := strings.SplitAfter(frames, "\n\n")
		cursors := []string{begin}
		for _, p := range parts[:len(parts)-1] {
			_, last := eventsIn(t, p)
			cursors = append(cursors, last)
		}
		same(t, "events", 10, len(cursors)-1)
		foreign := "lastEventId=AcQ_tkSe6jcFCNQqAlvSYmc"
		for i, c := range cursors {
			for _, s := range []*stream{
				open(t, h, "GET /orders?fields=id,cents", streamType, "Last-Event-ID: "+c),
				open(t, h, "GET /orders?fields=id,cents&lastEventId="+c, streamType),
				open(t, h, "GET /orders?fields=id,cents&lastEventId="+cursors[0], streamType, "Last-Event-ID: "+c),
				open(t, h, "GET /orders?fields=id,cents&"+foreign, streamType, "Last-Event-ID: "+c),
				open(t, h, "GET /orders?fields=id,cents&lastEventId="+c, streamType, "Last-Event-ID:"),
			} {
				got := s.read()
				_, rest, _ := strings.Cut(got, "\n\n")
				same(t, s.r.RequestURI, "id: "+c+"\n\n"+strings.Join(parts[i:], ""), rest)
				s.stop()
				if !s.ended() {
					t.Error("the client has gone, and the stream goes on")
				}
			}
		}
	})
}

// TestFeedListThenWatch: a stream from the Event-Cursor of a list has all changes that the list
// does not contain.
func TestFeedListThenWatch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		create(t, h, "/orders", `{"customerId":"ann"}`)
		lines := [][]string{
			{"GET /orders"}, {"HEAD /orders"}, {"GET /orders?limit=1&sort=cents"}, {"GET /orders", "Accept: application/x-ndjson"},
			{"HEAD /orders", "Accept: application/x-ndjson"}, {"GET /orders", "Accept-Encoding: gzip"}, {"GET /orders/1"}, {"HEAD /orders/1"},
			{"GET /orders", "If-None-Match: " + send(t, h, "GET /orders").header.Get("Etag")},
			{"GET /orders/1", "If-None-Match: " + send(t, h, "GET /orders/1").header.Get("Etag")},
			{"GET /orders/1?fields=id", "If-None-Match: " + send(t, h, "GET /orders/1?fields=id").header.Get("Etag")},
			{"HEAD /orders", streamType}, {"HEAD /orders/1", streamType},
		}
		var places []string
		for _, l := range lines {
			places = append(places, eventCursor(t, h, l[0], l[1:]...))
		}
		want(t, send(t, h, lines[8][0], lines[8][1:]...), http.StatusNotModified, "Event-Cursor: "+places[8])
		want(t, send(t, h, lines[9][0], lines[9][1:]...), http.StatusNotModified, "Event-Cursor: "+places[9])
		want(t, send(t, h, "PATCH /orders/1", mergeBody, "", `{"note":"x"}`), http.StatusOK, "Event-Cursor:")
		want(t, send(t, h, "POST /orders", jsonBody, "", `{"customerId":"bob"}`), http.StatusCreated, "Event-Cursor:")
		for i, at := range places {
			s := open(t, h, "GET /orders?fields=id", streamType, "Last-Event-ID: "+at)
			same(t, strings.Join(lines[i], " "), []string{`updated {"id":1}`, `created {"id":2}`}, s.newEvents())
		}
		wantProblem(t, send(t, h, "GET /orders/7"), problem.NotFound, "Event-Cursor:")
	})
}

// TestWithoutFeed: without a feed no response advertises one, and a closed feed does not affect
// reads of items.
func TestWithoutFeed(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/orders", `{"customerId":"ann"}`)
	for _, target := range []string{"/orders", "/orders/1"} {
		want(t, send(t, h, "GET "+target), http.StatusOK, "Event-Cursor:")
		wantErrors(t, wantProblem(t, send(t, h, "GET "+target+"?lastEventId=x"), problem.InvalidParameter), "?lastEventId unknownParameter")
	}

	f := newFeed(t)
	f.Close()
	h = api(t, fed(f))
	want(t, send(t, h, "GET /orders"), http.StatusOK, "Event-Cursor:")
	wantProblem(t, send(t, h, "GET /orders", streamType), problem.Unavailable, "Retry-After: *", "Connection: close")
	wantProblem(t, send(t, h, "HEAD /orders", streamType), problem.Unavailable, "Retry-After: *")
}

// TestFeedIsAskedFor: the parameter lastEventId is rejected without the media type of a stream,
// unless the handling is lenient. The header field is ignored.
func TestFeedIsAskedFor(t *testing.T) {
	t.Parallel()
	f := newFeed(t)
	begun(t, f)
	h := api(t, fed(f))
	create(t, h, "/orders", `{"customerId":"ann"}`)
	at := eventCursor(t, h, "GET /orders")
	for _, target := range []string{"/orders", "/orders/1"} {
		d := wantProblem(t, send(t, h, "GET "+target+"?lastEventId="+at), problem.InvalidParameter)
		wantErrors(t, d, "?lastEventId unsupported")
		want(t, send(t, h, "GET "+target+"?lastEventId="+at, "Prefer: handling=lenient"), http.StatusOK)
		want(t, send(t, h, "GET "+target, "Last-Event-ID: "+at), http.StatusOK, "Content-Type: application/json")
	}
}

// TestFeedOfAnItem follows an item from its creation to its deletion.
func TestFeedOfAnItem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)), func(s *setup) {
			s.users.AllowRecreate = true
			s.userOps = resource.OpsOf(memory.New(&memory.Options[user]{Recreate: true}))
		})
		create(t, h, "/users", `{"id":"ann","name":"Ann"}`)
		s := open(t, h, "GET /users/ann?fields=name", streamType)
		want(t, s.answer(), http.StatusOK, "Content-Type: text/event-stream", "Vary: Accept, Accept-Encoding", "Accept-Patch:",
			"Event-Cursor: *", "Cache-Control: no-store")
		begin := s.answer().header.Get("Event-Cursor")
		create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
		want(t, send(t, h, "PATCH /users/ann", mergeBody, "", `{"name":"Anna"}`), http.StatusOK)
		want(t, send(t, h, "DELETE /users/ann"), http.StatusNoContent)
		life := []string{`updated {"name":"Anna"}`, `deleted {"id":"ann"}`}
		same(t, "while it was there", life, s.newEvents())

		wantProblem(t, send(t, h, "GET /users/ann", streamType), problem.Gone)
		late := open(t, h, "GET /users/ann?fields=name", streamType, "Last-Event-ID: "+begin)
		same(t, "who has been away", life, late.newEvents())
		want(t, send(t, h, "PUT /users/ann", jsonBody, "", `{"name":"Ann II"}`), http.StatusCreated)
		for _, s := range []*stream{s, late} {
			same(t, "it is back", []string{`created {"name":"Ann II"}`}, s.newEvents())
		}
	})
}

// TestFeedExpires: a client with an expired cursor receives an error status, before the stream or
// on the reconnect after its end.
func TestFeedExpires(t *testing.T) {
	bubble(t, func(t *testing.T) {
		log := feed.NewMemory(&feed.MemoryOptions{Events: 2})
		f := feed.New(log, &feed.Options{BufferEvents: 2})
		defer f.Close()
		h := api(t, fed(f))
		begin := eventCursor(t, h, "GET /orders")
		s := open(t, h, "GET /orders?fields=id", streamType)
		s.read()
		s.stall(true)
		for range 9 {
			create(t, h, "/orders", `{"customerId":"ann"}`)
			synctest.Wait()
		}
		s.stall(false)
		text := s.read()
		events, last := eventsIn(t, text)
		same(t, "what was on its way", []string{`created {"id":1}`}, events[:1])
		same(t, "last id", "expired", last)
		if !s.ended() {
			t.Fatal("the stream goes on")
		}
		for _, id := range []string{last, begin} {
			d := wantProblem(t, send(t, h, "GET /orders", streamType, "Last-Event-ID: "+id), problem.CursorExpired)
			wantErrors(t, d, "Last-Event-ID: expired")
		}
	})
}

// TestFeedOfSession: a stream ends with the session that a middleware has set.
func TestFeedOfSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFeed(t)
		h := api(t, fed(f))
		r := request(t, "GET /orders", streamType)
		ctx, stop := context.WithCancel(middleware.WithSession(r.Context(),
			middleware.Session[struct{}]{Principal: "ann", Expires: time.Now().Add(time.Minute)}))
		s := openWith(t, h, r.WithContext(ctx), stop)
		time.Sleep(time.Minute - time.Second)
		synctest.Wait()
		early := s.ended()
		time.Sleep(time.Second)
		synctest.Wait()
		if early || !s.ended() {
			t.Errorf("ended before its session: %t, with it: %t", early, s.ended())
		}
	})
}

// TestFeedAfterARestart: a log in memory loses its events, and old cursors are expired.
func TestFeedAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := memory.New[order](nil)
		serve := func() http.Handler {
			return rest.New(resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)}, resource.New("orders", store, nil)), nil)
		}
		before := serve()
		at := eventCursor(t, before, "GET /orders")
		create(t, before, "/orders", `{"customerId":"ann"}`)
		d := wantProblem(t, send(t, serve(), "GET /orders", streamType, "Last-Event-ID: "+at), problem.CursorExpired)
		wantErrors(t, d, "Last-Event-ID: expired")
	})
}

// TestFeedHeartbeat: a stream sends a heartbeat after 15 seconds without output, and no more than
// that.
func TestFeedHeartbeat(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := feed.New(feed.NewMemory(nil), &feed.Options{BookmarkInterval: -1})
		defer f.Close()
		h := api(t, fed(f))
		s := open(t, h, "GET /orders?fields=id", streamType)
		s.read()
		time.Sleep(15*time.Second - 1)
		same(t, "before it is time", "", s.read())
		time.Sleep(time.Nanosecond)
		same(t, "first", ": \n\n", s.read())
		time.Sleep(10 * time.Second)
		create(t, h, "/orders", `{"customerId":"ann"}`)
		same(t, "an event", "id: *\nevent: created\ndata: {\"id\":1}\n\n", plain(s.read()))
		time.Sleep(15*time.Second - 1)
		same(t, "since the event", "", s.read())
		time.Sleep(time.Nanosecond)
		same(t, "second", ": \n\n", s.read())
		time.Sleep(time.Minute)
		same(t, "a minute", strings.Repeat(": \n\n", 4), s.read())
		s.stop()
		if !s.ended() {
			t.Error("the client has gone, and the stream goes on")
		}
		time.Sleep(time.Minute)
		same(t, "after the end", "", s.read())
	})
}

// TestFeedBookmarks: an idle subscriber receives the current cursor from time to time.
func TestFeedBookmarks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		s := open(t, h, "GET /orders", streamType)
		s.read()
		create(t, h, "/users", `{"id":"u","name":"U"}`)
		time.Sleep(61 * time.Second)
		now := eventCursor(t, h, "GET /orders")
		if _, last := eventsIn(t, s.read()); last != now {
			t.Errorf("the id in force is %q, want %q", last, now)
		}
	})
}

// TestFeedStalledClient: a client that does not read is disconnected by an event or a heartbeat,
// without an effect on other clients.
func TestFeedStalledClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		stalled, idle := open(t, h, "GET /orders?fields=id", streamType), open(t, h, "GET /orders?status=sent", streamType)
		other := open(t, h, "GET /orders?fields=id", streamType)
		other.read()
		stalled.stall(true)
		idle.stall(true)
		create(t, h, "/orders", `{"customerId":"ann"}`)
		same(t, "the other one", []string{`created {"id":1}`}, other.newEvents())
		time.Sleep(10*time.Second - 1)
		if stalled.ended() {
			t.Error("it was cut off before the 10 seconds were over")
		}
		time.Sleep(time.Nanosecond)
		if !stalled.ended() || stalled.panicked != http.ErrAbortHandler {
			t.Errorf("not cut off after 10 seconds: %v", stalled.panicked)
		}
		time.Sleep(15 * time.Second)
		if !idle.ended() || idle.panicked != http.ErrAbortHandler {
			t.Errorf("the idle one was not cut off by a heartbeat: %v", idle.panicked)
		}
		create(t, h, "/orders", `{"customerId":"ann"}`)
		if other.newEvents() == nil {
			t.Error("the other one does not hear any more")
		}
	})
}

// TestFeedDrains: on shutdown all streams end, and clients reconnect to another server.
func TestFeedDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFeed(t)
		h := api(t, fed(f))
		s := open(t, h, "GET /orders", streamType)
		at := s.answer().header.Get("Event-Cursor")
		f.Close()
		if !s.ended() || s.panicked != nil {
			t.Errorf("ended %v, panicked %v", s.ended(), s.panicked)
		}
		wantProblem(t, send(t, h, "GET /orders", streamType, "Last-Event-ID: "+at), problem.Unavailable, "Retry-After: *", "Connection: close")
	})
}

// TestFeedRights: authorization is checked for each event. If access to an item is lost, the item
// is reported as deleted. If authentication is lost, the stream ends.
func TestFeedRights(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var nobody bool
		store := memory.New[order](nil)
		opts := &resource.Options[order]{
			Query: query.Support{Filter: map[string][]query.Op{"customerId": {query.Eq}}},
			Authorize: func(ctx context.Context, op resource.Op, before, _ *order) error {
				if nobody && caller(ctx) == "ann" {
					return resource.ErrUnauthenticated
				}
				if op == resource.OpGet && before.Customer != caller(ctx) {
					return resource.ErrForbidden
				}
				return nil
			},
		}
		h := byToken(catalogFed(t, newFeed(t), resource.New("orders", store, opts)))
		ann, bob := "Authorization: Bearer ann", "Authorization: Bearer bob"
		create(t, byTokenOf(h, "ann"), "/orders", `{"customerId":"ann"}`)
		ofAnn, ofBob := open(t, h, "GET /orders?fields=id", streamType, ann), open(t, h, "GET /orders?fields=id", streamType, bob)
		wantProblem(t, send(t, h, "GET /orders/1", streamType, bob), problem.NotFound)
		item := open(t, h, "GET /orders/1?fields=id", streamType, ann)
		want(t, send(t, h, "PATCH /orders/1", mergeBody, ann, "", `{"customerId":"bob"}`), http.StatusOK)
		same(t, "ann", []string{`deleted {"id":1}`}, ofAnn.newEvents())
		same(t, "item", []string{`deleted {"id":1}`}, item.newEvents())
		same(t, "bob", []string{`created {"id":1}`}, ofBob.newEvents())

		// A stream ends when its token expires.
		r := request(t, "GET /orders", streamType, ann)
		ctx, stop := context.WithTimeout(r.Context(), 20*time.Second)
		brief := openWith(t, h, r.WithContext(ctx), stop)
		time.Sleep(20*time.Second - 1)
		if brief.ended() {
			t.Error("ended too early")
		}
		time.Sleep(time.Nanosecond)
		if !brief.ended() || brief.panicked != nil {
			t.Errorf("the token is over: ended %v, panicked %v", brief.ended(), brief.panicked)
		}

		nobody = true
		want(t, send(t, h, "PATCH /orders/1", mergeBody, bob, "", `{"note":"x"}`), http.StatusOK)
		same(t, "bob, as ever", []string{`updated {"id":1}`}, ofBob.newEvents())
		if !ofAnn.ended() || ofAnn.panicked != nil {
			t.Errorf("ann is nobody any more: ended %v, panicked %v", ofAnn.ended(), ofAnn.panicked)
		}
		same(t, "ann", []string(nil), ofAnn.newEvents())
		wantProblem(t, send(t, h, "GET /orders/1", streamType, ann), problem.Unauthenticated, "Www-Authenticate: *")
	})
}

// catalogFed serves parts with a feed.
func catalogFed(t testing.TB, f *feed.Feed, parts ...resource.Part) *rest.Handler {
	t.Helper()
	return rest.New(resource.NewCatalog(&resource.CatalogOptions{Feed: f}, parts...), nil)
}

// byTokenOf sends all requests with a token.
func byTokenOf(h http.Handler, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+name)
		h.ServeHTTP(w, r)
	})
}

// waiting is a log that waits for a concurrent transaction.
type waiting struct{ *feed.Memory }

func (waiting) Head(ctx context.Context) (feed.Cursor, error) {
	<-ctx.Done()
	return feed.Cursor{}, ctx.Err()
}

// TestReadersDoNotWaitForTheLog: a process starts while other processes have transactions that take
// hours.
func TestReadersDoNotWaitForTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := feed.New(waiting{feed.NewMemory(nil)}, nil)
		defer f.Close()
		h := api(t, fed(f))
		item := create(t, h, "/orders", `{"customerId":"ann"}`)
		for _, path := range []string{"/orders", item} {
			began := time.Now()
			want(t, send(t, h, "GET "+path), http.StatusOK, "Event-Cursor:")
			if d := time.Since(began); d > time.Second {
				t.Errorf("%s was answered after %v", path, d)
			}
		}
	})
}

// TestEmptyLastEventID: an empty field line beside another does not hide it. Otherwise events would
// be skipped.
func TestEmptyLastEventID(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		at := eventCursor(t, h, "GET /orders")
		want(t, open(t, h, "GET /orders", streamType, "Last-Event-ID: ", "Last-Event-ID: "+at).answer(), http.StatusBadRequest)
		want(t, open(t, h, "GET /orders", streamType, "Last-Event-ID: ", "Last-Event-ID: ").answer(), http.StatusOK)
	})
}
