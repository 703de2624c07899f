package rest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Lists as CSV: all items, in constant memory, and never truncated without an error.

const (
	asCSV   = "Accept: text/csv"
	typeCSV = "Content-Type: text/csv; charset=utf-8; header=present"
)

func csvRows(n int) string {
	var b strings.Builder
	b.WriteString("id\r\n")
	for i := range n {
		fmt.Fprintf(&b, "%d\r\n", i+1)
	}
	return b.String()
}

func TestRule154CSVIsWhole(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 499, 500, 501, 1203} {
		h, pages := manyOrders(t, n)
		res := send(t, h, "GET /orders?fields=id", asCSV)
		want(t, res, http.StatusOK, typeCSV, "Vary: Accept, Accept-Encoding, Prefer",
			"Cache-Control: private, no-cache", "X-Content-Type-Options: nosniff", "Accept-Ranges:",
			"Accept-Post:", "Link:", "Etag:", "Content-Encoding:")
		wantBody(t, res, http.StatusOK, csvRows(n))
		zipped := send(t, h, "GET /orders?fields=id", asCSV, "Accept-Encoding: gzip")
		if diff := cmp.Diff(csvRows(n), gunzip(t, zipped)); diff != "" {
			t.Errorf("%d items, gzip (-want +got):\n%s", n, diff)
		}
		pages.Store(0)
		head := send(t, h, "HEAD /orders?fields=id", asCSV)
		if diff := cmp.Diff(res.header, head.header); diff != "" || head.body != "" || pages.Load() > 1 {
			t.Errorf("%d items: HEAD asked for %d pages and has %q (-GET +HEAD):\n%s", n, pages.Load(), head.body, diff)
		}
	}
}

// TestRule154CSVSelection: filters, order, limit, cursors, fields and relations are those of lists.
func TestRule154CSVSelection(t *testing.T) {
	t.Parallel()
	h, _ := manyOrders(t, 1100, func(s *setup) { s.orders.MaxPageSize = 2000 })
	create(t, h, "/users", `{"id":"u","name":"N, M"}`)
	_, next, _ := strings.Cut(send(t, h, "GET /orders?limit=400").body, `"next":"`)
	next, _, _ = strings.Cut(next, `"`)
	tests := []struct{ name, target, want string }{
		{"limit", "/orders?limit=2&fields=id", csvRows(2)},
		{"limit over a page", "/orders?limit=700&fields=id", csvRows(700)},
		{"filter and order", "/orders?cents.gte=5&sort=-cents&limit=2&fields=cents,id", "cents,id\r\n6,7\r\n6,14\r\n"},
		{"order of the fields", "/orders?limit=1&fields=status,id,status", "status,id\r\nopen,1\r\n"},
		{"all fields", "/orders?limit=1", "id,customerId,status,cents,note,tags\r\n1,u,open,0,,\r\n"},
		{"relation", "/orders?limit=1&fields=id&expand=customer", "id,customer\r\n1,\"{\"\"id\"\":\"\"u\"\",\"\"name\"\":\"\"N, M\"\"}\"\r\n"},
		{"after a page", "/orders?fields=id&limit=2&after=" + next, "id\r\n401\r\n402\r\n"},
		{"no items", "/orders?fields=id&cents.gte=99", "id\r\n"},
	}
	for _, tt := range tests {
		res := send(t, h, "GET "+tt.target, asCSV)
		want(t, res, http.StatusOK, typeCSV)
		if diff := cmp.Diff(tt.want, res.body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRule154CSVConditions: a list as CSV has no entity tag, as one of lines has none.
func TestRule154CSVConditions(t *testing.T) {
	t.Parallel()
	h, _ := manyOrders(t, 1)
	want(t, send(t, h, "GET /orders", asCSV, "If-None-Match: *"), http.StatusOK, typeCSV)
	want(t, send(t, h, "GET /orders", asCSV, "If-Match: *"), http.StatusOK, typeCSV)
	wantProblem(t, send(t, h, "GET /orders", asCSV, `If-Match: "x"`), problem.PreconditionFailed)
	wantProblem(t, send(t, h, "GET /orders", asCSV, "Accept-Encoding: br, identity;q=0"), problem.NotAcceptable)
	wantProblem(t, send(t, h, "GET /orders/1", asCSV), problem.NotAcceptable)
}

func TestRule154CSVHidesWhatListsHide(t *testing.T) {
	t.Parallel()
	h, _ := manyOrders(t, 1001, func(s *setup) {
		s.orders.Authorize = func(_ context.Context, _ resource.Op, before, _ *order) error {
			if before.ID%500 != 0 {
				return resource.ErrForbidden
			}
			return nil
		}
	})
	wantBody(t, send(t, h, "GET /orders?fields=id", asCSV), http.StatusOK, "id\r\n500\r\n1000\r\n")
	h, _ = manyOrders(t, 1001, func(s *setup) {
		s.orders.Scope = func(context.Context) (query.Filter, error) {
			return query.Where("cents", query.Eq, int64(8)), nil
		}
	})
	wantBody(t, send(t, h, "GET /orders?fields=id", asCSV), http.StatusOK, "id\r\n")
	// A writeOnly member is no column, and cannot be selected.
	h = api(t)
	create(t, h, "/users", `{"id":"u","name":"n","pin":"1234"}`)
	wantBody(t, send(t, h, "GET /users", asCSV), http.StatusOK, "id,name,email\r\nu,n,\r\n")
	wantErrors(t, wantProblem(t, send(t, h, "GET /users?fields=id,pin", asCSV), problem.InvalidParameter), "?fields unknownField")
}

// TestRule154CSVErrors: errors before the first row have a status, and later ones abort the response.
func TestRule154CSVErrors(t *testing.T) {
	t.Parallel()
	h := api(t)
	tests := []struct {
		target, place string
		kind          problem.Kind
	}{
		{"/orders?limit=201", "?limit invalidValue", problem.InvalidParameter},
		{"/orders?x=1", "?x unknownParameter", problem.InvalidParameter},
		{"/orders?fields=x", "?fields unknownField", problem.InvalidParameter},
		{"/orders?after=x", "?after invalidCursor", problem.InvalidCursor},
		{"/orders?before=x", "?before invalidCursor", problem.InvalidCursor},
	}
	for _, tt := range tests {
		wantErrors(t, wantProblem(t, send(t, h, "GET "+tt.target, asCSV), tt.kind), tt.place)
	}
	h, _ = manyOrders(t, 1000, func(s *setup) {
		s.catalog.Logger = slog.New(slog.DiscardHandler)
		list := s.orderOps.List
		s.orderOps.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[order], error] {
			if q.After != nil {
				return func(yield func(resource.Item[order], error) bool) {
					yield(resource.Item[order]{}, errors.New(cause))
				}
			}
			return list(ctx, q)
		}
	})
	srv := listen(t, h)
	for _, two := range []bool{false, true} {
		res, err := tryHTTP(t, srv, two)("GET /orders", asCSV)
		if err != nil || !strings.HasSuffix(res.body, ">") || strings.Contains(res.body, cause) {
			t.Fatalf("HTTP/2 %t: %v, %+v", two, err, res)
		}
		want(t, res, http.StatusOK, typeCSV)
	}
}

// csvSheet has a member of each kind of cell.
type csvSheet struct {
	ID    string         `json:"id"`
	Text  string         `json:"text,omitzero"`
	Note  *string        `json:"note"`
	Count int64          `json:"count,omitzero"`
	Price *float64       `json:"price,omitzero"`
	Open  bool           `json:"open"`
	Tags  []string       `json:"tags,omitzero"`
	Size  *csvBox        `json:"size"`
	Extra any            `json:"extra,omitzero"`
	Attrs map[string]int `json:"attrs,omitempty"`
}

type csvBox struct {
	W, H int
}

// TestRule155CSVRoundTrip: what an export contains is imported as equal items, in each form.
func TestRule155CSVRoundTrip(t *testing.T) {
	t.Parallel()
	text, price := "", -1.5
	items := []csvSheet{
		{ID: "a", Text: "x, \"y\"\r\nz;\t|", Note: &text, Count: -7, Price: &price, Open: true, Tags: []string{"p,q", `"`},
			Size: &csvBox{1, 2}, Extra: "null", Attrs: map[string]int{"é": 1}},
		{ID: "b", Text: "=1+1", Extra: []any{"x", nil, 1.0}, Tags: []string{}},
		{ID: "c", Text: "'=1", Extra: -1.0},
		{ID: "\\."},
	}
	for _, params := range []string{"", ";header=absent", `;delimiter=";"`, ";delimiter=tab;bom=present", ";formulas=escaped",
		`;header=absent;delimiter="|";bom=present;formulas=escaped`} {
		t.Run(params, func(t *testing.T) {
			t.Parallel()
			source, target := stocked[csvSheet](t), stocked[csvSheet](t)
			for _, v := range items {
				if _, err := source.Insert(t.Context(), v.ID, v); err != nil {
					t.Fatal(err)
				}
			}
			from, to := resource.New("sheets", source, nil), resource.New("sheets", target, nil)
			res := send(t, catalog(t, from), "GET /sheets", asCSV+params)
			want(t, res, http.StatusOK)
			// The media type of the response describes its content in full.
			got := send(t, catalog(t, to, importOf(to)), "POST /sheets/import", "Content-Type: "+res.header.Get("Content-Type"), "", res.body)
			want(t, got, http.StatusOK)
			same(t, "result", "4 created 0 replaced", value[summary](t, got).brief())
			for _, v := range items {
				if diff := cmp.Diff(v, stored(t, target, v.ID)); diff != "" {
					t.Errorf("%s (-want +got):\n%s\n%s", v.ID, diff, res.body)
				}
			}
		})
	}
}

// TestRule155CSVFormulas: by option or parameter, text cannot start a formula.
func TestRule155CSVFormulas(t *testing.T) {
	t.Parallel()
	var items []csvSheet
	var plain, escaped strings.Builder
	plain.WriteString("text,count\r\n")
	escaped.WriteString("text,count\r\n")
	for i, first := range []string{"=", "+", "-", "@", "\t", "\r", "x", "'="} {
		items = append(items, csvSheet{ID: string(rune('a' + i)), Text: first + "1", Count: -1})
		cell, safe := first+"1", "'"+first+"1"
		switch first {
		case "\t", "\r":
			cell, safe = `"`+cell+`"`, `"`+safe+`"`
		case "x":
			safe = cell
		}
		plain.WriteString(cell + ",-1\r\n")
		escaped.WriteString(safe + ",-1\r\n")
	}
	store := stocked[csvSheet](t)
	for _, v := range items {
		if _, err := store.Insert(t.Context(), v.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	sheets := resource.New("sheets", store, nil)
	byDefault := catalog(t, sheets)
	byOption := catalogWith(t, &rest.Options{CSV: csv.Dialect{EscapeFormulas: true}}, sheets)
	tests := []struct {
		name   string
		h      http.Handler
		accept string
		want   string
		media  string
	}{
		{"default", byDefault, "text/csv", plain.String(), typeCSV},
		{"parameter", byDefault, "text/csv;formulas=escaped", escaped.String(), typeCSV + "; formulas=escaped"},
		{"option", byOption, "text/csv", escaped.String(), typeCSV + "; formulas=escaped"},
		{"option and another parameter", byOption, "text/csv;header=present", escaped.String(), typeCSV + "; formulas=escaped"},
		{"option and parameter", byOption, "text/csv;formulas=plain", plain.String(), typeCSV},
	}
	for _, tt := range tests {
		res := send(t, tt.h, "GET /sheets?fields=text,count", "Accept: "+tt.accept)
		want(t, res, http.StatusOK, tt.media)
		if diff := cmp.Diff(tt.want, res.body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRule156CSVParameters: Accept selects the form of a list by the parameters of text/csv.
func TestRule156CSVParameters(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", `{"id":"u","name":"n"}`)
	manyForms := strings.Repeat("text/csv;header=absent, ", 100)
	for i := range 100 {
		manyForms += fmt.Sprintf(`text/csv;header=absent;bom=absent;header%d=x, `, i)
	}
	tests := []struct{ name, accept, media, want string }{
		{"none", "text/csv", typeCSV, "id,name\r\nu,n\r\n"},
		{"registered", "text/csv; charset=UTF-8; header=present", typeCSV, "id,name\r\nu,n\r\n"},
		{"absent header", "text/csv;header=absent", "Content-Type: text/csv; charset=utf-8; header=absent", "u,n\r\n"},
		{"delimiter and mark", `text/csv; delimiter=";"; bom=present`,
			typeCSV + `; delimiter=";"; bom=present`, "\ufeffid;name\r\nu;n\r\n"},
		{"tab", "text/csv;delimiter=tab", typeCSV + "; delimiter=tab", "id\tname\r\nu\tn\r\n"},
		{"weights", "text/csv;header=absent;q=0.4, text/csv;bom=present;q=0.5, application/json;q=0.3", typeCSV + "; bom=present",
			"\ufeffid,name\r\nu,n\r\n"},
		{"the plain form weighs more", "text/csv;header=absent;q=0.4, text/csv", typeCSV, "id,name\r\nu,n\r\n"},
		{"another form is refused", "text/csv;header=absent, text/csv;q=0", "Content-Type: text/csv; charset=utf-8; header=absent", "u,n\r\n"},
		{"an unsupported form is no offer", "text/csv;charset=latin1, text/csv;header=absent;q=0.1",
			"Content-Type: text/csv; charset=utf-8; header=absent", "u,n\r\n"},
		{"JSON weighs more", "text/csv;header=absent;q=0.9, application/json", "Content-Type: application/json", ""},
		{"many", manyForms, "Content-Type: text/csv; charset=utf-8; header=absent", "u,n\r\n"},
	}
	for _, tt := range tests {
		res := send(t, h, "GET /users?fields=id,name", "Accept: "+tt.accept)
		want(t, res, http.StatusOK, tt.media)
		if diff := cmp.Diff(tt.want, res.body); diff != "" && tt.want != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRule156CSVUnsupportedParameters: 406 and 415 name the parameter and what is accepted.
func TestRule156CSVUnsupportedParameters(t *testing.T) {
	t.Parallel()
	h := api(t, withImports())
	tests := []struct{ params, detail string }{
		{";charset=latin1", "The parameter charset of text/csv must be utf-8."},
		{";header=maybe", "The parameter header of text/csv must be present or absent."},
		{";delimiter=x", `The parameter delimiter of text/csv must be ",", ";", "|" or tab.`},
		{";bom=1", "The parameter bom of text/csv must be present or absent."},
		{";formulas=no", "The parameter formulas of text/csv must be escaped or plain."},
		{";quote=x", `The parameter "quote" of text/csv is not supported; ` +
			"the parameters are charset, header, delimiter, bom and formulas."},
	}
	for _, tt := range tests {
		d := wantProblem(t, send(t, h, "GET /users", asCSV+tt.params), problem.NotAcceptable)
		same(t, "detail", "Accept must allow application/json or application/x-ndjson or text/csv. "+tt.detail, d.Detail)
		same(t, "available", []string{"application/json", "application/x-ndjson", "text/csv"}, d.Available)
		if strings.Contains(tt.params, "charset") {
			tt.detail = "use application/x-ndjson or text/csv in UTF-8."
		}
		d = wantProblem(t, send(t, h, "POST /users/import", "Content-Type: text/csv"+tt.params, "", "id,name\na,A\n"),
			problem.UnsupportedMediaType, "Accept-Post: application/x-ndjson, text/csv")
		if !strings.HasSuffix(d.Detail, tt.detail) {
			t.Errorf("detail %q, want the end %q", d.Detail, tt.detail)
		}
	}
	wantBody(t, send(t, h, "GET /users?fields=id", asCSV), http.StatusOK, "id\r\n")
}

func TestCSVOption(t *testing.T) {
	t.Parallel()
	things := resource.New("things", stocked[thing](t), nil)
	wantPanic(t, `rest: Options.CSV: csv: delimiter is 'x', but must be a comma, a semicolon, | or a tab`, func() {
		catalogWith(t, &rest.Options{CSV: csv.Dialect{Delimiter: 'x'}}, things)
	})
}
