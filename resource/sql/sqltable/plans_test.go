package sqltable_test

import (
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
)

// TestFixes has the index for each type that is a string in JSON. Sort keys and prefixes of most types are
// expressions, which need parentheses. PostgreSQL accepts none for an enum, and for texts of dates.
func TestFixes(t *testing.T) {
	t.Parallel()
	type article struct {
		ID   string   `json:"id"`
		Mail string   `json:"mail" sql:"citext"`
		IP   string   `json:"ip" sql:"inet"`
		Born *string  `json:"born" format:"date"`
		Tier string   `json:"tier" enum:"free,pro" sql:"tier"`
		Open string   `json:"open" format:"time" sql:"timetz"`
		Key  string   `json:"key" format:"uuid"`
		Tags []string `json:"tags" sql:"text[]"`
		Sets []string `json:"sets"`
	}
	c := &catalog{columns: []catalogColumn{
		{name: "id", typ: "text", notNull: true, unique: true}, {name: "mail", typ: "citext", notNull: true},
		{name: "ip", typ: "inet", notNull: true}, {name: "born", typ: "date"},
		{name: "tier", typ: "tier", notNull: true, enum: "tier", labels: `["free","pro"]`},
		{name: "open", typ: "time with time zone", notNull: true}, {name: "key", typ: "uuid", notNull: true},
		{name: "tags", typ: "text[]", notNull: true}, {name: "sets", typ: "jsonb", notNull: true},
	}}
	c.answer = func(statement string) (int, [][]driver.Value, error) {
		switch {
		case strings.HasPrefix(statement, "EXPLAIN (COSTS OFF) SELECT"):
			return 1, [][]driver.Value{{"Sort"}, {"  ->  Seq Scan on articles"}}, nil
		case strings.HasPrefix(statement, "SELECT relkind"):
			return 1, [][]driver.Value{{true}}, nil
		case strings.HasPrefix(statement, "SELECT EXISTS"):
			return 1, [][]driver.Value{{false}}, nil
		}
		return 3, nil, nil
	}
	table := sqltable.New[article](c.open(t), "articles", &sqltable.Options{Rev: sqltable.XMin, Forget: true})
	got := map[string]string{}
	err := table.CheckWith(t.Context(), &sqltable.CheckOptions{
		Support: query.Support{Sort: []string{"mail", "ip", "born", "tier"}, Filter: map[string][]query.Op{
			"mail": {query.Eq, query.StartsWith, query.Contains}, "ip": {query.Eq, query.Gt, query.Contains},
			"born": {query.Eq, query.Lt, query.StartsWith, query.Contains}, "tier": {query.Eq, query.Gt},
			"open": {query.Eq}, "key": {query.Eq, query.StartsWith}, "tags": {query.Contains}, "sets": {query.Contains, query.IsNull},
		}},
		Warn: func(d sqltable.Difference) {
			_, fix, _ := strings.Cut(d.Fix, ` ON "articles" `)
			for _, q := range d.Queries {
				got[q] = fix
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const id = `, "id" COLLATE "C")`
	mail, ip := `(("mail"::text) COLLATE "C"`+id, `((abbrev("ip")) COLLATE "C"`+id
	born := `("born" NULLS FIRST` + id
	want := map[string]string{
		"sort=mail": mail, "sort=-mail": mail, "mail": `("mail"` + id, "mail.startsWith": mail,
		"mail.contains": `USING gin (("mail"::text) gin_trgm_ops)`,
		"sort=ip":       ip, "sort=-ip": ip, "ip": `("ip"` + id, "ip.gt": ip, "ip.contains": `USING gin ((abbrev("ip")) gin_trgm_ops)`,
		"sort=born": born, "sort=-born": born, "born": born, "born.lt": born, "born.startsWith": "", "born.contains": "",
		"sort=tier": "", "sort=-tier": "", "tier": `("tier"` + id, "tier.gt": "", "open": "",
		"key": `("key"` + id, "key.startsWith": "", "tags.contains": `USING gin ("tags")`, "sets.contains": `USING gin ("sets")`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the indexes (-want +got):\n%s", diff)
	}
	if s, _ := c.last("EXPLAIN"); strings.Count(s, "EXPLAIN") != 1 {
		t.Errorf("it explains %s", s)
	}
}
