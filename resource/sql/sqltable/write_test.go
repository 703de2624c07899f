package sqltable_test

import (
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestRecreateDefaults sets a column to its DEFAULT if an item takes the place of a deleted one.
func TestRecreateDefaults(t *testing.T) {
	t.Parallel()
	type account struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Tier  string `json:"tier" enum:"free,pro" sql:"tier" default:"db"`
		Total string `json:"total" format:"decimal" readOnly:"true" sql:"numeric,generated"`
	}
	c := &catalog{}
	table := sqltable.New[account](c.open(t), "accounts", &sqltable.Options{
		SoftDelete: "deleted_at", Recreate: true, ClientIDs: true, Rev: sqltable.XMin})
	_, _ = table.Ops().Insert(t.Context(), "a", account{ID: "a", Name: "Ann"})
	insert, _ := c.last("INSERT")
	_, got, _ := strings.Cut(insert, " DO UPDATE SET ")
	got, _, _ = strings.Cut(got, " WHERE ")
	want := `"deleted_at" = NULL, "id" = excluded."id", "name" = excluded."name", "tier" = excluded."tier"`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the assignments of %s (-want +got):\n%s", insert, diff)
	}
}

// TestLargeInteger reads a number above the largest int64, which a numeric stores. Others that the field cannot
// have are 0.
func TestLargeInteger(t *testing.T) {
	t.Parallel()
	type counter struct {
		ID    string `json:"id"`
		Count uint64 `json:"count" sql:"numeric(20)"`
	}
	for _, tt := range []struct {
		text string
		want uint64
	}{
		{"18446744073709551615", 18446744073709551615},
		{"9223372036854775807", 9223372036854775807},
		{"18446744073709551616", 0},
		{"-1", 0},
	} {
		c := &catalog{answer: func(string) (int, [][]driver.Value, error) {
			return 2, [][]driver.Value{{"a", tt.text}}, nil
		}}
		table := sqltable.New[counter](c.open(t), "counters", &sqltable.Options{ReadOnly: true})
		it, err := table.Ops().Get(t.Context(), "a")
		if got := it.Value.Count; got != tt.want || err != nil {
			t.Errorf("%s is read as %d, %v; want %d", tt.text, got, err, tt.want)
		}
	}
}

// TestReal reads a float64 of a real, which rounds in PostgreSQL and not in SQLite.
func TestReal(t *testing.T) {
	t.Parallel()
	type weight struct {
		ID    string  `json:"id"`
		Grams float64 `json:"grams" sql:"real"`
	}
	for dialect, want := range map[sqltx.Dialect]float64{sqltx.SQLite: 0.10000000001, sqltx.PostgreSQL: 0.1} {
		c := &catalog{dialect: dialect, answer: func(string) (int, [][]driver.Value, error) {
			return 2, [][]driver.Value{{"a", 0.10000000001}}, nil
		}}
		table := sqltable.New[weight](c.open(t), "weights", &sqltable.Options{ReadOnly: true})
		it, err := table.Ops().Get(t.Context(), "a")
		if diff := cmp.Diff(want, it.Value.Grams); diff != "" || err != nil {
			t.Errorf("%s: %v; the number (-want +got):\n%s", dialect, err, diff)
		}
	}
}

// TestEmptyText writes NULL for an empty text that the type of a nullable column does not have, and
// rejects it for other columns. A timetz has offsets of less than 16 hours.
func TestEmptyText(t *testing.T) {
	t.Parallel()
	type event struct {
		ID    string   `json:"id"`
		Tier  string   `json:"tier,omitzero" enum:"free,pro" sql:"tier,null"`
		Level string   `json:"level" enum:"low,high" sql:"level"`
		Open  string   `json:"open" format:"time" sql:"timetz"`
		Tiers []string `json:"tiers" enum:"free,pro" sql:"tier[]"`
	}
	tests := []struct {
		name string
		v    event
		want string // the field of the error
	}{
		{"an omitted enum", event{Level: "low", Open: "10:00:00+15:59"}, ""},
		{"an empty enum", event{Open: "10:00:00Z"}, "level"},
		{"a large offset", event{Level: "low", Open: "10:00:00-16:00"}, "open"},
		{"an empty element", event{Level: "low", Open: "10:00:00Z", Tiers: []string{""}}, "tiers"},
	}
	for _, tt := range tests {
		c := &catalog{}
		table := sqltable.New[event](c.open(t), "events", &sqltable.Options{ClientIDs: true, Rev: sqltable.XMin, Forget: true})
		_, err := table.Ops().Insert(t.Context(), "a", tt.v)
		_, args := c.last("INSERT")
		switch {
		case tt.want == "" && (len(args) < 2 || args[1].Value != nil):
			t.Errorf("%s: arguments %v, %v", tt.name, args, err)
		case tt.want != "" && (args != nil || err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v with the arguments %v, want an error of %s", tt.name, err, args, tt.want)
		}
	}
}
