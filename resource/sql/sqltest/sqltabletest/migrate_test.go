package sqltabletest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// grown is the shape of a later release: with a column of each kind that an earlier one does not have.
type grown struct {
	ID    string            `json:"id" maxLength:"64"`
	Name  string            `json:"name"`
	Note  *string           `json:"note"`
	Count int64             `json:"count"`
	Score float64           `json:"score"`
	Done  bool              `json:"done"`
	Made  time.Time         `json:"made"`
	Tags  []int             `json:"tags"`
	Map   map[string]string `json:"map"`
	Photo []byte            `json:"photo"`
	Place address           `json:"place"`
	Any   any               `json:"any"`
}

// early is the shape before it.
type early struct {
	ID   string `json:"id" maxLength:"64"`
	Name string `json:"name"`
}

// TestAlterDDL runs what AlterDDL returns. After it both releases read and write the table, and a row
// of the earlier one has the zero values in the later one.
func TestAlterDDL(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		before := sqltable.New[early](db, "things", nil)
		after := sqltable.New[grown](db, "things", &sqltable.Options{Modified: "updated_at"})
		all, err := after.AlterDDL(t.Context())
		if diff := cmp.Diff(after.DDL(), all); diff != "" || err != nil {
			t.Errorf("%v; without a table (-want +got):\n%s", err, diff)
		}
		if err := before.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := before.Ops().Insert(t.Context(), "a", early{ID: "a", Name: "A"}); err != nil {
			t.Fatal(err)
		}
		missing, err := after.AlterDDL(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for statement := range strings.SplitSeq(strings.TrimSpace(missing), "\n") {
			enginetest.MustExec(t, db, statement)
		}
		if left, err := after.AlterDDL(t.Context()); left != "" || err != nil {
			t.Errorf("after the migration %q is missing, %v", left, err)
		}
		for name, check := range map[string]error{"before": before.Check(t.Context()), "after": after.Check(t.Context())} {
			if check != nil {
				t.Errorf("%s: %v", name, check)
			}
		}
		if _, err := before.Ops().Insert(t.Context(), "b", early{ID: "b", Name: "B"}); err != nil {
			t.Error(err)
		}
		for _, id := range []string{"a", "b"} {
			it, err := after.Ops().Get(t.Context(), id)
			want := grown{ID: id, Name: strings.ToUpper(id), Tags: []int{}, Map: map[string]string{}, Photo: []byte{}}
			if diff := cmp.Diff(want, it.Value); diff != "" || err != nil {
				t.Errorf("%v; row %s (-want +got):\n%s", err, id, diff)
			}
		}
	})
}
