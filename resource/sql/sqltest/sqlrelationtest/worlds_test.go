package sqlrelationtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The items of two worlds, which differ in those alone that the caller may not see.
type (
	// person has remarks and belongs to teams.
	person struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		Salary int    `json:"salary"`
		BossID *int64 `json:"bossId"`
		Secret bool   `json:"secret"`
		Draft  bool   `json:"draft"`
	}
	remark struct {
		ID       string `json:"id" maxLength:"20"`
		PersonID int64  `json:"personId"`
		Text     string `json:"text"`
		Rank     int    `json:"rank"`
		Secret   bool   `json:"secret"`
		Draft    bool   `json:"draft"`
	}
	team struct {
		ID     string `json:"id" maxLength:"20"`
		Name   string `json:"name"`
		Secret bool   `json:"secret"`
		Draft  bool   `json:"draft"`
	}
	member struct {
		ID       string `json:"id" id:"teamId,personId" readOnly:"true"`
		TeamID   string `json:"teamId" maxLength:"20"`
		PersonID int64  `json:"personId"`
		Secret   bool   `json:"secret"`
		Draft    bool   `json:"draft"`
	}
)

// worldStores are the collections of a world.
type worldStores struct {
	person  resource.Ops[person]
	remarks resource.Ops[remark]
	teams   resource.Ops[team]
	members resource.Ops[member]
	search  []string // the parameter q, if the engine has a full-text search
}

// policies are the ways to hide items that are secret or drafts.
var policies = []struct {
	name             string
	scope, authorize bool
}{{"Scope", true, false}, {"Authorize", false, true}, {"both", true, true}, {"control", false, false}}

// worldOptions returns options with a policy. With both, Scope hides the secret items and Authorize the
// drafts.
func worldOptions[T any](scope, authorize bool, hides func(*T) (secret, draft bool)) resource.Options[T] {
	var o resource.Options[T]
	if scope {
		o.Scope = func(context.Context) (query.Filter, error) {
			secret := query.Where("secret", query.Ne, true)
			if authorize {
				return secret, nil
			}
			return query.And(secret, query.Not(query.Where("draft", query.Eq, true))), nil
		}
	}
	if authorize {
		o.Authorize = func(_ context.Context, _ resource.Op, before, _ *T) error {
			secret, draft := hides(before)
			if draft || secret && !scope {
				return resource.ErrForbidden
			}
			return nil
		}
	}
	o.Public = !scope && !authorize
	return o
}

// serveWorld serves the stores by REST and GraphQL.
func serveWorld(s worldStores, scope, authorize bool) http.Handler {
	ops := []query.Op{query.Eq, query.Ne, query.Gte, query.Lt, query.In}
	filters := func(names ...string) map[string][]query.Op {
		out := map[string][]query.Op{}
		for _, name := range names {
			out[name] = ops
		}
		return out
	}
	people := worldOptions(scope, authorize, func(v *person) (bool, bool) { return v.Secret, v.Draft })
	people.Query = query.Support{Filter: filters("id", "name", "salary", "bossId"), Sort: []string{"name", "salary"},
		Relations: []string{"boss", "remarks", "teams"}}
	people.Relations = []resource.Relation[person]{{Name: "boss", Target: "persons", Field: "bossId"},
		{Name: "remarks", Target: "remarks", By: "personId", Limit: 3},
		{Name: "teams", Target: "teams", Through: "members", By: "personId", To: "teamId", Limit: 3}}
	remarks := worldOptions(scope, authorize, func(v *remark) (bool, bool) { return v.Secret, v.Draft })
	remarks.Query = query.Support{Filter: filters("id", "personId", "rank"), Sort: []string{"rank", "text"},
		Relations: []string{"author"}}
	if s.search != nil {
		people.Query.Search, remarks.Query.Search = []string{"name"}, []string{"text"}
	}
	remarks.Relations = []resource.Relation[remark]{{Name: "author", Target: "persons", Field: "personId"}}
	teams := worldOptions(scope, authorize, func(v *team) (bool, bool) { return v.Secret, v.Draft })
	teams.Query = query.Support{Filter: filters("id", "name"), Sort: []string{"name"}, Relations: []string{"members"}}
	teams.Relations = []resource.Relation[team]{{Name: "members", Target: "persons", Through: "members", By: "teamId",
		To: "personId", Limit: 3}}
	members := worldOptions(scope, authorize, func(v *member) (bool, bool) { return v.Secret, v.Draft })
	members.Query, members.AllowRecreate = query.Support{Filter: filters("teamId", "personId")}, true
	c := resource.NewCatalog(nil, s.person.Resource("persons", &people), s.remarks.Resource("remarks", &remarks),
		s.teams.Resource("teams", &teams), s.members.Resource("members", &members))
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(c, nil))
	mux.Handle("/graphql", graphql.New(c, &graphql.Options{Limits: graphql.Limits{Cost: 1 << 30}}))
	return mux
}

// fillWorld inserts the items that the caller sees, which depend on the seed alone, and hidden items
// between them, before and after.
func fillWorld(t *testing.T, s worldStores, hidden bool) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	add := func(rnd *rand.Rand, i int, secret, draft bool) {
		names := []string{"ann", "bob", "cat", "dan", "eve"}
		p := person{ID: int64(i), Name: names[rnd.IntN(5)] + " " + names[rnd.IntN(5)], Salary: rnd.IntN(6),
			Secret: secret, Draft: draft}
		if boss := int64(rnd.IntN(240) + 1); rnd.IntN(3) > 0 {
			p.BossID = &boss
		}
		_, err := s.person.Insert(ctx, fmt.Sprint(p.ID), p)
		must(err)
		for j := range 3 {
			r := remark{ID: fmt.Sprintf("r%03d-%d", i, j), PersonID: int64(rnd.IntN(30) + 1), Rank: rnd.IntN(4),
				Text: names[rnd.IntN(5)] + " " + names[rnd.IntN(5)], Secret: secret, Draft: draft}
			_, err := s.remarks.Insert(ctx, r.ID, r)
			must(err)
		}
		if i <= 40 {
			_, err := s.teams.Insert(ctx, fmt.Sprintf("t%02d", i), team{ID: fmt.Sprintf("t%02d", i),
				Name: names[rnd.IntN(5)], Secret: secret, Draft: draft})
			must(err)
		}
		for j := range 4 {
			m := member{TeamID: fmt.Sprintf("t%02d", (7*i+j)%40+1), PersonID: int64(i), Secret: secret, Draft: draft}
			_, err := s.members.Insert(ctx, fmt.Sprintf("%s,%d", m.TeamID, m.PersonID), m)
			must(err)
		}
	}
	// Two of three items are hidden, in runs that are longer than a page.
	seen, other := rand.New(rand.NewPCG(3, 5)), rand.New(rand.NewPCG(8, 13))
	for i := 1; i <= 240; i++ {
		switch {
		case i/8%3 == 0 || i%11 == 0:
			add(seen, i, false, false)
		case hidden:
			add(other, i, i%2 == 0, i%3 == 0 || i%2 == 1)
		}
	}
}

// worldRequest returns a random read. search has texts for the parameter q.
func worldRequest(rnd *rand.Rand, search []string) *http.Request {
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	limit := strconv.Itoa([]int{1, 2, 3, 5, 20, 100}[rnd.IntN(6)])
	of := pick("persons", "remarks", "teams", "members")
	condition := map[string][]string{
		"persons": {"salary.gte=3", "salary=5", "name.in=ann ann,bob cat", "bossId.lt=90", "boss.salary.gte=3",
			"remarks.some.rank=2", "teams.none.name=ann", "remarks.every.rank.gte=1"},
		"remarks": {"rank=1", "rank.gte=2", "personId.lt=9", "author.salary.lt=3"},
		"teams":   {"name=eve", "members.some.salary=1"},
		"members": {"teamId=t05", "personId.lt=40"},
	}[of]
	sorts := map[string][]string{"persons": {"salary", "-salary,name", "-id"}, "remarks": {"rank", "-text"},
		"teams": {"-name"}, "members": {"-id"}}[of]
	expands := map[string][]string{"persons": {"boss", "remarks", "teams", "boss,remarks,teams"}, "remarks": {"author"},
		"teams": {"members"}}[of]
	v := url.Values{"limit": {limit}}
	set := func(text string) {
		name, value, _ := strings.Cut(text, "=")
		v.Set(name, value)
	}
	if rnd.IntN(2) == 0 {
		set(pick(condition...))
	}
	switch {
	case rnd.IntN(4) == 0 && (of == "persons" || of == "remarks") && search != nil:
		v.Set("q", pick(search...))
	case rnd.IntN(2) == 0:
		v.Set("sort", pick(sorts...))
	}
	if expands != nil && rnd.IntN(3) == 0 {
		v.Set("expand", pick(expands...))
	}
	switch rnd.IntN(8) {
	case 0: // an item, which may be visible, hidden or absent
		id := map[string]string{"persons": strconv.Itoa(rnd.IntN(250)), "remarks": fmt.Sprintf("r%03d-1", rnd.IntN(250)),
			"teams": fmt.Sprintf("t%02d", rnd.IntN(45)), "members": fmt.Sprintf("t%02d,%d", rnd.IntN(40), rnd.IntN(250))}[of]
		return httptest.NewRequest("GET", "/"+of+"/"+id, nil)
	case 1:
		v.Del("expand")
		r := httptest.NewRequest("GET", "/"+of+"?"+v.Encode(), nil)
		r.Header.Set("Accept", pick("application/x-ndjson", "text/csv"))
		return r
	case 2, 3:
		return graphqlRequest(rnd, pick, limit)
	}
	r := httptest.NewRequest("GET", "/"+of+"?"+v.Encode(), nil)
	if rnd.IntN(4) == 0 {
		r.Header.Set("Prefer", "count=exact")
	}
	return r
}

// graphqlRequest returns a random page of people with pages of their related items.
func graphqlRequest(rnd *rand.Rand, pick func(...string) string, limit string) *http.Request {
	inner := pick(`remarks { id }`, `teams { id members { id } }`, `boss { id boss { name } }`,
		`remarksConnection(first: 2, orderBy: [{field: rank, direction: DESC}]) {
			nodes { id author { id } } pageInfo { hasNextPage endCursor } }`,
		`remarksConnection(first: 1, filter: {rank: {gte: 2}}) { nodes { id } pageInfo { hasNextPage } }`,
		`teamsConnection(first: 2) { nodes { id } pageInfo { hasNextPage endCursor } }`)
	args := pick("first: "+limit, "last: "+limit, "first: "+limit+", filter: {salary: {gte: 3}}",
		"first: "+limit+`, filter: {boss: {salary: {lt: 3}}}`,
		"last: "+limit+", orderBy: [{field: salary, direction: ASC}]")
	document := "{ persons(" + args + ") { nodes { id " + inner + " } " +
		"pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"
	if rnd.IntN(4) == 0 {
		document = fmt.Sprintf("{ person(id: %d) { name %s } }", rnd.IntN(250), inner)
	}
	body, _ := json.Marshal(map[string]string{"query": document})
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	return r
}

// answerOf returns a response as text, without the values that differ in equal worlds: the times and
// revisions of items.
func answerOf(h http.Handler, r *http.Request) (answer, next string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	for _, name := range []string{"Etag", "Last-Modified"} {
		if w.Header().Get(name) != "" {
			w.Header().Set(name, "set")
		}
	}
	body := w.Body.String()
	for one := range strings.SplitSeq(w.Header().Get("Link"), ", ") {
		if target, ok := strings.CutSuffix(one, `>; rel="next"`); ok {
			next = strings.TrimPrefix(target, "<")
		}
	}
	return fmt.Sprintf("%d %v\n%s", w.Code, w.Header(), body), next
}

// allWorldReads is the number of reads of TestWorlds with STOA_TEST=full, for all stores and policies.
const allWorldReads = 9_500

// TestWorlds compares random reads of two worlds that differ in items alone that the caller may not see: all
// answers are equal, with their header fields, cursors and pages. Without policy some of them differ.
func TestWorlds(t *testing.T) {
	reads := 250
	if os.Getenv("STOA_TEST") == "full" {
		reads = allWorldReads / 9
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		testWorlds(t, reads, func(t *testing.T) worldStores {
			return worldStores{resource.OpsOf(memory.New(&memory.Options[person]{Search: []string{"name"}})),
				resource.OpsOf(memory.New(&memory.Options[remark]{Search: []string{"text"}})),
				resource.OpsOf(memory.New[team](nil)),
				resource.OpsOf(memory.New(&memory.Options[member]{Recreate: true})), searched}
		})
	})
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		testWorlds(t, reads, func(t *testing.T) worldStores { return openWorld(t, e.OpenSchema(t)) })
	})
}

// searched are texts for the parameter q.
var searched = []string{"ann", "bob cat", "eve"}

// openWorld returns empty tables.
func openWorld(t *testing.T, db *sqltx.DB) worldStores {
	t.Helper()
	var s worldStores
	people := sqltable.Options{NewID: func() string { return "" }, Index: []string{"bossId"}}
	remarks := sqltable.Options{Index: []string{"personId"}}
	if db.Dialect() == sqltx.PostgreSQL ||
		enginetest.Exec(t.Context(), db, "CREATE VIRTUAL TABLE probe USING fts5(words)") == nil {
		s.search, people.Search, remarks.Search = searched, []string{"name"}, []string{"text"}
	}
	s.person, s.remarks = openTable[person](t, db, "persons", &people), openTable[remark](t, db, "remarks", &remarks)
	s.teams = openTable[team](t, db, "teams", nil)
	s.members = openTable[member](t, db, "members", &sqltable.Options{Recreate: true, Index: []string{"personId"}})
	return s
}

// testWorlds compares the reads of one store with each policy.
func testWorlds(t *testing.T, reads int, open func(t *testing.T) worldStores) {
	with, without := open(t), open(t)
	fillWorld(t, with, true)
	fillWorld(t, without, false)
	for _, p := range policies {
		t.Run(p.name, func(t *testing.T) {
			a, b := serveWorld(with, p.scope, p.authorize), serveWorld(without, p.scope, p.authorize)
			rnd := rand.New(rand.NewPCG(1, 2))
			differ, next := 0, ""
			for n := range reads {
				var requests [2]*http.Request
				if next != "" && n%2 == 1 { // the page after the last one
					requests = [2]*http.Request{httptest.NewRequest("GET", next, nil), httptest.NewRequest("GET", next, nil)}
				} else {
					seed := [2]uint64{rnd.Uint64(), rnd.Uint64()}
					for i := range requests {
						requests[i] = worldRequest(rand.New(rand.NewPCG(seed[0], seed[1])), with.search)
					}
				}
				var answers [2]string
				answers[0], _ = answerOf(a, requests[0])
				answers[1], next = answerOf(b, requests[1])
				succeeded := strings.HasPrefix(answers[1], "200") || strings.HasPrefix(answers[1], "404")
				if !succeeded || strings.Contains(answers[1], `"errors":`) {
					t.Errorf("%s %s: %s", requests[1].Method, requests[1].URL, answers[1])
				}
				if answers[0] == answers[1] {
					continue
				}
				if differ++; differ == 1 && p.name != "control" {
					t.Errorf("read %d: %s %s (-without hidden items +with them):\n%s", n, requests[0].Method,
						requests[0].URL, gocmp.Diff(answers[1], answers[0]))
				}
			}
			if control := p.name == "control"; control && differ == 0 || !control && differ > 0 {
				t.Errorf("%d of %d answers differ", differ, reads)
			}
			t.Logf("%d reads, %d differ", reads, differ)
		})
	}
}
