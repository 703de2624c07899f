package main_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

// listener is a client with an event stream.
type listener struct {
	*http.Response
	frames *bufio.Scanner
	cursor string // of the last frame
}

// listen opens a stream after a cursor. The empty cursor means now. Each of header is a line.
func (s *shop) listen(path, after string, header ...string) *listener {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.Header.Set("Accept", "text/event-stream"); after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { resp.Body.Close() })
	frames := bufio.NewScanner(resp.Body)
	frames.Split(func(data []byte, _ bool) (int, []byte, error) {
		if frame, _, ok := strings.Cut(string(data), "\n\n"); ok {
			return len(frame) + 2, []byte(frame), nil
		}
		return 0, nil, nil
	})
	return &listener{Response: resp, frames: frames}
}

// receive returns the next n events, one per line, and fewer if the stream ends.
func (l *listener) receive(n int) (events []string) {
	for len(events) < n && l.frames.Scan() {
		var kind, data string
		for line := range strings.Lines(l.frames.Text()) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				l.cursor = value
			case "event":
				kind = value
			case "data":
				data = value
			}
		}
		if kind != "" {
			events = append(events, kind+" "+data)
		}
	}
	return events
}

// position returns the current cursor of the feed. A list does not wait for a slow log and may have
// no cursor, so position retries.
func (s *shop) position(header ...string) string {
	s.t.Helper()
	for {
		resp, body := s.send("GET", "/orders?limit=1", "", header...)
		if at := resp.Header.Get("Event-Cursor"); at != "" {
			return at
		}
		if resp.StatusCode != 200 {
			s.t.Fatalf("%d without Event-Cursor: %s", resp.StatusCode, body)
		}
	}
}

// want sends a request that must succeed.
func (s *shop) want(method, path, body string, header ...string) {
	s.t.Helper()
	if resp, got := s.send(method, path, body, header...); resp.StatusCode/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, resp.StatusCode, got)
	}
}

// until repeats a GET until the response contains the result of a job.
func (s *shop) until(path, want string) {
	s.t.Helper()
	for body := ""; body != want; {
		var resp *http.Response
		if resp, body = s.send("GET", path, ""); resp.StatusCode != 200 {
			s.t.Fatalf("GET %s: %d %s", path, resp.StatusCode, body)
		}
	}
}

// A client with a cursor resumes after the shop was killed and restarted, and misses no event.
func TestFeedOutlivesTheShop(t *testing.T) {
	t.Parallel()
	for name, source := range durable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := source(t)
			s := open(t, "-db", db)
			start := s.position()
			l := s.listen("/v1.0/orders?status=paid", start)
			s.want("PATCH", "/orders/3", `{"status":"paid"}`, asMergePatch)
			// A patch without a change has no event.
			s.want("PATCH", "/orders/3", `{"status":"paid"}`, asMergePatch)
			first := `created {"id":3,"status":"paid","itemId":42,"qty":1}`
			if diff := cmp.Diff([]string{first}, l.receive(1)); diff != "" {
				t.Errorf("events of a subscriber (-want +got):\n%s", diff)
			}
			s.want("PATCH", "/orders/3", `{"status":"shipped"}`, asMergePatch)
			s.want("DELETE", "/orders/2", "")
			s.cmd.Process.Signal(syscall.SIGKILL)
			s.cmd.Wait()

			s = open(t, "-db", db)
			s.want("PATCH", "/v1.1/orders/1", `{"status":"paid"}`, asMergePatch)
			rest := []string{
				`deleted {"id":3}`,
				`deleted {"id":2}`,
				`created {"id":1,"status":"paid","itemId":7,"qty":2}`,
			}
			if diff := cmp.Diff(rest, s.listen("/v1.0/orders?status=paid", l.cursor).receive(3)); diff != "" {
				t.Errorf("events after the last cursor (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{first}, rest...),
				s.listen("/v1.0/orders?status=paid", start).receive(4)); diff != "" {
				t.Errorf("events after the first cursor (-want +got):\n%s", diff)
			}
		})
	}
}

// A shop in memory answers a cursor from before a restart with 410 (Gone), and reports on start
// that events are lost.
func TestFeedInMemoryIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory")
	cursor := s.position()
	s.close(syscall.SIGTERM)
	s = open(t, "-db", "memory")
	if l := s.listen("/orders", cursor); l.StatusCode != 410 {
		t.Errorf("a cursor of the previous process returned %d", l.StatusCode)
	}
	report := strings.Join(s.report, "\n")
	if !strings.Contains(report, "events: in the transaction of each write") ||
		!strings.Contains(report, "events: the data is lost") {
		t.Errorf("the report lacks the guarantee of events:\n%s", report)
	}
}

// A change over REST or GraphQL is reported in every contract, in its representation.
func TestFeedOfEveryProtocol(t *testing.T) {
	t.Parallel()
	sources := durable()
	sources["memory"] = func(*testing.T) string { return "memory" }
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "-db", source(t))
			start := s.position()
			s.want("PATCH", "/v1.0/orders/1", `{"qty":5}`, asMergePatch)
			s.want("POST", "/graphql",
				`{"query":"mutation { patchOrder(id: 2, input: {note: \"x\"}) { id } }"}`, asJSON)
			s.want("POST", "/orders",
				`{"operations":[{"op":"delete","id":"1"},{"op":"patch","id":"2","patch":{"note":null}}]}`,
				"Content-Type: application/vnd.stoa.batch+json")
			s.send("POST", "/orders", `{"operations":[{"op":"delete","id":"2"},{"op":"delete","id":"9"}]}`,
				"Content-Type: application/vnd.stoa.batch+json") // no event
			s.want("POST", "/orders/cancel-stale", `{"olderThan":"0s"}`, asJSON)
			s.until("/orders/3?fields=status", `{"status":"cancelled"}`)
			for range 2 {
				s.want("POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`, asJSON, `Idempotency-Key: "k"`)
			}
			s.want("POST", "/places/import", `{"id":"utopia","name":"Utopia","country":"XX"}`+"\n",
				"Content-Type: application/x-ndjson")
			want := []string{
				`updated {"id":1,"status":"shipped","qty":5}`,
				`updated {"id":2,"status":"paid","qty":10}`,
				`deleted {"id":1}`,
				`updated {"id":2,"status":"paid","qty":10}`,
				`updated {"id":3,"status":"cancelled","qty":1}`,
				`created {"id":4,"status":"placed","qty":1}`,
			}
			if diff := cmp.Diff(want,
				s.listen("/v1.1/orders?fields=id,status,qty", start).receive(6)); diff != "" {
				t.Errorf("orders (-want +got):\n%s", diff)
			}
			want = []string{`created {"id":"utopia","name":"Utopia"}`}
			if diff := cmp.Diff(want, s.listen("/places?fields=id,name", start).receive(1)); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			body := fmt.Sprintf(
				`{"query":"subscription { orderChanged(id: 3, after: \"%s\") { kind order { status } } }"}`,
				start)
			r, _ := http.NewRequestWithContext(t.Context(), "POST", s.url+"/graphql", strings.NewReader(body))
			r.Header.Set("Accept", "text/event-stream")
			r.Header.Set("Content-Type", "application/json")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
					if want := `{"data":{"orderChanged":{"kind":"UPDATED","order":{"status":"cancelled"}}}}`; data != want {
						t.Errorf("GraphQL: %s, want %s", data, want)
					}
					break
				}
			}
		})
	}
}

// token logs in a user with the name as the password.
func (s *shop) token(name string) string {
	s.t.Helper()
	_, body := s.send("POST", "/auth/login",
		fmt.Sprintf(`{"email":"%s@example.com","password":"%[1]s"}`, name), asJSON)
	return "Authorization: Bearer " + strings.Split(body, `"`)[3]
}

// Customers receive events of their own orders. After a logout their streams end.
func TestFeedOfCustomers(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory", "-auth")
	if l := s.listen("/orders", ""); l.StatusCode != 401 || l.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a token: %d", l.StatusCode)
	}
	ann, bob, other := s.token("ann"), s.token("bob"), s.token("bob")
	start := s.position(bob)
	bobs := s.listen("/orders?fields=id,note", start, bob)
	socket := s.subscribe(t, other, `subscription { orderChanged(after: "`+start+`") { kind id } }`)
	s.want("PATCH", "/orders/2", `{"note":"of cat"}`, asMergePatch, ann)
	s.want("PATCH", "/orders/1", `{"note":"of bob"}`, asMergePatch, ann)
	s.want("PATCH", "/orders/2", `{"customerId":2}`, asMergePatch, ann)
	s.want("PATCH", "/orders/1", `{"customerId":3}`, asMergePatch, ann)
	want := []string{
		`updated {"id":1,"note":"of bob"}`,
		`created {"id":2,"note":"of cat"}`,
		`deleted {"id":1}`,
	}
	if diff := cmp.Diff(want, bobs.receive(3)); diff != "" {
		t.Errorf("bob's events (-want +got):\n%s", diff)
	}
	for _, want := range []string{"UPDATED 1", "CREATED 2", "DELETED 1"} {
		kind, id, _ := strings.Cut(want, " ")
		if got := read(t, socket); !strings.Contains(got, fmt.Sprintf(`{"kind":"%s","id":"%s"}`, kind, id)) {
			t.Errorf("bob's socket received %s, want %s", got, want)
		}
	}
	s.want("POST", "/auth/logout", "{}", asJSON, bob)
	s.want("PATCH", "/orders/2", `{"note":"of nobody's business"}`, asMergePatch, ann)
	if got := bobs.receive(1); len(got) > 0 {
		t.Errorf("after logout the stream received %q", got)
	}
	if got := read(t, socket); strings.Contains(got, `"kind"`) {
		t.Errorf("after logout the socket received %s", got)
	}
	if l := s.listen("/orders", bobs.cursor, bob); l.StatusCode != 401 {
		t.Errorf("a revoked token: %d", l.StatusCode)
	}
}

// subscribe opens a WebSocket as a browser does, with the token in the first message.
func (s *shop) subscribe(t *testing.T, token, document string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), s.url+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	name, value, _ := strings.Cut(token, ": ")
	say := func(text string) {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	say(fmt.Sprintf(`{"type":"connection_init","payload":{%q:%q}}`, name, value))
	if got := read(t, c); !strings.Contains(got, `"connection_ack"`) {
		t.Fatalf("the socket received %s", got)
	}
	say(fmt.Sprintf(`{"type":"subscribe","id":"1","payload":{"query":%q}}`, document))
	return c
}

// read returns the next message, or the close status.
func read(t *testing.T, c *websocket.Conn) string {
	t.Helper()
	_, message, err := c.Read(t.Context())
	if err != nil {
		return err.Error()
	}
	return string(message)
}

// On shutdown the shop does not wait for subscribers. Their streams end, and clients reconnect.
func TestStreamsEndWithTheShop(t *testing.T) {
	t.Parallel()
	s := open(t)
	l, socket := s.listen("/orders", ""), s.subscribe(t, "x: y", `subscription { orderChanged { id } }`)
	l.frames.Scan()
	s.close(syscall.SIGTERM)
	if got := l.receive(1); len(got) > 0 || l.frames.Err() != nil {
		t.Errorf("the stream ends with %q, %v", got, l.frames.Err())
	}
	if _, _, err := socket.Read(context.Background()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket is closed with %v, want 1001", err)
	}
}

// A stream counts as one request, whatever its duration.
func TestRateOfStreams(t *testing.T) {
	t.Parallel()
	s := open(t, "-db", "memory", "-rate", "3/1h")
	l := s.listen("/orders", "")
	s.want("DELETE", "/orders/1", "")
	s.want("DELETE", "/orders/2", "")
	if got := l.receive(2); !slices.Equal(got, []string{`deleted {"id":1}`, `deleted {"id":2}`}) {
		t.Errorf("%q", got)
	}
	if l := s.listen("/orders", ""); l.StatusCode != 429 || l.Header.Get("Retry-After") == "" {
		t.Errorf("another stream returned %d", l.StatusCode)
	}
}
