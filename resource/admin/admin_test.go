package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/admin"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/memory"
)

var update = flag.Bool("update", false, "write the golden files")

type author struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name" required:"true" minLength:"1" doc:"The full name."`
}

type book struct {
	ISBN     string    `json:"isbn" pattern:"^[0-9]{13}$"`
	Title    string    `json:"title" required:"true" maxLength:"200" unique:"true"`
	AuthorID *int64    `json:"authorId"`
	Price    float64   `json:"price" minimum:"0" default:"10"`
	Fee      string    `json:"fee" format:"decimal" precision:"12,2" default:"0"`
	Digits   []string  `json:"digits" format:"decimal" precision:"4"`
	State    string    `json:"state" enum:"draft,printed" default:"draft"`
	Tags     []string  `json:"tags" maxItems:"5" enum:"new,old"`
	Chapters []chapter `json:"chapters,omitzero"`
	Secret   string    `json:"secret,omitzero" writeOnly:"true"`
	Added    time.Time `json:"added,omitzero" set:"created"`
	Margin   int       `json:"-"`
}

// chapter contains itself.
type chapter struct {
	Title string    `json:"title" required:"true"`
	Parts []chapter `json:"parts,omitzero"`
}

// shownBook is what a view shows of a book.
type shownBook struct {
	ISBN  string `json:"isbn"`
	Title string `json:"title"`
}

type credentials struct {
	Name     string `json:"name" required:"true"`
	Password string `json:"password" required:"true"`
}

type session struct {
	Token string `json:"token"`
}

// library returns a catalog with each kind of part. view serves books as a view that hides fields.
func library(t *testing.T, view bool) *resource.Catalog {
	t.Helper()
	folder, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	db := memory.NewDB()
	authors := resource.New("authors", memory.New(&memory.Options[author]{DB: db}), &resource.Options[author]{
		Public: true, Query: query.Support{Sort: []string{"name"}}, Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "authorId"}}})
	books := resource.New("books", memory.New(&memory.Options[book]{DB: db, ID: "isbn"}), &resource.Options[book]{
		ID: "isbn", Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"state": {query.Eq, query.In}, "authorId": {query.Eq}},
			Sort: []string{"title", "author.name"}},
		Relations: []resource.Relation[book]{{Name: "author", Target: "authors", Field: "authorId"}}})
	if view {
		books = resource.View(books,
			func(b book) (shownBook, error) { return shownBook{b.ISBN, b.Title}, nil },
			func(v shownBook, base book) (book, error) { base.ISBN, base.Title = v.ISBN, v.Title; return base, nil },
			nil)
	}
	return resource.NewCatalog(nil, authors, books,
		blob.New("covers", folder, &blob.Options{Public: true, MediaTypes: []string{"image/*"}, MaxSize: 1 << 20}),
		command.NewImport("books/import", books),
		command.New("auth/login", func(context.Context, credentials) (session, error) { return session{"t"}, nil },
			&command.Options[credentials]{Public: true, Secret: true}),
		command.New("auth/logout", func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil },
			&command.Options[struct{}]{Public: true}))
}

// send requests a path with header lines, such as "Accept-Encoding: gzip".
func send(t *testing.T, h http.Handler, method, path string, lines ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

var element = regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</(?:script|style)>`)

// TestPolicy checks that the policy allows the script and the style of the page, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	resp, body := send(t, admin.New(library(t, false), nil), "GET", "/admin/")
	hashes := map[string]string{}
	for _, m := range element.FindAllStringSubmatch(body, -1) {
		hashes[m[1]] = httpbody.InlineSource(m[2])
	}
	want := map[string]string{
		"Content-Security-Policy": httpbody.PagePolicy("connect-src 'self'; img-src data:; " +
			"require-trusted-types-for 'script'; trusted-types 'none'; script-src " + hashes["script"] +
			"; style-src " + hashes["style"]),
		"Cache-Control": "no-cache", "Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY",
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
	}
	got := map[string]string{}
	for name := range want {
		got[name] = resp.Header.Get(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}

// TestNoOtherHost checks that the page refers to no other host, and uses no API that parses text as
// HTML or script.
func TestNoOtherHost(t *testing.T) {
	t.Parallel()
	_, body := send(t, admin.New(library(t, false), nil), "GET", "/admin/")
	body = strings.ReplaceAll(body, "http://www.w3.org/2000/svg", "") // a namespace
	for _, never := range []string{"http:", "https:", `"//`, "'//", "innerHTML", "outerHTML", "insertAdjacentHTML",
		"document.write", "eval(", "Function(", "style=", "onclick=\""} {
		if i := strings.Index(body, never); i >= 0 {
			t.Errorf("the page has %s: %q", never, body[max(0, i-40):min(len(body), i+40)])
		}
	}
}

// TestScriptComplete checks that the page contains each module of the folder and the style. A module
// that no other imports is missing.
func TestScriptComplete(t *testing.T) {
	t.Parallel()
	_, body := send(t, admin.New(library(t, false), nil), "GET", "/admin/")
	names, err := filepath.Glob("page/*.js")
	if err != nil || len(names) < 5 {
		t.Fatalf("scripts: %v, %v", names, err)
	}
	for _, name := range append(names, "page/page.css") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "page/page.css" {
			b, _, _ = bytes.Cut(b, []byte("\n")) // the comment at the beginning of a module
		}
		if !strings.Contains(body, string(bytes.TrimSpace(b))) {
			t.Errorf("%s is not in the page", name)
		}
	}
}

// TestSize checks that the page is small enough to be sent on each visit.
func TestSize(t *testing.T) {
	t.Parallel()
	h := admin.New(library(t, false), nil)
	_, whole := send(t, h, "GET", "/admin/")
	resp, zipped := send(t, h, "GET", "/admin/", "Accept-Encoding: gzip")
	t.Logf("%d bytes, %d as sent", len(whole), len(zipped))
	if resp.Header.Get("Content-Encoding") != "gzip" || len(zipped) > 38_500 {
		t.Errorf("the page is %d bytes as sent", len(zipped))
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	h := admin.New(library(t, false), nil)
	tests := []struct {
		name, method, path string
		status             int
		contentType        string
	}{
		{"page", "GET", "/admin/", 200, "text/html; charset=utf-8"},
		{"page with a query", "GET", "/admin/?x=/y", 200, "text/html; charset=utf-8"},
		{"page at another path", "GET", "/internal/tools/", 200, "text/html; charset=utf-8"},
		{"head", "HEAD", "/admin/", 200, "text/html; charset=utf-8"},
		{"description", "GET", "/admin/description.json", 200, "application/json"},
		{"options", "OPTIONS", "/admin/description.json", 204, ""},
		{"other method of the description", "POST", "/admin/description.json", 405, "application/problem+json"},
		{"other method of the page", "DELETE", "/admin/", 405, "application/problem+json"},
		{"other path", "GET", "/admin/page.js", 404, "application/problem+json"},
		{"without a slash", "GET", "/admin", 404, "application/problem+json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, _ := send(t, h, tt.method, tt.path)
			if resp.StatusCode != tt.status || resp.Header.Get("Content-Type") != tt.contentType {
				t.Errorf("%d %s, want %d %s", resp.StatusCode, resp.Header.Get("Content-Type"), tt.status,
					tt.contentType)
			}
		})
	}
}

func TestNotModified(t *testing.T) {
	t.Parallel()
	h := admin.New(library(t, false), nil)
	for _, path := range []string{"/admin/", "/admin/description.json"} {
		resp, _ := send(t, h, "GET", path)
		again, _ := send(t, h, "GET", path, "If-None-Match: "+resp.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %d, want 304", path, again.StatusCode)
		}
	}
}

// TestDescription compares the description with testdata/description.json. The flag -update writes
// the file.
func TestDescription(t *testing.T) {
	t.Parallel()
	_, body := send(t, admin.New(library(t, false), nil), "GET", "/admin/description.json")
	var got bytes.Buffer
	if err := json.Indent(&got, []byte(body), "", "  "); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	const name = "testdata/description.json"
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
}

// TestDescriptionLogin checks that the commands of Login are not among the commands of the description.
func TestDescriptionLogin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		login *admin.Login
		want  string
	}{
		{"login", &admin.Login{Command: "auth/login"}, `"commands":[{"name":"auth/logout","input":[]}]`},
		{"login and logout", &admin.Login{Command: "auth/login", Logout: "auth/logout"}, `"commands":[]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, body := send(t, admin.New(library(t, false), &admin.Options{Login: tt.login}), "GET", "/admin/description.json")
			if !strings.Contains(body, tt.want) {
				t.Errorf("the description lacks %s:\n%s", tt.want, body)
			}
		})
	}
}

// TestDescriptionHides checks that neither document has what the contract hides from clients: fields
// without JSON, names of Go, and fields that only the stored type has.
func TestDescriptionHides(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		view   bool
		hidden []string
	}{
		{"resource", false, []string{"Margin", "margin", "AuthorID", "admin_test", "memory", "credentials"}},
		{"view", true, []string{"Margin", "authorId", "price", "secret", "chapters", "shownBook", "printed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, body := send(t, admin.New(library(t, tt.view), nil), "GET", "/admin/description.json")
			for _, text := range tt.hidden {
				if strings.Contains(body, text) {
					t.Errorf("the description contains %q:\n%s", text, body)
				}
			}
		})
	}
}

// TestAuthorize checks that the description is protected, and that the page alone reveals nothing of
// the catalog but the form of the login command.
func TestAuthorize(t *testing.T) {
	t.Parallel()
	h := admin.New(library(t, false), &admin.Options{
		Authorize: func(r *http.Request) error {
			switch r.Header.Get("Authorization") {
			case "Bearer admin":
				return nil
			case "":
				return resource.ErrUnauthenticated
			}
			return resource.ErrForbidden
		},
		Challenge: `Bearer realm="library"`,
		Login:     &admin.Login{Command: "auth/login"},
	})
	tests := []struct {
		name      string
		lines     []string
		status    int
		challenge string
	}{
		{"anonymous", nil, 401, `Bearer realm="library"`},
		{"other user", []string{"Authorization: Bearer bob"}, 403, ""},
		{"admin", []string{"Authorization: Bearer admin"}, 200, ""},
		{"anonymous with a tag", []string{"If-None-Match: *"}, 401, `Bearer realm="library"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, body := send(t, h, "GET", "/admin/description.json", tt.lines...)
			if resp.StatusCode != tt.status || resp.Header.Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("%d, challenge %q, want %d, %q", resp.StatusCode, resp.Header.Get("WWW-Authenticate"),
					tt.status, tt.challenge)
			}
			if tt.status != 200 && strings.Contains(body, "books") {
				t.Errorf("the response names a resource: %s", body)
			}
		})
	}
	resp, body := send(t, h, "GET", "/admin/")
	if resp.StatusCode != 200 {
		t.Errorf("page: %d, want 200", resp.StatusCode)
	}
	for _, name := range []string{"books", "authors", "covers", "isbn"} {
		if strings.Contains(body, name) {
			t.Errorf("the page names %q", name)
		}
	}
}

// TestConfig checks the configuration in the page, and that a title cannot end an element.
func TestConfig(t *testing.T) {
	t.Parallel()
	h := admin.New(library(t, false), &admin.Options{Title: `</title>"{{script}}`, Base: "/v2",
		Login: &admin.Login{Command: "auth/login", Logout: "auth/logout"}})
	_, body := send(t, h, "GET", "/admin/")
	m := regexp.MustCompile(`<meta name="config" content="([^"]*)">`).FindStringSubmatch(body)
	if m == nil {
		t.Fatal("the page has no configuration")
	}
	const want = `{"title":"</title>\"{{script}}","base":"/v2","login":{"command":"auth/login","token":"token",` +
		`"fields":[{"name":"name","required":true},{"name":"password","required":true,"secret":true}]},` +
		`"logout":"auth/logout"}`
	if diff := cmp.Diff(want, html.UnescapeString(m[1])); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if strings.Count(body, "</title>") != 1 {
		t.Error("the title ends its element")
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	catalog := library(t, false)
	tests := []struct {
		name    string
		catalog *resource.Catalog
		opts    *admin.Options
		want    string
	}{
		{"no catalog", nil, nil, "catalog is nil"},
		{"other host", catalog, &admin.Options{Base: "https://api.example.com"}, "Base"},
		{"host without a scheme", catalog, &admin.Options{Base: "//api.example.com"}, "Base"},
		{"slash at the end", catalog, &admin.Options{Base: "/api/"}, "Base"},
		{"relative", catalog, &admin.Options{Base: "api"}, "Base"},
		{"query", catalog, &admin.Options{Base: "/api?version=2"}, "Base"},
		{"unknown command", catalog, &admin.Options{Login: &admin.Login{Command: "auth/enter"}}, "auth/enter"},
		{"import as login", catalog, &admin.Options{Login: &admin.Login{Command: "books/import"}}, "books/import"},
		{"no token", catalog, &admin.Options{Login: &admin.Login{Command: "auth/login", Token: "jwt"}}, "jwt"},
		{"no output", catalog, &admin.Options{Login: &admin.Login{Command: "auth/logout"}}, "auth/logout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "admin: ") || !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want one of package admin with %q", got, tt.want)
				}
			}()
			admin.New(tt.catalog, tt.opts)
		})
	}
}
