package sqlquery_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// linkTable is a table of links.
type linkTable struct{ t *sqlquery.Translator }

func (l linkTable) Source() (string, *sqlquery.Translator, query.Filter) {
	return "links", l.t, query.Where("gone", query.IsNull, true)
}

// TestEachOfLinks translates a query for the items to which the links with each key lead.
func TestEachOfLinks(t *testing.T) {
	t.Parallel()
	integer := sqlquery.Column{Kind: sqlquery.Integer, NotNull: true}
	links := linkTable{sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{
		"product": {NotNull: true}, "category": integer, "gone": {}})}
	categories := sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{"id": integer, "name": {}}).From("categories")
	join := func(by string, target any) *query.Join {
		return &query.Join{Field: []string{"id"}, By: []string{by}, Target: target, Key: "product"}
	}
	const of = "JOIN (SELECT `category` AS `related id` FROM links WHERE (`product` COLLATE BINARY = keys.k AND `gone` COLLATE BINARY IS NULL)) " +
		"AS `related links` ON `related id` = categories.`id`"
	for _, tt := range []struct {
		name, field string
		links       *query.Links
		rows, want  string
		err         string
	}{
		{"unique", "product", &query.Links{Join: join("category", links), Unique: true}, "(?1, 0), (?2, 2)",
			" " + of + " WHERE `id` > ?3 LIMIT ?4", ""},
		{"repeated", "product", &query.Links{Join: join("category", links)}, "(?1, 0), (?2, 2)",
			" JOIN (SELECT DISTINCT" + of[len("JOIN (SELECT"):] + " WHERE `id` > ?3 LIMIT ?4", ""},
		{"no table", "product", &query.Links{Join: join("category", nil)}, "", "", "sqlquery: cannot join the links"},
		{"another kind", "product", &query.Links{Join: join("product", links)}, "", "", "sqlquery: cannot join the links"},
		{"no field", "x", &query.Links{Join: join("category", links)}, "", "", `sqlquery: no column for field "x" of the links`},
	} {
		q := query.Query{Filter: query.Where("id", query.Gt, int64(1)), Limit: 2, Links: tt.links}
		// The column stores no integer, so the second value has no row.
		rows, c, err := categories.Each(q, tt.field, "keys.k", []any{"a", int64(1), "b"})
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff([]string{tt.rows, tt.want}, []string{rows, c.String()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff([]any{"a", "b", int64(1), int64(2)}, c.Args); diff != "" {
			t.Errorf("%s: arguments (-want +got):\n%s", tt.name, diff)
		}
	}
}
