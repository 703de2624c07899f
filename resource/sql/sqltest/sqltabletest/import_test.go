package sqltabletest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/tx"
)

// dog is a pet with an id that clients choose.
type dog struct {
	ID      string  `json:"id"`
	Name    string  `json:"name" required:"true"`
	Tag     string  `json:"tag,omitempty" unique:"true"`
	OwnerID *string `json:"ownerId"`
}

// dogs is an API with two dogs, of which one is Ann's, and one that has died.
func dogs(t *testing.T, e *enginetest.Engine, opts *resource.Options[dog]) (http.Handler, resource.Ops[dog]) {
	t.Helper()
	db := e.OpenSchema(t)
	owners := sqltable.New[owner](db, "owners", nil)
	table := sqltable.New[dog](db, "dogs", &sqltable.Options{References: map[string]string{"ownerId": "owners"}})
	for _, create := range []func(context.Context) error{owners.CreateTable, table.CreateTable} {
		if err := create(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ops, ann := table.Ops(), "ann"
	if _, err := owners.Ops().Insert(t.Context(), ann, owner{ID: ann}); err != nil {
		t.Fatal(err)
	}
	for _, d := range []dog{{"rex", "Rex", "R", &ann}, {"fido", "Fido", "F", nil}, {"dead", "Dead", "D", nil}} {
		it, err := ops.Insert(t.Context(), d.ID, d)
		if err == nil && d.ID == "dead" {
			err = ops.Delete(t.Context(), d.ID, it.Rev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := ops.Resource("dogs", opts)
	return rest.New(resource.NewCatalog(nil, r, command.NewImport("dogs/import", r)), nil), ops
}

// manyDogs are n lines with dogs.
func manyDogs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"d%04d","name":"Dog %d","ownerId":"ann"}`+"\n", i, i)
	}
	return b.String()
}

// A failed statement aborts a transaction of PostgreSQL. The other lines are stored all the same,
// or none if the import is all or nothing. The failed line is reported either way.
func TestImport(t *testing.T) {
	tests := []struct{ name, content, want, atomic string }{
		{"all is well", manyDogs(1203) + `{"id":"rex","name":"King","tag":"R"}`, "1203 1", "1203 1"},
		{"taken", manyDogs(700) + `{"id":"x","name":"x","tag":"R"}` + "\n" + `{"id":"y","name":"y"}`,
			"701 0; 701: 409 /tag taken", "701: 409 /tag taken"},
		{"taken where something is replaced", manyDogs(2) + `{"id":"fido","name":"x","tag":"R"}` + "\n" + `{"id":"y","name":"y"}`,
			"3 0; 3: 409 /tag taken", "3: 409 /tag taken"},
		{"an owner that there is not", manyDogs(600) + `{"id":"x","name":"x","ownerId":"nobody"}`,
			"600 0; 601: 422 /ownerId unknown", "601: 422 /ownerId unknown"},
		{"two of them", `{"id":"x","name":"x","ownerId":"nobody"}` + "\n" + manyDogs(3) + `{"id":"dead","name":"x"}`,
			"3 0; 1: 422 /ownerId unknown; 5: 410", "1: 422 /ownerId unknown; 5: 410"},
		{"given up and taken over", `{"id":"rex","name":"Rex"}` + "\n" + `{"id":"x","name":"x","tag":"R"}`, "1 1", "1 1"},
		{"bad lines among others", `{"id":"x"}` + "\n" + manyDogs(600) + `{`, "600 0; 1: 422 /name required; 602: 400  syntax",
			"1: 422 /name required; 602: 400  syntax"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				for _, atomic := range []bool{false, true} {
					h, ops := dogs(t, e, nil)
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", fmt.Sprintf("/dogs/import?atomic=%t", atomic), strings.NewReader(tt.content))
					r.Header.Set("Content-Type", "application/x-ndjson")
					h.ServeHTTP(w, r)
					want, created := tt.want, 0
					if atomic {
						want = tt.atomic
					}
					if diff := cmp.Diff(want, importSummary(t, w, &created)); diff != "" {
						t.Errorf("atomic=%t (-want +got):\n%s", atomic, diff)
					}
					n := 0
					for _, err := range ops.List(t.Context(), query.Query{}) {
						if err != nil {
							t.Fatal(err)
						}
						n++
					}
					if n != 2+created {
						t.Errorf("atomic=%t: %d dogs, want %d", atomic, n, 2+created)
					}
				}
			})
		}
	})
}

// importSummary is the answer of an import in a line: how many were created and replaced, and what is wrong with which line.
func importSummary(t *testing.T, w *httptest.ResponseRecorder, created *int) string {
	t.Helper()
	var answer struct {
		Created  int `json:"created"`
		Replaced int `json:"replaced"`
		Rejected []struct {
			Line    int `json:"line"`
			Problem struct {
				Status int `json:"status"`
				Errors []struct{ Pointer, Code string }
			} `json:"problem"`
		} `json:"rejected"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	*created = answer.Created
	var parts []string
	if w.Code == http.StatusOK {
		parts = append(parts, fmt.Sprintf("%d %d", answer.Created, answer.Replaced))
	}
	for _, r := range answer.Rejected {
		part := fmt.Sprintf("%d: %d", r.Line, r.Problem.Status)
		for _, v := range r.Problem.Errors {
			part += " " + v.Pointer + " " + v.Code
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// Batches succeed and roll back on every engine.
func TestBatch(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		told := 0
		h, ops := dogs(t, e, &resource.Options[dog]{After: func(ctx context.Context, _ resource.Op, _, _ *dog) {
			if told++; tx.Active(ctx) {
				t.Error("After runs in the transaction")
			}
		}})
		post := func(operations string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("POST", "/dogs", strings.NewReader(`{"operations":[`+operations+`]}`))
			r.Header.Set("Content-Type", "application/vnd.stoa.batch+json")
			h.ServeHTTP(w, r)
			return w
		}
		const first = `{"op":"patch","id":"rex","patch":{"tag":null}},{"op":"create","value":{"id":"max","name":"Max","tag":"R"}},`
		for last, want := range map[string]string{
			`{"op":"patch","id":"fido","patch":{"tag":"R"}}`:                  `"pointer":"/operations/2/patch/tag","code":"taken"`,
			`{"op":"replace","id":"a","value":{"name":"a","ownerId":"x"}}`:    `"pointer":"/operations/2/value/ownerId","code":"unknown"`,
			`{"op":"delete","id":"dead"}`:                                     `"status":410`,
			`{"op":"patch","id":"fido","ifMatch":"\"x\"","patch":{"tag":""}}`: `"status":412`,
		} {
			if w := post(first + last); !strings.Contains(w.Body.String(), want) || !strings.Contains(w.Body.String(), `"operation":2`) {
				t.Errorf("%s: %d %s, want %s", last, w.Code, w.Body, want)
			}
			if it, err := ops.Get(t.Context(), "rex"); err != nil || it.Value.Tag != "R" {
				t.Errorf("%s: after the refusal rex is %+v (%v)", last, it.Value, err)
			}
		}
		if told != 0 {
			t.Errorf("After has run %d times for what was taken back", told)
		}
		w := post(first + `{"op":"delete","id":"fido"}`)
		if w.Code != http.StatusOK || told != 3 {
			t.Errorf("%d, After has run %d times: %s", w.Code, told, w.Body)
		}
	})
}

// Batches that change the same two items in either order neither lose anything nor wait for each other for ever.
func TestBatchesAtOnce(t *testing.T) {
	const clients, moves = 4, 3
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		h, ops := dogs(t, e, nil)
		var wg sync.WaitGroup
		for client := range clients {
			ids := []string{"rex", "fido"}
			if client%2 == 1 {
				slices.Reverse(ids)
			}
			wg.Go(func() {
				for move := range moves {
					var operations []string
					for _, id := range ids {
						operations = append(operations, fmt.Sprintf(
							`{"op":"patch","id":%q,"patch":{"name":"by %d, %d"}}`, id, client, move))
					}
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", "/dogs", strings.NewReader(`{"operations":[`+strings.Join(operations, ",")+`]}`))
					r.Header.Set("Content-Type", "application/vnd.stoa.batch+json")
					if h.ServeHTTP(w, r); w.Code != http.StatusOK {
						t.Errorf("%d %s", w.Code, w.Body)
					}
				}
			})
		}
		wg.Wait()
		rex, err := ops.Get(t.Context(), "rex")
		if err != nil {
			t.Fatal(err)
		}
		fido, err := ops.Get(t.Context(), "fido")
		if err != nil || rex.Value.Name != fido.Value.Name || !strings.HasPrefix(rex.Value.Name, "by ") {
			t.Errorf("one batch has named rex %q, and another has named fido %q (%v)", rex.Value.Name, fido.Value.Name, err)
		}
	})
}

// node is an item of a tree.
type node struct {
	ID     string  `json:"id"`
	Parent *string `json:"parent"`
	Label  string  `json:"label,omitempty" unique:"true"`
}

// nodes are n lines with nodes that depend on nothing.
func nodes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"n%04d"}`+"\n", i)
	}
	return b.String()
}

// TestRule157ImportInAnyOrder: a line is stored if the other lines make it valid, whatever is between them.
func TestRule157ImportInAnyOrder(t *testing.T) {
	const bad = `{"id":"bad","parent":"none"}` + "\n"
	chain := func(ids ...string) string { // each refers to the next
		var b strings.Builder
		for i, id := range ids[:len(ids)-1] {
			fmt.Fprintf(&b, `{"id":%q,"parent":%q}`+"\n", id, ids[i+1])
		}
		return b.String() + fmt.Sprintf(`{"id":%q}`+"\n", ids[len(ids)-1])
	}
	pair, many := strings.SplitAfter(chain("child", "parent"), "\n"), chain("a", "b", "c", "d", "e", "f")
	lines := strings.SplitAfter(many, "\n")
	freed := []string{`{"id":"new","label":"L"}` + "\n", `{"id":"old"}` + "\n"}
	tests := []struct {
		name, content string
		created       int
		rejected      string
	}{
		{"in one statement", pair[0] + pair[1], 2, ""},
		{"with a line that is wrong", bad + pair[0] + pair[1], 2, "1: 422 /parent unknown"},
		{"in two statements", pair[0] + nodes(150) + pair[1], 152, ""},
		{"in two chunks", pair[0] + nodes(700) + pair[1], 702, ""},
		{"in two chunks with a line that is wrong", bad + pair[0] + nodes(700) + pair[1], 702,
			"1: 422 /parent unknown"},
		{"a chain", strings.Join(lines[:3], "") + nodes(510) + strings.Join(lines[3:], ""), 516, ""},
		{"the root is last", strings.Join(slices.Concat(lines[4:5], lines[3:4], lines[2:3], lines[1:2], lines[:1]), "") +
			bad + nodes(510) + lines[5], 516, "6: 422 /parent unknown"},
		{"a value that a later line frees", freed[0] + freed[1], 1, ""},
		{"a value that a later line frees beside a line that is wrong", bad + freed[0] + freed[1], 1,
			"1: 422 /parent unknown"},
		{"a value that a later chunk frees", freed[0] + nodes(700) + freed[1], 701, ""},
		{"a value that is never freed", freed[0] + nodes(10), 10, "1: 409 /label taken"},
		{"a later line with the same id", `{"id":"x","parent":"late","label":"first"}` + "\n" + nodes(600) +
			`{"id":"x","label":"second"}` + "\n" + `{"id":"late"}`, 602, "1: 422 /parent unknown"},
		{"a later line with the same id that is wrong", `{"id":"x","parent":"late"}` + "\n" + nodes(600) +
			`{"id":"x","parent":7}` + "\n" + `{"id":"late"}`, 602, "602: 422 /parent type"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			for _, atomic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/atomic=%t", tt.name, atomic), func(t *testing.T) {
					table := sqltable.New[node](e.OpenSchema(t), "nodes",
						&sqltable.Options{References: map[string]string{"parent": "nodes"}})
					if err := table.CreateTable(t.Context()); err != nil {
						t.Fatal(err)
					}
					ops := table.Ops()
					if _, err := ops.Insert(t.Context(), "old", node{ID: "old", Label: "L"}); err != nil {
						t.Fatal(err)
					}
					stored := map[string]int{} // calls of After
					r := ops.Resource("nodes", &resource.Options[node]{Public: true,
						After: func(_ context.Context, _ resource.Op, _, after *node) { stored[after.ID]++ }})
					h := rest.New(resource.NewCatalog(nil, r, command.NewImport("nodes/import", r)), nil)
					w := sendTo(t, h, fmt.Sprintf("POST /nodes/import?atomic=%t", atomic), "application/x-ndjson",
						tt.content, "")
					created, total := 0, 1
					got := importSummary(t, w, &created)
					replaced := strings.Count(tt.content, `"old"`) + strings.Count(tt.content, `"second"`)
					want := fmt.Sprintf("%d %d", tt.created, replaced)
					switch {
					case tt.rejected != "" && atomic:
						want = tt.rejected
					case tt.rejected != "":
						want += "; " + tt.rejected
						fallthrough
					default:
						total += tt.created
					}
					if strings.Contains(tt.content, `"second"`) { // the first one was never stored
						want = strings.Replace(want, "602 1", "602 0", 1)
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("the result (-want +got):\n%s", diff)
					}
					n := 0
					for it, err := range ops.List(t.Context(), query.Query{}) {
						if n++; err != nil {
							t.Fatal(err)
						}
						if it.ID == "x" && it.Value.Label != "second" && strings.Contains(tt.content, "second") {
							t.Errorf("the first of two lines with one id is stored last: %+v", it.Value)
						}
					}
					if n != total {
						t.Errorf("%d nodes, want %d", n, total)
					}
					for id, calls := range stored {
						if calls != 1 {
							t.Errorf("After was called %d times for %s", calls, id)
						}
					}
				})
			}
		}
	})
}

// TestImportInOrderOfIDs: an import changes the items of a chunk in the order of their ids and then inserts the
// new ones in that order, so that imports of the same items do not wait for each other.
func TestImportInOrderOfIDs(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		table := sqltable.New[node](db, "nodes", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := table.Ops().Resource("nodes", nil)
		h := rest.New(resource.NewCatalog(nil, r, command.NewImport("nodes/import", r)), nil)
		for _, id := range []string{"b", "d", "a", "c"} {
			sendTo(t, h, "PUT /nodes/"+id, "application/json", `{}`, "")
		}
		lines := ""
		for i, id := range []string{"c", "x", "a", "w", "d", "b"} {
			lines += fmt.Sprintf(`{"id":%q,"label":"L%d"}`+"\n", id, i)
		}
		for _, atomic := range []bool{true, false} {
			var got []string
			ran, _ := records.During(func() {
				w := sendTo(t, h, fmt.Sprintf("POST /nodes/import?atomic=%t", atomic), "application/x-ndjson", lines, "")
				if w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
			for _, s := range ran {
				for _, arg := range s.Args {
					if id, ok := arg.(string); ok && !strings.HasPrefix(s.Text, "SELECT") && len(id) == 1 {
						got = append(got, id)
					}
				}
			}
			if diff := cmp.Diff([]string{"a", "b", "c", "d", "w", "x"}, got); diff != "" {
				t.Errorf("atomic=%t: written ids (-want +got):\n%s", atomic, diff)
			}
			lines = strings.ReplaceAll(lines, "L", "M")
		}
	})
}
