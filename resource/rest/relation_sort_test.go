package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestRule021RelationSort: a list is sorted by a field of the related item. An item without a visible related one
// is null, which is first.
func TestRule021RelationSort(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		options saleOptions
		path    string
		want    string
	}{
		{"ascending", saleOptions{}, "/sales?sort=buyer.role", "3 4 1 2"},
		{"descending", saleOptions{}, "/sales?sort=-buyer.age", "1 2 3 4"},
		{"with the id", saleOptions{}, "/sales?sort=-buyer.role,-id", "2 1 4 3"},
		{"two fields", saleOptions{}, "/sales?sort=buyer.role,buyer.age&status=paid", "1 2"},
		{"with a filter", saleOptions{}, "/sales?sort=-buyer.age&buyer.age.gte=20", "1 2"},
		{"name in a view", saleOptions{old: true}, "/sales?sort=buyer.kind", "3 4 1 2"},
		{"selection", saleOptions{}, "/sales?sort=buyer.age&fields=id", "3 4 2 1"},
		{"not in the view", saleOptions{old: true}, "/sales?sort=buyer.age",
			`cannot sort by "buyer.age", only by buyer.kind and id`},
		{"undeclared", saleOptions{}, "/sales?sort=buyer.code",
			`cannot sort by "buyer.code", only by buyer.role, buyer.age and id`},
		{"to many", saleOptions{}, "/sales?sort=lines.qty",
			`cannot sort by "lines.qty", only by buyer.role, buyer.age and id`},
		{"repeated", saleOptions{}, "/sales?sort=buyer.age,-buyer.age", `names buyer.age twice`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := saleServer(t, test.options)
			got := idsOf(t, server, http.MethodGet, test.path, "")
			if !strings.Contains(got, test.want) {
				t.Errorf("GET %s: %s, want %s", test.path, got, test.want)
			}
			u, _ := url.Parse(test.path)
			members := map[string]string{}
			for name, values := range u.Query() {
				members[name] = values[0]
			}
			content, _ := json.Marshal(members)
			got = idsOf(t, server, "QUERY", u.Path, string(content))
			if !strings.Contains(got, test.want) {
				t.Errorf("QUERY %s: %s, want %s", content, got, test.want)
			}
		})
	}
}

// TestRule021RelationSortPages: cursors lead through the pages in both directions, and a damaged value of a
// cursor is rejected.
func TestRule021RelationSortPages(t *testing.T) {
	t.Parallel()
	server := saleServer(t, saleOptions{})
	var got []string
	path := "/sales?sort=-buyer.age&limit=1"
	for at, key := path, "next"; at != ""; {
		res, err := server.Client().Get(server.URL + at)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Items []bargain `json:"items"`
			Next  string    `json:"next"`
		}
		err = json.NewDecoder(res.Body).Decode(&page)
		res.Body.Close()
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%s: %d items, %v", at, len(page.Items), err)
		}
		got = append(got, fmt.Sprint(page.Items[0].ID))
		if key == "next" && page.Next == "" {
			key = "prev"
		}
		at = ""
		for _, link := range res.Header.Values("Link") {
			for part := range strings.SplitSeq(link, ", ") {
				target, rel, _ := strings.Cut(part, ">; ")
				if rel == `rel="`+key+`"` {
					at = strings.TrimPrefix(target, "<")
				}
			}
		}
	}
	if diff := cmp.Diff("1 2 3 4 3 2 1", strings.Join(got, " ")); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	binding := idsOf(t, server, http.MethodGet, path+"&after=x", "")
	if !strings.Contains(binding, "the cursor is damaged or belongs to another list") {
		t.Errorf("damaged cursor: %s", binding)
	}
}

// TestRelationSortRegistration: mistakes in the paths of Options.Query.Sort are found at the start.
func TestRelationSortRegistration(t *testing.T) {
	t.Parallel()
	one := resource.Relation[bargain]{Name: "buyer", Target: "buyers", Field: "buyerId"}
	authorize := func(context.Context, resource.Op, *buyer, *buyer) error { return nil }
	sortable := query.Support{Sort: []string{"role"}}
	for _, test := range []struct {
		name   string
		path   string
		rel    resource.Relation[bargain]
		buyers resource.Options[buyer]
		alone  bool // the buyers are not joined
		want   string
	}{
		{name: "valid", path: "buyer.role", rel: one, buyers: resource.Options[buyer]{Query: sortable}},
		{name: "the id", path: "buyer.id", rel: one},
		{name: "unknown relation", path: "buyers.role", rel: one,
			want: `Options.Query.Sort names "buyers.role", but "buyers" is not the name of a relation`},
		{name: "to many", path: "buyer.role",
			rel:  resource.Relation[bargain]{Name: "buyer", Target: "buyers", Field: "status", By: "role"},
			want: `but "buyer" is a relation to many items`},
		{name: "function", path: "buyer.role",
			rel: resource.Relation[bargain]{Name: "buyer", Target: "buyers",
				Keys: func(*bargain) []string { return nil }},
			want: `the relation "buyer" has a function Keys, and a path needs a Field`},
		{name: "unknown field", path: "buyer.name", rel: one, want: `buyers has no field "name"`},
		{name: "two relations", path: "buyer.sales.id", rel: one, want: `buyers has no field "sales.id"`},
		{name: "not sortable", path: "buyer.age", rel: one,
			want: `declare "age" in Options.Query.Sort of buyers`},
		{name: "writeOnly", path: "buyer.code", rel: one,
			want: `declare "code" in Options.Query.Sort of buyers`},
		{name: "Authorize", path: "buyer.role", rel: one,
			buyers: resource.Options[buyer]{Query: sortable, Authorize: authorize},
			want:   "Options.Authorize of buyers hides items one by one; hide them by Options.Scope"},
		{name: "ScopeComplete", path: "buyer.role", rel: one,
			buyers: resource.Options[buyer]{Query: sortable, Authorize: authorize, ScopeComplete: true}},
		{name: "not joined", path: "buyer.role", rel: one, alone: true,
			buyers: resource.Options[buyer]{Query: sortable},
			want:   "the collection of buyers is not a Joiner, or Get or List of it is decorated"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				got := fmt.Sprint(recover())
				if test.want == "" && got != "<nil>" || !strings.Contains(got, test.want) {
					t.Errorf("panic %s, want %s", got, test.want)
				}
			}()
			people := resource.OpsOf(memory.New[buyer](nil))
			if test.alone {
				people = people.WithFastReads(resource.FastReads{})
			}
			resource.NewCatalog(nil, people.Resource("buyers", &test.buyers),
				resource.New("sales", memory.New[bargain](nil), &resource.Options[bargain]{
					Query: query.Support{Sort: []string{test.path}}, Relations: []resource.Relation[bargain]{test.rel}}))
		})
	}
}

// keyless are sales of which List returns no keys.
type keyless struct{ *memory.Store[bargain] }

func (k keyless) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[bargain], error] {
	return func(yield func(resource.Item[bargain], error) bool) {
		for it, err := range k.Store.List(ctx, q) {
			it.Keys = nil
			if !yield(it, err) {
				return
			}
		}
	}
}

// TestRelationSortKeys: a store that does not return Item.Keys is at fault, and no page is skipped.
func TestRelationSortKeys(t *testing.T) {
	t.Parallel()
	store := keyless{memory.New[bargain](nil)}
	ops := resource.OpsOf(store).WithFastReads(resource.FastReads{Joiner: store.Store})
	people := resource.OpsOf(memory.New[buyer](nil))
	sales := ops.Resource("sales", &resource.Options[bargain]{Public: true,
		Query:     query.Support{Sort: []string{"buyer.role"}},
		Relations: []resource.Relation[bargain]{{Name: "buyer", Target: "buyers", Field: "buyerId"}}})
	c := resource.NewCatalog(nil, people.Resource("buyers", &resource.Options[buyer]{Public: true,
		Query: query.Support{Sort: []string{"role"}}}), sales)
	for _, s := range bargains() {
		mustInsert(t, ops, fmt.Sprint(s.ID), s)
	}
	q := query.Query{Sort: []query.Order{{Field: "buyer.role"}}, Limit: 2}
	_, err := c.Resource("sales").List(t.Context(), q, resource.Position{})
	want := `store returned the item "2" without Item.Keys, which buyer.role needs`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
