package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// After a logout, a new password or a deactivation, the streams of the user end and the sockets are
// closed, even without an event, in this shop and in another one on the same database.
func TestStreamsEndWithTheirSessions(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Bookmarks would end the streams, too.
			with := settings{db: source(t), cache: "private, no-cache", auth: true, bookmark: -1}
			s := openShopOn(t, with)
			other := s
			if with.db != "memory" {
				other = openShopOn(t, with)
			}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			tokens := map[string]string{"ann": tokenOf(t, s, 1)}
			stays := listen(t, server, "/orders", tokens["ann"])
			// A user without orders, because users with orders cannot be deleted. A new subscriber
			// may also receive the event just before.
			if status, body := as(t, s, tokens, "ann", "POST", "/users",
				`{"email":"dan@example.com","active":true}`); status != 201 ||
				!strings.Contains(body, `"id":4`) {
				t.Fatalf("%d %s", status, body)
			}
			for _, tt := range []struct{ name, who, method, target, body string }{
				{"logged out", "user", "POST", "/auth/logout", `{}`},
				{"another password", "ann", "POST", "/auth/password", `{"userId":4,"password":"not dan any more"}`},
				{"not active", "ann", "PATCH", "/users/4", `{"active":false}`},
				{"deleted user", "ann", "DELETE", "/users/4", ``},
			} {
				if tt.name == "deleted user" {
					as(t, s, tokens, "ann", "PATCH", "/users/4", `{"active":true}`)
				}
				tokens["user"] = tokenOf(t, s, 4)
				streams := []*http.Response{
					listen(t, server, "/orders", tokens["user"]),
					listen(t, server, "/v1.0/places", tokens["user"]),
					listen(t, server, "/graphql?query=subscription{placeChanged{id}}", tokens["user"]),
				}
				sockets := []*websocket.Conn{
					connect(t, server, tokens["user"], ""),
					connect(t, server, "", tokens["user"]),
				}
				if status, body := as(t, other, tokens, tt.who, tt.method, tt.target,
					tt.body); status/100 != 2 {
					t.Fatalf("%s: %d %s", tt.name, status, body)
				}
				for _, stream := range streams {
					if heard, err := io.ReadAll(stream.Body); err != nil ||
						strings.Contains(string(heard), "event: ") {
						t.Errorf("%s: %s: %q, %v", tt.name, stream.Request.URL, heard, err)
					}
				}
				for _, socket := range sockets {
					if _, heard, err := socket.Read(t.Context()); websocket.CloseStatus(err) != 4403 {
						t.Errorf("%s: %s, %v", tt.name, heard, err)
					}
				}
			}
			if status, body := as(t, s, tokens, "ann", "PATCH", "/orders/1", `{"note":"x"}`); status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			for heard := ""; !strings.Contains(heard, `"note":"x"`); {
				part := make([]byte, 4096)
				n, err := stays.Body.Read(part)
				if heard += string(part[:n]); err != nil {
					t.Fatalf("a stream of another user received %q, %v", heard, err)
				}
			}
			// Ended streams are removed; otherwise this loop does not end.
			for s.collections.sessions.Streams("4") > 0 {
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// tokenOf creates a token for a user without a password.
func tokenOf(t *testing.T, s *opened, user int64) string {
	t.Helper()
	token, _, err := s.collections.newToken(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// listen opens a stream.
func listen(t *testing.T, server *httptest.Server, target, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "localhost"
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := server.Client().Do(r)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %v, %v", target, resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// connect opens a WebSocket with a token in the header or in the first message, and waits until it
// is acknowledged.
func connect(t *testing.T, server *httptest.Server, inHeader, inMessage string) *websocket.Conn {
	t.Helper()
	opts := &websocket.DialOptions{
		Host:         "localhost",
		Subprotocols: []string{"graphql-transport-ws"},
		HTTPHeader:   http.Header{},
	}
	payload := `{}`
	if inHeader != "" {
		opts.HTTPHeader.Set("Authorization", "Bearer "+inHeader)
	} else {
		payload = `{"Authorization":"Bearer ` + inMessage + `"}`
	}
	c, _, err := websocket.Dial(t.Context(), server.URL+"/graphql", opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	if err := c.Write(t.Context(), websocket.MessageText,
		[]byte(`{"type":"connection_init","payload":`+payload+`}`)); err != nil {
		t.Fatal(err)
	}
	if _, got, err := c.Read(t.Context()); err != nil || !strings.Contains(string(got), "connection_ack") {
		t.Fatalf("the socket received %s, %v", got, err)
	}
	return c
}
