package graphql_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// newLibrary serves four novels of two writers, of which novel 4 is deleted, by GraphQL and by REST. The
// view has no blurb, and so no search. cost is Limits.Cost, which has its default if it is 0.
func newLibrary(t *testing.T, cost int) (asked, view, items http.Handler) {
	t.Helper()
	type writer struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	type novel struct {
		ID       string `json:"id"`
		Title    string `json:"title"`
		Blurb    string `json:"blurb"`
		Genre    string `json:"genre"`
		WriterID string `json:"writerId"`
		Pages    int    `json:"pages"`
	}
	type short struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	writers := memory.New[writer](nil)
	novels := memory.New(&memory.Options[novel]{SoftDelete: true})
	for _, w := range []writer{{"ann", "Ann"}, {"bob", "Bob"}} {
		if _, err := writers.Insert(t.Context(), w.ID, w); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []novel{
		{"1", "The green sea", "A sea of grass.", "travel", "ann", 100},
		{"2", "Sea, sea, sea", "Three islands.", "travel", "bob", 200},
		{"3", "A deserted house", "No sea.", "crime", "ann", 300},
		{"4", "The lost sea", "Nothing is left.", "crime", "bob", 400},
	} {
		item, err := novels.Insert(t.Context(), n.ID, n)
		if err == nil && n.ID == "4" {
			err = novels.Delete(t.Context(), n.ID, item.Rev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	all := resource.New("novels", novels, &resource.Options[novel]{Public: true,
		Query: query.Support{Search: []string{"title", "blurb"}, Sort: []string{"title"}, Relations: []string{"writer"},
			Filter: map[string][]query.Op{"pages": {query.Gte}}, Group: []string{"genre"},
			Aggregate: map[string][]query.Func{"pages": {query.Sum}}},
		Relations: []resource.Relation[novel]{{Name: "writer", Target: "writers", Field: "writerId"}}})
	of := resource.New("writers", writers, &resource.Options[writer]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"name": {query.Eq}}}})
	catalog := resource.NewCatalog(nil, all, of)
	old := resource.View(all, func(n novel) (short, error) { return short{n.ID, n.Title}, nil },
		func(s short, n novel) (novel, error) { n.Title = s.Title; return n, nil }, nil)
	asked = graphql.New(catalog, &graphql.Options{Limits: graphql.Limits{Cost: cost}})
	return asked, graphql.New(resource.NewCatalog(nil, old, of), nil), rest.New(catalog, nil)
}

// answerOf returns the body of a GET.
func answerOf(t *testing.T, h http.Handler, path, query string, header ...string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", path+"?"+query, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// TestSearch: a search has the same items, order, total and groups in GraphQL and in REST.
func TestSearch(t *testing.T) {
	t.Parallel()
	asked, _, items := newLibrary(t, 0)
	for _, tt := range []struct{ name, args, params, ids string }{
		{"by rank", `search:"sea"`, "q=sea", "2 1 3"},
		{"sorted", `search:"sea",orderBy:{field:title}`, "q=sea&sort=title", "3 2 1"},
		{"with a filter", `search:"sea",filter:{pages:{gte:200}}`, "q=sea&pages.gte=200", "2 3"},
		{"with a filter through a relation", `search:"sea",filter:{writer:{name:{eq:"Ann"}}}`,
			"q=sea&writer.name=Ann", "1 3"},
		{"phrases and excluded words", `search:"\"green sea\" OR islands -grass OR hou*"`,
			"q=%22green+sea%22+OR+islands+-grass+OR+hou*", "1 3 2"},
		{"deleted items", `search:"lost"`, "q=lost", ""},
		{"nothing", `search:" "`, "q=+", "1 2 3"},
		{"null", `search:null`, "", "1 2 3"},
		{"a page", `search:"sea",first:1`, "q=sea&limit=1", "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			document := "{novels(" + tt.args + "){nodes{id} totalCount}}"
			text := answerOf(t, asked, "/graphql", "query="+url.QueryEscape(document))
			type item struct{ ID string }
			var got struct {
				Data struct {
					Novels struct {
						Nodes      []item
						TotalCount int
					}
				}
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil || !strings.Contains(text, "totalCount") {
				t.Fatalf("%v: %s", err, text)
			}
			var want struct {
				Items []item
				Total int
			}
			text = answerOf(t, items, "/novels", tt.params, "Prefer", "count=exact")
			if err := json.Unmarshal([]byte(text), &want); err != nil || !strings.Contains(text, `"total"`) {
				t.Fatalf("%v: %s", err, text)
			}
			novels := got.Data.Novels
			if diff := cmp.Diff(want.Items, novels.Nodes); diff != "" || want.Total != novels.TotalCount {
				t.Errorf("total %d and %d, items of REST and GraphQL (-want +got):\n%s", want.Total,
					novels.TotalCount, diff)
			}
			var ids []string
			for _, n := range novels.Nodes {
				ids = append(ids, n.ID)
			}
			if diff := cmp.Diff(tt.ids, strings.Join(ids, " ")); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSearchedGroups: groups are those of the items that a search finds.
func TestSearchedGroups(t *testing.T) {
	t.Parallel()
	asked, _, items := newLibrary(t, 0)
	document := `{novelsAggregate(search:"sea -grass",filter:{writer:{}},groupBy:genre){nodes{genre count sum{pages}}}}`
	got := answerOf(t, asked, "/graphql", "query="+url.QueryEscape(document))
	const groups = `[{"genre":"crime","count":1,"sum":{"pages":300}},{"genre":"travel","count":1,"sum":{"pages":200}}]`
	// The sum of integers can exceed 64 bits, so GraphQL has it as a text.
	nodes := strings.NewReplacer(":300", `:"300"`, ":200", `:"200"`).Replace(groups)
	if diff := cmp.Diff(`{"data":{"novelsAggregate":{"nodes":`+nodes+`}}}`, got); diff != "" {
		t.Errorf("GraphQL (-want +got):\n%s", diff)
	}
	got = answerOf(t, items, "/novels", "q=sea+-grass&group=genre&count&sum=pages&filter="+
		url.QueryEscape(`{"writer":{}}`))
	if diff := cmp.Diff(`{"groups":`+groups+`}`, got); diff != "" {
		t.Errorf("REST (-want +got):\n%s", diff)
	}
	got = answerOf(t, items, "/novels", "q=sea+-grass&group=genre&count&sum=pages&writer.name=Ann")
	if diff := cmp.Diff(`{"groups":[{"genre":"crime","count":1,"sum":{"pages":300}}]}`, got); diff != "" {
		t.Errorf("REST (-want +got):\n%s", diff)
	}
}

// TestSearchErrors: an invalid argument is an error with the accepted values.
func TestSearchErrors(t *testing.T) {
	t.Parallel()
	asked, view, _ := newLibrary(t, 0)
	many := strings.Repeat("a ", 33)
	for _, tt := range []struct {
		name     string
		h        http.Handler
		document string
		want     string
	}{
		{"no word", asked, `{novels(search:"--"){nodes{id}}}`, "must have a word"},
		{"only excluded", asked, `{novels(search:"-sea"){nodes{id}}}`, `"argument":"search"`},
		{"too many words", asked, `{novels(search:"` + many + `"){nodes{id}}}`, "at most 32 words"},
		{"of groups", asked, `{novelsAggregate(search:"-sea"){nodes{count}}}`, `"argument":"search"`},
		{"cursor of another search", asked, `{novels(search:"sea",after:"AAAA"){nodes{id}}}`, "invalidCursor"},
		{"not declared", asked, `{writers(search:"ann"){nodes{id}}}`, "GRAPHQL_VALIDATION_FAILED"},
		{"of a view without a searched field", view, `{novels(search:"sea"){nodes{id}}}`, "GRAPHQL_VALIDATION_FAILED"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := answerOf(t, tt.h, "/graphql", "query="+url.QueryEscape(tt.document))
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s does not contain %s", got, tt.want)
			}
		})
	}
}

// TestSearchPages follows the cursors of a search in both directions.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	asked, _, _ := newLibrary(t, 0)
	page := func(args string) (id, cursor string) {
		t.Helper()
		text := answerOf(t, asked, "/graphql", "query="+
			url.QueryEscape(`{novels(search:"sea",`+args+`){edges{cursor node{id}}}}`))
		var got struct {
			Data struct {
				Novels struct {
					Edges []struct {
						Cursor string
						Node   struct{ ID string }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got.Data.Novels.Edges) != 1 {
			t.Fatalf("%v: %s", err, text)
		}
		edge := got.Data.Novels.Edges[0]
		return edge.Node.ID, edge.Cursor
	}
	first, cursor := page("first:1")
	second, next := page(`first:1,after:"` + cursor + `"`)
	third, _ := page(`first:1,after:"` + next + `"`)
	last, _ := page("last:1")
	back, _ := page(`last:1,before:"` + next + `"`)
	if diff := cmp.Diff([]string{"2", "1", "3", "3", "2"}, []string{first, second, third, last, back}); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

// TestSearchCost: searches count in Limits.Cost, with their totals.
func TestSearchCost(t *testing.T) {
	t.Parallel()
	const refused = `The operation can return 50010 objects; at most 50000 are allowed. Request smaller pages or ` +
		`fewer fields. A search counts as 5000 objects.`
	for _, tt := range []struct {
		name  string
		cost  int
		field string
		times int
		want  string // the error
	}{
		{"nine", 0, `novels(search:"sea",first:1){nodes{id}}`, 9, ""},
		{"ten", 0, `novels(search:"sea",first:1){nodes{id}}`, 10, refused},
		{"four totals", 0, `novels(search:"sea",first:1){totalCount nodes{id}}`, 4, ""},
		{"five totals", 0, `novels(search:"sea",first:1){totalCount edges{node{id}}}`, 5, refused},
		{"nine groups", 0, `novelsAggregate(search:"sea",first:1){nodes{count}}`, 9, ""},
		{"ten groups", 0, `novelsAggregate(search:"sea",first:1){nodes{count}}`, 10, refused},
		{"without a search", 0, `novels(first:1){totalCount nodes{id}}`, 100, ""},
		{"skipped", 0, `novels(search:"sea",first:1) @skip(if:true){nodes{id}}`, 40, ""},
		{"a small limit", 100, `novels(search:"sea",first:40){nodes{id}}`, 2, ""},
		{"three under a small limit", 100, `novels(search:"sea",first:24){nodes{id}}`, 3,
			"The operation can return 102 objects; at most 100 are allowed. Request smaller pages or fewer fields. " +
				"A search counts as 10 objects."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked, _, _ := newLibrary(t, tt.cost)
			document := "{"
			for i := range tt.times {
				document += fmt.Sprintf("a%d:%s ", i, tt.field)
			}
			got := asked.(*graphql.Handler).Execute(t.Context(), graphql.Request{Query: document + "}"})
			message := ""
			if len(got.Errors) > 0 {
				message = got.Errors[0].Message
			}
			if diff := cmp.Diff(tt.want, message); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
