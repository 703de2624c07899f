package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	text, _, _ := strings.Cut(recipe.Text(t), "In production")
	s.Start("./jwt")
	s.Run(text)
}

// The issuer for development does not start if other machines could ask it for tokens.
func TestDevIssuerIsLocal(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]bool{
		"localhost:8080": true, "127.0.0.1:0": true, "[::1]:0": true, ":8080": false, "0.0.0.0:8080": false, "api:80": false,
	} {
		if _, err := startDevIssuer(addr, "tasks"); (err == nil) != want {
			t.Errorf("%s: %v, want success: %t", addr, err, want)
		}
	}
}

// startAPI starts the API with tokens of the issuer.
func startAPI(t *testing.T, i *issuer) *httptest.Server {
	t.Helper()
	h, err := newHandler(t.Context(), &keyRequests{now: i.now}, i.URL, "tasks")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server
}

// ask sends a request and returns status and body.
func ask(t *testing.T, s *httptest.Server, token, method, path, body string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(content)
}

func wantStatus(t *testing.T, want int, what string, got int, body string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: status %d, want %d: %s", what, got, want, body)
	}
}

// of returns the claims of another caller.
func of(tenant, role string) map[string]any {
	return map[string]any{"sub": role + "@" + tenant, "tenant": tenant, "roles": []string{role}}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	symmetric := jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: i.keys[0].KeyID, Algorithm: string(jose.HS256)}
	stranger := newKey(t, i.keys[0].KeyID)
	tests := []struct {
		name, token string
		want        int
	}{
		{"valid", i.token(t, nil), 200},
		{"no token", "", 401},
		{"no JWT", "abc", 401},
		{"expired", i.token(t, map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}), 401},
		{"not yet valid", i.token(t, map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}), 401},
		{"other audience", i.token(t, map[string]any{"aud": "other"}), 401},
		{"other issuer", i.token(t, map[string]any{"iss": "https://example.com"}), 401},
		{"other key with the id", sign(t, stranger, i.claims(nil)), 401},
		{"symmetric key", sign(t, symmetric, i.claims(nil)), 401},
		{"algorithm none", unsigned(t, i.claims(nil)), 401},
		{"no tenant", i.token(t, map[string]any{"tenant": ""}), 401},
		{"claim of another type", i.token(t, map[string]any{"roles": 7}), 401},
		{"no subject", i.token(t, map[string]any{"sub": ""}), 401},
	}
	for _, tt := range tests {
		status, body := ask(t, s, tt.token, "GET", "/tasks", "")
		wantStatus(t, tt.want, tt.name, status, body)
	}
}

// TestKeyRotation: a token with a new key is valid at once, and one with a removed key is not any more.
func TestKeyRotation(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	first := i.token(t, nil)
	// For a moment, go-oidc shares a request for the keys that has just ended, so check repeats its own. Each
	// is sent after the time in which keyRequests repeats a response.
	check := func(what, token string, want int) {
		t.Helper()
		i.elapsed.Add(int64(keysEvery))
		status, body := ask(t, s, token, "GET", "/tasks", "")
		for range 1000 {
			if status == want {
				return
			}
			time.Sleep(time.Millisecond)
			i.elapsed.Add(int64(keysEvery))
			status, body = ask(t, s, token, "GET", "/tasks", "")
		}
		wantStatus(t, want, what, status, body)
	}
	check("the first token", first, 200)
	check("again", first, 200)
	i.set(func() {
		if i.asks != 1 {
			t.Errorf("%d requests for the keys, want 1", i.asks)
		}
	})
	i.rotate(t, 2)
	second := i.token(t, nil)
	check("a new key", second, 200)
	check("the old key", first, 200)
	i.rotate(t, 1)
	check("after a second rotation", i.token(t, nil), 200)
	check("a removed key", second, 401)

	i.rotate(t, 1)
	token := i.token(t, nil)
	i.set(func() { i.down = true })
	check("the issuer is down", token, 503)
	i.set(func() { i.down = false })
	check("the issuer is up again", token, 200)
}

// TestKeyRequests: tokens with unknown keys and wrong signatures cost one request for the keys, and one more
// when the time has passed. A token with a known key stays valid.
func TestKeyRequests(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	attack := func(want int) {
		t.Helper()
		known := i.keys[0].KeyID
		for n := range 50 {
			id := known
			if n%2 == 0 {
				id = rand.Text()
			}
			status, body := ask(t, s, sign(t, newKey(t, id), i.claims(nil)), "GET", "/tasks", "")
			wantStatus(t, want, "an unknown key", status, body)
		}
		status, body := ask(t, s, i.token(t, nil), "GET", "/tasks", "")
		wantStatus(t, 200, "a known key", status, body)
	}
	attack(401)
	i.elapsed.Add(int64(keysEvery))
	i.set(func() { i.down = true })
	// For a moment, go-oidc shares a request for the keys that has just ended.
	unknown := sign(t, newKey(t, rand.Text()), i.claims(nil))
	for n, status := 0, 0; status != 503 && n < 1000; n++ {
		status, _ = ask(t, s, unknown, "GET", "/tasks", "")
	}
	attack(503)
	i.set(func() {
		if i.asks != 2 {
			t.Errorf("100 tokens cost %d requests for the keys, want 2", i.asks)
		}
	})
}

// TestPolicies: a caller sees the tasks of its tenant and writes what its roles allow, over REST and
// GraphQL.
func TestPolicies(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	editor, viewer, admin := i.token(t, of("acme", "editor")), i.token(t, of("acme", "viewer")), i.token(t, of("acme", "admin"))
	other, none := i.token(t, of("globex", "admin")), i.token(t, of("acme", "guest"))
	const task = `{"id":1,"tenant":"acme","text":"buy oil","done":false}`
	const mutation = `{"query":"mutation { createTask(input: {text: \"x\"}) { id } }"}`
	tests := []struct {
		name, token, method, path, body string
		want                            int
		text                            string // a part of the response
	}{
		{"an editor creates", editor, "POST", "/tasks", `{"text":"buy oil"}`, 201, task},
		{"a viewer does not", viewer, "POST", "/tasks", `{"text":"x"}`, 403, ""},
		{"the tenant is that of the token", editor, "POST", "/tasks", `{"text":"x","tenant":"globex"}`, 422, "readOnly"},
		{"a viewer reads", viewer, "GET", "/tasks/1", "", 200, task},
		{"another role does not", none, "GET", "/tasks/1", "", 404, ""},
		{"another tenant does not", other, "GET", "/tasks/1", "", 404, ""},
		{"another tenant lists nothing", other, "GET", "/tasks", "", 200, `{"items":[]}`},
		{"another tenant changes nothing", other, "PATCH", "/tasks/1", `{"done":true}`, 404, ""},
		{"a viewer changes nothing", viewer, "PATCH", "/tasks/1", `{"done":true}`, 403, ""},
		{"an editor changes", editor, "PATCH", "/tasks/1", `{"done":true}`, 200, `"done":true`},
		{"an editor does not delete", editor, "DELETE", "/tasks/1", "", 403, ""},
		{"GraphQL, viewer", viewer, "POST", "/graphql", `{"query":"{ tasks { nodes { text } } }"}`, 200, `[{"text":"buy oil"}]`},
		{"GraphQL, other tenant", other, "POST", "/graphql", `{"query":"{ tasks { nodes { text } } }"}`, 200, `"nodes":[]`},
		{"GraphQL, viewer writes", viewer, "POST", "/graphql", mutation, 200, "FORBIDDEN"},
		{"GraphQL, editor writes", editor, "POST", "/graphql", mutation, 200, `{"id":`},
		{"GraphQL, anonymous", "", "POST", "/graphql", `{"query":"{ tasks { nodes { text } } }"}`, 200, "UNAUTHENTICATED"},
		{"an admin deletes", admin, "DELETE", "/tasks/1", "", 204, ""},
	}
	for _, tt := range tests {
		status, body := ask(t, s, tt.token, tt.method, tt.path, tt.body)
		wantStatus(t, tt.want, tt.name, status, body)
		if !strings.Contains(body, tt.text) {
			t.Errorf("%s: %s has no %s", tt.name, body, tt.text)
		}
	}
}

// subscribe opens a WebSocket with the token in its first message, and a subscription. The error is
// that of a rejected token.
func subscribe(t *testing.T, s *httptest.Server, token string) (*websocket.Conn, error) {
	t.Helper()
	return subscribeWith(t, s, nil, `{"Authorization":"Bearer `+token+`"}`)
}

// subscribeWith is subscribe with header fields and the payload of the first message.
func subscribeWith(t *testing.T, s *httptest.Server, header http.Header, payload string) (*websocket.Conn, error) {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), s.URL+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.CloseNow() })
	send := func(message string) {
		if err := c.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	send(`{"type":"connection_init","payload":` + payload + `}`)
	if err := wsjson.Read(t.Context(), c, &json.RawMessage{}); err != nil { // connection_ack
		return nil, err
	}
	send(`{"type":"subscribe","id":"1","payload":{"query":"subscription { taskChanged { task { text tenant } } }"}}`)
	return c, nil
}

// TestSockets: a socket gets the events of its tenant and ends with its token.
func TestSockets(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	editor := i.token(t, of("acme", "editor"))
	sockets := map[string]*websocket.Conn{}
	for _, tenant := range []string{"acme", "globex"} {
		c, err := subscribe(t, s, i.token(t, of(tenant, "viewer")))
		if err != nil {
			t.Fatal(err)
		}
		sockets[tenant] = c
	}
	create := func(token string) {
		status, body := ask(t, s, token, "POST", "/tasks", `{"text":"buy oil"}`)
		wantStatus(t, 201, "POST", status, body)
	}
	// A subscription has no acknowledgment, so tasks are created until there is an event of each tenant.
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	defer func() { stop(); <-done }()
	foreign := i.token(t, of("globex", "editor"))
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			create(editor)
			create(foreign)
			select {
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	for tenant, c := range sockets {
		for range 3 {
			_, event, err := c.Read(t.Context())
			if want := `{"text":"buy oil","tenant":"` + tenant + `"}`; err != nil || !strings.Contains(string(event), want) {
				t.Fatalf("the event of %s is %s, %v", tenant, event, err)
			}
		}
	}
}

// TestSocketsEnd: a socket with an invalid token is closed at once, and any other when its token expires.
func TestSocketsEnd(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	for _, name := range []string{"invalid", "message", "header"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			token := i.token(t, map[string]any{"exp": time.Now().Add(5 * time.Second).Unix()})
			var c *websocket.Conn
			var err error
			switch name {
			case "invalid":
				c, err = subscribe(t, s, "x")
			case "message":
				c, err = subscribe(t, s, token)
			case "header":
				c, err = subscribeWith(t, s, bearer(token), "{}")
			}
			for err == nil {
				_, _, err = c.Read(t.Context())
			}
			if code := websocket.CloseStatus(err); code != 4403 {
				t.Errorf("closed with %v, want 4403", err)
			}
		})
	}
}

// bearer returns the header field of a token.
func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// TestStreams: an event stream gets the events of its tenant and ends with its token.
func TestStreams(t *testing.T) {
	t.Parallel()
	i := newIssuer(t)
	s := startAPI(t, i)
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/tasks", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+i.token(t, map[string]any{"exp": time.Now().Add(3 * time.Second).Unix()}))
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for _, tenant := range []string{"globex", "acme"} {
		status, body := ask(t, s, i.token(t, of(tenant, "editor")), "POST", "/tasks", `{"text":"for `+tenant+`"}`)
		wantStatus(t, 201, tenant, status, body)
	}
	var events []string
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); { // until the token expires
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.Contains(data, "text") {
			events = append(events, data)
		}
	}
	want := []string{`{"id":2,"tenant":"acme","text":"for acme","done":false}`}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestLines: the example stays short.
func TestLines(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("main.go")
	if n := strings.Count(string(text), "\n"); err != nil || n > 120 {
		t.Errorf("main.go has %d lines, want at most 120 (%v)", n, err)
	}
}
