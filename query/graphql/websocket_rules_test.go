package graphql_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// TestHostileOverWebSocket sends the documents that were made to kill a server: each is refused, and the socket, where it is
// still there, answers the next operation.
func TestHostileOverWebSocket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		docs := graphqltest.Hostile()
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			c := s.socket(t)
			c.talk(initMessage, ackMessage)
			message := `{"id":"1","type":"subscribe","payload":` + body(t, docs[name]) + "}"
			// as much of it as is taken
			go c.conn.Write(context.Background(), websocket.MessageText, []byte(message))
			if got := c.receive(); got == "x 1009 Message too large" {
				c = s.socket(t)
				c.talk(initMessage, ackMessage)
			} else if !strings.HasPrefix(got, `< {"id":"1","type":"error","payload":[{"message":`) {
				t.Errorf("%s: %.200s", name, got)
			}
			c.talk(startMessage("1", "{__typename}"), next("1", typenameIs), completed("1"))
		}
	})
}

// TestKeyOverWebSocket: the key of an operation is in its extensions, and the same as over HTTP: what was done there is not
// done again here, nor the other way round.
func TestKeyOverWebSocket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, h := openKeyed(t)
		site := serve(t, h)
		defer func() { site.Shutdown(context.Background()); time.Sleep(time.Minute) }()
		c := site.socket(t)
		request := strings.TrimPrefix(order1, "{")
		with := func(id, key string) string {
			return fmt.Sprintf(`> {"id":%q,"type":"subscribe",`+
				`"payload":{"extensions":{"idempotencyKey":%q},%s}`, id, key, request)
		}
		c.talk(initMessage, ackMessage, with("1", "k"), next("1", isOrder1), completed("1"), with("2", "k"),
			next("2", isOrder1), completed("2"))
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, replayed)
		want(t, send(t, h, postGraphQL, jsonBody, key("l"), "", order1), 200, fresh)
		c.talk(with("1", "l"), next("1", strings.Replace(isOrder1, `"1"`, `"2"`, 1)), completed("1"))
		if n := s.count(t); n != 2 {
			t.Errorf("there are %d orders, want 2", n)
		}
		another := strings.Replace(with("1", "k"), `"c":7`, `"c":8`, 1)
		c.talk(another, `< {"id":"1","type":"error","payload":[{"message":*`)
		c.talk(with("1", "ä"),
			`< {"id":"1","type":"error","payload":[{"message":"the idempotency key must consist of printable*`)
		other := site.socket(t, "X-User: bob")
		other.talk(initMessage, ackMessage, with("1", "k"),
			next("1", strings.Replace(isOrder1, `"1"`, `"3"`, 1)), completed("1"))
	})
}

// TestKeyOfASubscription: a key of a subscription is rejected over WebSocket as over SSE, and the
// socket stays open. A query ignores keys.
func TestKeyOfASubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, watched(t, nil))
		c := s.socket(t)
		const keyed = `"extensions":{"idempotencyKey":"k"}`
		c.talk(initMessage, ackMessage,
			op{"1", changes, keyed}.String(),
			`< {"id":"1","type":"error","payload":[{"message":"The idempotency key is not valid. the results of a `+
				`subscription*`,
			op{"1", "{__typename}", keyed}.String(), next("1", typenameIs), completed("1"))
		if _, res, err := s.dial("/graphql", speaks, `Idempotency-Key: "k"`); err == nil || res == nil ||
			res.StatusCode != http.StatusBadRequest {
			t.Errorf("with a key in the header: %v, want 400", err)
		}
	})
}

// around returns the middleware of a server. Streams have no timeout.
func around(stream func(*http.Request) bool) func(http.Handler) http.Handler {
	return middleware.Chain(
		middleware.RequestID(nil), middleware.Log(&middleware.LogOptions{Logger: quiet}),
		middleware.Recover(&middleware.RecoverOptions{Logger: quiet}),
		middleware.SecureHeaders(nil), middleware.Limit(&middleware.LimitOptions{InFlight: 1,
			Stream: stream}),
		middleware.Timeout(&middleware.TimeoutOptions{Stream: stream}), middleware.CrossOrigin(nil),
		middleware.RateLimit(middleware.Rate{Quota: 100, Window: time.Minute}, nil),
	)
}

func always(*http.Request) bool { return true }

// TestWithinMiddleware: WebSockets and streams work within all middleware, and outlive its
// timeouts.
func TestWithinMiddleware(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, around(always)(h), h)
		c := s.socket(t)
		c.talk(initMessage, ackMessage, startMessage("s", changes))
		l := s.subscribe(t, changes)
		go func() {
			time.Sleep(time.Hour)
			do(t, h, paying)
		}()
		l.expect("next " + isPaid)
		c.talk(next("s", isPaid))
	})
}

// TestSocketDeadline: if Timeout has no exception for sockets, they end at its deadline, and
// clients reconnect.
func TestSocketDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, around(nil)(h), h)
		c := s.socket(t)
		c.talk(initMessage, ackMessage, ". 29s", startMessage("q", "{__typename}"), next("q", typenameIs),
			completed("q"),
			"x 4403 Forbidden: the authorization has expired")
	})
}

// TestSSEHTTP2: a stream is the same over HTTP/2, of which there may be a hundred on one connection; WebSockets are not there.
func TestSSEHTTP2(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, watched(t, nil))
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	r := request(t, postGraphQL, jsonBody, acceptEvents, "", body(t, changes))
	r.RequestURI, r.URL.Scheme, r.URL.Host = "", "https", server.Listener.Addr().String()
	res, err := server.Client().Do(r.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.ProtoMajor != 2 || res.StatusCode != 200 || res.Header.Get("Connection") != "" ||
		res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s %s %v", res.Proto, res.Status, res.Header)
	}
	do(t, h, paying) // the header has arrived, so the caller gets an error
	l := &listener{t: t, body: res.Body, Reader: eventstream.NewReader(res.Body, nil)}
	l.expect("next " + isPaid)
}
