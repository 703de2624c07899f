package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// newWritable returns a handler with each way to write, for every caller.
func newWritable(t *testing.T) http.Handler {
	t.Helper()
	folder, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	store := memory.New[Note](&memory.Options[Note]{DB: memory.NewDB()})
	notes := resource.New("notes", store, &resource.Options[Note]{Public: true})
	type nothing struct{}
	add := func(ctx context.Context, _ nothing) (nothing, error) {
		_, err := notes.Create(ctx, []byte(`{"id":"command","text":"x"}`), nil)
		return nothing{}, err
	}
	catalog := resource.NewCatalog(nil, notes, blob.New("files", folder, &blob.Options{Public: true}),
		command.New("notes/add", add, &command.Options[nothing]{Public: true}), command.NewImport("notes/import", notes))
	api := http.NewServeMux()
	api.Handle("/", rest.New(catalog, nil))
	api.Handle("/graphql", graphql.New(catalog, &graphql.Options{
		Socket: graphql.Socket{Connect: middleware.Connect}}))
	return api
}

const mutation = `mutation { createNote(input: {id: \"graphql\", text: \"x\"}) { id } }`

// ways are the ways to write. fields are lines of the header.
var ways = []struct {
	name, method, target, body string
	fields                     []string
	refused                    string // the status without a token, if one is needed; 401 if empty
}{
	{"POST", "POST", "/notes", `{"id":"b","text":"x"}`, nil, ""},
	{"PUT", "PUT", "/notes/b", `{"text":"x"}`, nil, ""},
	{"PATCH", "PATCH", "/notes/a", `{"text":"x"}`, []string{"Content-Type: application/merge-patch+json"}, ""},
	{"DELETE", "DELETE", "/notes/a", "", nil, ""},
	{"batch", "POST", "/notes", `{"operations":[{"op":"delete","id":"a"}]}`,
		[]string{"Content-Type: application/vnd.stoa.batch+json"}, ""},
	{"command", "POST", "/notes/add", "", nil, ""},
	{"import", "POST", "/notes/import", `{"id":"b","text":"x"}`, []string{"Content-Type: application/x-ndjson"}, ""},
	{"upload", "POST", "/files", "x", []string{"Content-Type: text/plain"}, ""},
	{"form", "POST", "/files", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nx\r\n--x--\r\n",
		[]string{"Content-Type: multipart/form-data; boundary=x"}, ""},
	{"GraphQL", "POST", "/graphql", `{"query":"` + mutation + `"}`, nil, ""},
	{"GraphQL by SSE", "POST", "/graphql", `{"query":"` + mutation + `"}`, []string{"Accept: text/event-stream"}, ""},
	{"GraphQL by WebSocket", "", "", "", nil, "UNAUTHENTICATED"},
}

// request sends a request, and returns its status as text if it is an error.
func request(t *testing.T, url, method, body, token string, fields []string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range fields {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	if res.StatusCode < 400 {
		return ""
	}
	return strconv.Itoa(res.StatusCode)
}

// mutate sends a mutation over a socket with a token in its first message, as a browser does if the
// handshake needs none. It returns the status of the handshake, the close code or the code of the error.
func mutate(t *testing.T, url, token string, handshake bool) string {
	t.Helper()
	opts := &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}}
	if handshake && token != "" {
		opts.HTTPHeader = http.Header{"Authorization": {"Bearer " + token}}
	}
	c, res, err := websocket.Dial(t.Context(), url+"/graphql", opts)
	if res == nil {
		return err.Error()
	}
	if err != nil {
		return strconv.Itoa(res.StatusCode)
	}
	defer c.CloseNow()
	init := `{"type":"connection_init"}`
	if !handshake && token != "" {
		init = `{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`
	}
	write(t.Context(), t, c, init)
	for {
		_, message, err := c.Read(t.Context())
		switch text := string(message); {
		case err != nil:
			return strconv.Itoa(int(websocket.CloseStatus(err)))
		case strings.Contains(text, "connection_ack"):
			write(t.Context(), t, c, `{"id":"1","type":"subscribe","payload":{"query":"`+mutation+`"}}`)
		case strings.Contains(text, "UNAUTHENTICATED"):
			return "UNAUTHENTICATED"
		case strings.Contains(text, `"createNote":{"id"`):
			return ""
		default:
			t.Fatalf("unexpected message %s", text)
		}
	}
}

// state returns all that a caller can read.
func state(t *testing.T, api http.Handler) string {
	t.Helper()
	return send(t, api, http.MethodGet, "/notes", "").Body.String() + send(t, api, http.MethodGet, "/files", "").Body.String()
}

// TestRequired: AuthenticateOptions.Required applies to each way to write, below each router.
func TestRequired(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		required func(*http.Request) bool
		socket   string // the result of a socket without a token; empty if it may be used
	}{
		{name: "none"},
		{name: "writes", required: middleware.Writes},
		{name: "all", required: func(*http.Request) bool { return true }, socket: "401"},
		{name: "all but sockets", required: func(r *http.Request) bool { return r.Header["Upgrade"] == nil }, socket: "4401"},
	}
	verify := func(_ *http.Request, token string) (middleware.Session[struct{}], error) {
		if token != "right" {
			return middleware.Session[struct{}]{}, middleware.ErrToken
		}
		return middleware.Session[struct{}]{Principal: "ann", Expires: time.Now().Add(time.Hour)}, nil
	}
	for _, r := range routers() {
		for _, tt := range tests {
			for _, token := range []string{"", "right"} {
				t.Run(r.name+"/"+tt.name+"/"+token, func(t *testing.T) {
					t.Parallel()
					for _, way := range ways {
						api := newWritable(t)
						send(t, api, http.MethodPut, "/notes/a", `{"text":"first"}`)
						before := state(t, api)
						auth := middleware.Authenticate(verify, &middleware.AuthenticateOptions{Required: tt.required})
						server := httptest.NewServer(r.mount(auth(api)))
						want, got := "", ""
						if way.method == "" {
							got = mutate(t, server.URL+r.prefix, token, tt.socket == "401")
						} else {
							got = request(t, server.URL+r.prefix+way.target, way.method, way.body, token, way.fields)
						}
						server.Close()
						if may := token != "" || tt.required == nil; !may && way.method == "" && tt.socket != "" {
							want = tt.socket
						} else if !may && way.refused != "" {
							want = way.refused
						} else if !may {
							want = "401"
						}
						if got != want {
							t.Errorf("%s: refused with %q, want %q", way.name, got, want)
						}
						if diff := cmp.Diff(before, state(t, api)); (diff == "") != (want != "") {
							t.Errorf("%s: written (-before +after):\n%s", way.name, diff)
						}
					}
				})
			}
		}
	}
}
