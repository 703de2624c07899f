package oracle_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// harbour returns the sample catalog for the executor of graphql-go.
func harbour(t *testing.T) graphql.Schema {
	t.Helper()
	catalog, opts := graphqltest.Catalog(memory.New[graphqltest.Port](nil), memory.New[graphqltest.Ship](nil),
		memory.New[graphqltest.Sailor](nil))
	return reflected(t, catalog, opts)
}

// reflected returns a catalog for the executor of graphql-go.
func reflected(t *testing.T, catalog *resource.Catalog, opts *model.Options) graphql.Schema {
	t.Helper()
	s, err := model.Reflect(catalog, opts)
	if err != nil {
		t.Fatal(err)
	}
	introspect.Extend(s)
	converted, err := oracle.Schema(s, catalog)
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

// do returns the response of graphql-go's executor as JSON: data and, for each error, its path and
// code.
func do(t *testing.T, s graphql.Schema, document string) string {
	t.Helper()
	result := graphql.Do(graphql.Params{Schema: s, RequestString: document, Context: t.Context()})
	data, err := json.Marshal(result.Data)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{string(data)}
	for _, e := range result.Errors {
		told, err := json.Marshal([]any{e.Path, e.Extensions["code"]})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(told))
	}
	return strings.Join(all, "\n")
}

// TestResolvers uses every source of a value in the harbour. graphql-go sorts the members of
// objects.
func TestResolvers(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"members", `{ship(id: 2) {id name rig portId escorts length draught masts tonnage serial afloat launched refitted flag marks
			log owner {name born} callSign grid}}`,
			`{"ship":{"afloat":true,"callSign":"","draught":2.1,"escorts":[4],"flag":"/wE=","grid":[[1,` +
				`2],[3,1]],"id":"2",` +
				`"launched":"1802-02-03T00:00:00Z","length":10.5,"log":{"n":[1.5,null,"x"]},` +
				`"marks":{"a":"1","b":"2"},"masts":1,` +
				`"name":"Ship \"2\"","owner":{"born":"1801-02-03T00:00:00Z","name":"Owner"},` +
				`"portId":"hull",` +
				`"refitted":"1801-02-03T00:00:00Z","rig":"SCHOONER","serial":"-1152921504606846975",` +
				`"tonnage":1048576}}`},
		{"members that are not there",
			`{ship(id: 1) {escorts draught refitted flag decks {name} owner {name}}}`,
			`{"ship":{"decks":[],"draught":null,"escorts":[],"flag":"","owner":null,"refitted":null}}`},
		{"nested lists", `{ship(id: 3) {decks {name guns over {name guns over {name}}}}}`,
			`{"ship":{"decks":[{"guns":[2,2],"name":"main","over":[{"guns":[],"name":"poop","over":[]}]},` +
				`{"guns":[],"name":"lower","over":[]}]}}`},
		{"missing", `{ship(id: 99) {id} port(id: "") {id}}`, `{"port":null,"ship":null}`},
		{"relations", `{ships(first: 10) {nodes {port {name} convoy {id} crew {name}}}}`,
			`{"ships":{"nodes":[` +
				`{"convoy":[],"crew":[{"name":"Sailor 1"},{"name":"Sailor 4"}],"port":{"name":"Piraeus"}},` +
				`{"convoy":[{"id":"4"}],"crew":[{"name":"Sailor 2"},{"name":"Sailor 5"}],` +
				`"port":{"name":"Hull"}},` +
				`{"convoy":[{"id":"4"},{"id":"3"}],"crew":[{"name":"Sailor 3"}],"port":null},` +
				`{"convoy":[{"id":"4"},{"id":"2"}],"crew":[],"port":{"name":"Hull"}}]}}`},
		{"list", `{ships(filter: {rig: {eq: SLOOP}}) {totalCount edges {node {id}} nodes {name} pageInfo ` +
			`{hasNextPage hasPreviousPage}}}`,
			`{"ships":{"edges":[{"node":{"id":"1"}},{"node":{"id":"4"}}],"nodes":[{"name":"Ship \"1\""},` +
				`{"name":"Ship \"4\""}],` +
				`"pageInfo":{"hasNextPage":false,"hasPreviousPage":false},"totalCount":2}}`},
		{"sorted page",
			`{ships(orderBy: [{field: name, direction: DESC}]) {nodes {id} pageInfo {hasNextPage}}}`,
			`{"ships":{"nodes":[{"id":"4"},{"id":"3"},{"id":"2"}],"pageInfo":{"hasNextPage":true}}}`},
		{"empty page",
			`{ports(filter: {name: {eq: "x"}}) {nodes {id} edges {cursor} pageInfo {startCursor endCursor}}}`,
			`{"ports":{"edges":[],"nodes":[],"pageInfo":{"endCursor":null,"startCursor":null}}}`},
		{"lookup", `{flagship {id} other: flagship(rig: SCHOONER) {id} none: flagship(rig: SLOOP) {id}}`,
			`{"flagship":{"id":"3"},"none":null,"other":{"id":"2"}}`},
		{"custom", `{tides(ship: 1, to: "x", days: 4) {at port {name}}}`,
			`{"tides":[{"at":"2026-03-04T06:00:00Z","port":null}]}`},
		{"computed", `{ships {nodes {berths}}}`,
			`{"ships":{"nodes":[{"berths":null},{"berths":4},{"berths":8}]}}`},
		{"names of types", `{__typename ship(id: 1) {__typename port {__typename}}}`,
			`{"__typename":"Query","ship":{"__typename":"Ship","port":{"__typename":"Port"}}}`},
		{"commands", `mutation {shipsSail(input: {ship: 1, to: "cove"}) {at port {id name lat}} ` +
			`harbourClose ring}`,
			`{"harbourClose":true,"ring":true,"shipsSail":{"at":"2026-01-03T00:00:00Z",` +
				`"port":{"id":"cove","lat":null,"name":"There"}}}`},
		{"refused", `mutation {shipsSail(input: {ship: 1, to: "nowhere"}) {at}}`,
			`{"shipsSail":null}` + "\n" + `[["shipsSail"],"BAD_USER_INPUT"]`},
		{"fails", `{tides(ship: 1, to: "x", days: 40) {at}}`, `{"tides":null}` + "\n" +
			`[["tides"],"INTERNAL_SERVER_ERROR"]`},
	}
	s := harbour(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, do(t, s, tt.document)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWrites creates an item and uses its entity tag for further writes.
func TestWrites(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	created := do(t, s, `mutation {createPort(input: {id: "ithaca", name: "Ithaca"}) {id name lat etag}}`)
	var answer struct {
		CreatePort struct{ ID, Name, ETag string }
	}
	if err := json.Unmarshal([]byte(created), &answer); err != nil {
		t.Fatalf("%s: %v", created, err)
	}
	if got := answer.CreatePort; got.ID != "ithaca" || got.Name != "Ithaca" || got.ETag == "" {
		t.Fatalf("it is %s", created)
	}
	tag, err := json.Marshal(answer.CreatePort.ETag)
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct{ document, want string }{
		{`mutation {patchPort(id: "ithaca", input: {lat: 38.36}, ifMatch: ` + string(tag) + `) {name lat}}`,
			`{"patchPort":{"lat":38.36,"name":"Ithaca"}}`},
		{`mutation {replacePort(id: "ithaca", input: {name: "X"}, ifMatch: ` + string(tag) + `) {name lat}}`,
			`{"replacePort":null}` + "\n" + `[["replacePort"],"PRECONDITION_FAILED"]`},
		{`mutation {replacePort(id: "ithaca", input: {name: "X"}) {name lat}}`,
			`{"replacePort":{"lat":null,"name":"X"}}`},
		{`mutation {deletePort(id: "ithaca") {name}}`, `{"deletePort":{"name":"X"}}`},
		{`{port(id: "ithaca") {name}}`, `{"port":null}`},
	}
	for _, step := range steps {
		if diff := cmp.Diff(step.want, do(t, s, step.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.document, diff)
		}
	}
}

// TestCursors checks that the cursor of each item leads to the items after and before it.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	var page struct {
		Ships struct {
			Edges    []struct{ Cursor string }
			PageInfo struct{ StartCursor, EndCursor string }
		}
	}
	text := do(t, s, `{ships {edges {cursor} pageInfo {startCursor endCursor}}}`)
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	edges, info := page.Ships.Edges, page.Ships.PageInfo
	if len(edges) != 3 || info.StartCursor != edges[0].Cursor || info.EndCursor != edges[2].Cursor ||
		edges[0] == edges[2] {
		t.Fatalf("the cursors are %s", text)
	}
	if got, want := do(t, s, `{ships(after: "`+info.EndCursor+`") {nodes {id}}}`),
		`{"ships":{"nodes":[{"id":"4"}]}}`; got != want {
		t.Errorf("behind the page are %s, want %s", got, want)
	}
	if got, want := do(t, s,
		`{ships(last: 2, before: "`+edges[1].Cursor+`") {nodes {id} pageInfo {hasNextPage}}}`),
		`{"ships":{"nodes":[{"id":"1"}],"pageInfo":{"hasNextPage":true}}}`; got != want {
		t.Errorf("in front of the second are %s, want %s", got, want)
	}
}

// TestDefaultsOfInputs checks that a new item has the defaults of the schema for absent members.
func TestDefaultsOfInputs(t *testing.T) {
	t.Parallel()
	got := do(t, harbour(t),
		`mutation {createShip(input: {name: "New", marks: {}, tonnage: 1}) {rig length}}`)
	if want := `{"createShip":{"length":12.5,"rig":"SLOOP"}}`; got != want {
		t.Errorf("defaults make %s, want %s", got, want)
	}
}

// odd has values that a store may return and that the schema does not allow.
type odd struct {
	ID    int64   `json:"id"`
	Size  string  `json:"size" enum:"S,M"`
	Small int     `json:"small" minimum:"0" maximum:"9"`
	Ratio float64 `json:"ratio"`
	Wide  *uint32 `json:"wide" maximum:"2000"`
}

// TestInvalidStoredValues checks that values of another type are errors and not silently null.
func TestInvalidStoredValues(t *testing.T) {
	t.Parallel()
	wide := uint32(math.MaxUint32)
	odds := memory.New[odd](nil)
	if _, err := odds.Insert(t.Context(), "1",
		odd{ID: 1, Size: "XXL", Small: math.MaxInt, Ratio: math.NaN(), Wide: &wide}); err != nil {
		t.Fatal(err)
	}
	catalog := resource.NewCatalog(nil, resource.New("odds", odds, nil))
	s := reflected(t, catalog, nil)
	for _, tt := range []struct{ field, want string }{
		{"size", `{"odd":null}` + "\n" + `[["odd","size"],"INTERNAL_SERVER_ERROR"]`},
		{"small", `{"odd":null}` + "\n" + `[["odd","small"],"INTERNAL_SERVER_ERROR"]`},
		{"ratio", `{"odd":null}` + "\n" + `[["odd","ratio"],"INTERNAL_SERVER_ERROR"]`},
		{"wide", `{"odd":{"wide":null}}` + "\n" + `[["odd","wide"],"INTERNAL_SERVER_ERROR"]`},
	} {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			if got := do(t, s, "{odd(id: 1) {"+tt.field+"}}"); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestWithoutCatalog checks that fields that need a catalog fail without one.
func TestWithoutCatalog(t *testing.T) {
	t.Parallel()
	catalog, opts := graphqltest.Catalog(memory.New[graphqltest.Port](nil), memory.New[graphqltest.Ship](nil),
		memory.New[graphqltest.Sailor](nil))
	s, err := model.Reflect(catalog, opts)
	if err != nil {
		t.Fatal(err)
	}
	introspect.Extend(s)
	converted, err := oracle.Schema(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := do(t, converted, "{ship(id: 1) {id}}"),
		`{"ship":null}`+"\n"+`[["ship"],"INTERNAL_SERVER_ERROR"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
