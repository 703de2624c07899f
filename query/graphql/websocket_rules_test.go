package graphql_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql/internal/sample"
)

// TestHostileOverWebSocket sends the documents that were made to kill a server: each is refused, and the socket, where it is
// still there, answers the next operation.
func TestHostileOverWebSocket(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		docs := sample.Hostile()
		for _, name := range slices.Sorted(maps.Keys(docs)) {
			c := s.socket(t)
			c.talk(initMessage, ackMessage)
			message := `{"id":"1","type":"subscribe","payload":` + body(t, docs[name]) + "}"
			go c.conn.Write(context.Background(), websocket.MessageText, []byte(message)) // as much of it as is taken
			if got := c.hear(); got == "x 1009 Message too large" {
				c = s.socket(t)
				c.talk(initMessage, ackMessage)
			} else if !strings.HasPrefix(got, `< {"id":"1","type":"error","payload":[{"message":`) {
				t.Errorf("%s: %.200s", name, got)
			}
			c.talk(say("1", "{__typename}"), next("1", typenameIs), completed("1"))
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
			return fmt.Sprintf(`> {"id":%q,"type":"subscribe","payload":{"extensions":{"idempotencyKey":%q},%s}`, id, key, request)
		}
		c.talk(initMessage, ackMessage, with("1", "k"), next("1", isOrder1), completed("1"), with("2", "k"), next("2", isOrder1), completed("2"))
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, replayed)
		want(t, send(t, h, postGraphQL, jsonBody, key("l"), "", order1), 200, fresh)
		c.talk(with("1", "l"), next("1", strings.Replace(isOrder1, `"1"`, `"2"`, 1)), completed("1"))
		if n := s.count(t); n != 2 {
			t.Errorf("there are %d orders, want 2", n)
		}
		another := strings.Replace(with("1", "k"), `"c":7`, `"c":8`, 1)
		c.talk(another, `< {"id":"1","type":"error","payload":[{"message":*`)
		c.talk(with("1", "ä"), `< {"id":"1","type":"error","payload":[{"message":"a key consists of printable*`)
		other := site.socket(t, "X-User: bob")
		other.talk(initMessage, ackMessage, with("1", "k"), next("1", strings.Replace(isOrder1, `"1"`, `"3"`, 1)), completed("1"))
	})
}
