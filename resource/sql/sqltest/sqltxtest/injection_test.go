package sqltxtest

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// attacks returns 200 known injection texts: 25, each after a prefix that may end a string, a name,
// a list or a statement.
func attacks() []string {
	ends := []string{"", "'", `"`, "`", `\'`, "1)", "%' ", "$$"}
	tails := []string{"; DROP TABLE things; --", " OR 1=1 --", " OR '1'='1", " UNION SELECT id FROM things --", "/**/OR/**/1=1",
		" AND (SELECT count(*) FROM things) > 0", "; DELETE FROM things", "; ATTACH DATABASE 'x' AS y", " || (SELECT 1)",
		"); UPDATE things SET m = 0; --", " COLLATE NOCASE", " LIMIT 1 OFFSET 5", " ORDER BY 1", "; SELECT pg_sleep(5)",
		" AND 1=CAST((SELECT version()) AS int)", " -- ", "#", ";", " $1", " ?1", " :name", " @name", "' OR $2 = $2 --",
		" ESCAPE '", "::text"}
	var all []string
	for _, end := range ends {
		for _, tail := range tails {
			all = append(all, end+tail)
		}
	}
	return all
}

// TestInjection puts each attack into every parameter, as a client would, and asks what passes the parser. It must be
// answered like anything else, and the table must be the same in the end.
func TestInjection(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		w := &world{Rand: rand.New(rand.NewPCG(*seed, 0)), dialect: e.Dialect}
		db := e.Open(t, nil)
		tr := sqlquery.New(sqlquery.Dialect(e.Dialect), columns)
		w.fill(t, db, tr)
		list := attacks()
		if len(list) != 200 {
			t.Fatalf("there are %d attacks", len(list))
		}
		before := things(t, db)
		asked, refused := 0, 0
		for _, attack := range list {
			for _, params := range withAttack(attack) {
				q, err := query.Parse(params, &query.ParseOptions{Support: tr.Support(), Ignore: []string{"after", "before"}})
				if err != nil {
					refused++
					continue
				}
				asked++
				checkQuery(t, w, db, tr, q)
			}
			checkQuery(t, w, db, tr, query.Query{ // a forged position
				Sort:  []query.Order{{Field: "name"}, {Field: "n"}, {Field: "id"}},
				After: []any{attack, attack, attack},
			})
			for _, q := range []query.Query{
				{Filter: query.Where(attack, query.Eq, 1)},
				{Filter: query.Filter{Op: query.Op(attack), Field: attack}},
				{Sort: []query.Order{{Field: attack}}},
			} {
				if _, err := tr.Translate(q); err == nil {
					t.Errorf("%+v was translated", q)
				}
			}
		}
		if asked < 200 || refused < 200 {
			t.Errorf("%d queries were asked and %d refused; the attacks do not get to where they should", asked, refused)
		}
		if diff := cmp.Diff(before, things(t, db)); diff != "" {
			t.Errorf("the table afterwards (-want +got):\n%s", diff)
		}
	})
}

// withAttack are all parameters with an attack in each place of each.
func withAttack(attack string) []url.Values {
	all := []url.Values{
		{"name": {attack}}, {"name.contains": {attack}}, {"title.startsWith": {attack}}, {"doc.lt": {attack}},
		{"uid": {attack}}, {"name.in": {"a," + strings.ReplaceAll(attack, ",", `\,`)}}, {"name.isNull": {attack}},
		{"n.gte": {attack}}, {"ok": {attack}}, {"at.gt": {attack}},
		{"sort": {attack}}, {"sort": {"-" + attack}}, {"limit": {attack}}, {"after": {attack}}, {"before": {attack}},
		{"fields": {attack}}, {attack: {"1"}}, {"name." + attack: {"1"}}, {"filter": {attack}},
	}
	for _, template := range []string{`{"name":{"eq":%q}}`, `{%q:{"eq":1}}`, `{"name":{%q:1}}`, `{"or":[{"name":{"ne":%q}},{"n":{"lt":2}}]}`,
		`{"not":{"name":{"in":["a",%q]}}}`} {
		all = append(all, url.Values{"filter": {fmt.Sprintf(template, attack)}})
	}
	return all
}
