package transportws_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// TestFrames checks invalid frames, and valid frames in unusual forms. RFC 6455 defines the close
// codes that the protocol does not.
func TestFrames(t *testing.T) {
	t.Parallel()
	opts := &transportws.Options{Message: 1000}
	large := func(n int) []byte {
		return []byte(`{"type":"ping","payload":{"a":"` + strings.Repeat("x", n-35) + `"}} `)
	}
	many := func(frames ...frame) []frame { return frames }
	tests := []struct {
		name   string
		frames []frame
		want   string
	}{
		{"binary", many(frame{fin | binaryData, []byte(`{"type":"ping"}`)}),
			"x 4400 Invalid message: not a text message"},
		{"in pieces", many(frame{text, []byte(`{"type":`)}, frame{continuation, nil},
			frame{fin | continuation, []byte(`"ping"}`)}), `< {"type":"pong"}`},
		{"a ping between pieces", many(frame{text, []byte(`{"type":`)}, frame{fin | ping, []byte("a")},
			frame{fin | continuation, []byte(`"ping"}`)}),
			`frame 0x8a "a"`},
		{"as large as may be", many(frame{fin | text, large(1000)}), `< {"type":"pong","payload":{"a":"` +
			strings.Repeat("x", 965) + `"}}`},
		{"larger", many(frame{fin | text, large(1001)}), "x 1009 Message too large"},
		{"larger, in pieces", many(frame{text, large(900)}, frame{fin | continuation, large(900)}),
			"x 1009 Message too large"},
		{"much larger", many(frame{fin | text, large(1 << 20)}), "x 1009 Message too large"},
		{"reserved bit", many(frame{fin | 0x40 | text, []byte(`{"type":"ping"}`)}), "x 1002 "},
		{"unknown opcode", many(frame{fin | 0x3, nil}), "x 1002 "},
		{"continuation of nothing", many(frame{fin | continuation, nil}), "x 1002 "},
		{"a message within a message", many(frame{text, nil}, frame{fin | text, nil}), "x 1002 "},
		{"a ping in pieces", many(frame{ping, nil}), "x 1002 "},
		{"a ping that is too large", many(frame{fin | ping, large(200)}), "x 1002 "},
		{"the client closes", many(frame{fin | closing, append([]byte{3, 232}, "bye"...)}), "x 1000 bye"},
		{"the client closes without a code", many(frame{fin | closing, nil}), `frame 0x88 ""`},
		{"a close frame of one byte", many(frame{fin | closing, []byte{3}}), "x 1002 "},
		{"a code that may not be sent", many(frame{fin | closing, []byte{3, 238}}), "x 1002 "},
		{"a ping of RFC 6455", many(frame{fin | ping, []byte("abc")}), `frame 0x8a "abc"`},
		{"a pong of RFC 6455, and then a ping",
			many(frame{fin | pong, []byte("abc")}, frame{fin | text, []byte(`{"type":"ping"}`)}),
			`< {"type":"pong"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newSite(t, opts).connect(t)
				go func() { // the server may not read all of it
					for _, f := range tt.frames {
						p.write(f.head, f.payload)
					}
					if strings.HasPrefix(tt.want, "x ") {
						p.write(fin|closing, nil)
					}
				}()
				got := p.receive()
				if strings.HasPrefix(tt.want, "x 1002") { // the library writes the reason
					got = got[:min(len(got), len(tt.want))]
				}
				if got != tt.want {
					t.Fatalf("got  %s\nwant %s", got, tt.want)
				}
				if strings.HasPrefix(tt.want, "x ") {
					p.ended()
				}
			})
		})
	}
}

// TestUnmasked checks that an unmasked frame is rejected (RFC 6455 section 5.1).
func TestUnmasked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newSite(t, nil).connect(t)
		io.WriteString(p.conn, "\x81\x0f"+`{"type":"ping"}`)
		p.ended()
	})
}

// TestSizes checks that results of all sizes are sent as one frame each, around the limits of
// length encodings and buffers.
func TestSizes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newSite(t, nil).connect(t)
		around := len(`{"id":"1","type":"next","payload":{"data":""}}`)
		for _, size := range []int{46, 120, 124, 125, 126, 127, 128, 129, 130, 512, 4095, 4096, 4097, 65533,
			65534, 65535, 65536, 65537, 1 << 20} {
			before := p.writes.Load()
			p.talk(startMessage("1", fmt.Sprintf("stream large %d; wait", size-around)))
			f := <-p.frames
			if n := p.writes.Load() - before; size <= 60_000 && n != 1 {
				t.Errorf("%d bytes were written in %d parts", size, n)
			}
			if f.head != fin|text || len(f.payload) != size ||
				!strings.HasSuffix(string(f.payload[size-3:]), `"}}`) {
				t.Errorf("%d bytes came as a frame %#x with %d", size, f.head, len(f.payload))
			}
			p.talk(`> {"id":"1","type":"complete"}`, "=")
		}
		p.talk("@ 0s") // no message waited for the next one
	})
}

// TestMaxOperations checks that an operation above the limit is rejected and that its id can be
// used again.
func TestMaxOperations(t *testing.T) {
	t.Parallel()
	const refused = `< {"id":"3","type":"error","payload":[{"message":"The socket has too many ` +
		`operations.",` +
		`"extensions":{"code":"RATE_LIMITED",` +
		`"type":"https://iana.org/assignments/http-problem-types#quota-exceeded"}}]}`
	converse(t, []conversation{
		{"one too many", &transportws.Options{Operations: 2}, false,
			[]string{startMessage("1", "wait"), startMessage("2", "wait"), startMessage("3", "next 1"), refused,
				`> {"id":"1","type":"complete"}`, startMessage("3", "next 1"),
				`< {"id":"3","type":"next","payload":{"data":1}}`, `< {"id":"3","type":"complete"}`}},
		{"those that do not end count double", &transportws.Options{Operations: 1}, false, []string{
			startMessage("1", "deaf 1m"), `> {"id":"1","type":"complete"}`, startMessage("2", "deaf 1m"),
			`> {"id":"2","type":"complete"}`,
			startMessage("3", "next 1"), refused, ". 2m", startMessage("3", "next 1"),
			`< {"id":"3","type":"next","payload":{"data":1}}`, `< {"id":"3","type":"complete"}`}},
		{"a hundred by default", nil, false, append(repeat(100,
			func(i int) string { return startMessage(fmt.Sprint("x", i), "wait") }), "=", startMessage("3", "next 1"),
			refused)},
	})
}

func repeat(n int, line func(int) string) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = line(i)
	}
	return lines
}

// TestRate checks that a client that sends too many messages is closed.
func TestRate(t *testing.T) {
	t.Parallel()
	opts := &transportws.Options{Rate: 10, Burst: 5}
	pong := func(int) string { return `> {"type":"pong"}` }
	converse(t, []conversation{
		{"a burst", opts, false, append(repeat(4, pong), "=", ". 1h", "=")},
		{"one more", opts, false, append(repeat(5, pong), "x 1008 Too many messages")},
		{"as fast as may be", opts, false, append(repeat(200,
			func(i int) string { return []string{`> {"type":"pong"}`, ". 100ms"}[i%2] }), "=")},
		{"faster", opts, false, append(repeat(18,
			func(i int) string { return []string{`> {"type":"pong"}`, ". 50ms"}[i%2] }),
			"x 1008 Too many messages")},
		{"a burst again", opts, false, append(append(repeat(4, pong), ". 500ms"),
			append(repeat(5, pong), "=", ". 500ms", "=")...)},
	})
}

// TestSocketsPerPrincipal checks the limit of sockets per principal, and that a closed socket does not
// count.
func TestSocketsPerPrincipal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, &transportws.Options{Sockets: 2, Principal: func(ctx context.Context) string {
			name, _ := ctx.Value(userKey{}).(string)
			return name
		}})
		s.Script.Begin = func(ctx context.Context, payload []byte) (context.Context, time.Time, error) {
			return context.WithValue(ctx, userKey{}, string(payload)), time.Time{}, nil
		}
		as := func(name string) *probe {
			p := s.dial(t)
			p.talk(`> {"type":"connection_init","payload":{"name":"` + name + `"}}`)
			return p
		}
		first := as("a")
		first.talk(ackMessage)
		as("a").talk(ackMessage)
		as("b").talk(ackMessage)
		third := as("a")
		third.talk("x 1008 Too many connections")
		third.write(fin|closing, nil)
		first.conn.Close()
		synctest.Wait()
		as("a").talk(ackMessage)
		for range 3 {
			s.connect(t) // without a principal
		}
	})
}

// TestServerPings checks that the server pings each client every 30 seconds.
func TestServerPings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := s.connect(t)
		p.talk(startMessage("1", "stream next 1; wait"), `< {"id":"1","type":"next","payload":{"data":1}}`, ". 95s",
			"=")
		if got := p.pings.Load(); got != 3 {
			t.Errorf("%d pings in 95 seconds, want 3", got)
		}
		p.deaf.Store(true)
		p.talk(". 34999ms", "=")
		if s.Len() != 1 {
			t.Errorf("%d sockets", s.Len())
		}
		p.talk(". 1ms")
		p.ended()
		if diff := cmp.Diff([]string{"wait: transportws: the client has disconnected"},
			s.Script.recorded()); diff != "" {
			t.Errorf("what the operation saw (-want +got):\n%s", diff)
		}
		if s.Len() != 0 {
			t.Errorf("%d sockets are left", s.Len())
		}
	})
}

// TestDisconnect checks that operations end if the client disconnects without a close frame.
func TestDisconnect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := s.connect(t)
		p.talk(startMessage("1", "stream wait"), startMessage("2", "sleep 1h"), "=")
		p.conn.Close()
		if diff := cmp.Diff([]string{"wait: transportws: the client has disconnected"},
			s.Script.recorded()); diff != "" {
			t.Errorf("what the operation saw (-want +got):\n%s", diff)
		}
		if s.Len() != 0 || s.Log.Len() > 0 {
			t.Errorf("%d sockets are left; log: %s", s.Len(), s.Log)
		}
	})
}

// TestDisconnectDuringInit checks that a disconnect during Init is not logged as an error.
func TestDisconnectDuringInit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		s.Script.Begin = func(ctx context.Context, _ []byte) (context.Context, time.Time, error) {
			<-ctx.Done()
			return nil, time.Time{}, fmt.Errorf("sessions: %w", ctx.Err())
		}
		p := s.dial(t)
		p.talk(`> {"type":"connection_init"}`)
		synctest.Wait()
		p.conn.Close()
		synctest.Wait()
		if s.Len() != 0 || s.Log.Len() > 0 {
			t.Errorf("%d sockets are left; log: %s", s.Len(), s.Log)
		}
	})
}

// TestSlowMessage checks that Options.Read limits the time for a message from its first byte.
func TestSlowMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := s.connect(t)
		p.talk(". 59m45s") // the limit does not apply between messages
		io.WriteString(p.conn, "\x81\x8f\x00\x00\x00\x00{")
		for range 9 {
			time.Sleep(time.Second)
			io.WriteString(p.conn, " ")
		}
		p.talk("=", ". 1s")
		p.ended()
	})
}

// TestCloseUnanswered checks that closing does not wait for a client that does not respond, even within a
// message.
func TestCloseUnanswered(t *testing.T) {
	t.Parallel()
	head := string(frameHead(fin|text, 0x80, 900)) + "\x00\x00\x00\x00"
	tests := []struct{ name, query, sends, want, then string }{
		{"too large", "wait", string(frameHead(fin|text, 0x80, 1<<20)) + strings.Repeat("\x00", 4+2000),
			"x 1009 Message too large", ""},
		{"closed while it sends", "sleep 1s; close 4403", head + "{", "x 4403 as asked", ""},
		{"closed while it sends, and it sends more", "sleep 1s; close 4403", head + "{", "x 4403 as asked",
			strings.Repeat(" ", 899) + head + "{"},
		{"closed", "sleep 1s; close 4403", "", "x 4403 as asked", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, &transportws.Options{Message: 1000})
				p := s.connect(t)
				p.talk(startMessage("1", tt.query))
				go io.WriteString(p.conn, tt.sends)
				p.talk(tt.want)
				go io.WriteString(p.conn, tt.then)
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if s.Len() != 0 {
					t.Errorf("%d sockets after 5 seconds", s.Len())
				}
			})
		})
	}
}

// stall returns a client that has stopped reading, and starts an operation that writes until the
// server detects it.
func stall(t *testing.T, s *site) *probe {
	t.Helper()
	p := s.ask(t, upgrade(speaks))
	p.write(fin|text, []byte(`{"type":"connection_init"}`))
	if f, err := p.next(); err != nil || f.String() != ackMessage {
		t.Fatal(f, err)
	}
	p.talk(startMessage("1", "large 200000; large 200000"))
	synctest.Wait() // the stalled operation writes first
	return p
}

// TestStalled checks that a client that does not read a message within ten seconds is closed, and
// receives the reason if it reads again.
func TestStalled(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		awake time.Duration // when it begins to read again
		want  []string
	}{
		{"for a while", 9 * time.Second, []string{"next", "next", `< {"id":"1","type":"complete"}`}},
		{"too long", 10*time.Second + 500*time.Millisecond,
			[]string{"next", "x 1013 Too slow: messages were not read in time"}},
		{"for ever", time.Minute, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				other := s.connect(t)
				p := stall(t, s)
				other.talk(startMessage("1", "next 1"), `< {"id":"1","type":"next","payload":{"data":1}}`,
					`< {"id":"1","type":"complete"}`)
				time.Sleep(tt.awake)
				var got []string
				for {
					f, err := p.next()
					if err != nil {
						break
					}
					said := f.String()
					if len(said) > 1000 {
						said = "next"
					}
					got = append(got, said)
					if f.head == fin|closing || len(got) == len(tt.want) {
						break
					}
				}
				p.conn.Close()
				synctest.Wait()
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("what was read (-want +got):\n%s", diff)
				}
				other.talk(startMessage("1", "next 1"), `< {"id":"1","type":"next","payload":{"data":1}}`,
					`< {"id":"1","type":"complete"}`)
				if s.Len() != 1 {
					t.Errorf("%d sockets, want the other one", s.Len())
				}
			})
		})
	}
}

// TestStalledInTime checks that a stalled client is closed one second after the limit, regardless
// of the number of its operations and of partial reads.
func TestStalledInTime(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		read func(p *probe) // behavior of the client
	}{
		{"reads nothing", func(*probe) {}},
		{"takes some bytes now and then", func(p *probe) {
			for range 20 {
				time.Sleep(time.Second)
				io.ReadFull(p.r, make([]byte, 10_000))
			}
		}},
		{"takes a part of the message in the last moment", func(p *probe) {
			time.Sleep(9 * time.Second)
			io.ReadFull(p.r, make([]byte, 128<<10))
		}},
		{"reads all at last, and does not answer", func(p *probe) {
			time.Sleep(10*time.Second + 500*time.Millisecond)
			io.Copy(io.Discard, p.r)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				p := stall(t, s)
				for i := range 5 {
					p.talk(startMessage(fmt.Sprint("other", i), "stream next 1; next 2; wait"))
				}
				go tt.read(p)
				time.Sleep(11*time.Second - time.Millisecond)
				synctest.Wait()
				if s.Len() != 1 {
					t.Errorf("%d sockets within 11 seconds", s.Len())
				}
				time.Sleep(2 * time.Millisecond) // several events at the same instant have no order
				synctest.Wait()
				if s.Len() != 0 {
					t.Errorf("%d sockets after 11 seconds", s.Len())
				}
				if n := len(s.Script.recorded()); n != 6 {
					t.Errorf("%d operations have seen that they are not wanted, want 6", n)
				}
				p.conn.Close()
				time.Sleep(10 * time.Second) // for the client
			})
		})
	}
}

func TestHandshake(t *testing.T) {
	t.Parallel()
	opts := &transportws.Options{Origins: map[string]bool{"https://app.example.com": true}}
	tests := []struct {
		name, head string
		status     int
		header     map[string]string
	}{
		{"of a program", upgrade(speaks), 101,
			map[string]string{"Sec-Websocket-Protocol": "graphql-transport-ws",
				"Sec-Websocket-Extensions": ""}},
		{"several protocols", upgrade("Sec-WebSocket-Protocol: graphql-ws, graphql-transport-ws"), 101,
			map[string]string{"Sec-Websocket-Protocol": "graphql-transport-ws"}},
		{"compression is off", upgrade(speaks, "Sec-WebSocket-Extensions: permessage-deflate"), 101,
			map[string]string{"Sec-Websocket-Extensions": ""}},
		{"of a page of ours", upgrade(speaks, "Origin: https://api.example.com"), 101, nil},
		{"of a page of ours, in other letters", upgrade(speaks, "Origin: HTTPS://API.example.com"), 101, nil},
		{"of an origin that may", upgrade(speaks, "Origin: https://app.example.com"), 101, nil},
		{"of its other scheme", upgrade(speaks, "Origin: http://app.example.com"), 403, nil},
		{"of a foreign page", upgrade(speaks, "Origin: https://evil.example"), 403,
			map[string]string{"Content-Type": "application/problem+json"}},
		{"of another port", upgrade(speaks, "Origin: https://api.example.com:8443"), 403, nil},
		{"of a host that begins like ours", upgrade(speaks, "Origin: https://api.example.com.evil.example"),
			403, nil},
		{"of a sandbox", upgrade(speaks, "Origin: null"), 403, nil},
		{"of two origins", upgrade(speaks, "Origin: https://api.example.com", "Origin: https://evil.example"),
			403, nil},
		{"no upgrade", "GET / HTTP/1.1\r\nHost: a\r\n", 426,
			map[string]string{"Upgrade": "websocket", "Connection": "Upgrade",
				"Content-Type": "application/problem+json"}},
		{"by POST", strings.Replace(upgrade(speaks), "GET", "POST", 1), 405,
			map[string]string{"Allow": "GET"}},
		{"an old version", strings.Replace(upgrade(speaks), "Version: 13", "Version: 8", 1), 400,
			map[string]string{"Sec-Websocket-Version": "13"}},
		{"no key", strings.Replace(upgrade(speaks), "Sec-WebSocket-Key", "X-Key", 1), 400,
			map[string]string{"Sec-Websocket-Accept": ""}},
		{"a short key", strings.Replace(upgrade(speaks), "dGhl", "", 1), 400, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newSite(t, opts).ask(t, tt.head)
				if p.Answer.StatusCode != tt.status {
					t.Errorf("status %d, want %d", p.Answer.StatusCode, tt.status)
				}
				for name, want := range tt.header {
					if got := p.Answer.Header.Get(name); got != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
			})
		})
	}
}

// TestSubprotocol checks that a client without the subprotocol is closed with a code that GraphQL
// clients handle.
func TestSubprotocol(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Sec-WebSocket-Protocol: graphql-ws", "X-None: at all",
		"Sec-WebSocket-Protocol: GraphQL-Transport-WS",
		"Sec-WebSocket-Protocol: graphql-transport-ws2"} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newSite(t, nil).ask(t, upgrade(line))
				go p.read()
				p.talk("x 4406 Subprotocol not acceptable")
				p.write(fin|closing, nil)
				p.ended()
			})
		})
	}
}

// TestEarlyMessages checks that a client may send messages before it receives the response to the upgrade.
func TestEarlyMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		p := s.ask(t, upgrade(speaks)+"\r\n\r\n\x81\x9a\x00\x00\x00\x00"+`{"type":"connection_init"}`)
		go p.read()
		p.talk(ackMessage)
	})
}

func TestAsked(t *testing.T) {
	t.Parallel()
	tests := []struct {
		upgrade []string
		want    bool
	}{
		{nil, false}, {[]string{"websocket"}, true}, {[]string{"WebSocket"}, true}, {[]string{"h2c"}, false},
		{[]string{"h2c, websocket"}, true}, {[]string{"h2c", "websocket"}, true},
		{[]string{"websockets"}, false},
	}
	for _, tt := range tests {
		if got := transportws.Asked(&http.Request{Header: http.Header{"Upgrade": tt.upgrade}}); got != tt.want {
			t.Errorf("Upgrade: %q: %t, want %t", tt.upgrade, got, tt.want)
		}
	}
}
