package sqlquery_test

import (
	"fmt"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// towns describes a table of towns.
var towns = sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{
	"id":         {Kind: sqlquery.Integer, NotNull: true},
	"name":       {NotNull: true},
	"population": {Name: "inhabitants", Kind: sqlquery.Integer},
})

func Example() {
	q := query.Query{
		Filter: query.And(query.Where("name", query.StartsWith, "Ath"),
			query.Where("population", query.Gte, 1000)),
		Sort:  []query.Order{{Field: "name"}, {Field: "id"}},
		Limit: 20,
	}
	clauses, err := towns.Translate(q)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("SELECT id, name, inhabitants FROM towns" + clauses.String())
	fmt.Println(clauses.Args)
	// Output:
	// SELECT id, name, inhabitants FROM towns WHERE (("name" COLLATE "C" >= $1::text AND "name" COLLATE "C" < $2::text) AND "inhabitants" >= $3::bigint) ORDER BY "name" COLLATE "C", "id" LIMIT $4::bigint
	// [Ath Ati 1000 20]
}

// A JSON column, an expression, and a condition of the store itself.
func ExampleNew() {
	users := sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{
		"email": {Expr: "lower(email)", NotNull: true},
		"city":  {Name: "profile", Path: []string{"address", "city"}},
	})
	q := query.Query{
		Filter: query.And(query.Where("email", query.Eq, "ann@example.com"),
			query.Where("city", query.Ne, "Athens")),
	}
	clauses, err := users.Translate(q, "tenant 7")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("SELECT id FROM users WHERE tenant = ?1 AND " + clauses.Where)
	fmt.Println(clauses.Args)
	// Output:
	// SELECT id FROM users WHERE tenant = ?1 AND ((lower(email)) COLLATE BINARY = ?2 AND ((`profile` -> 'address' ->> 'city') COLLATE BINARY <> ?3 OR (`profile` -> 'address' ->> 'city') COLLATE BINARY IS NULL))
	// [tenant 7 ann@example.com Athens]
}

// The largest towns first, after a position in those with 5000 inhabitants: first the rest of
// these, then smaller towns, then those with an unknown number.
func ExampleTranslator_Steps() {
	steps, err := towns.Steps(query.Query{
		Sort:  []query.Order{{Field: "population", Desc: true}, {Field: "id"}},
		After: []any{int64(5000), int64(17)},
	})
	for _, c := range steps {
		fmt.Println(c.Where, c.Args)
	}
	fmt.Println(steps[0].OrderBy, err)
	// Output:
	// ("inhabitants" = $1::bigint AND "id" > $2::bigint) [5000 17]
	// "inhabitants" < $1::bigint [5000]
	// "inhabitants" IS NULL []
	// "inhabitants" DESC NULLS LAST, "id" <nil>
}
