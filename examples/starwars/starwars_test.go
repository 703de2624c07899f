package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// calls records the calls of the stores, in order.
type calls struct {
	mu   sync.Mutex
	made []string
}

func (c *calls) note(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, name)
}

// taken returns the calls since its last call, sorted, because siblings are loaded concurrently.
func (c *calls) taken() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.Sort(c.made)
	text := strings.Join(c.made, " ")
	c.made = nil
	return text
}

// counting records the calls of a store.
func counting[T any](c *calls, name string, ops resource.Ops[T]) resource.Ops[T] {
	inner := ops
	ops.Get = func(ctx context.Context, id string) (resource.Item[T], error) {
		c.note(name + ".Get")
		return inner.Get(ctx, id)
	}
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
		c.note(name + ".List")
		return inner.List(ctx, q)
	}
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[T], error] {
		c.note(name + ".GetMany")
		return inner.GetMany(ctx, ids)
	}
	ops.ListByKeys = func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[resource.Item[T], error] {
		c.note(name + ".ListBy")
		return inner.ListByKeys(ctx, field, keys, q)
	}
	ops.Count = func(ctx context.Context, q query.Query) (int, error) {
		c.note(name + ".Count")
		return inner.Count(ctx, q)
	}
	return ops
}

// openCounted returns the API of a saga that records the calls of its stores.
func openCounted(t *testing.T) (http.Handler, *calls) {
	t.Helper()
	s, err := newSaga(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := &calls{}
	s.characters = counting(c, "characters", s.characters)
	s.planets = counting(c, "planets", s.planets)
	s.species = counting(c, "species", s.species)
	s.films = counting(c, "films", s.films)
	s.reviews = counting(c, "reviews", s.reviews)
	api, _ := newAPI(s)
	return api, c
}

// post sends a GraphQL request and returns the response body. variables is a JSON object or empty.
func post(t *testing.T, api http.Handler, document, variables string) string {
	t.Helper()
	content := map[string]any{"query": document}
	if variables != "" {
		content["variables"] = json.RawMessage(variables)
	}
	body, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/graphql", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Errorf("%d: %s", w.Code, document)
	}
	return strings.TrimSpace(w.Body.String())
}

// heroQuery is the sample query.
const heroQuery = `{ hero { name friends { name homeWorld { name climate } species { name lifespan origin { name } } } } }`

// heroAnswer is the expected response.
const heroAnswer = `{"data":{"hero":{"name":"R2-D2","friends":[` +
	`{"name":"Luke Skywalker","homeWorld":{"name":"Tatooine","climate":"arid"},` +
	`"species":{"name":"Human","lifespan":120,"origin":{"name":"Coruscant"}}},` +
	`{"name":"Han Solo","homeWorld":{"name":"Corellia","climate":"temperate"},` +
	`"species":{"name":"Human","lifespan":120,"origin":{"name":"Coruscant"}}},` +
	`{"name":"Leia Organa","homeWorld":{"name":"Alderaan","climate":"temperate"},` +
	`"species":{"name":"Human","lifespan":120,"origin":{"name":"Coruscant"}}}]}}}`

// heroCalls has one call for each level: the hero, the friends, their planets and species, and the
// planets of those species.
const heroCalls = "characters.Get characters.GetMany planets.GetMany planets.GetMany species.GetMany"

func TestQueries(t *testing.T) {
	t.Parallel()
	const fragments = `fragment Who on Character { name ...Where species { ...What } }
		fragment Where on Character { homeWorld { ...World } } fragment World on Planet { name climate }
		fragment What on Species { name lifespan origin { name } }`
	tests := []struct{ name, document, variables, want, calls string }{
		{"the sample", heroQuery, "", heroAnswer, heroCalls},
		{"the sample in fragments", `{ hero { name friends { ...Who } } } ` + fragments, "", heroAnswer,
			heroCalls},
		{
			"the sample with variables",
			`query ($e: Episode, $more: Boolean!, $less: Boolean = false) { hero(episode: $e) { name friends @include(if: $more) {
				...Who @skip(if: $less) } } } ` + fragments,
			`{"e":"JEDI","more":true}`,
			heroAnswer,
			heroCalls + " films.Get",
		},
		{"omitted fields are not fetched",
			`query ($e: Episode, $more: Boolean!) { hero(episode: $e) { name friends @include(if: $more) { ...Who } } } ` + fragments,
			`{"e":"EMPIRE","more":false}`, `{"data":{"hero":{"name":"Luke Skywalker"}}}`,
			"characters.Get films.Get"},
		{
			"null episode",
			`query ($e: Episode) { hero(episode: $e) { name } census(episode: $e) { species } }`,
			`{"e":null}`,
			`{"data":{"hero":{"name":"R2-D2"},"census":[{"species":"human"},{"species":"droid"},{"species":"ewok"},{"species":"hutt"},` +
				`{"species":"mon-calamari"},{"species":"rodian"},{"species":"wookiee"},{"species":"yodas"}]}}`,
			"characters.Get characters.List",
		},
		{"aliases",
			`{ r2: character(id: "r2-d2") { homeWorld { name } } luke: character(id: "luke") { homeWorld { world: name } } }`,
			"", `{"data":{"r2":{"homeWorld":{"name":"Naboo"}},"luke":{"homeWorld":{"world":"Tatooine"}}}}`,
			"characters.Get characters.Get planets.GetMany"},
		{"unknown home world",
			`{ character(id: "yoda") { homeWorld { name } species { lifespan origin { name } } } }`, "",
			`{"data":{"character":{"homeWorld":null,"species":{"lifespan":900,"origin":null}}}}`,
			"characters.Get species.GetMany"},
		{"nobody", `{ character(id: "jar-jar") { name } }`, "", `{"data":{"character":null}}`,
			"characters.Get"},
		{"relations in both directions, one call per level",
			`{ films(orderBy: [{field: number}]) { nodes { number hero { species { characters { films { number } } } } } } }`,
			"", "", "all-species.GetMany characters.GetMany characters.ListBy films.GetMany films.List"},
		{
			"pages",
			`{ characters(first: 2, orderBy: [{field: height, direction: DESC}], filter: {name: {contains: "a"}}) {
			nodes { name } pageInfo { hasNextPage } totalCount } }`,
			"",
			`{"data":{"characters":{"nodes":[{"name":"Chewbacca"},{"name":"Darth Vader"}],"pageInfo":{"hasNextPage":true},"totalCount":12}}}`,
			"characters.Count characters.List",
		},
		{
			"computed for all films at once",
			`{ films { nodes { title rating reviews { stars } } } }`,
			"",
			`{"data":{"films":{"nodes":[{"title":"The Empire Strikes Back","rating":5,"reviews":[{"stars":5}]},` +
				`{"title":"Return of the Jedi","rating":3,"reviews":[{"stars":3}]},` +
				`{"title":"A New Hope","rating":4.5,"reviews":[{"stars":5},{"stars":4}]}]}}}`,
			"films.List reviews.ListBy reviews.ListBy",
		},
		{"a custom root field", `{ census(episode: NEWHOPE) { species characters } }`, "",
			`{"data":{"census":[{"species":"human","characters":6},{"species":"droid","characters":2},` +
				`{"species":"rodian","characters":1},{"species":"wookiee","characters":1}]}}`, "characters.List"},
		{"type names", `{ __typename hero { __typename species { __typename } } }`, "",
			`{"data":{"__typename":"Query","hero":{"__typename":"Character","species":{"__typename":"Species"}}}}`,
			"characters.Get species.GetMany"},
	}
	api, counted := openCounted(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := post(t, api, tt.document, tt.variables)
			if diff := cmp.Diff(tt.want, got); tt.want != "" && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if strings.Contains(got, `"errors"`) {
				t.Errorf("errors: %s", got)
			}
			want := strings.Fields(strings.ReplaceAll(tt.calls, "all-species", "species"))
			slices.Sort(want)
			if diff := cmp.Diff(strings.Join(want, " "), counted.taken()); diff != "" {
				t.Errorf("calls of stores (-want +got):\n%s", diff)
			}
		})
	}
}

// A review is created, read over REST, included in the computed field, changed and deleted.
func TestMutations(t *testing.T) {
	t.Parallel()
	api, _ := openCounted(t)
	steps := []struct{ document, variables, want string }{
		{`mutation ($review: CreateReviewInput!) { createReview(input: $review) { id stars film { title rating } } }`,
			`{"review": {"episode": "JEDI", "stars": 5, "commentary": "Ewoks!"}}`,
			`{"data":{"createReview":{"id":"5","stars":5,"film":{"title":"Return of the Jedi","rating":4}}}}`},
		{`mutation { patchReview(id: 5, input: {stars: 1}) { stars commentary } }`, "",
			`{"data":{"patchReview":{"stars":1,"commentary":"Ewoks!"}}}`},
		{`mutation { deleteReview(id: 5) { stars } again: deleteReview(id: 5) { stars } }`, "", ""},
		{`{ film(id: "JEDI") { rating } reviews(filter: {stars: {lte: 3}}) { nodes { id } } }`, "",
			`{"data":{"film":{"rating":3},"reviews":{"nodes":[{"id":"4"}]}}}`},
	}
	for _, step := range steps {
		got := post(t, api, step.document, step.variables)
		if diff := cmp.Diff(step.want, got); step.want != "" && diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.document, diff)
		}
		if step.want == "" &&
			(!strings.Contains(got, `"deleteReview":{"stars":1},"again":null`) || !strings.Contains(got, `"GONE"`)) {
			t.Errorf("%s: %s", step.document, got)
		}
	}
}

// Invalid requests are rejected before any store is called.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, code string }{
		{"no such episode", `{ hero(episode: CLONES) { name } }`, "GRAPHQL_VALIDATION_FAILED"},
		{"no such field", `{ hero { midichlorians } }`, "GRAPHQL_VALIDATION_FAILED"},
		{"names are not changed", `mutation { patchCharacter(id: "luke", input: {name: "Lars"}) { name } }`,
			"GRAPHQL_VALIDATION_FAILED"},
		{"six stars", `mutation { createReview(input: {episode: JEDI, stars: 6}) { id } }`, "BAD_USER_INPUT"},
	}
	api, counted := openCounted(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := post(t, api, tt.document, ""); !strings.Contains(got, `"code":"`+tt.code+`"`) {
				t.Errorf("no %s: %s", tt.code, got)
			}
			if made := counted.taken(); made != "" {
				t.Errorf("stores were called: %s", made)
			}
		})
	}
}

// REST serves the same data.
func TestREST(t *testing.T) {
	t.Parallel()
	api, _ := openCounted(t)
	tests := []struct {
		target string
		status int
		want   string
	}{
		{"/hero?episode=EMPIRE&fields=name", 200, `{"name":"Luke Skywalker"}`},
		{
			"/all-species/human?expand=origin",
			200,
			`{"id":"human","name":"Human","lifespan":120,"originId":"coruscant",` +
				`"origin":{"id":"coruscant","name":"Coruscant","climate":"temperate"}}`,
		},
		{"/planets?climate=arid&fields=id", 200, `{"items":[{"id":"socorro"},{"id":"tatooine"}]}`},
		{"/", 303, "/graphql"},
		{"/graphql/schema.graphql", 200, "type Character {"},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", tt.target, nil))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s: %d: %s", tt.target, w.Code, w.Body)
		}
	}
}

// Every id that an item refers to exists.
func TestFacts(t *testing.T) {
	t.Parallel()
	api, _ := openCounted(t)
	got := post(t, api, `{ characters(first: 200) { nodes { id appearsIn friendIds homeWorldId speciesId
		friends { id } homeWorld { id } species { id originId origin { id } } films { id hero { id } } } } }`, "")
	var answer struct {
		Data struct {
			Characters struct{ Nodes []fact }
		}
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil ||
		len(answer.Data.Characters.Nodes) != len(characters()) {
		t.Fatalf("%v: %s", err, got)
	}
	for _, c := range answer.Data.Characters.Nodes {
		if len(c.Friends) != len(c.FriendIDs) || len(c.Films) != len(c.AppearsIn) ||
			(c.HomeWorld == nil) != (c.HomeWorldID == nil) ||
			c.Species.ID != c.SpeciesID ||
			(c.Species.Origin == nil) != (c.Species.OriginID == nil) {
			t.Errorf("missing data: %+v", c)
		}
		for _, film := range c.Films {
			if film.Hero.ID == "" {
				t.Errorf("the film %s has no hero", film.ID)
			}
		}
	}
}

type named struct{ ID string }

type fact struct {
	Character
	Friends   []named
	HomeWorld *named
	Species   struct {
		ID       string
		OriginID *string
		Origin   *named
	}
	Films []struct {
		ID   string
		Hero named
	}
}

// The program prints its address, answers the sample query, and exits with status 0.
func TestProcess(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "starwars")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "-addr", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, report := "", ""
	for lines := bufio.NewScanner(stdout); url == "" && lines.Scan(); {
		report += lines.Text() + "\n"
		url, _ = strings.CutPrefix(lines.Text(), "starwars: listening on ")
		if !strings.HasPrefix(url, "http://127.0.0.1:") {
			url = ""
		}
	}
	if url == "" || !strings.Contains(report, "/hero  a lookup of /characters") ||
		!strings.Contains(report, "GraphQL") {
		t.Fatalf("the report is:\n%s", report)
	}
	resp, err := http.Post(url+"/graphql", "application/json", strings.NewReader(`{"query":"`+heroQuery+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(heroAnswer, strings.TrimSpace(string(body))); diff != "" {
		t.Errorf("%s (-want +got):\n%s", resp.Status, diff)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// TestReadme checks that query/graphql/README.md shows the query and its response.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../query/graphql/README.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "\n```\ngo run -C examples ./starwars\n```\n\n```console\n$ curl -s localhost:8080/graphql -H 'Content-Type: application/json' -d '" +
		`{"query":"` + heroQuery + `"}` + "'\n" + heroAnswer + "\n```\n"
	if !strings.Contains(string(readme), want) {
		t.Errorf("query/graphql/README.md does not show%s", want)
	}
}

func TestOwnReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want int
	}{
		{"help", []string{"-h"}, 0},
		{"unknown flag", []string{"-port", "1"}, 2},
		{"an argument", []string{"yoda"}, 2},
		{"invalid address", []string{"-addr", "nowhere"}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var said strings.Builder
			if got := run(t.Context(), tt.args, io.Discard, &said); got != tt.want {
				t.Errorf("exit status %d, want %d: %s", got, tt.want, &said)
			}
		})
	}
}
