package sqltable_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type (
	withoutID  struct{ Name string }
	nullableID struct {
		ID *string `json:"id"`
	}
	hidden struct {
		ID     string `json:"id"`
		Secret string `json:"-" db:"secret"`
	}
	unkept struct {
		ID   string `json:"id"`
		Name string `json:"name" db:"-"`
	}
	absentList struct {
		ID   string   `json:"id"`
		Tags []string `json:"tags,omitzero"`
	}
	absentBytes struct {
		ID    string `json:"id"`
		Photo []byte `json:"photo,omitzero"`
	}
	absentStruct struct {
		ID    string  `json:"id"`
		Place address `json:"place,omitzero"`
	}
	address struct {
		Lines []string `json:"lines"`
	}
	twice struct {
		ID string `json:"id"`
		A  string `json:"a" db:"x"`
		B  string `json:"b" db:"X"`
	}
)

// makes makes a table of T, or panics.
func makes[T any](name string, opts sqltable.Options) func(db *sqltx.DB) {
	return func(db *sqltx.DB) { sqltable.New[T](db, name, &opts) }
}

// TestRegistration makes each mistake that can be known without a database. The panic has to name it.
func TestRegistration(t *testing.T) {
	t.Parallel()
	columns := func(field string, c sqlquery.Column) sqltable.Options {
		return sqltable.Options{Columns: map[string]sqlquery.Column{field: c}}
	}
	tests := []struct {
		name string
		do   func(db *sqltx.DB)
		want string
	}{
		{"no struct", makes[map[string]string]("t", sqltable.Options{}), "it is no struct"},
		{"no id", makes[withoutID]("t", sqltable.Options{}), `there is no id field "id"; Options.ID names another`},
		{"another id", makes[numbered]("t", sqltable.Options{ID: "number"}), `there is no id field "number"`},
		{"an id that can be null", makes[nullableID]("t", sqltable.Options{}), `the id field "id" must be a string or an integer, and no pointer`},
		{"an id that is computed", makes[article]("t", columns("id", sqlquery.Column{Expr: "1"})), `the column of the id field "id" has an Expr`},
		{"no table", makes[article]("", sqltable.Options{}), `"" is no name of a table`},
		{"a name in three parts", makes[article]("a.b.c", sqltable.Options{}), `"a.b.c" is no name of a table`},
		{"a field that JSON does not know", makes[hidden]("t", sqltable.Options{}), "field Secret has the tag db, but is not part of the JSON"},
		{"a field without a column", makes[unkept]("t", sqltable.Options{}), `field Name: it has the tag db:"-", and yet clients can write it`},
		{"a list that is absent", makes[absentList]("t", sqltable.Options{}), `field Tags: omitzero leaves it out of the JSON`},
		{"bytes that are absent", makes[absentBytes]("t", sqltable.Options{}), `use omitempty, or tag it sql:",null"`},
		{"a struct with a list that is absent", makes[absentStruct]("t", sqltable.Options{}), `field Place: omitzero leaves it out`},
		{"two fields in one column", makes[twice]("t", sqltable.Options{}), `the fields A and B have the same column "X"`},
		{"an unknown field in Columns", makes[article]("t", columns("nothing", sqlquery.Column{})), `Options.Columns names the field "nothing"`},
		{"a path", makes[article]("t", columns("email", sqlquery.Column{Name: "doc", Path: []string{"email"}})), "its column has a Path"},
		{"an Expr with a name", makes[article]("t", columns("computed", sqlquery.Column{Name: "a", Expr: "b"})), "an Expr besides a Name"},
		{"an unknown field in Index", makes[article]("t", sqltable.Options{Index: []string{"tags"}}), `Options.Index names "tags"`},
		{"an unknown field in Constraints", makes[article]("t", sqltable.Options{Constraints: map[string]string{"c": "nothing"}}),
			`Options.Constraints names the field "nothing"`},
		{"two that choose ids", makes[article]("t", sqltable.Options{ClientIDs: true, NewID: func() string { return "" }}),
			"Options has NewID and ClientIDs"},
		{"XMin in SQLite", makes[article]("t", sqltable.Options{Rev: sqltable.XMin}), "Options.Rev is XMin, which only PostgreSQL has"},
		{"a revision that is a number", makes[article]("t", sqltable.Options{Rev: "code"}), `the column of the revision, "code", is that of the field HTTPCode`},
		{"a count that is text", makes[article]("t", sqltable.Options{Rev: "email", CountRev: true}), "which must be an integer and no pointer"},
		{"a time that is none", makes[article]("t", sqltable.Options{Modified: "email"}), `Options.Modified names the column "email", which has no time field`},
		{"forgetting what is kept", makes[article]("t", sqltable.Options{Forget: true, SoftDelete: "deleted_at"}),
			"Options.SoftDelete contradicts Forget and Tombstones"},
		{"unique deleted rows that are removed", makes[article]("t", sqltable.Options{UniqueDeleted: true}),
			"Options.UniqueDeleted has no effect without SoftDelete"},
		{"a deletion that is no time", makes[article]("t", sqltable.Options{SoftDelete: "email"}),
			`Options.SoftDelete names the column "email", and its field Email is not a *time.Time`},
		{"a restored item with its old revision",
			makes[article]("t", sqltable.Options{Rev: sqltable.Content, SoftDelete: "gone"}),
			"Options.SoftDelete with Rev: Content needs Modified: a restored item would have the revision"},
		{"a deletion by clients", makes[article]("t", sqltable.Options{SoftDelete: "sent_at"}),
			`Options.SoftDelete names the column "sent_at": tag its field SentAt readOnly:"true"`},
		{"unique with what has no column", makes[uniqueElsewhere]("t", sqltable.Options{}),
			`field Email: the tag unique names "elsewhere", which has no column of its own`},
		{"no deletion and its tombstones", makes[article]("t", sqltable.Options{NoDelete: true, Tombstones: "dead"}),
			"Options.NoDelete contradicts Recreate, SoftDelete and Tombstones"},
		{"forgetting and remembering", makes[article]("t", sqltable.Options{Forget: true, Recreate: true}), "Options.Forget contradicts Recreate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "sqltable: table ") || !strings.Contains(said, tt.want) {
					t.Errorf("New panicked with %q, want one that says %q", said, tt.want)
				}
			}()
			tt.do(offline(sqltx.SQLite))
		})
	}
}

// uniqueElsewhere is unique together with a field without a column.
type uniqueElsewhere struct {
	ID        string `json:"id"`
	Email     string `json:"email" unique:"elsewhere"`
	Elsewhere string `json:"elsewhere" readOnly:"true" db:"-"`
}

// spanned has fields that SQLite or the table cannot compare.
type spanned struct {
	ID    string      `json:"id"`
	Name  string      `json:"name"`
	Took  string      `json:"took" format:"duration"`
	Note  string      `json:"note" readOnly:"true" db:"-"`
	Dates []time.Time `json:"dates"`
}

// TestQueriesThatTheTableLacks declares queries of which the table cannot answer some. Each of those is a
// mistake of the resource, and not an error of each request.
func TestQueriesThatTheTableLacks(t *testing.T) {
	t.Parallel()
	operators := map[string][]query.Op{
		"name": {query.Eq, query.Contains}, "note": {query.StartsWith},
		"took":  {query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte, query.IsNull},
		"dates": {query.Contains, query.IsNull},
	}
	lacks := func(what, why string) string {
		return "\n\tOptions.Query." + what + ", which the collection does not support: " + why
	}
	var durations string
	for _, op := range operators["took"][:8] {
		durations += lacks(`Filter["took"] has the operator "`+string(op)+`"`, "sqlquery: took has no order in SQLite")
	}
	dates := lacks(`Filter["dates"] has the operator "contains"`, "sqlquery: the list dates cannot be searched")
	note := lacks(`Filter["note"] has the operator "startsWith"`, `sqlquery: no column for field "note"`)
	rest := lacks(`Sort names "note"`, `sqlquery: no column for field "note"`) +
		lacks(`Group names "note"`, `sqlquery: no column for field "note"`) +
		lacks(`Aggregate["note"] has "max"`, `sqlquery: no column for field "note"`) +
		lacks(`Search is ["name"]`, `Options.Search of the table is []`)
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		query   query.Support
		want    string
	}{
		{"SQLite", sqltx.SQLite, query.Support{Filter: operators, Sort: []string{"name", "took", "note"},
			Group: []string{"name", "note"}, Search: []string{"name"},
			Aggregate: map[string][]query.Func{"note": {query.Max}, "name": {query.Max}}},
			"resource: runs: 15 mistakes:" + dates + note + durations +
				lacks(`Sort names "took"`, "sqlquery: took has no order") + rest},
		{"PostgreSQL", sqltx.PostgreSQL, query.Support{Filter: operators, Sort: []string{"name", "took", "note"},
			Group: []string{"name", "note"}, Search: []string{"name"},
			Aggregate: map[string][]query.Func{"note": {query.Max}, "name": {query.Max}}},
			"resource: runs: 6 mistakes:" + dates + note + rest},
		{"natural order", sqltx.SQLite, query.Support{Natural: true}, "resource: runs: Options.Query.Natural is true, " +
			"which the collection does not support: a table has no natural order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := sqltable.New[spanned](offline(tt.dialect), "runs", nil).Ops()
			ops.Search = func(context.Context, query.Query) iter.Seq2[resource.Item[spanned], error] { return nil }
			if tt.query.Natural {
				ops.Search = nil
			}
			defer func() {
				if diff := cmp.Diff(any(tt.want), recover()); diff != "" {
					t.Errorf("Resource panicked with (-want +got):\n%s", diff)
				}
			}()
			ops.Resource("runs", &resource.Options[spanned]{Query: tt.query})
		})
	}
}

func TestNewWithoutDB(t *testing.T) {
	t.Parallel()
	defer func() {
		if diff := cmp.Diff(any("sqltable: New without a DB"), recover()); diff != "" {
			t.Errorf("New panicked with (-want +got):\n%s", diff)
		}
	}()
	sqltable.New[article](nil, "t", nil)
}

// TestCapabilities checks the capabilities that follow from the options.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	everything := "count create delete deleted insert replace"
	tests := []struct {
		name string
		got  string
		want string
	}{
		{"texts", able[article](sqltable.Options{}), everything},
		{"numbers", able[numbered](sqltable.Options{}), "count create delete deleted replace"},
		{"numbers of the program's", able[numbered](sqltable.Options{NewID: func() string { return "1" }}), everything},
		{"ids of the clients'", able[article](sqltable.Options{ClientIDs: true}), "count delete deleted insert replace"},
		{"forgetting", able[article](sqltable.Options{Forget: true}), "count create delete insert replace"},
		{"no deletion", able[article](sqltable.Options{NoDelete: true}), "count create insert replace"},
		{"read-only", able[article](sqltable.Options{ReadOnly: true}), "count"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// able names what a table can do.
func able[T any](opts sqltable.Options) string {
	ops := sqltable.New[T](offline(sqltx.SQLite), "t", &opts).Ops()
	can := map[string]bool{"create": ops.Create != nil, "insert": ops.Insert != nil, "replace": ops.Replace != nil,
		"delete": ops.Delete != nil, "deleted": ops.Deleted != nil, "count": ops.Count != nil}
	maps.DeleteFunc(can, func(_ string, able bool) bool { return !able })
	return strings.Join(slices.Sorted(maps.Keys(can)), " ")
}

// TestSupportOfLists has lists of scalars, which can be searched and not sorted, and no other arrays.
func TestSupportOfLists(t *testing.T) {
	t.Parallel()
	type lists struct {
		ID      string      `json:"id"`
		Tags    []string    `json:"tags" sql:"text[]"`
		Labels  []string    `json:"labels"`
		Times   []time.Time `json:"times"`
		Nested  [][]string  `json:"nested"`
		Objects []article   `json:"objects"`
		Bytes   []byte      `json:"bytes"`
	}
	got := sqltable.New[lists](offline(sqltx.PostgreSQL), "t", nil).Support()
	delete(got.Filter, "id")
	contains := []query.Op{query.Contains, query.IsNull}
	want := query.Support{Sort: []string{"id"}, Filter: map[string][]query.Op{
		"tags": contains, "labels": contains, "times": {query.IsNull}}} // times of jsonb have no one text
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Support (-want +got):\n%s", diff)
	}
}

// TestSupportOfText: only texts have contains and startsWith, in both dialects.
func TestSupportOfText(t *testing.T) {
	t.Parallel()
	type kinds struct {
		ID      string     `json:"id" format:"uuid"`
		Other   string     `json:"other,omitzero" format:"uuid"`
		Day     string     `json:"day" format:"date"`
		Clock   string     `json:"clock" format:"time-local" sql:"text"`
		Tier    string     `json:"tier" enum:"free,pro"`
		Label   string     `json:"label" sql:"shop.label"`
		Host    netip.Addr `json:"host" sql:"inet"`
		Address string     `json:"address" format:"ipv4"`
		Name    string     `json:"name" maxLength:"20" sql:"varchar(20)"`
		Code    string     `json:"code" sql:"char(2)"`
		Email   string     `json:"email" format:"email"`
		Nick    *string    `json:"nick" sql:"citext"`
	}
	want := []string{"code", "email", "name", "nick"}
	for _, d := range []sqltx.Dialect{sqltx.SQLite, sqltx.PostgreSQL} {
		var contains, startsWith []string
		for field, ops := range sqltable.New[kinds](offline(d), "t", nil).Support().Filter {
			if slices.Contains(ops, query.Contains) {
				contains = append(contains, field)
			}
			if slices.Contains(ops, query.StartsWith) {
				startsWith = append(startsWith, field)
			}
			if !slices.Contains(ops, query.Eq) {
				t.Errorf("%s: %s cannot be compared", d, field)
			}
		}
		slices.Sort(contains)
		slices.Sort(startsWith)
		if diff := cmp.Diff([][]string{want, want}, [][]string{contains, startsWith}); diff != "" {
			t.Errorf("%s: contains and startsWith (-want +got):\n%s", d, diff)
		}
	}
}

// TestSupport leaves out what has no order.
func TestSupport(t *testing.T) {
	t.Parallel()
	s := sqltable.New[article](offline(sqltx.PostgreSQL), "t", nil).Support()
	want := strings.Fields("id parentId email phone HTTPCode weight done madeAt sentAt computed")
	want = append(want, "saysHi")
	if diff := cmp.Diff(want, s.Sort); diff != "" {
		t.Errorf("sort keys (-want +got):\n%s", diff)
	}
	want = append(want, "tags") // a list can be searched
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(s.Filter))); diff != "" {
		t.Errorf("fields of filters (-want +got):\n%s", diff)
	}
	for field, op := range map[string]query.Op{"email": query.Contains, "weight": query.Gte, "parentId": query.IsNull} {
		if !slices.Contains(s.Filter[field], op) {
			t.Errorf("%s cannot be asked for %s", field, op)
		}
	}
}
