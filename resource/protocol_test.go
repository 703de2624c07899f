package resource_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// Todo is an item with an id that the client chooses.
type Todo struct {
	ID   string `json:"id"`
	Text string `json:"text" maxLength:"9"`
	Done bool   `json:"done"`
}

// TestLineProtocol serves a catalog by the protocol in protocol_line_test.go. A protocol needs only
// the exported API of package resource: preconditions, validation and filters are in the core.
func TestLineProtocol(t *testing.T) {
	t.Parallel()
	todos := resource.New("todos", memory.New[Todo](nil), &resource.Options[Todo]{
		Query: query.Support{Filter: map[string][]query.Op{"done": {query.Eq}}}, Public: true,
	})
	conn, server := net.Pipe()
	served := make(chan error)
	go func() { served <- serveLines(t.Context(), resource.NewCatalog(nil, todos), server) }()
	client := lineClient{t: t, conn: conn, lines: bufio.NewScanner(conn)}

	milk, tea := `{"id":"milk","text":"buy milk","done":%t}`, `{"id":"tea","text":"drink tea","done":false}`
	bought, open := fmt.Sprintf(milk, true), fmt.Sprintf(milk, false)
	for _, tt := range []struct {
		name, request string
		want          []string
	}{
		{"empty list", `LIST todos`, []string{"ok"}},
		{"create", `PUT todos milk  {"id":"milk","text":"buy milk"}`, []string{"item milk TAG1 " + open, "ok"}},
		{"replace", `PUT todos milk TAG1 ` + bought, []string{"item milk TAG2 " + bought, "ok"}},
		{"stale tag", `PUT todos milk TAG1 ` + open, []string{"error PRECONDITION_FAILED"}},
		{"any tag", `PUT todos tea * ` + tea, []string{"error PRECONDITION_FAILED"}},
		{"another item", `PUT todos tea  ` + tea, []string{"item tea TAG3 " + tea, "ok"}},
		{"text too long", `PUT todos tea  {"id":"tea","text":"drink some tea"}`, []string{"error BAD_USER_INPUT"}},
		{"filter", `LIST todos done=true`, []string{"item milk TAG2 " + bought, "ok"}},
		{"undeclared filter", `LIST todos text=tea`, []string{"error BAD_USER_INPUT"}},
		{"sort", `LIST todos sort=-id`, []string{"item tea TAG3 " + tea, "item milk TAG2 " + bought, "ok"}},
		{"delete with a stale tag", `DELETE todos milk TAG1`, []string{"error PRECONDITION_FAILED"}},
		{"delete", `DELETE todos milk TAG2`, []string{"ok"}},
		{"deleted item", `GET todos milk`, []string{"error GONE"}},
		{"item", `GET todos tea`, []string{"item tea TAG3 " + tea, "ok"}},
		{"no such resource", `GET notes 1`, []string{"error NOT_FOUND"}},
		{"no such command", `PING todos`, []string{"error BAD_USER_INPUT"}},
	} {
		if diff := cmp.Diff(tt.want, client.call(tt.request)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.name, tt.request, diff)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// signed is an item with the name of its author.
type signed struct {
	ID     string `json:"id"`
	Author string `json:"author" set:"createdBy"`
}

// TestLineProtocolPrincipal: an item names the caller as the catalog does that serves the request, also if
// the resource is in another catalog.
func TestLineProtocolPrincipal(t *testing.T) {
	t.Parallel()
	notes := resource.New("notes", memory.New[signed](nil), nil)
	named := func(name string) *resource.Catalog {
		return resource.NewCatalog(&resource.CatalogOptions{
			Principal: func(context.Context) string { return name }}, notes)
	}
	for i, c := range []*resource.Catalog{named("first"), named("second")} {
		conn, server := net.Pipe()
		served := make(chan error)
		go func() { served <- serveLines(t.Context(), c, server) }()
		client := lineClient{t: t, conn: conn, lines: bufio.NewScanner(conn)}
		id, author := fmt.Sprint("n", i), []string{"first", "second"}[i]
		want := []string{fmt.Sprintf(`item %s TAG1 {"id":%q,"author":%q}`, id, id, author), "ok"}
		if diff := cmp.Diff(want, client.call(fmt.Sprintf(`PUT notes %s  {"id":%q}`, id, id))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := errors.Join(conn.Close(), <-served); err != nil {
			t.Error(err)
		}
	}
}

// lineClient is a client of serveLines. It numbers the entity tags of responses: TAG1, TAG2, ...
type lineClient struct {
	t     *testing.T
	conn  io.Writer
	lines *bufio.Scanner
	tags  []string
}

// call sends a request and returns the lines of the response, without the details of errors.
func (c *lineClient) call(request string) (response []string) {
	c.t.Helper()
	for i, tag := range c.tags {
		request = strings.ReplaceAll(request, fmt.Sprintf("TAG%d", i+1), tag)
	}
	if _, err := fmt.Fprintln(c.conn, request); err != nil {
		c.t.Fatal(err)
	}
	for c.lines.Scan() {
		words := strings.SplitN(c.lines.Text(), " ", 4)
		switch words[0] {
		case "item":
			if !slices.Contains(c.tags, words[2]) {
				c.tags = append(c.tags, words[2])
			}
			words[2] = fmt.Sprintf("TAG%d", slices.Index(c.tags, words[2])+1)
			response = append(response, strings.Join(words, " "))
		case "error":
			return append(response, "error "+words[1])
		default:
			return append(response, c.lines.Text())
		}
	}
	c.t.Fatal("the connection ended", c.lines.Err())
	return nil
}
