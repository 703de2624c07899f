package transportws_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// The tests follow PROTOCOL.md of graphql-ws sentence by sentence, as conversations over raw
// frames.

const (
	initMessage = `> {"type":"connection_init"}`
	ackMessage  = `< {"type":"connection_ack"}`
)

// conversation is a test with a new socket. The connection is acknowledged first, unless the lines
// begin with connection_init.
type conversation struct {
	name  string
	opts  *transportws.Options
	raw   bool
	lines []string
}

func converse(t *testing.T, tests []conversation) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, tt.opts)
				p := s.dial(t)
				if !tt.raw {
					p.talk(initMessage, ackMessage)
				}
				p.talk(tt.lines...)
				if slices.ContainsFunc(tt.lines,
					func(line string) bool { return strings.HasPrefix(line, "x ") }) {
					p.write(fin|closing, nil)
					p.ended()
				}
			})
		})
	}
}

func TestConnectionInit(t *testing.T) {
	t.Parallel()
	converse(t, []conversation{
		{"acknowledged", nil, true, []string{initMessage, ackMessage}},
		{"with a payload", nil, true, []string{`> {"type":"connection_init","payload":{"token":"x"}}`,
			ackMessage}},
		{"with a payload of null", nil, true, []string{`> {"type":"connection_init","payload":null}`,
			ackMessage}},
		{"not in time", nil, true, []string{". 2999ms", "=", ". 1ms",
			"x 4408 Connection initialisation timeout", "@ 3s"}},
		{"just in time", nil, true, []string{". 2999ms", initMessage, ackMessage, ". 10s", "="}},
		{"pings do not replace it", nil, true,
			[]string{`> {"type":"ping"}`, `< {"type":"pong"}`, ". 3s",
				"x 4408 Connection initialisation timeout"}},
		{"twice", nil, true, []string{initMessage, ackMessage, initMessage,
			"x 4429 Too many initialisation requests"}},
		{"twice, much later", nil, true, []string{initMessage, ackMessage, ". 1h", initMessage,
			"x 4429 Too many initialisation requests"}},
		{"payload that is no object", nil, true,
			[]string{`> {"type":"connection_init","payload":"x"}`,
				"x 4400 Invalid message: the payload is not an object"}},
	})
}

// TestInit checks the results of Handler.Init.
func TestInit(t *testing.T) {
	t.Parallel()
	type result struct {
		ctx   context.Context
		until time.Duration
		err   error
	}
	tests := []struct {
		name  string
		init  func(ctx context.Context, payload []byte) result
		lines []string
	}{
		{"refused", func(context.Context, []byte) result {
			return result{err: &transportws.Close{Code: 4403, Reason: "Forbidden"}}
		},
			[]string{initMessage, "x 4403 Forbidden"}},
		{"refused, in the words of the handler", func(context.Context, []byte) result {
			return result{err: fmt.Errorf("wrapped: %w",
				&transportws.Close{Code: 4403, Reason: "the token has expired"})}
		}, []string{initMessage, "x 4403 the token has expired"}},
		{"the server's fault", func(context.Context,
			[]byte) result {
			return result{err: errors.New("secret of the server")}
		},
			[]string{initMessage, "x 4500 Internal error"}},
		{"a panic", func(context.Context, []byte) result { panic("secret of the server") },
			[]string{initMessage, "x 4500 Internal error"}},
		{"twice while it is being decided", func(ctx context.Context,
			_ []byte) result {
			<-ctx.Done()
			return result{err: ctx.Err()}
		},
			[]string{initMessage, initMessage, "x 4429 Too many initialisation requests"}},
		{"an operation while it is being decided",
			func(ctx context.Context, _ []byte) result { <-ctx.Done(); return result{} },
			[]string{initMessage, startMessage("1", "next 1"), "x 4401 Unauthorized"}},
		{"a ping while it is being decided", func(ctx context.Context,
			_ []byte) result {
			time.Sleep(5 * time.Second)
			return result{}
		},
			[]string{initMessage, `> {"type":"ping"}`, `< {"type":"pong"}`, ". 4s", "=", ". 1s", ackMessage}},
		{"the context is that of operations", func(ctx context.Context, payload []byte) result {
			return result{ctx: context.WithValue(ctx, userKey{}, string(payload))}
		}, []string{`> {"type":"connection_init","payload":{"t":1}}`, ackMessage, startMessage("1", "user"),
			`< {"id":"1","type":"next","payload":{"data":"{\"t\":1}"}}`, `< {"id":"1","type":"complete"}`}},
		{"no payload is nil", func(ctx context.Context, payload []byte) result {
			return result{ctx: context.WithValue(ctx, userKey{}, fmt.Sprint(payload == nil))}
		}, []string{`> {"type":"connection_init","payload": null}`, ackMessage, startMessage("1", "user"),
			`< {"id":"1","type":"next","payload":{"data":"true"}}`, `< {"id":"1","type":"complete"}`}},
		{"expires in the middle of a stream", func(context.Context,
			[]byte) result {
			return result{until: time.Minute}
		},
			[]string{initMessage, ackMessage, startMessage("1", "stream next 1; wait"),
				`< {"id":"1","type":"next","payload":{"data":1}}`,
				". 59999ms", "=", ". 1ms", "x 4403 Forbidden: the authorization has expired", "@ 1m0s"}},
		{"expires between two pings", func(context.Context,
			[]byte) result {
			return result{until: 75 * time.Second}
		},
			[]string{initMessage, ackMessage, "x 4403 Forbidden: the authorization has expired", "@ 1m15s"}},
		{"is taken back in the middle of a stream", func(ctx context.Context, _ []byte) result {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Minute, cancel)
			return result{ctx: ctx}
		}, []string{initMessage, ackMessage, startMessage("1", "stream next 1; wait"),
			`< {"id":"1","type":"next","payload":{"data":1}}`,
			". 59999ms", "=", ". 1ms", "x 4403 Forbidden: the authorization has expired", "@ 1m0s"}},
		{"expired before", func(context.Context, []byte) result { return result{until: -time.Second} },
			[]string{initMessage, ackMessage, "x 4403 Forbidden: the authorization has expired", "@ 0s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				s.Script.Begin = func(ctx context.Context, payload []byte) (context.Context, time.Time,
					error) {
					r := tt.init(ctx, payload)
					var until time.Time
					if r.until != 0 {
						until = time.Now().Add(r.until)
					}
					return r.ctx, until, r.err
				}
				p := s.dial(t)
				p.talk(tt.lines...)
				p.write(fin|closing, nil)
				synctest.Wait()
				if strings.Contains(s.Log.String(), "secret") != strings.Contains(fmt.Sprint(tt.lines),
					"4500") {
					t.Errorf("log: %s", s.Log)
				}
			})
		})
	}
}

func TestPingAndPong(t *testing.T) {
	t.Parallel()
	converse(t, []conversation{
		{"ping", nil, false, []string{`> {"type":"ping"}`, `< {"type":"pong"}`}},
		{"payload", nil, false, []string{`> {"type":"ping","payload":{"a":[1, 2.50]}}`,
			`< {"type":"pong","payload":{"a":[1, 2.50]}}`}},
		{"payload of null", nil, false, []string{`> {"type":"ping","payload":null}`,
			`< {"type":"pong","payload":null}`}},
		{"before the connection", nil, true, []string{`> {"type":"ping"}`, `< {"type":"pong"}`, initMessage,
			ackMessage}},
		{"many", nil, false, []string{`> {"type":"ping","payload":{"n":1}}`,
			`> {"type":"ping","payload":{"n":2}}`,
			`< {"type":"pong","payload":{"n":1}}`, `< {"type":"pong","payload":{"n":2}}`}},
		{"an unsolicited pong", nil, false,
			[]string{`> {"type":"pong"}`, `> {"type":"pong","payload":{}}`, "="}},
		{"a pong before the connection", nil, true,
			[]string{`> {"type":"pong"}`, "=", initMessage, ackMessage}},
		{"payload that is no object", nil, false,
			[]string{`> {"type":"ping","payload":1}`,
				"x 4400 Invalid message: the payload is not an object"}},
		{"during an operation", nil, false, []string{startMessage("1", "stream next 1; wait"),
			`< {"id":"1","type":"next","payload":{"data":1}}`,
			`> {"type":"ping"}`, `< {"type":"pong"}`}},
	})
}

func TestOperations(t *testing.T) {
	t.Parallel()
	converse(t, []conversation{
		{"one result", nil, false, []string{startMessage("1", "next 1"),
			`< {"id":"1","type":"next","payload":{"data":1}}`,
			`< {"id":"1","type":"complete"}`, "="}},
		{"no result", nil, false, []string{startMessage("1", "nothing"), `< {"id":"1","type":"complete"}`, "="}},
		{"several results", nil, false, []string{startMessage("1", "stream next 1; sleep 1s; next 2"),
			`< {"id":"1","type":"next","payload":{"data":1}}`,
			"=", ". 1s", `< {"id":"1","type":"next","payload":{"data":2}}`, `< {"id":"1","type":"complete"}`,
			"="}},
		{"before the connection", nil, true, []string{startMessage("1", "next 1"), "x 4401 Unauthorized"}},
		{"several at a time", nil, false, []string{startMessage("a", "sleep 2s; next 1"), startMessage("b", "sleep 1s; next 2"),
			". 2s",
			`< {"id":"b","type":"next","payload":{"data":2}}`, `< {"id":"b","type":"complete"}`,
			`< {"id":"a","type":"next","payload":{"data":1}}`, `< {"id":"a","type":"complete"}`}},
		{"refused: error, and no complete", nil, false,
			[]string{startMessage("1", "refuse no"), `< {"id":"1","type":"error","payload":[{"message":"no"}]}`,
				". 1m", "="}},
		{"refused in the middle", nil, false, []string{startMessage("1", "next 1; refuse no"),
			`< {"id":"1","type":"next","payload":{"data":1}}`,
			`< {"id":"1","type":"error","payload":[{"message":"no"}]}`, ". 1m", "="}},
		{"an id that has to be escaped", nil, false,
			[]string{`> {"id":"\u0022\u00e4\n","type":"subscribe","payload":{"query":"nothing"}}`,
				`< {"id":"\"ä\n","type":"complete"}`}},
		{"the server's fault", nil, false, []string{startMessage("1", "fault"), "x 4500 Internal error"}},
		{"a panic", nil, false, []string{startMessage("1", "panic"), "x 4500 Internal error"}},
		{"the handler ends the socket", nil, false, []string{startMessage("1", "close 4403"), "x 4403 as asked"}},
		{"members that may be null", nil, false, []string{
			`> {"id":"1","type":"subscribe","payload":{"query":"next 1","operationName":null,` +
				`"variables":null,"extensions":null}}`,
			`< {"id":"1","type":"next","payload":{"data":1}}`, `< {"id":"1","type":"complete"}`}},
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	live := []string{startMessage("1", "stream next 1; wait"), `< {"id":"1","type":"next","payload":{"data":1}}`}
	done := []string{`< {"id":"1","type":"next","payload":{"data":2}}`, `< {"id":"1","type":"complete"}`}
	long := strings.Repeat("ä", 100)
	with := func(before []string, lines ...string) []string {
		return append(append([]string{}, before...), lines...)
	}
	converse(t, []conversation{
		{"one that is live", nil, false, with(live, startMessage("1", "next 2"),
			"x 4409 Subscriber for 1 already exists")},
		{"that of a query that runs", nil, false,
			[]string{startMessage("1", "sleep 1h"), startMessage("1", "next 2"), "x 4409 Subscriber for 1 already exists"}},
		{"the same in other characters", nil, false,
			with(live, `> {"id":"\u0031","type":"subscribe","payload":{"query":"x"}}`,
				"x 4409 Subscriber for 1 already exists")},
		{"a long one: the reason has 123 bytes at most", nil, false,
			[]string{startMessage(long, "wait"), startMessage(long, "wait"),
				"x 4409 Subscriber for " + long[:92] + " already exists"}},
		{"free after complete of the client", nil, false,
			with(live, with([]string{`> {"id":"1","type":"complete"}`, startMessage("1", "next 2")}, done...)...)},
		{"free after complete of the server", nil, false,
			with([]string{startMessage("1", "nothing"), `< {"id":"1","type":"complete"}`, startMessage("1", "next 2")},
				done...)},
		{"free after error", nil, false, with([]string{startMessage("1", "refuse no"),
			`< {"id":"1","type":"error","payload":[{"message":"no"}]}`, startMessage("1", "next 2")}, done...)},
		{"unknown in complete", nil, false, with([]string{`> {"id":"7","type":"complete"}`, "=",
			startMessage("1", "next 2")}, done...)},
		{"complete of what has ended", nil, false,
			[]string{startMessage("1", "nothing"), `< {"id":"1","type":"complete"}`, `> {"id":"1","type":"complete"}`,
				"="}},
		{"complete before the connection", nil, true,
			[]string{`> {"id":"7","type":"complete"}`, "=", initMessage, ackMessage}},
	})
}

// TestClientCompletes checks that an operation is canceled and no message follows after a complete
// message.
func TestClientCompletes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, query string
		first       []string
		said        []string
	}{
		{"a stream", "stream next 1; wait; next 2",
			[]string{`< {"id":"1","type":"next","payload":{"data":1}}`},
			[]string{"wait: transportws: the client has disconnected", "next 2: not wanted"}},
		{"a query before it is answered", "sleep 1h; next 1", nil, nil},
		{"one that does not notice", "deaf 1m; next 1", nil, []string{"next 1: not wanted"}},
		{"one that refuses then", "deaf 1m; refuse no", nil, nil},
		{"one that fails then", "deaf 1m; fault", nil, nil},
		{"one that panics then", "deaf 1m; panic", nil, nil},
		{"one that yields a result after its context was canceled", "wait!", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				p := s.connect(t)
				p.talk(startMessage("1", tt.query))
				p.talk(tt.first...)
				p.talk(`> {"id":"1","type":"complete"}`, "=", ". 1m", "=")
				if diff := cmp.Diff(tt.said, s.Script.recorded()); diff != "" {
					t.Errorf("what the operation saw (-want +got):\n%s", diff)
				}
				p.talk(startMessage("1", "next 3"), `< {"id":"1","type":"next","payload":{"data":3}}`,
					`< {"id":"1","type":"complete"}`)
			})
		})
	}
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	const (
		notJSON = "x 4400 Invalid message: not a JSON object"
		member  = "x 4400 Invalid message: a member is of the wrong type"
		request = "x 4400 Invalid message: a member of the payload is of the wrong type"
		unknown = "x 4400 Invalid message: unknown type"
	)
	tests := []struct{ name, message, want string }{
		{"empty", "", notJSON},
		{"no JSON", "hello", notJSON},
		{"half of it", `{"type":"ping"`, notJSON},
		{"trailing message", `{"type":"ping"}{"type":"ping"}`, notJSON},
		{"trailing garbage", `{"type":"ping"}x`, notJSON},
		{"an array", `[{"type":"ping"}]`, notJSON},
		{"a string", `"ping"`, notJSON},
		{"null", `null`, notJSON},
		{"not UTF-8", "{\"type\":\"ping\xff\"}", notJSON},
		{"half a surrogate pair", `{"type":"complete","id":"\ud800"}`, notJSON},
		{"a name twice", `{"type":"ping","type":"pong"}`, notJSON},
		{"deep", strings.Repeat(`{"payload":`, 20_000), notJSON},
		{"no type", `{"id":"1"}`, "x 4400 Invalid message: no type"},
		{"type of a wrong type", `{"type":1}`, member},
		{"unknown type", `{"type":"start"}`, unknown},
		{"type of the server: next", `{"type":"next","id":"1","payload":{}}`, unknown},
		{"type of the server: error", `{"type":"error","id":"1","payload":[]}`, unknown},
		{"type of the server: connection_ack", `{"type":"connection_ack"}`, unknown},
		{"type in other letters", `{"type":"Ping"}`, unknown},
		{"id of a wrong type", `{"type":"complete","id":1}`, member},
		{"complete without id", `{"type":"complete"}`, "x 4400 Invalid message: no id"},
		{"subscribe without id", `{"type":"subscribe","payload":{"query":"x"}}`,
			"x 4400 Invalid message: no id"},
		{"subscribe with an empty id", `{"type":"subscribe","id":"","payload":{"query":"x"}}`,
			"x 4400 Invalid message: no id"},
		{"subscribe without payload", `{"type":"subscribe","id":"1"}`,
			"x 4400 Invalid message: the payload is not an object"},
		{"subscribe with a payload that is none", `{"type":"subscribe","id":"1","payload":"x"}`,
			"x 4400 Invalid message: the payload is not an object"},
		{"subscribe without query", `{"type":"subscribe","id":"1","payload":{}}`,
			"x 4400 Invalid message: the payload has no query"},
		{"query of a wrong type", `{"type":"subscribe","id":"1","payload":{"query":1}}`, request},
		{"query of null", `{"type":"subscribe","id":"1","payload":{"query":null}}`, request},
		{"operationName of a wrong type",
			`{"type":"subscribe","id":"1","payload":{"query":"x","operationName":1}}`, request},
		{"variables of a wrong type", `{"type":"subscribe","id":"1","payload":{"query":"x","variables":[]}}`,
			request},
		{"extensions of a wrong type",
			`{"type":"subscribe","id":"1","payload":{"query":"x","extensions":"x"}}`, request},
		{"documentId of a wrong type", `{"type":"subscribe","id":"1","payload":{"documentId":1}}`, request},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newSite(t, nil).connect(t)
				p.talk("> "+tt.message, tt.want)
				p.write(fin|closing, nil)
				p.ended()
			})
		})
	}
}

// TestUnknownMembers checks that unknown members are ignored, and that a request needs no query
// if another member identifies the document.
func TestUnknownMembers(t *testing.T) {
	t.Parallel()
	converse(t, []conversation{
		{"a message", nil, false, []string{`> {"future":[{}],"type":"ping"}`, `< {"type":"pong"}`}},
		{"a request", nil, false,
			[]string{`> {"id":"1","type":"subscribe","payload":{"future":1,"query":"nothing"}}`,
				`< {"id":"1","type":"complete"}`}},
		{"documentId", nil, false, []string{`> {"id":"1","type":"subscribe","payload":{"documentId":"d"}}`,
			`< {"id":"1","type":"complete"}`}},
		{"persisted", nil, false,
			[]string{`> {"id":"1","type":"subscribe","payload":{"extensions":{"persistedQuery":{}}}}`,
				`< {"id":"1","type":"complete"}`}},
	})
}
