package sqltabletest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// attacks returns 200 known injection texts: 25, each after a prefix that may end a string, a name,
// a list or a statement.
func attacks() []string {
	ends := []string{"", "'", `"`, "`", `\'`, "1)", "%' ", "$$"}
	tails := []string{"; DROP TABLE people; --", " OR 1=1 --", " OR '1'='1", " UNION SELECT id FROM people --", "/**/OR/**/1=1",
		" AND (SELECT count(*) FROM people) > 0", "; DELETE FROM people", "; ATTACH DATABASE 'x' AS y", " || (SELECT 1)",
		"); UPDATE people SET name = ''; --", " COLLATE NOCASE", " LIMIT 1 OFFSET 5", " ORDER BY 1", "; SELECT pg_sleep(5)",
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

// attempt is a request with an attack somewhere in it.
type attempt struct{ method, path, body string }

// attempts puts an attack into every place of a request that a client fills in.
func attempts(attack string) []attempt {
	quoted, _ := json.Marshal(attack)
	var all []attempt
	for _, params := range []url.Values{
		{"name": {attack}}, {"name.contains": {attack}}, {"name.startsWith": {attack}}, {"email.gt": {attack}},
		{"id.in": {"p01," + strings.ReplaceAll(attack, ",", `\,`)}}, {"name.isNull": {attack}}, {"sort": {attack}}, {"sort": {"-name," + attack}},
		{"limit": {attack}}, {"after": {attack}}, {"before": {attack}}, {"fields": {attack}}, {"expand": {attack}}, {attack: {"1"}},
		{"name." + attack: {"1"}}, {"filter": {attack}}, {"filter": {`{"name":{"eq":` + string(quoted) + `}}`}},
		{"filter": {`{` + string(quoted) + `:{"eq":"a"}}`}}, {"filter": {`{"name":{` + string(quoted) + `:"a"}}`}},
		{"after": {query.Cursor{Values: []any{attack}}.Encode("")}},
	} {
		all = append(all, attempt{http.MethodGet, "/people?" + params.Encode(), ""})
	}
	item := "/people/" + url.PathEscape(attack)
	return append(all,
		attempt{http.MethodGet, item, ""}, attempt{http.MethodDelete, item, ""},
		attempt{http.MethodGet, "/people/p01?" + url.Values{"expand": {attack}}.Encode(), ""},
		attempt{http.MethodGet, "/people/p01?" + url.Values{"fields": {attack}}.Encode(), ""},
		attempt{http.MethodGet, "/orders?" + url.Values{"customerId": {attack}, "expand": {"customer"}}.Encode(), ""},
		attempt{http.MethodGet, "/orders/" + url.PathEscape(attack), ""},
		attempt{http.MethodPost, "/orders", `{"customerId":` + string(quoted) + `,"total":1,"lines":[]}`},
		attempt{http.MethodPatch, "/people/p01", `{` + string(quoted) + `:1}`},
	)
}

// TestInjectionOverHTTP sends each attack in every place of a request. No response is an internal
// error or has rows that were not requested. The tables are unchanged, and text that may be stored
// is returned unchanged.
func TestInjectionOverHTTP(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := openShop(t, e, sqltable.Options{})
		before := s.everything(t)
		list := attacks()
		if len(list) != 200 {
			t.Fatalf("there are %d attacks", len(list))
		}
		answers := map[int]int{}
		for _, attack := range list {
			for _, a := range attempts(attack) {
				status, _, text := s.do(t, a.method, a.path, a.body)
				answers[status]++
				if status >= 500 || !s.harmless(attack, a, status, text) {
					t.Fatalf("%s %s %s: %d %s", a.method, a.path, a.body, status, text)
				}
			}
		}
		if answers[200] < 1000 || answers[400] < 1000 || answers[404] < 200 || answers[422] < 200 {
			t.Errorf("the answers were %v: the attacks do not get to where they should", answers)
		}
		if diff := cmp.Diff(before, s.everything(t)); diff != "" {
			t.Errorf("the tables afterwards (-want +got):\n%s", diff)
		}
		for i, attack := range list {
			s.store(t, i, attack)
		}
	})
}

// everything is the content of both tables.
func (s *shop) everything(t *testing.T) []string {
	t.Helper()
	var all []string
	for p, err := range s.people.List(t.Context(), query.Query{Sort: []query.Order{{Field: "id"}}}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%+v", p))
	}
	for o, err := range s.orders.List(t.Context(), query.Query{Sort: []query.Order{{Field: "id"}}}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%+v", o))
	}
	return all
}

// harmless reports whether an answer holds no items but those that were asked for: none has such a text in it, one is
// named beside it, and where the attack is greater or less than others, all that are.
func (s *shop) harmless(attack string, a attempt, status int, text string) bool {
	if a.method != http.MethodGet || status != http.StatusOK {
		return status != http.StatusNoContent && status != http.StatusCreated && status != http.StatusOK
	}
	var list struct {
		Items []person `json:"items"`
	}
	if json.Unmarshal([]byte(text), &list) != nil {
		return false
	}
	params, _ := url.ParseQuery(a.path[strings.IndexByte(a.path, '?')+1:])
	if params.Has("email.gt") {
		return !slices.ContainsFunc(list.Items, func(p person) bool { return p.Email <= attack })
	}
	return len(list.Items) == 0 || params.Has("id.in") && len(list.Items) == 1 && list.Items[0].ID == "p01"
}

// store keeps an attack as the value of a field and as an id, and reads it again.
func (s *shop) store(t *testing.T, n int, attack string) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"email": fmt.Sprintf("attack%d@example.com", n), "name": attack})
	if err != nil {
		t.Fatal(err)
	}
	path := "/people/" + url.PathEscape(attack)
	if status, _, text := s.do(t, http.MethodPut, path, string(body)); status != http.StatusCreated {
		t.Fatalf("PUT %s: %d %s", path, status, text)
	}
	_, _, text := s.do(t, http.MethodGet, path, "")
	var got person
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.ID != attack || got.Name != attack {
		t.Errorf("GET %s: %s, %v", path, text, err)
	}
	found := "/people?" + url.Values{"name": {attack}}.Encode()
	if _, _, text = s.do(t, http.MethodGet, found, ""); strings.Count(text, `"id":`) != 1 {
		t.Errorf("GET %s: %s", found, text)
	}
	if status, _, text := s.do(t, http.MethodDelete, path, ""); status != http.StatusNoContent {
		t.Errorf("DELETE %s: %d %s", path, status, text)
	}
}

// TestWrongNames hands to the functions of a table what package resource never would.
func TestWrongNames(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := openShop(t, e, sqltable.Options{})
		for _, attack := range attacks() {
			for _, q := range []query.Query{
				{Filter: query.Where(attack, query.Eq, "a")}, {Filter: query.Filter{Op: query.Op(attack), Field: "name", Value: "a"}},
				{Sort: []query.Order{{Field: attack}}},
			} {
				n := 0
				for _, err := range s.people.List(t.Context(), q) {
					if n++; err == nil {
						t.Fatalf("List %+v gave an item", q)
					}
				}
				if n != 1 && q.Filter.Field != "name" { // no comparison at all matches nothing; see query.Match
					t.Fatalf("List %+v gave no error", q)
				}
			}
			if err := s.people.Delete(t.Context(), "p01", resource.Rev(attack)); err == nil {
				t.Fatalf("Delete naming the revision %q succeeded", attack)
			}
		}
	})
}
