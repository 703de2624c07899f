package graphql_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// site is a server over pipes, in a bubble of package synctest, so that nothing depends on speed.
type site struct {
	*http.Server
	client http.Client
}

// pipes is a listener to which one connects without a network.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (s pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conns:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s pipes) Close() error {
	close(s.closed)
	return nil
}

func (s pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// serve serves until the test ends. It shuts the handlers down.
func serve(t *testing.T, h http.Handler, handlers ...*graphql.Handler) *site {
	t.Helper()
	l := pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &site{Server: &http.Server{Handler: h}}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case l.conns <- server:
			return client, nil
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}}
	s.client.Transport = transport
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.Close()
		<-done
		for _, d := range handlers {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := d.Shutdown(ctx); err != nil {
				t.Error("sockets are left:", err)
			}
		}
	})
	return s
}

// open serves one handler.
func open(t *testing.T, change ...func(*setup)) *site {
	t.Helper()
	h := newTestHandler(t, change...)
	return serve(t, h, h)
}

// dial upgrades a connection. Fields are header lines.
func (s *site) dial(target, protocol string, fields ...string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		header.Add(name, value)
	}
	return websocket.Dial(context.Background(), "ws://api.example.com"+target, &websocket.DialOptions{
		HTTPClient: &s.client, Subprotocols: []string{protocol}, HTTPHeader: header, Host: "api.example.com",
	})
}

const speaks = "graphql-transport-ws"

// talker has a conversation over a socket.
type talker struct {
	t    *testing.T
	conn *websocket.Conn
}

// socket upgrades a connection at the usual place.
func (s *site) socket(t *testing.T, fields ...string) *talker {
	t.Helper()
	conn, _, err := s.dial("/graphql", speaks, fields...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	return &talker{t, conn}
}

const (
	initMessage = `> {"type":"connection_init"}`
	ackMessage  = `< {"type":"connection_ack"}`
)

// ask is a message with an operation, for talk.
func (q op) String() string {
	text := fmt.Sprintf(`> {"id":%q,"type":"subscribe","payload":{"query":%q`, q.id, q.query)
	if q.more != "" {
		text += "," + q.more
	}
	return text + "}}"
}

// op is an operation: its id, its document, and further members of the request.
type op struct{ id, query, more string }

// startMessage is the message with which an operation begins.
func startMessage(id, query string, more ...string) string {
	return op{id, query, strings.Join(more, ",")}.String()
}

func next(id, result string) string {
	return fmt.Sprintf(`< {"id":%q,"type":"next","payload":%s}`, id, result)
}
func completed(id string) string { return fmt.Sprintf(`< {"id":%q,"type":"complete"}`, id) }

// talk interprets lines: ">" is a message of the client, "<" the next message of the server, in
// which "*" matches any rest. "x" is the close code and reason, and "." lets time pass.
func (c *talker) talk(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case ">":
			if err := c.conn.Write(context.Background(), websocket.MessageText, []byte(rest)); err != nil {
				c.t.Fatalf("%.200s: %.200v", line, err)
			}
		case ".":
			d, err := time.ParseDuration(rest)
			if err != nil {
				c.t.Fatal(err)
			}
			time.Sleep(d)
		default:
			got := c.receive()
			before, any := strings.CutSuffix(line, "*")
			if got != line && !(any && strings.HasPrefix(got, before)) {
				c.t.Fatalf("got  %.2000s\nwant %.2000s", got, line)
			}
		}
	}
}

// receive returns the next message, in the form of talk.
func (c *talker) receive() string {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Hour) // those of the bubble
	defer cancel()
	_, text, err := c.conn.Read(ctx)
	var end websocket.CloseError
	switch {
	case errors.As(err, &end):
		return fmt.Sprintf("x %d %s", end.Code, end.Reason)
	case err != nil:
		return "! " + err.Error()
	}
	return "< " + string(text)
}

// slow is a field that takes an hour unless it is canceled.
func slow(s *setup) {
	s.opts.Timeout = -1
	s.opts.Fields = append(s.opts.Fields, graphql.Query("slow",
		func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(time.Hour):
				return "at last", nil
			}
		}, nil))
}

// TestCloseCodes is the table of what sockets are closed with, at the handler itself.
func TestCloseCodes(t *testing.T) {
	t.Parallel()
	connect := func(f func(ctx context.Context, payload []byte) (context.Context, time.Time,
		error)) func(*setup) {
		return func(s *setup) { s.opts.Socket.Connect = f }
	}
	refuse := func(err error) func(*setup) {
		return connect(func(context.Context, []byte) (context.Context, time.Time, error) {
			return nil,
				time.Time{}, err
		})
	}
	begun := func(lines ...string) []string { return append([]string{initMessage, ackMessage}, lines...) }
	tests := []struct {
		name   string
		change func(*setup)
		lines  []string
		end    string
	}{
		{"the server ends", nil, begun("shutdown"), "1001 Going away"},
		{"too many messages", func(s *setup) { s.opts.Socket.Rate, s.opts.Socket.Burst = 1, 3 },
			begun(`> {"type":"pong"}`, `> {"type":"pong"}`, `> {"type":"pong"}`), "1008 Too many messages"},
		{"too many sockets of one", func(s *setup) {
			s.opts.Socket.PerPrincipal = 1
			s.catalog.Principal = func(context.Context) string { return "ada" }
		}, []string{"another", initMessage}, "1008 Too many connections"},
		{"a large message", func(s *setup) { s.opts.Limits.Body = 100 },
			begun(startMessage("1", strings.Repeat("x", 100))), "1009 Message too large"},
		{"a client that does not read", nil, begun(startMessage("1", "{__typename}"), ". 10500ms",
			next("1", typenameIs)), "1013 Too slow: messages were not read in time"},
		{"no JSON", nil, begun("> hello"), "4400 Invalid message: not a JSON object"},
		{"an unknown message", nil, begun(`> {"type":"start"}`), "4400 Invalid message: unknown type"},
		{"an operation before the connection", nil, []string{startMessage("1", "{__typename}")}, "4401 Unauthorized"},
		{"unauthenticated", refuse(resource.ErrUnauthenticated), []string{initMessage}, "4403 *"},
		{"forbidden", refuse(problem.New(problem.Forbidden, "Not you.")), []string{initMessage},
			"4403 Not you."},
		{"what was allowed expires", connect(func(ctx context.Context, _ []byte) (context.Context, time.Time,
			error) {
			return ctx, time.Now().Add(time.Minute), nil
		}), begun(". 59s", startMessage("1", "{__typename}"), next("1", typenameIs), completed("1")),
			"4403 Forbidden: the authorization has expired"},
		{"another protocol", nil, []string{"protocol graphql-ws"}, "4406 Subprotocol not acceptable"},
		{"no init in time", nil, nil, "4408 Connection initialisation timeout"},
		{"an id that is taken", slow, begun(startMessage("1", "{slow}"), startMessage("1", "{slow}")),
			"4409 Subscriber for 1 already exists"},
		{"a second init", nil, begun(initMessage), "4429 Too many initialisation requests"},
		{"the server's fault", refuse(errors.New("the database is gone")), []string{initMessage},
			"4500 Internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				// Clients of tests answer pings only while they read.
				change := []func(*setup){func(s *setup) {
					s.opts.Logger, s.opts.Socket.Ping = quiet,
						time.Hour
				}}
				if tt.change != nil {
					change = append(change, tt.change)
				}
				s := open(t, change...)
				var c *talker
				lines := tt.lines
				if len(lines) > 0 && strings.HasPrefix(lines[0], "protocol ") {
					conn, _, err := s.dial("/graphql", strings.TrimPrefix(lines[0], "protocol "))
					if err != nil {
						t.Fatal(err)
					}
					c, lines = &talker{t, conn}, nil
				} else {
					c = s.socket(t)
				}
				for _, line := range lines {
					switch line {
					case "shutdown":
						if err := s.Shutdown(t.Context()); err != nil {
							t.Error(err)
						}
					case "another":
						s.socket(t).talk(initMessage, ackMessage)
					default:
						c.talk(line)
					}
				}
				c.talk("x " + tt.end)
				t.Logf("%-40s %s", tt.name, tt.end)
			})
		})
	}
}

// TestOverWebSocket: queries and mutations in the order of the protocol, with the errors of the handler.
func TestOverWebSocket(t *testing.T) {
	t.Parallel()
	const paid = `mutation($id:ID!){patchOrder(id:$id,input:{status:paid}){id status}}`
	tests := []struct {
		name   string
		change func(*setup)
		lines  []string
	}{
		{"a query", nil, []string{startMessage("1", `{order(id:1){id customer{name}}}`),
			next("1", `{"data":{"order":{"id":"1","customer":{"name":"Ada"}}}}`), completed("1")}},
		{"a mutation", nil, []string{startMessage("1", paid, `"variables":{"id":2}`),
			next("1", `{"data":{"patchOrder":{"id":"2","status":"paid"}}}`), completed("1")}},
		{"one of several operations", nil, []string{startMessage("1", `query A{__typename} mutation B{__typename}`,
			`"operationName":"B"`),
			next("1", `{"data":{"__typename":"Mutation"}}`), completed("1")}},
		{"a field that fails", nil, []string{startMessage("1", `{a:order(id:1){id} b:orders(first:-1){totalCount}}`),
			`< {"id":"1","type":"next","payload":{"errors":[{"message":*`, completed("1")}},
		{"no document", nil, []string{startMessage("1", `{`),
			`< {"id":"1","type":"error","payload":[{"message":"Syntax Error*`}},
		{"not valid", nil, []string{startMessage("1", `{unknown}`),
			`< {"id":"1","type":"error","payload":[{"message":"Cannot query field*`}},
		{"variables that do not fit", nil, []string{startMessage("1", paid),
			`< {"id":"1","type":"error","payload":[{"message":"variable $id*`,
			startMessage("1", "{__typename}"), next("1", typenameIs), completed("1")}},
		{"no operation of that name", nil, []string{startMessage("1", `{__typename}`, `"operationName":"B"`),
			`< {"id":"1","type":"error","payload":[{"message":*`}},
		{"too deep", func(s *setup) { s.opts.Limits.Depth = 2 },
			[]string{startMessage("1", `{order(id:1){customer{name}}}`),
				`< {"id":"1","type":"error","payload":[{"message":*`}},
		{"too much", func(s *setup) { s.opts.Limits.Cost = 10 },
			[]string{startMessage("1", `{orders(first:100){nodes{id}}}`),
				`< {"id":"1","type":"error","payload":[{"message":*`}},
		{"two documents", nil, []string{startMessage("1", `{__typename}`, `"documentId":"a"`),
			`< {"id":"1","type":"error","payload":[{"message":"The body is not a valid*`}},
		{"a batch is no request", nil, []string{`> {"id":"1","type":"subscribe","payload":[]}`,
			"x 4400 Invalid message: the payload is not an object"}},
		{"a document that is not trusted", func(
			s *setup) {
			s.opts.Trusted = graphql.Documents{"a": "{__typename}"}
		},
			[]string{startMessage("1", "{orders{totalCount}}"),
				`< {"id":"1","type":"error","payload":[{"message":"Only registered*`}},
		{"a trusted document", func(s *setup) { s.opts.Trusted = graphql.Documents{"a": "{__typename}"} },
			[]string{`> {"id":"1","type":"subscribe","payload":{"documentId":"a"}}`, next("1", typenameIs),
				completed("1")}},
		{"a persisted document", nil, []string{
			`> {"id":"1","type":"subscribe","payload":{` + persistedQuery(hashOf("{__typename}")) + `}}`,
			`< {"id":"1","type":"error","payload":[{"message":"PersistedQueryNotFound*`,
			startMessage("1", "{__typename}", persistedQuery(hashOf("{__typename}"))), next("1", typenameIs),
			completed("1"),
			`> {"id":"1","type":"subscribe","payload":{` + persistedQuery(hashOf("{__typename}")) + `}}`,
			next("1", typenameIs), completed("1")}},
		{"no subscriptions without a feed", nil,
			[]string{startMessage("1", `subscription{orderChanged{cursor}}`),
				`< {"id":"1","type":"error","payload":[{"message":*`}},
		{"time is up", func(s *setup) { slow(s); s.opts.Timeout = time.Minute },
			[]string{startMessage("1", `{slow}`), `< {"id":"1","type":"next","payload":{"errors":[{"message":*`,
				completed("1")}},
		{"completed by the client", slow, []string{startMessage("1", "{slow}"), `> {"id":"1","type":"complete"}`,
			startMessage("1", "{__typename}"), next("1", typenameIs), completed("1")}},
		{"one too many", func(s *setup) { slow(s); s.opts.Socket.Operations = 1 },
			[]string{startMessage("1", "{slow}"), startMessage("2", "{slow}"),
				`< {"id":"2","type":"error","payload":[{"message":"The socket has too many ` +
					`operations.","extensions":{"code":"RATE_LIMITED"*`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				change := func(*setup) {}
				if tt.change != nil {
					change = tt.change
				}
				c := open(t, change).socket(t)
				c.talk(initMessage, ackMessage)
				c.talk(tt.lines...)
			})
		})
	}
}

// TestRefusalWaits: the text of a refusal does not change while it waits to be sent.
func TestRefusalWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t)
		c := serve(t, h, h).socket(t)
		c.talk(initMessage, ackMessage)
		for range 10 {
			c.talk(startMessage("1", "{__typename}"))
			synctest.Wait() // it is being written, since the client does not read
			c.talk(startMessage("2", `query($id:ID!){order(id:$id){id}}`))
			synctest.Wait() // it is refused, and waits until the other is written
			var others sync.WaitGroup
			for range 64 { // on every processor, as each has memory of its own to use again
				others.Go(func() { recorded(h, request(t, postGraphQL, jsonBody, "", typenameBody)) })
			}
			others.Wait()
			refused := 0
			for range 3 {
				if strings.HasPrefix(c.receive(),
					`< {"id":"2","type":"error","payload":[{"message":"variable $id`) {
					refused++
				}
			}
			if refused != 1 {
				t.Fatal("the refusal did not come as it was")
			}
		}
	})
}

// TestUpgrade checks which requests become WebSockets, and the responses to others.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	allowed := func(s *setup) { s.opts.Origins = []string{"https://app.example.com"} }
	tests := []struct {
		name   string
		change func(*setup)
		target string
		fields []string
		status int
	}{
		{"a program", nil, "/graphql", nil, 101},
		{"a page of ours", nil, "/graphql", []string{"Origin: https://api.example.com"}, 101},
		{"a page of others", nil, "/graphql", []string{"Origin: https://evil.example"}, 403},
		{"a page that is named", allowed, "/graphql", []string{"Origin: https://app.example.com"}, 101},
		{"one that is not", allowed, "/graphql", []string{"Origin: https://app.example.org"}, 403},
		{"with a key", nil, "/graphql", []string{`Idempotency-Key: "k"`}, 400},
		{"no WebSockets: the page", func(s *setup) { s.opts.Socket.None = true }, "/graphql",
			[]string{"Accept: text/html"}, 200},
		{"the schema is none", nil, "/graphql/schema.graphql", nil, 200},
		{"nothing is there", nil, "/graphql/x", nil, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				change := func(*setup) {}
				if tt.change != nil {
					change = tt.change
				}
				conn, res, _ := open(t, change).dial(tt.target, speaks, tt.fields...)
				if res == nil || res.StatusCode != tt.status {
					t.Fatalf("the answer is %+v, want %d", res, tt.status)
				}
				if conn != nil {
					(&talker{t, conn}).talk(initMessage, ackMessage)
					conn.Close(websocket.StatusNormalClosure, "")
				} else if tt.status >= 400 && res.Header.Get("Content-Type") != problem.MediaType {
					t.Errorf("the answer is %s", res.Header.Get("Content-Type"))
				}
			})
		})
	}
}

// TestConnect: Connect sets the principal; otherwise it is that of the request.
func TestConnect(t *testing.T) {
	t.Parallel()
	whoAmI := func(s *setup) {
		s.opts.Fields = append(s.opts.Fields, graphql.Query("me",
			func(ctx context.Context, _ struct{}) (string, error) {
				name, _ := ctx.Value(callerKey{}).(string)
				return name, nil
			}, nil))
	}
	byPayload := func(s *setup) {
		s.opts.Socket.Connect = func(ctx context.Context, payload []byte) (context.Context, time.Time,
			error) {
			if payload == nil {
				return nil, time.Time{}, nil
			}
			return context.WithValue(ctx, callerKey{}, string(payload)), time.Time{}, nil
		}
	}
	asked := []string{startMessage("1", "{me}")}
	is := func(name string) []string {
		return append(asked, next("1", fmt.Sprintf(`{"data":{"me":%q}}`, name)), completed("1"))
	}
	tests := []struct {
		name   string
		change func(*setup)
		within time.Duration // deadline of the request; 0 is none
		lines  []string
	}{
		{"the request", whoAmI, 0, append([]string{initMessage, ackMessage}, is("bob")...)},
		{"the request, if Connect has nothing to add", func(s *setup) { whoAmI(s); byPayload(s) }, 0,
			append([]string{initMessage, ackMessage}, is("bob")...)},
		{"the payload", func(s *setup) { whoAmI(s); byPayload(s) }, 0,
			append([]string{`> {"type":"connection_init","payload":{"token": 1}}`, ackMessage},
				is(`{"token": 1}`)...)},
		{"a deadline of the request", whoAmI, time.Minute,
			append(append([]string{initMessage, ackMessage, ". 59s"}, is("bob")...),
				"x 4403 Forbidden: the authorization has expired")},
		{"a deadline of the request, and a later one", func(s *setup) {
			s.opts.Socket.Connect = func(ctx context.Context, _ []byte) (context.Context, time.Time, error) {
				return ctx, time.Now().Add(time.Hour), nil
			}
		}, time.Minute, []string{initMessage, ackMessage, "x 4403 Forbidden: the authorization has expired"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newTestHandler(t, tt.change, func(s *setup) { s.opts.Socket.Ping = time.Hour })
				outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					ctx := context.WithValue(r.Context(), callerKey{}, "bob")
					if tt.within > 0 {
						var cancel context.CancelFunc
						ctx, cancel = context.WithTimeout(ctx, tt.within)
						defer cancel()
					}
					h.ServeHTTP(w, r.WithContext(ctx))
				})
				serve(t, outer, h).socket(t).talk(tt.lines...)
			})
		})
	}
}

// TestSocketOfContract: a socket speaks the contract that its upgrade names, by path, header or parameter.
func TestSocketOfContract(t *testing.T) {
	t.Parallel()
	const order, purchase = `{order(id:"1"){__typename}}`, `{purchase(id:"1"){__typename}}`
	tests := []struct {
		name, target, query, typ string
		fields                   []string
	}{
		{"the default", "/graphql", order, "Order", nil},
		{"the path", "/v1/graphql", purchase, "Purchase", nil},
		{"a header", "/graphql", purchase, "Purchase", []string{"API-Version: 1"}},
		{"a parameter", "/graphql?version=1", purchase, "Purchase", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				old := newTestHandler(t, func(s *setup) { s.opts.Names = map[string]string{"orders": "Purchase"} })
				now := newTestHandler(t)
				api := version.New([]version.Contract{{Name: "1.0.0", Handler: old},
					{Name: "2.0.0", Handler: now}},
					[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.Query{}},
					&version.Options{Default: "2.0.0"})
				conn, res, err := serve(t, api, old, now).dial(tt.target, speaks, tt.fields...)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.CloseNow()
				if res.Header.Get("Vary") == "" {
					t.Error("the answer does not say that it depends on the version")
				}
				key := strings.ToLower(tt.typ)
				(&talker{t, conn}).talk(initMessage, ackMessage, startMessage("1", tt.query),
					next("1", fmt.Sprintf(`{"data":{%q:{"__typename":%q}}}`, key, tt.typ)), completed("1"))
			})
		})
	}
}

// TestShutdown: Shutdown waits for operations with one response and rejects new ones.
func TestShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, func(s *setup) {
			s.opts.Fields = append(s.opts.Fields,
				graphql.Query("soon", func(context.Context, struct{}) (string, error) {
					time.Sleep(2 * time.Second)
					return "now", nil
				}, nil))
		})
		s := serve(t, h)
		c := s.socket(t)
		c.talk(initMessage, ackMessage, startMessage("1", "{soon}"))
		synctest.Wait()
		began := time.Now()
		done := make(chan error)
		go func() { done <- h.Shutdown(t.Context()) }()
		synctest.Wait()
		if _, res, err := s.dial("/graphql", speaks); err == nil || res.StatusCode != 503 ||
			res.Header.Get("Retry-After") == "" {
			t.Errorf("a new client is answered with %+v, %v", res, err)
		}
		c.talk(next("1", `{"data":{"soon":"now"}}`), completed("1"), "x 1001 Going away")
		if err := <-done; err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("Shutdown took %v: %v", time.Since(began), err)
		}
	})
}
