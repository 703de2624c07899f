package sqltabletest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type omittedPart struct {
	Lines []string       `json:"lines"`
	Inner map[string]int `json:"inner,omitzero"`
}

// omitted has members that may be absent, in columns of each form.
type omitted struct {
	ID     string         `json:"id"`
	List   []string       `json:"list,omitzero" sql:",null"`
	Map    map[string]int `json:"map,omitzero" sql:",null"`
	Struct omittedPart    `json:"struct,omitzero" sql:",null"`
	Bytes  []byte         `json:"bytes,omitzero" sql:",null"`
	Any    any            `json:"any,omitzero"`
	Plain  [2]int         `json:"plain,omitzero"`
	Point  struct {
		X int `json:"x"`
	} `json:"point,omitzero"`
	Empty []string       `json:"empty,omitempty"`
	None  map[string]int `json:"none,omitempty"`
}

// arrays has the array of PostgreSQL beside it.
type arrays struct {
	ID   string   `json:"id"`
	List []string `json:"list,omitzero" sql:"text[],null"`
}

// TestOmittedMembers: a member that the JSON of an item omits is omitted after it was stored in a table, as in
// memory.
func TestOmittedMembers(t *testing.T) {
	documents := []string{`{}`, `{"list":[],"map":{},"bytes":"","empty":[],"none":{},"struct":{"lines":[]}}`,
		`{"list":["a"],"map":{"a":1},"bytes":"YQ==","any":1,"plain":[0,1],"point":{"x":1},"struct":{"lines":["b"]}}`,
		`{"struct":{"lines":[],"inner":{}}}`}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		compareOmitted(t, sqltable.New[omitted](db, "omitted", nil), memory.New[omitted](nil), documents)
		if e.Dialect == sqltx.PostgreSQL {
			lists := []string{`{}`, `{"list":[]}`, `{"list":["a"]}`}
			compareOmitted(t, sqltable.New[arrays](db, "arrays", nil), memory.New[arrays](nil), lists)
		}
	})
}

// compareOmitted stores the documents in a table and in memory, and compares the items and the lists.
func compareOmitted[T any](t *testing.T, table *sqltable.Table[T], store *memory.Store[T], documents []string) {
	t.Helper()
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := table.Check(t.Context()); err != nil {
		t.Error(err)
	}
	var got [2][]string
	for i, r := range []*resource.Resource{table.Ops().Resource("a", nil), resource.New("a", store, nil)} {
		h := serve(t, nil, r)
		for n, doc := range documents {
			path := h.URL + "/a/" + string(rune('a'+n))
			for _, method := range []string{"PUT", "GET"} {
				body := doc
				if method == "GET" {
					body = ""
				}
				status, _, text := request(t, h.Client(), method, path, body)
				if status >= 300 {
					t.Fatalf("%s %s: %d %s", method, doc, status, text)
				}
				got[i] = append(got[i], method+" "+doc+": "+text)
			}
		}
		_, _, text := request(t, h.Client(), "GET", h.URL+"/a", "")
		got[i] = append(got[i], text)
	}
	if diff := cmp.Diff(got[1], got[0]); diff != "" {
		t.Errorf("the table (-memory +table):\n%s", diff)
	}
}
