package sqltabletest

import (
	"regexp"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestFollowAsksForColumns: a protocol that names the fields and relations that it reads gets
// only their columns from the database, and the relations are right.
func TestFollowAsksForColumns(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := openShop(t, e, sqltable.Options{})
		people, orders := s.catalog.Resources()[0], s.catalog.Resources()[1]
		tests := []struct {
			from     *resource.Resource
			relation string
			columns  []string
			none     *regexp.Regexp // does not occur in the statements
			ends     int            // of the first item
		}{
			{orders, "customer", []string{"name"}, regexp.MustCompile("note|lines|total"), 1},
			{people, "orders", []string{"total"}, regexp.MustCompile("note|lines|name|email"), 2},
		}
		for _, tt := range tests {
			ran, _ := s.records.During(func() {
				q := query.Query{Limit: 9, Fields: []string{tt.from.KeyField(tt.relation)}}
				from, err := tt.from.List(t.Context(), q, resource.Position{})
				if err != nil {
					t.Fatal(err)
				}
				p, err := tt.from.Follow(t.Context(), tt.relation, from.Entries, tt.columns)
				if err != nil {
					t.Fatal(err)
				}
				for i := range from.Entries {
					if len(p.Ends(i)) != tt.ends {
						t.Errorf("%s: %d ends of item %d, want %d", tt.relation, len(p.Ends(i)), i, tt.ends)
					}
					for _, end := range p.Ends(i) {
						one, many := p.Entries[end], from.Entries[i]
						if tt.relation == "orders" {
							one, many = many, one
						}
						if want := many.Value.(*order).Customer; one.ID != want {
							t.Errorf("%s: %s is put to what is of %s", tt.relation, one.ID, want)
						}
					}
				}
			})
			if len(ran) != 2 {
				t.Errorf("%s runs %d statements, want 2", tt.relation, len(ran))
			}
			list := enginetest.Texts(ran[:1]) // GetMany asks for whole items
			if tt.relation == "orders" {
				list = enginetest.Texts(ran)
			}
			if tt.none.MatchString(list) {
				t.Errorf("%s asks for more than is needed:\n%s", tt.relation, list)
			}
		}
	})
}
