package rest_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

const linesBody = "Content-Type: application/x-ndjson"

// withImports adds imports into users and orders to the shop.
func withImports(opts ...func(*setup)) func(*setup) {
	return func(s *setup) {
		s.imports = true
		for _, opt := range opts {
			opt(s)
		}
	}
}

// stores are the ways to store an import. The result is the same.
var stores = []struct {
	name string
	opt  func(*setup)
}{
	{"many at once", func(*setup) {}},
	{"one by one", func(s *setup) { s.userOps.InsertMany, s.userOps.GetMany = nil, nil }},
	{"no transactions", func(s *setup) { s.userOps.Transactions = nil }},
}

// summary is the response of an import, with shortened problems.
type summary struct {
	Created  int `json:"created"`
	Replaced int `json:"replaced"`
	Rejected []struct {
		Line    int     `json:"line"`
		Problem details `json:"problem"`
	} `json:"rejected"`
	Total   int `json:"rejectedTotal"`
	Skipped int `json:"skipped"`
}

// brief formats a summary: created, replaced, and each line with its status and errors.
func (s summary) brief() string {
	out := fmt.Sprintf("%d created %d replaced", s.Created, s.Replaced)
	for _, r := range s.Rejected {
		out += fmt.Sprintf("; line %d: %d", r.Line, r.Problem.Status)
		for _, v := range r.Problem.Errors {
			out += " " + *v.Pointer + " " + v.Code
		}
	}
	if s.Total > 0 {
		out += fmt.Sprintf("; %d in all", s.Total)
	}
	if s.Skipped > 0 {
		out += fmt.Sprintf("; %d skipped", s.Skipped)
	}
	return out
}

// An export can be imported again: members that the server sets are unchanged, and hidden ones are
// kept.
func TestImportOfAnExport(t *testing.T) {
	t.Parallel()
	var pins []string
	h := api(t, withImports(func(s *setup) {
		s.users.After = func(_ context.Context, _ resource.Op, _, after *user) { pins = append(pins, after.PIN) }
	}))
	create(t, h, "/users", `{"id":"ann","name":"Ann","pin":"1234"}`)
	create(t, h, "/orders", `{"customerId":"u"}`)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	for _, path := range []string{"/users", "/orders"} {
		lines := send(t, h, "GET "+path, asLines).body
		res := send(t, h, "POST "+path+"/import", linesBody, "", lines)
		same(t, path, "0 created 1 replaced", value[summary](t, res).brief())
	}
	want(t, send(t, h, "GET /users/ann"), http.StatusOK, "ETag: "+tag) // nothing has been written
	send(t, h, "POST /users/import", linesBody, "", `{"id":"ann","name":"Anna"}`)
	same(t, "pins", []string{"1234", "1234"}, pins)
}

// The import reads only the lines of the next chunk.
func TestImportReadsWhatItNeeds(t *testing.T) {
	t.Parallel()
	content := manyUsers(20_000)
	in := strings.NewReader(content)
	stored := 0
	h := api(t, withImports(func(s *setup) {
		s.userOps.InsertMany = func(_ context.Context, items []resource.Item[user]) error {
			stored += len(items)
			if ahead := len(content) - in.Len() - stored*len(content)/20_000; ahead > 128<<10 {
				t.Errorf("%d bytes have been read ahead", ahead)
			}
			return nil
		}
		s.userOps.GetMany = func(context.Context, []string) iter.Seq2[resource.Item[user], error] {
			return func(func(resource.Item[user], error) bool) {}
		}
	}))
	r := request(t, "POST /users/import", linesBody, "", "x")
	r.Body = io.NopCloser(in)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	same(t, "answer", "20000 created 0 replaced", value[summary](t, received("POST /users/import", w.Result())).brief())
}

// The length of a line is limited, that of the body is not.
func TestImportLimits(t *testing.T) {
	t.Parallel()
	h := api(t, withImports(func(s *setup) { s.catalog.Limits = resource.Limits{Body: 200, Depth: 5} }))
	long := `{"id":"long","name":"` + strings.Repeat("x", 200) + `"}`
	content := manyUsers(50) + long + "\r\n" + `{"id":"bob","name":"Bob"}` + strings.Repeat(" ", 175) + "\r\n" +
		strings.Repeat("y", 200_000) + "\n" + `{"id":"cat","name":"Cat"}` + "\n" + long
	for _, query := range []string{"", "?atomic=false"} {
		res := send(t, h, "POST /users/import"+query, linesBody, "", content)
		want(t, res, http.StatusOK)
		got := value[summary](t, res)
		same(t, "lines", 52, got.Created+got.Replaced)
		same(t, "rejected", []int{51, 53, 55}, []int{got.Rejected[0].Line, got.Rejected[1].Line, got.Rejected[2].Line})
		same(t, "status", 413, got.Rejected[0].Problem.Status)
		same(t, "limit", int64(200), got.Rejected[0].Problem.Limit)
	}
	res := send(t, h, "POST /users/import", linesBody, "", `{"id":"deep","name":[[[[[[]]]]]]}`)
	same(t, "deep", "0 created 0 replaced; line 1: 400 /name depth", strings.ReplaceAll(value[summary](t, res).brief(), "/0", ""))
}

// A truncated body is an error, not the end.
func TestImportOfContentThatBreaksOff(t *testing.T) {
	t.Parallel()
	whole := zip(t, manyUsers(3000))
	tests := []struct {
		name    string
		content io.Reader
		fields  []string
		kind    problem.Kind
	}{
		{"the connection", io.MultiReader(strings.NewReader(manyUsers(700)), iotest.ErrReader(io.ErrUnexpectedEOF)), nil, problem.BadRequest},
		{"in the middle of a gzip", strings.NewReader(whole[:len(whole)-9]), []string{"Content-Encoding: gzip"}, problem.BadRequest},
		{"no gzip", strings.NewReader(manyUsers(2)), []string{"Content-Encoding: gzip"}, problem.BadRequest},
		{"limit of a caller", http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(manyUsers(700))), 2000), nil, problem.TooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, withImports())
			r := request(t, "POST /users/import", append(tt.fields, linesBody, "", "x")...)
			r.Body = io.NopCloser(tt.content)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			res := received("POST /users/import", w.Result())
			wantProblem(t, res, tt.kind)
			got := strings.Count(send(t, h, "GET /users", asLines).body, "\n")
			if got != value[summary](t, res).Created || got%500 != 0 {
				t.Errorf("%d users are there: %s", got, res.body)
			}
		})
	}
}

func TestImportNegotiation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line   string
		fields []string
		status int
		want   []string
	}{
		{"POST /users/import", []string{linesBody}, 200,
			[]string{"Content-Type: application/json", "Cache-Control: no-store", "Vary: Accept, Accept-Encoding"}},
		{"POST /users/import", []string{linesBody + "; charset=utf-8", "Prefer: return=minimal"}, 200, []string{"Preference-Applied:"}},
		{"POST /users/import", []string{linesBody, "Accept-Encoding: gzip, identity;q=0"}, 200, []string{"Content-Encoding: gzip"}},
		{"POST /users/import", []string{linesBody, "Accept: application/x-ndjson"}, 406, nil},
		{"POST /users/import", []string{linesBody, "Accept-Encoding: br, identity;q=0"}, 406, nil},
		{"POST /users/import", []string{jsonBody}, 415, []string{"Accept-Post: application/x-ndjson, text/csv", "Accept: application/x-ndjson, text/csv"}},
		{"POST /users/import", []string{linesBody, "Content-Encoding: br"}, 415, []string{"Accept-Encoding: gzip, identity"}},
		{"POST /users/import", []string{linesBody, "Content-Range: bytes 0-1/2"}, 400, nil},
		{"POST /users/import?atomic=yes", []string{linesBody}, 400, nil},
		{"POST /users/import?atomic=true&atomic=true", []string{linesBody}, 400, nil},
		{"POST /users/import?x=1", []string{linesBody}, 400, nil},
		{"POST /users/import?x=1", []string{linesBody, "Prefer: handling=lenient"}, 200, nil},
		{"GET /users/import", nil, 405, []string{"Allow: POST, OPTIONS"}},
		{"PUT /users/import", []string{jsonBody}, 409, nil},
		{"OPTIONS /users/import", nil, 204, []string{"Allow: POST, OPTIONS", "Accept-Post: application/x-ndjson, text/csv"}},
	}
	for _, tt := range tests {
		t.Run(tt.line+" "+strings.Join(tt.fields, ", "), func(t *testing.T) {
			t.Parallel()
			h := api(t, withImports())
			want(t, send(t, h, tt.line, append(tt.fields, "", `{"id":"ann","name":"Ann"}`)...), tt.status, tt.want...)
			made := send(t, h, "GET /users/ann").status == http.StatusOK
			same(t, "there is a user", tt.status == http.StatusOK, made)
		})
	}
	h := api(t, withImports(func(s *setup) { s.userOps.Transactions = nil }))
	d := wantProblem(t, send(t, h, "POST /users/import?atomic=true", linesBody, "", manyUsers(1)), problem.InvalidParameter)
	wantErrors(t, d, "?atomic unsupported")
}

func TestImportRegistration(t *testing.T) {
	t.Parallel()
	users := resource.New("users", memory.New[user](nil), nil)
	wantPanic(t, `command: invalid command name "import"; use the form area/action`, func() {
		command.NewImport("import", users)
	})
	const nowhere = "command: import users/import: into must be a resource in which items can be created"
	wantPanic(t, nowhere, func() { command.NewImport("users/import", nil) })
	wantPanic(t, nowhere, func() {
		command.NewImport("users/import", resource.New[thing]("things", readOnly[thing]{}, nil))
	})
	c := command.NewImport("users/import", users)
	report := resource.NewCatalog(nil, users, c).Report()
	if line := "/users/import  POST, OPTIONS\n    import: lines of application/x-ndjson or text/csv into /users\n"; !strings.Contains(report, line) {
		t.Errorf("report:\n%s", report)
	}
	same(t, "into users", true, c.Into() == users)
	if _, err := c.Invoke(t.Context(), nil); resource.Problem(err).Kind != problem.NotImplemented {
		t.Errorf("Invoke: %v", err)
	}
}

// manyUsers are n lines with users.
func manyUsers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"u%05d","name":"User %d"}`+"\n", i, i)
	}
	return b.String()
}

// TestImportAtomicOfGzip: a transaction that runs again reads compressed content again.
func TestImportAtomicOfGzip(t *testing.T) {
	t.Parallel()
	h := api(t, withImports())
	res := send(t, h, "POST /users/import?atomic=true", linesBody, "Content-Encoding: gzip", "", zip(t, manyUsers(7)))
	same(t, "answer", "7 created 0 replaced", value[summary](t, res).brief())
}
