package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Imports of CSV: the same result as of lines.

const csvBody = "Content-Type: text/csv"

func importOf(r *resource.Resource) *command.Command { return command.NewImport(r.Name()+"/import", r) }

func csvUsers(n int) string {
	var b strings.Builder
	b.WriteString("id,name\r\n")
	for i := range n {
		fmt.Fprintf(&b, "u%05d,\"User %d\"\r\n", i, i)
	}
	return b.String()
}

func TestRule157CSVImport(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	tests := []struct {
		name, content string
		want          string
		users         []string // after the import
	}{
		{"nothing", "", "0 created 0 replaced", []string{"ann,Ann", "bob,Bob"}},
		{"only a header", "id,name\r\n", "0 created 0 replaced", []string{"ann,Ann", "bob,Bob"}},
		{"new and old", "\ufeffid,name,email\r\ncat,Cat,\r\nann,Anna,a@example.com\r\n", "1 created 1 replaced",
			[]string{"ann,Anna", "bob,Bob", "cat,Cat"}},
		{"another order, LF, no end", "name,id\nCat,cat", "1 created 0 replaced", []string{"ann,Ann", "bob,Bob", "cat,Cat"}},
		{"lines in cells", "id,name\r\ncat,\"C\r\n\"\"at\"\"\"\r\ndan,\r\neve,Eve\r\n", "2 created 0 replaced; line 4: 422 /name required",
			[]string{"ann,Ann", "bob,Bob", "\"cat\",\"C\r\n\"\"at\"\"\"", "eve,Eve"}},
		{"bad rows", "id,name,email\ncat\ndan,Dan,x\n\"eve\"x,Eve,\nfay,\"F\xff\",\nann,,\nguy,Guy,\n",
			"1 created 0 replaced; line 2: 400  columns; line 3: 422 /email format; line 4: 400  syntax; line 5: 400 /name encoding; " +
				"line 6: 422 /name required", []string{"ann,Ann", "bob,Bob", "guy,Guy"}},
		{"an id twice", "id,name\ncat,Cat\ncat,Cats\n", "1 created 1 replaced", []string{"ann,Ann", "bob,Bob", "cat,Cats"}},
		{"a value that is taken", "id,email,name\ncat,ann@example.com,Cat\ndan,,Dan\n",
			"1 created 0 replaced; line 2: 409 /email taken", []string{"ann,Ann", "bob,Bob", "dan,Dan"}},
		{"a row that is too long", "id,name\ncat,\"" + long + "\"\ndan,Dan\n", "1 created 0 replaced; line 2: 413",
			[]string{"ann,Ann", "bob,Bob", "dan,Dan"}},
		{"an open quotation mark", "id,name\ncat,Cat\n\"dan,Dan\neve,Eve\n", "1 created 0 replaced; line 3: 400  syntax; 1 skipped",
			[]string{"ann,Ann", "bob,Bob", "cat,Cat"}},
		{"marks that are not doubled", "id,name\ncat,\"C\\\"at\"\ndan,\"12\" pipe\"\neve,\"Eve\"\nfay,Fay\n",
			"2 created 0 replaced; line 2: 400  syntax; line 3: 400  syntax",
			[]string{"ann,Ann", "bob,Bob", "eve,Eve", "fay,Fay"}},
		{"lines up to the next mark", "id,name\n\"cat,Cat\ndan,Dan\neve,\"Eve\"\nfay,Fay\n",
			"1 created 0 replaced; line 2: 400  syntax; 2 skipped", []string{"ann,Ann", "bob,Bob", "fay,Fay"}},
		{"a secret", "id,name,pin\ncat,Cat,1234\n", "1 created 0 replaced", []string{"ann,Ann", "bob,Bob", "cat,Cat"}},
	}
	for _, tt := range tests {
		for _, store := range stores {
			t.Run(tt.name+"/"+store.name, func(t *testing.T) {
				t.Parallel()
				h := api(t, withImports(store.opt))
				create(t, h, "/users", `{"id":"ann","name":"Ann","email":"ann@example.com"}`)
				create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
				res := send(t, h, "POST /users/import", csvBody, "", tt.content)
				want(t, res, http.StatusOK, "Content-Type: application/json")
				same(t, "result", tt.want, value[summary](t, res).brief())
				want := strings.ReplaceAll("id,name\r\n"+strings.Join(tt.users, "\r\n")+"\r\n", `"cat"`, "cat")
				if diff := cmp.Diff(want, send(t, h, "GET /users?fields=id,name", asCSV).body); diff != "" {
					t.Errorf("users (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestRule157CSVTypes: a row has the types of the schema, and errors name the member and the line.
func TestRule157CSVTypes(t *testing.T) {
	t.Parallel()
	store := memory.New[csvSheet](nil)
	sheets := resource.New("sheets", store, nil)
	h := catalog(t, sheets, importOf(sheets))
	content := strings.Join([]string{
		"id,text,note,count,price,open,tags,size,extra",
		`a,,,,,TRUE,,,`,
		`b,"","",7,1.5,false,"[""x""]","{""W"":1,""H"":2}","{""k"":[1]}"`,
		`c,x,y,01,1e,2,x,[],`,
		`d,,,9223372036854775808,,true,"[1]","{""W"":1,""w"":2}",`,
		`e,,,,,true,"[],""open"":false",,`,
		`f,,,,,true,,"{""W"":1,""W"":2}",`,
	}, "\r\n")
	res := send(t, h, "POST /sheets/import", csvBody, "", content)
	same(t, "result", "2 created 0 replaced; line 4: 422 /tags type; line 5: 422 /count range /tags/0 type /size/w unknown; "+
		"line 6: 422 /tags type; line 7: 400 /size/W duplicateName", value[summary](t, res).brief())
	empty, price := "", 1.5
	same(t, "a", csvSheet{ID: "a", Open: true}, stored(t, store, "a"))
	same(t, "b", csvSheet{ID: "b", Note: &empty, Count: 7, Price: &price, Tags: []string{"x"}, Size: &csvBox{1, 2},
		Extra: map[string]any{"k": []any{1.0}}}, stored(t, store, "b"))
	// Without JSON text that is not valid, all members of a row are checked.
	res = send(t, h, "POST /sheets/import", csvBody, "", "id,count,price,open,size\nc,01,1e,2,[]\n")
	same(t, "result", "0 created 0 replaced; line 2: 422 /count type /price type /open type /size type", value[summary](t, res).brief())
}

// TestRule157CSVHeader: a header row that does not fit the schema rejects the import as a whole.
func TestRule157CSVHeader(t *testing.T) {
	t.Parallel()
	const good = "\ncat,Cat\n"
	tests := []struct {
		name, line, content string
		fields              []string
		kind                problem.Kind
		places              []string
	}{
		{"unknown", "", "id,Name" + good, nil, problem.Invalid, []string{"/Name unknown"}},
		{"twice", "", "id,id" + good, nil, problem.Invalid, []string{"/id duplicateName"}},
		{"syntax", "", "id,\"name\"x" + good, nil, problem.BadRequest, []string{" syntax"}},
		{"not CSV", "", `{"id":"cat"}` + good, nil, problem.BadRequest, []string{" syntax"}},
		{"too long", "", strings.Repeat("x", 2<<20), nil, problem.TooLarge, nil},
		{"fields with a header", "?fields=id", "id,name" + good, nil, problem.InvalidParameter, []string{"?fields unsupported"}},
		{"unknown fields", "?fields=id,x", "", []string{csvBody + ";header=absent"}, problem.InvalidParameter, []string{"?fields unknownField"}},
		{"fields twice", "?fields=id,id", "", []string{csvBody + ";header=absent"}, problem.InvalidParameter,
			[]string{"?fields duplicateParameter"}},
		{"fields of lines", "?fields=id", "", []string{linesBody}, problem.InvalidParameter, []string{"?fields unknownParameter"}},
	}
	for _, tt := range tests {
		for _, query := range []string{"", "atomic=true"} {
			t.Run(tt.name+" "+query, func(t *testing.T) {
				t.Parallel()
				h := api(t, withImports())
				fields := tt.fields
				if fields == nil {
					fields = []string{csvBody}
				}
				line := "POST /users/import" + strings.TrimSuffix("?"+strings.Trim(tt.line+"&"+query, "?&"), "?")
				d := wantProblem(t, send(t, h, line, append(fields, "", tt.content)...), tt.kind)
				wantErrors(t, d, tt.places...)
				wantBody(t, send(t, h, "GET /users?fields=id", asCSV), http.StatusOK, "id\r\n")
			})
		}
	}
	h := api(t, withImports())
	res := send(t, h, "POST /users/import", csvBody, "Prefer: handling=lenient", "", "id,x,name\ncat,y,Cat\n")
	same(t, "lenient", "1 created 0 replaced", value[summary](t, res).brief())
}

// TestRule157CSVForms: the parameters of the media type, and the columns of content without a header.
func TestRule157CSVForms(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, media, content string
		dialect                    csv.Dialect
	}{
		{"fields", "?fields=name,id", "text/csv;header=absent", "Cat,cat\r\n", csv.Dialect{}},
		{"fields of the schema", "", "text/csv;header=absent", "cat,Cat,\r\n", csv.Dialect{}},
		{"semicolons", "", `text/csv;delimiter=";"`, "id;name\r\ncat;Cat\r\n", csv.Dialect{}},
		{"tabs", "", "text/csv;delimiter=tab", "id\tname\r\ncat\tCat\r\n", csv.Dialect{}},
		{"by option", "", "text/csv", "id;name\r\ncat;Cat\r\n", csv.Dialect{Delimiter: ';', BOM: true}},
		{"not by option", "", `text/csv;delimiter=","`, "id,name\r\ncat,Cat\r\n", csv.Dialect{Delimiter: ';'}},
		{"formulas", "", "text/csv;formulas=escaped", "id,name\r\ncat,Cat\r\n", csv.Dialect{}},
	}
	for _, tt := range tests {
		store := memory.New[user](nil)
		users := resource.New("users", store, nil)
		h := catalogWith(t, &rest.Options{CSV: tt.dialect}, users, importOf(users))
		res := send(t, h, "POST /users/import"+tt.line, "Content-Type: "+tt.media, "", tt.content)
		same(t, tt.name, "1 created 0 replaced", value[summary](t, res).brief())
		same(t, tt.name, user{ID: "cat", Name: "Cat"}, stored(t, store, "cat"))
	}
}

func TestRule157CSVAtomic(t *testing.T) {
	t.Parallel()
	for _, store := range stores[:2] {
		h := api(t, withImports(store.opt))
		res := send(t, h, "POST /users/import?atomic=true", csvBody, "", csvUsers(700)+"x\r\n")
		wantProblem(t, res, problem.Invalid)
		same(t, "rejected line", 702, value[summary](t, res).Rejected[0].Line)
		wantBody(t, send(t, h, "GET /users?fields=id", asCSV), http.StatusOK, "id\r\n")
		res = send(t, h, "POST /users/import?atomic=true", csvBody, "Content-Encoding: gzip", "", zip(t, csvUsers(700)))
		same(t, store.name, "700 created 0 replaced", value[summary](t, res).brief())
	}
}

// TestRule157CSVPolicy: each row passes validation, hooks, Scope and Authorize, as a line does.
func TestRule157CSVPolicy(t *testing.T) {
	t.Parallel()
	for _, store := range stores {
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
		res := send(t, h, "POST /users/import", csvBody, as, "", "id,name\nann,Anna\nbob,bad\ncat,hidden\ndan,Dan\n")
		same(t, store.name, "1 created 0 replaced; line 2: 403; line 3: 422 /name rude; line 4: 403", value[summary](t, res).brief())
		wantProblem(t, send(t, h, "POST /users/import", csvBody, "", csvUsers(2)), problem.Unauthenticated, "Www-Authenticate: Bearer")
		wantProblem(t, send(t, h, "GET /users", asCSV), problem.Unauthenticated)
	}
}

// TestRule157CSVInContracts: the columns are the members of the contract.
func TestRule157CSVInContracts(t *testing.T) {
	t.Parallel()
	books := memory.New[book](nil)
	hub := resource.New("books", books, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h := catalog(t, older, importOf(older))
	wantErrors(t, wantProblem(t, send(t, h, "POST /books/import", csvBody, "", "title\nEmma\n"), problem.Invalid), "/title unknown")
	res := send(t, h, "POST /books/import", csvBody, "", "id,name\n,Emma\n2,Persuasion\n")
	same(t, "result", "1 created 0 replaced; line 3: 422 /id readOnly", value[summary](t, res).brief())
	same(t, "title", "Emma", stored(t, books, "1").Title)
	wantBody(t, send(t, h, "GET /books?fields=name,id", asCSV), http.StatusOK, "name,id\r\nEmma,1\r\n")
}
