package resource_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Imports: many items, one per line.

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
				h := newShop(t, store.opt)
				create(t, h.users, `{"id":"ann","name":"Ann","email":"ann@example.com","pin":"1234"}`)
				create(t, h.users, `{"id":"bob","name":"Bob"}`)
				create(t, h.users, `{"id":"eve","name":"Eve"}`)
				wantStatus(t, do(t.Context(), t, h.users, "delete eve", ""), http.StatusNoContent)
				res := do(t.Context(), t, h.users, "import", tt.content)
				wantDone(t, res)
				same(t, "answer", tt.want, importResult(t, res).brief())
				same(t, "users", tt.users, userNames(t, h))
			})
		}
	}
}

func userNames(t testing.TB, h *shop) []string {
	var out []string
	for _, e := range listAll(t, h.users).Entries {
		u := e.Value.(*user)
		out = append(out, u.ID+" "+u.Name)
	}
	return out
}

// countUsers returns the number of users with names that begin with prefix.
func countUsers(t testing.TB, r *resource.Resource, prefix string) (n int) {
	t.Helper()
	for page, err := range r.Pages(t.Context(), query.Query{}, resource.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if strings.HasPrefix(e.Value.(*user).Name, prefix) {
				n++
			}
		}
	}
	return n
}

// A line without an id gets one if the store assigns ids. An id in a line must exist.
func TestImportWhereTheStoreAssignsIDs(t *testing.T) {
	t.Parallel()
	h := newShop(t)
	create(t, h.orders, `{"customerId":"u"}`)
	res := do(t.Context(), t, h.orders, "import", `{"customerId":"v"}`+"\n"+`{"id":1,"customerId":"w"}`+"\n"+
		`{"id":7,"customerId":"x"}`+"\n"+`{"customerId":"y"}`+"\n"+`{"id":1,"customerId":"z","cents":"1"}`+"\n"+`{"id":1.5,"customerId":"z"}`)
	same(t, "answer", "2 created 1 replaced; line 3: 422 /id readOnly; line 5: 422 /cents type; line 6: 422 /id readOnly",
		importResult(t, res).brief())
	res = do(t.Context(), t, h.orders, "import", `{"customerId":"a"}`+"\n"+`{"id":4,"customerId":"b"}`) // of the line before
	same(t, "answer", "1 created 1 replaced", importResult(t, res).brief())
	wantStatus(t, do(t.Context(), t, h.orders, "delete 4", ""), http.StatusNoContent)
	same(t, "customers", []string{"w", "v", "y"}, texts(t, h.orders, "customerId"))
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
		h := newShop(t, func(s *setup) {
			many := s.userOps.InsertMany
			s.userOps.InsertMany = func(ctx context.Context, items []resource.Item[user]) error {
				most, calls = max(most, len(items)), calls+1
				if !tx.Active(ctx) {
					t.Error("there is no transaction")
				}
				return many(ctx, items)
			}
		})
		res := do(t.Context(), t, h.users, "import", manyUsers(n))
		same(t, "answer", fmt.Sprintf("%d created 0 replaced", n), importResult(t, res).brief())
		same(t, "calls", []int{min(n, 500), (n + 499) / 500}, []int{most, calls})
		res = do(t.Context(), t, h.users, "import", strings.ReplaceAll(manyUsers(n), "User", "user"))
		same(t, "again", fmt.Sprintf("0 created %d replaced", n), importResult(t, res).brief())
		same(t, "users", n, countUsers(t, h.users, "user "))
	}
}

// If many lines are rejected, the response lists the first ones and the number of all.
func TestImportReportsSomeRejections(t *testing.T) {
	t.Parallel()
	h := newShop(t)
	content := strings.Repeat(`{"id":"x"}`+"\n", 100)
	got := importResult(t, do(t.Context(), t, h.users, "import", content))
	same(t, "told", []int{100, 0}, []int{len(got.Rejected), got.Total})
	content = strings.Repeat(`{"name":1}`+"\n", 777)
	got = importResult(t, do(t.Context(), t, h.users, "import", content))
	same(t, "told", []int{100, 777}, []int{len(got.Rejected), got.Total})
	same(t, "last", 100, got.Rejected[99].Line)
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
			h := newShop(t, func(s *setup) {
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
			})
			create(t, h.users, `{"id":"ann","name":"Ann","email":"ann@example.com"}`)
			create(t, h.users, `{"id":"bob","name":"Bob"}`)
			create(t, h.users, `{"id":"eve","name":"Eve"}`)
			wantStatus(t, do(t.Context(), t, h.users, "delete eve", ""), http.StatusNoContent)
			after = nil
			res := do(t.Context(), t, h.users, "import atomic", tt.content)
			wantProblem(t, res, problem.Invalid)
			same(t, "rejected", "0 created 0 replaced; "+tt.places, importResult(t, res).brief())
			same(t, "users", []string{"ann Ann", "bob Bob"}, userNames(t, h))
			same(t, "calls of After", 0, len(after))
		})
	}
	h := newShop(t)
	res := do(t.Context(), t, h.users, "import atomic", manyUsers(1100)+`{"id":"u00000","name":"first"}`)
	wantDone(t, res)
	same(t, "answer", "1100 created 1 replaced", importResult(t, res).brief())
	create(t, h.users, `{"id":"ann","name":"Ann","email":"ann@example.com"}`)
	res = do(t.Context(), t, h.users, "import atomic", `{"id":"dan","name":"Dan","email":"ann@example.com"}`+"\n"+`{"id":"ann","name":"Ann"}`)
	same(t, "answer with a value that a later line gives up", "1 created 1 replaced", importResult(t, res).brief())
}

// The transaction may be retried, and then reads the body again.
func TestImportMayRunAgain(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", " atomic"} {
		db := memory.NewDB()
		ops := resource.OpsOf(memory.New(&memory.Options[user]{DB: db}))
		runner := &fickle{db, 3}
		ops.Transactions = func() tx.Runner { return runner }
		var after []string
		users := ops.Resource("users", &resource.Options[user]{
			After: func(_ context.Context, op resource.Op, _, u *user) { after = append(after, string(op)+" "+u.ID) },
		})
		res := do(t.Context(), t, users, "import"+query, manyUsers(2)+`{"id":"u00000","name":"x"}`)
		same(t, "answer"+query, "2 created 1 replaced", importResult(t, res).brief())
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
			h := newShop(t, store.opt, func(s *setup) {
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
			})
			ctx := as(t, "root")
			wantDone(t, do(ctx, t, h.users, "create", `{"id":"ann","name":"Ann"}`))
			res := do(ctx, t, h.users, "import", `{"id":"ann","name":"Anna"}`+"\n"+`{"id":"bob","name":"bad"}`+"\n"+
				`{"id":"cat","name":"hidden"}`+"\n"+`{"id":"dan","name":"Dan"}`)
			same(t, "answer", "1 created 0 replaced; line 1: 403; line 2: 422 /name rude; line 3: 403", importResult(t, res).brief())
			wantProblem(t, do(t.Context(), t, h.users, "import", manyUsers(2)), problem.Unauthenticated)
		})
	}
}

// If a revision is required, existing items cannot be replaced.
func TestImportNamesNoRevision(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
		h := newShop(t, store.opt, func(s *setup) { s.users.RequireIfMatch = true })
		create(t, h.users, `{"id":"ann","name":"Ann"}`)
		res := do(t.Context(), t, h.users, "import", `{"id":"ann","name":"Anna"}`+"\n"+`{"id":"dan","name":"Dan"}`)
		same(t, store.name, "1 created 0 replaced; line 1: 428", importResult(t, res).brief())
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
		{"a fault", errors.New("secret cause"), problem.Internal},
	}
	for _, tt := range tests {
		for _, atomic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, atomic %t", tt.name, atomic), func(t *testing.T) {
				t.Parallel()
				h := newShop(t, func(s *setup) {
					many := s.userOps.InsertMany
					s.userOps.InsertMany = func(ctx context.Context, items []resource.Item[user]) error {
						if items[0].ID == "u00500" {
							return tt.err
						}
						return many(ctx, items)
					}
				})
				res := do(t.Context(), t, h.users, map[bool]string{false: "import", true: "import atomic"}[atomic], manyUsers(1000))
				wantProblem(t, res, tt.kind)
				got, left := importResult(t, res), 500
				if atomic {
					left = 0
				}
				same(t, "created", left, got.Created)
				same(t, "users", left, countUsers(t, h.users, ""))
				if d := resource.Problem(res.err); strings.Contains(d.Detail, "secret") {
					t.Errorf("the client receives %s", d.Detail)
				}
			})
		}
	}
}

// In a transaction of the caller only the whole import can be rolled back.
func TestImportInATransaction(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	users := resource.New("users", memory.New(&memory.Options[user]{DB: db}), nil)
	within := func(content string, end error) (a *answer) {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			a = do(ctx, t, users, "import", content)
			return end
		})
		if !errors.Is(err, end) {
			t.Error(err)
		}
		return a
	}
	wantDone(t, within(manyUsers(600), errAgain))
	same(t, "users", 0, countUsers(t, users, ""))
	same(t, "answer", "600 created 0 replaced", importResult(t, within(manyUsers(600), nil)).brief())
	wantStatus(t, within(manyUsers(1)+`{}`, errAgain), problem.Invalid.Status())
}

// An import is in the contract of the request.
func TestImportInContracts(t *testing.T) {
	t.Parallel()
	books := memory.New[book](nil)
	hub := resource.New("books", books, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	res := do(t.Context(), t, older, "import", `{"id":1,"name":"Emma"}`+"\n"+`{"id":2,"title":"Emma"}`+"\n"+`{"name":"Persuasion"}`)
	same(t, "answer", "1 created 0 replaced; line 1: 422 /id readOnly; line 2: 422 /id readOnly /name required /title unknown",
		importResult(t, res).brief())
	same(t, "title", "Persuasion", stored(t, books, "1").Title)
}
