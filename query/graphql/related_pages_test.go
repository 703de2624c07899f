package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type (
	team struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	player struct {
		ID     string `json:"id"`
		Team   string `json:"teamId"`
		Score  int    `json:"score"`
		Hidden bool   `json:"hidden"`
	}
	fan struct {
		ID     string `json:"id" id:"teamId,playerId" readOnly:"true"`
		Team   string `json:"teamId"`
		Player string `json:"playerId"`
	}
)

// teams serves two teams with four players each, of which p4 and p8 are hidden by Scope, and their
// favorites: t1 has p1, p4 and p6, t2 has p5. calls counts the calls of the store of players.
func teams(t *testing.T, calls map[string]int, opts *graphql.Options) *graphql.Handler {
	t.Helper()
	all, players, fans := memory.New[team](nil), memory.New[player](nil), memory.New[fan](&memory.Options[fan]{Recreate: true})
	insert := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 {
		v := team{ID: fmt.Sprint("t", i+1), Name: fmt.Sprint("team ", i+1)}
		_, err := all.Insert(t.Context(), v.ID, v)
		insert(err)
	}
	for i := range 8 {
		v := player{ID: fmt.Sprint("p", i+1), Team: fmt.Sprint("t", i/4+1), Score: i % 3, Hidden: i%4 == 3}
		_, err := players.Insert(t.Context(), v.ID, v)
		insert(err)
	}
	for _, f := range []fan{{Team: "t1", Player: "p1"}, {Team: "t1", Player: "p4"}, {Team: "t1", Player: "p6"}, {Team: "t2", Player: "p5"}} {
		f.ID = f.Team + "," + f.Player
		_, err := fans.Insert(t.Context(), f.ID, f)
		insert(err)
	}
	ops := resource.OpsOf(players)
	inner, joins := ops, ops.FastReads().Joiner
	ops.CountByKeys = func(ctx context.Context, field string, keys []string, q query.Query) (map[string]int, error) {
		calls["CountByKeys"]++
		return inner.CountByKeys(ctx, field, keys, q)
	}
	by := inner.ListByKeys
	ops.ListByKeys = func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[resource.Item[player], error] {
		calls["ListByKeys"]++
		return by(ctx, field, keys, q)
	}
	ops = ops.WithFastReads(resource.FastReads{Joiner: joins})
	compare := []query.Op{query.Eq, query.Gte}
	catalog := resource.NewCatalog(nil,
		resource.New("teams", all, &resource.Options[team]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"name": compare}},
			Relations: []resource.Relation[team]{{Name: "players", Target: "players", By: "teamId", Limit: 2},
				{Name: "favorites", Target: "players", Through: "fans", By: "teamId", To: "playerId"}}}),
		ops.Resource("players", &resource.Options[player]{MaxPageSize: 10,
			Query: query.Support{Filter: map[string][]query.Op{"score": compare, "teamId": compare}, Sort: []string{"score"},
				Relations: []string{"team"}},
			Scope: func(context.Context) (query.Filter, error) {
				return query.Where("hidden", query.Eq, false), nil
			},
			Relations: []resource.Relation[player]{{Name: "team", Target: "teams", Field: "teamId"}}}),
		resource.New("fans", fans, &resource.Options[fan]{Public: true, AllowRecreate: true,
			Query: query.Support{Filter: map[string][]query.Op{"teamId": compare}}}))
	return graphql.New(catalog, opts)
}

// TestRelatedPages reads pages of related items, with the calls of the store that they need.
func TestRelatedPages(t *testing.T) {
	t.Parallel()
	lists, counts := map[string]int{"ListByKeys": 1}, map[string]int{"CountByKeys": 1}
	both := map[string]int{"ListByKeys": 1, "CountByKeys": 1}
	for _, test := range []struct {
		name, query, want string
		calls             map[string]int
	}{
		{"default", `{teams {nodes {playersConnection {nodes {id}}}}}`,
			`[{nodes:[{id:p1},{id:p2}]}][{nodes:[{id:p5},{id:p6}]}]`, lists},
		{"total alone", `{teams {nodes {playersConnection {totalCount}}}}`, `[{totalCount:3}][{totalCount:3}]`, counts},
		{"page", `{teams {nodes {playersConnection(first: 2, orderBy: [{field: score, direction: DESC}]) {
			totalCount pageInfo {hasNextPage hasPreviousPage} edges {node {id score}}}}}}`,
			`[{totalCount:3,pageInfo:{hasNextPage:true,hasPreviousPage:false},edges:[{node:{id:p3,score:2}},{node:{id:p2,score:1}}]}]` +
				`[{totalCount:3,pageInfo:{hasNextPage:true,hasPreviousPage:false},edges:[{node:{id:p6,score:2}},{node:{id:p5,score:1}}]}]`, both},
		{"filter", `{teams {nodes {playersConnection(filter: {score: {gte: 1}}) {totalCount nodes {id}}}}}`,
			`[{totalCount:2,nodes:[{id:p2},{id:p3}]}][{totalCount:2,nodes:[{id:p5},{id:p6}]}]`, both},
		{"filter through a relation", `{teams {nodes {playersConnection(filter: {team: {name: {eq: "team 2"}}}) {totalCount nodes {id}}}}}`,
			`[{totalCount:0,nodes:[]}][{totalCount:3,nodes:[{id:p5},{id:p6}]}]`, both},
		{"first 0", `{teams {nodes {playersConnection(first: 0) {nodes {id} pageInfo {hasNextPage startCursor endCursor}}}}}`,
			`[{nodes:[],pageInfo:{hasNextPage:true,startCursor:null,endCursor:null}}]` +
				`[{nodes:[],pageInfo:{hasNextPage:true,startCursor:null,endCursor:null}}]`, lists},
		{"through", `{teams {nodes {favoritesConnection(first: 1) {totalCount nodes {id} pageInfo {hasNextPage}}}}}`,
			`[{totalCount:2,nodes:[{id:p1}],pageInfo:{hasNextPage:true}}][{totalCount:1,nodes:[{id:p5}],pageInfo:{hasNextPage:false}}]`, nil},
		{"nested", `{teams {nodes {playersConnection(first: 1) {nodes {team {playersConnection(first: 1,
			orderBy: [{field: score}]) {nodes {id}}}}}}}}`,
			`[{nodes:[{team:{playersConnection:{nodes:[{id:p1}]}}}]}][{nodes:[{team:{playersConnection:{nodes:[{id:p7}]}}}]}]`,
			map[string]int{"ListByKeys": 2}},
		{"off", `{teams {nodes {playersConnection(first: 1) {nodes @skip(if: true) {id} totalCount}}}}`,
			`[{totalCount:3}][{totalCount:3}]`, counts},
	} {
		calls := map[string]int{}
		text := execute(t, teams(t, calls, nil), test.query)
		if diff := cmp.Diff(test.want, pagesOfTeams(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", test.name, diff, text)
		}
		if diff := cmp.Diff(test.calls, calls); test.calls != nil && diff != "" {
			t.Errorf("%s: calls (-want +got):\n%s", test.name, diff)
		}
	}
}

// pagesOfTeams returns the JSON of the pages of each team, without quotation marks.
func pagesOfTeams(t *testing.T, text string) (out string) {
	t.Helper()
	var answer struct {
		Data struct {
			Teams struct{ Nodes []map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, node := range answer.Data.Teams.Nodes {
		for _, page := range node {
			out += "[" + strings.ReplaceAll(string(page), `"`, "") + "]"
		}
	}
	return out
}

// TestRelatedPagesWalk follows the cursors of one item.
func TestRelatedPagesWalk(t *testing.T) {
	t.Parallel()
	h := teams(t, map[string]int{}, nil)
	for _, test := range []struct{ field, want string }{
		{"playersConnection", "p3 p2 p1"}, {"favoritesConnection", "p6 p1"},
	} {
		var got []string
		after, previous := "", false
		for range 5 {
			var answer struct {
				Data struct {
					Team map[string]struct {
						Edges []struct {
							Cursor string
							Node   struct{ ID string }
						}
						PageInfo struct {
							HasNextPage, HasPreviousPage bool
							StartCursor, EndCursor       string
						}
					}
				}
			}
			text := execute(t, h, `{team(id: "t1") {`+test.field+`(first: 1, orderBy: [{field: id, direction: DESC}]`+after+`) {
				edges {cursor node {id}} pageInfo {hasNextPage hasPreviousPage startCursor endCursor}}}}`)
			if err := json.Unmarshal([]byte(text), &answer); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			page := answer.Data.Team[test.field]
			if len(page.Edges) != 1 || page.PageInfo.EndCursor != page.Edges[0].Cursor ||
				page.PageInfo.StartCursor != page.Edges[0].Cursor || page.PageInfo.HasPreviousPage != previous {
				t.Fatalf("page %d: %s", len(got), text)
			}
			got = append(got, page.Edges[0].Node.ID)
			if !page.PageInfo.HasNextPage {
				break
			}
			after, previous = fmt.Sprintf(`, after: %q`, page.PageInfo.EndCursor), true
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.field, diff)
		}
	}
}

// TestRelatedPagesRefuse checks arguments and costs.
func TestRelatedPagesRefuse(t *testing.T) {
	t.Parallel()
	h := teams(t, map[string]int{}, &graphql.Options{Limits: graphql.Limits{Cost: 700}})
	var first struct {
		Data struct {
			Team struct {
				PlayersConnection struct{ PageInfo struct{ EndCursor string } }
			}
		}
	}
	text := execute(t, h, `{team(id: "t1") {playersConnection(first: 1) {pageInfo {endCursor}}}}`)
	if err := json.Unmarshal([]byte(text), &first); err != nil {
		t.Fatal(err)
	}
	cursor := first.Data.Team.PlayersConnection.PageInfo.EndCursor
	for _, test := range []struct{ name, query, want string }{
		{"several items", `{teams {nodes {playersConnection(after: "` + cursor + `") {nodes {id}}}}}`, "request a single item"},
		{"another relation", `{team(id: "t1") {favoritesConnection(after: "` + cursor + `") {nodes {id}}}}`, `"after"`},
		{"another filter", `{team(id: "t1") {playersConnection(filter: {score: {eq: 1}}, after: "` + cursor + `") {nodes {id}}}}`, `"after"`},
		{"no cursor", `{team(id: "t1") {playersConnection(after: "x") {nodes {id}}}}`, `"after"`},
		{"above the maximum", `{team(id: "t1") {playersConnection(first: 11) {nodes {id}}}}`, "must be a number from 0 to 10"},
		{"backward", `{team(id: "t1") {playersConnection(last: 1) {nodes {id}}}}`, "Unknown argument"},
		// 200 teams with 2 players each cost 600, with 3 each 800.
		{"default", `{teams(first: 200) {nodes {playersConnection {nodes {id}}}}}`, `{"data":{"teams":{"nodes":[`},
		{"cost", `{teams(first: 200) {nodes {playersConnection(first: 3) {nodes {id}}}}}`, "can return 800 objects; at most 700"},
		{"cost of a level", `{teams(first: 10) {nodes {playersConnection(first: 10) {nodes {team {playersConnection(first: 9) {nodes {id}}}}}}}}`,
			"can return 1110 objects; at most 700"},
		{"cost of totals", `{teams(first: 200) {nodes {a: playersConnection(first: 0) {totalCount} b: playersConnection(first: 0) {totalCount}
			c: playersConnection(first: 0) {totalCount}}}}`, "can return 800 objects; at most 700"},
	} {
		if text := execute(t, h, test.query); !strings.Contains(text, test.want) {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}
