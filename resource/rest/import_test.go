package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Imports: many items, one per line.

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

func TestImport(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		want          string
		users         []string // id and name of all users after the import
	}{
		{"nothing", "", "0 created 0 replaced", []string{"ann Ann", "bob Bob"}},
		{"empty lines", "\n\r\n \t\n", "0 created 0 replaced", []string{"ann Ann", "bob Bob"}},
		{"new and old", `{"id":"cat","name":"Cat"}` + "\n" + `{"id":"ann","name":"Anna"}` + "\n", "1 created 1 replaced",
			[]string{"ann Anna", "bob Bob", "cat Cat"}},
		{"a byte order mark", "\ufeff" + `{"id":"cat","name":"Cat"}` + "\n" + `{"id":"ann","name":"Anna"}`, "1 created 1 replaced",
			[]string{"ann Anna", "bob Bob", "cat Cat"}},
		{"only a byte order mark", "\ufeff", "0 created 0 replaced", []string{"ann Ann", "bob Bob"}},
		{"no end of the last line", `{"id":"cat","name":"Cat"}` + "\n" + `{"id":"dan","name":"Dan"}`, "2 created 0 replaced",
			[]string{"ann Ann", "bob Bob", "cat Cat", "dan Dan"}},
		{"CRLF", `{"id":"cat","name":"Cat"}` + "\r\n\r\n" + `{"id":"ann","name":"Anna"}` + "\r\n", "1 created 1 replaced",
			[]string{"ann Anna", "bob Bob", "cat Cat"}},
		{"what is there already", `{"id":"ann","name":"Ann","email":"ann@example.com"}`, "0 created 1 replaced",
			[]string{"ann Ann", "bob Bob"}},
		{"a torn line", `{"id":"cat","name":"Cat"}` + "\n" + `{"id":"dan","na`, "1 created 0 replaced; line 2: 400  syntax",
			[]string{"ann Ann", "bob Bob", "cat Cat"}},
		{"bad lines", `[]` + "\n" + `{"id":"cat"}` + "\n\n" + `{"id":"ann","name":7}` + "\n" + "{\"id\":\"x\",\"name\":\"\xff\"}\n" +
			"\ufeff{}\n" + `{"id":"a","id":"b","name":"n"}` + "\n" + `{"id":"dan","name":"Dan"}`,
			"1 created 0 replaced; line 1: 422  type; line 2: 422 /name required; line 4: 422 /name type; " +
				"line 5: 400 /name encoding; line 6: 400  encoding; line 7: 400 /id duplicateName",
			[]string{"ann Ann", "bob Bob", "dan Dan"}},
		{"an id twice", `{"id":"cat","name":"Cat"}` + "\n" + `{"id":"cat","name":"Cats"}` + "\n" + `{"id":"cat","name":"Kate"}`,
			"1 created 2 replaced", []string{"ann Ann", "bob Bob", "cat Kate"}},
		{"a value that is taken", `{"id":"cat","name":"Cat","email":"ann@example.com"}` + "\n" + `{"id":"dan","name":"Dan"}`,
			"1 created 0 replaced; line 1: 409 /email taken", []string{"ann Ann", "bob Bob", "dan Dan"}},
		{"a value that the line before has taken", `{"id":"cat","name":"Cat","email":"c@example.com"}` + "\n" +
			`{"id":"dan","name":"Dan","email":"c@example.com"}`, "1 created 0 replaced; line 2: 409 /email taken",
			[]string{"ann Ann", "bob Bob", "cat Cat"}},
		{"a value that the line before has given up", `{"id":"ann","name":"Ann"}` + "\n" +
			`{"id":"dan","name":"Dan","email":"ann@example.com"}`, "1 created 1 replaced", []string{"ann Ann", "bob Bob", "dan Dan"}},
		{"a value that a later line gives up", `{"id":"dan","name":"Dan","email":"ann@example.com"}` + "\n" +
			`{"id":"cat"}` + "\n" + `{"id":"ann","name":"Ann"}`, "1 created 1 replaced; line 2: 422 /name required",
			[]string{"ann Ann", "bob Bob", "dan Dan"}},
		{"gone", `{"id":"eve","name":"Eve"}` + "\n" + `{"id":"dan","name":"Dan"}`, "1 created 0 replaced; line 1: 410",
			[]string{"ann Ann", "bob Bob", "dan Dan"}},
		{"ids that cannot be", `{"id":"..","name":"n"}` + "\n" + `{"id":"a\u0000","name":"n"}` + "\n" + `{"id":7,"name":"n"}`,
			"0 created 0 replaced; line 1: 422 /id format; line 2: 422 /id format; line 3: 422 /id type", []string{"ann Ann", "bob Bob"}},
		{"a reserved id", `{"id":"import","name":"n"}`, "0 created 0 replaced; line 1: 409 /id reserved", []string{"ann Ann", "bob Bob"}},
	}
	for _, tt := range tests {
		for _, store := range stores {
			t.Run(tt.name+", "+store.name, func(t *testing.T) {
				t.Parallel()
				h := api(t, withImports(store.opt))
				create(t, h, "/users", `{"id":"ann","name":"Ann","email":"ann@example.com","pin":"1234"}`)
				create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
				create(t, h, "/users", `{"id":"eve","name":"Eve"}`)
				want(t, send(t, h, "DELETE /users/eve"), http.StatusNoContent)
				res := send(t, h, "POST /users/import", linesBody, "", tt.content)
				want(t, res, http.StatusOK, "Content-Type: application/json", "Cache-Control: no-store", "Vary: Accept, Accept-Encoding")
				same(t, "answer", tt.want, value[summary](t, res).brief())
				same(t, "users", tt.users, userNames(t, h))
			})
		}
	}
}

func userNames(t testing.TB, h http.Handler) []string {
	var out []string
	for _, u := range value[page[user]](t, send(t, h, "GET /users?limit=200")).Items {
		out = append(out, u.ID+" "+u.Name)
	}
	return out
}

// A line without an id gets one if the store assigns ids. An id in a line must exist.
func TestImportWhereTheStoreAssignsIDs(t *testing.T) {
	t.Parallel()
	h := api(t, withImports())
	create(t, h, "/orders", `{"customerId":"u"}`)
	res := send(t, h, "POST /orders/import", linesBody, "", `{"customerId":"v"}`+"\n"+`{"id":1,"customerId":"w"}`+"\n"+
		`{"id":7,"customerId":"x"}`+"\n"+`{"customerId":"y"}`+"\n"+`{"id":1,"customerId":"z","cents":"1"}`+"\n"+`{"id":1.5,"customerId":"z"}`)
	same(t, "answer", "2 created 1 replaced; line 3: 422 /id readOnly; line 5: 422 /cents type; line 6: 422 /id readOnly",
		value[summary](t, res).brief())
	res = send(t, h, "POST /orders/import", linesBody, "", `{"customerId":"a"}`+"\n"+`{"id":4,"customerId":"b"}`) // of the line before
	same(t, "answer", "1 created 1 replaced", value[summary](t, res).brief())
	want(t, send(t, h, "DELETE /orders/4"), http.StatusNoContent)
	same(t, "customers", `{"customerId":"w"}`+"\n"+`{"customerId":"v"}`+"\n"+`{"customerId":"y"}`+"\n",
		send(t, h, "GET /orders?fields=customerId", asLines).body)
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

// manyUsers are n lines with users.
func manyUsers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"u%05d","name":"User %d"}`+"\n", i, i)
	}
	return b.String()
}

// With many lines each counts once, and the store is called once for some hundred lines.
func TestImportOfManyLines(t *testing.T) {
	t.Parallel()
	for _, n := range []int{499, 500, 501, 1234} {
		var most, calls int
		h := api(t, withImports(func(s *setup) {
			many := s.userOps.InsertMany
			s.userOps.InsertMany = func(ctx context.Context, items []resource.Item[user]) error {
				most, calls = max(most, len(items)), calls+1
				if !tx.Active(ctx) {
					t.Error("there is no transaction")
				}
				return many(ctx, items)
			}
		}))
		res := send(t, h, "POST /users/import", linesBody, "", manyUsers(n))
		same(t, "answer", fmt.Sprintf("%d created 0 replaced", n), value[summary](t, res).brief())
		same(t, "calls", []int{min(n, 500), (n + 499) / 500}, []int{most, calls})
		res = send(t, h, "POST /users/import", linesBody, "", strings.ReplaceAll(manyUsers(n), "User", "user"))
		same(t, "again", fmt.Sprintf("0 created %d replaced", n), value[summary](t, res).brief())
		same(t, "users", n, strings.Count(send(t, h, "GET /users", asLines).body, `"user `))
	}
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

// If many lines are rejected, the response lists the first ones and the number of all.
func TestImportReportsSomeRejections(t *testing.T) {
	t.Parallel()
	h := api(t, withImports())
	content := strings.Repeat(`{"id":"x"}`+"\n", 100)
	got := value[summary](t, send(t, h, "POST /users/import", linesBody, "", content))
	same(t, "told", []int{100, 0}, []int{len(got.Rejected), got.Total})
	content = strings.Repeat(`{"name":1}`+"\n", 777)
	got = value[summary](t, send(t, h, "POST /users/import", linesBody, "", content))
	same(t, "told", []int{100, 777}, []int{len(got.Rejected), got.Total})
	same(t, "last", 100, got.Rejected[99].Line)
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

// Atomic imports.
func TestImportAtomic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		places        string // errors of the problem, as brief formats them
	}{
		{"a bad line", manyUsers(700) + `{"id":"x"}`, "line 701: 422 /name required"},
		{"bad lines", `{"id":"x"}` + "\n" + manyUsers(600) + `{}` + "\n", "line 1: 422 /name required; line 602: 422 /name required"},
		{"a line that the store refuses", manyUsers(600) + `{"id":"bob","name":"B"}` + "\n" + `{"id":"x","name":"X","email":"ann@example.com"}` + "\n" + manyUsers(1),
			"line 602: 409 /email taken"},
		{"both", `{"id":"x"}` + "\n" + manyUsers(600) + `{"id":"x","name":"X","email":"ann@example.com"}`,
			"line 1: 422 /name required; line 602: 409 /email taken"},
		{"lines that the store refuses", `{"id":"x","name":"X","email":"ann@example.com"}` + "\n" + manyUsers(600) +
			`{"id":"y","name":"Y","email":"ann@example.com"}` + "\n" + `{"id":"eve","name":"Eve"}` + "\n" + `{}`,
			"line 1: 409 /email taken; line 602: 409 /email taken; line 603: 410; line 604: 422 /name required"},
		{"gone", `{"id":"bob","name":"B"}` + "\n" + `{"id":"eve","name":"Eve"}`, "line 2: 410"},
		{"policy", `{"id":"bob","name":"B"}` + "\n" + `{"id":"root","name":"Root"}`, "line 2: 403"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var after []string
			h := api(t, withImports(func(s *setup) {
				s.users.After = func(_ context.Context, _ resource.Op, _, u *user) {
					if u != nil {
						after = append(after, u.ID)
					}
				}
				s.users.Authorize = func(_ context.Context, _ resource.Op, _, u *user) error {
					if u != nil && u.ID == "root" {
						return resource.ErrForbidden
					}
					return nil
				}
				s.users.AuthorizeGone = func(context.Context, string) error { return nil }
			}))
			create(t, h, "/users", `{"id":"ann","name":"Ann","email":"ann@example.com"}`)
			create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
			create(t, h, "/users", `{"id":"eve","name":"Eve"}`)
			want(t, send(t, h, "DELETE /users/eve"), http.StatusNoContent)
			after = nil
			res := send(t, h, "POST /users/import?atomic=true", linesBody, "", tt.content)
			wantProblem(t, res, problem.Invalid)
			same(t, "rejected", "0 created 0 replaced; "+tt.places, value[summary](t, res).brief())
			same(t, "users", []string{"ann Ann", "bob Bob"}, userNames(t, h))
			same(t, "calls of After", 0, len(after))
		})
	}
	h := api(t, withImports())
	res := send(t, h, "POST /users/import?atomic=true", linesBody, "", manyUsers(1100)+`{"id":"u00000","name":"first"}`)
	want(t, res, http.StatusOK)
	same(t, "answer", "1100 created 1 replaced", value[summary](t, res).brief())
	res = send(t, h, "POST /users/import?atomic=true", linesBody, "Content-Encoding: gzip", "", zip(t, manyUsers(7)))
	same(t, "answer", "0 created 7 replaced", value[summary](t, res).brief())
	create(t, h, "/users", `{"id":"ann","name":"Ann","email":"ann@example.com"}`)
	res = send(t, h, "POST /users/import?atomic=true", linesBody, "",
		`{"id":"dan","name":"Dan","email":"ann@example.com"}`+"\n"+`{"id":"ann","name":"Ann"}`)
	same(t, "answer with a value that a later line gives up", "1 created 1 replaced", value[summary](t, res).brief())
}

// The transaction may be retried, and then reads the body again.
func TestImportMayRunAgain(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "?atomic=true"} {
		db := memory.NewDB()
		ops := resource.OpsOf(memory.New(&memory.Options[user]{DB: db}))
		runner := &fickle{db, 3}
		ops.Transactions = func() tx.Runner { return runner }
		var after []string
		users := ops.Resource("users", &resource.Options[user]{
			After: func(_ context.Context, op resource.Op, _, u *user) { after = append(after, string(op)+" "+u.ID) },
		})
		h := catalog(t, users, command.NewImport("users/import", users))
		res := send(t, h, "POST /users/import"+query, linesBody, "", manyUsers(2)+`{"id":"u00000","name":"x"}`)
		same(t, "answer"+query, "2 created 1 replaced", value[summary](t, res).brief())
		slices.Sort(after)
		same(t, "calls of After", []string{"create u00000", "create u00001", "replace u00000"}, after)
	}
}

// Policy and hooks of the resource apply.
func TestImportAsksPolicyAndHooks(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		t.Run(store.name, func(t *testing.T) {
			t.Parallel()
			h := byCaller(api(t, withImports(store.opt, func(s *setup) {
				s.users.Scope = func(ctx context.Context) (query.Filter, error) {
					if caller(ctx) == "" {
						return query.Filter{}, resource.ErrUnauthenticated
					}
					return query.Where("name", query.Ne, "hidden"), nil
				}
				s.users.Authorize = func(_ context.Context, op resource.Op, before, _ *user) error {
					if op == resource.OpReplace && before.ID == "ann" {
						return resource.ErrForbidden
					}
					return nil
				}
				s.users.Before = func(_ context.Context, _ resource.Op, _, u *user) error {
					if u != nil && u.Name == "bad" {
						return resource.Invalid("name", "rude")
					}
					return nil
				}
			})))
			const as = "Caller: root"
			want(t, send(t, h, "POST /users", jsonBody, as, "", `{"id":"ann","name":"Ann"}`), http.StatusCreated)
			res := send(t, h, "POST /users/import", linesBody, as, "", `{"id":"ann","name":"Anna"}`+"\n"+`{"id":"bob","name":"bad"}`+"\n"+
				`{"id":"cat","name":"hidden"}`+"\n"+`{"id":"dan","name":"Dan"}`)
			same(t, "answer", "1 created 0 replaced; line 1: 403; line 2: 422 /name rude; line 3: 403", value[summary](t, res).brief())
			wantProblem(t, send(t, h, "POST /users/import", linesBody, "", manyUsers(2)), problem.Unauthenticated, "Www-Authenticate: Bearer")
		})
	}
}

// If a revision is required, existing items cannot be replaced.
func TestImportNamesNoRevision(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		h := api(t, withImports(store.opt, func(s *setup) { s.users.RequireIfMatch = true }))
		create(t, h, "/users", `{"id":"ann","name":"Ann"}`)
		res := send(t, h, "POST /users/import", linesBody, "", `{"id":"ann","name":"Anna"}`+"\n"+`{"id":"dan","name":"Dan"}`)
		same(t, store.name, "1 created 0 replaced; line 1: 428", value[summary](t, res).brief())
	}
}

// An error that is not caused by a line ends the import; committed lines remain.
func TestImportEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		kind problem.Kind
	}{
		{"not available", resource.ErrUnavailable, problem.Unavailable},
		{"a fault", errors.New(cause), problem.Internal},
	}
	for _, tt := range tests {
		for _, atomic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, atomic %t", tt.name, atomic), func(t *testing.T) {
				t.Parallel()
				h := api(t, withImports(func(s *setup) {
					many := s.userOps.InsertMany
					s.userOps.InsertMany = func(ctx context.Context, items []resource.Item[user]) error {
						if items[0].ID == "u00500" {
							return tt.err
						}
						return many(ctx, items)
					}
				}))
				res := send(t, h, fmt.Sprintf("POST /users/import?atomic=%t", atomic), linesBody, "", manyUsers(1000))
				wantProblem(t, res, tt.kind)
				got, left := value[summary](t, res), 500
				if atomic {
					left = 0
				}
				same(t, "created", left, got.Created)
				same(t, "users", left, strings.Count(send(t, h, "GET /users", asLines).body, "\n"))
				if strings.Contains(res.body, cause) {
					t.Errorf("the client is told: %s", res.body)
				}
			})
		}
	}
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
		{"POST /users/import", []string{linesBody}, 200, nil},
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

// In a transaction of the caller only the whole import can be rolled back.
func TestImportInATransaction(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	users := resource.New("users", memory.New(&memory.Options[user]{DB: db}), nil)
	inner := catalog(t, users, command.NewImport("users/import", users))
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = db.InTx(r.Context(), func(ctx context.Context) error {
			inner.ServeHTTP(w, r.WithContext(ctx))
			if r.URL.Path == "/users/import" && strings.Contains(r.Header.Get("Caller"), "rollback") {
				return errAgain
			}
			return nil
		})
	})
	want(t, send(t, h, "POST /users/import", linesBody, "Caller: rollback", "", manyUsers(600)), http.StatusOK)
	same(t, "users", 0, strings.Count(send(t, h, "GET /users", asLines).body, "\n"))
	res := send(t, h, "POST /users/import", linesBody, "", manyUsers(600))
	same(t, "answer", "600 created 0 replaced", value[summary](t, res).brief())
	wantProblem(t, send(t, h, "POST /users/import", linesBody, "Caller: rollback", "", manyUsers(1)+`{}`), problem.Invalid)
}

// An import is in the contract of the request.
func TestImportInContracts(t *testing.T) {
	t.Parallel()
	books := memory.New[book](nil)
	hub := resource.New("books", books, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h := catalog(t, older, command.NewImport("books/import", older))
	res := send(t, h, "POST /books/import", linesBody, "", `{"id":1,"name":"Emma"}`+"\n"+`{"id":2,"title":"Emma"}`+"\n"+`{"name":"Persuasion"}`)
	t.Log(res.body)
	same(t, "answer", "1 created 0 replaced; line 1: 422 /id readOnly; line 2: 422 /id readOnly /name required /title unknown",
		value[summary](t, res).brief())
	same(t, "title", "Persuasion", stored(t, books, "1").Title)
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
