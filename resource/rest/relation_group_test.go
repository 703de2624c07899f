package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// groupsOf returns the groups of all pages as JSON or, for an error, its first detail.
func groupsOf(t *testing.T, server *httptest.Server, method, path, content string) string {
	t.Helper()
	var all []string
	for at := path; at != ""; {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+at, strings.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		var page struct {
			Groups []json.RawMessage
			Next   string
			Errors []struct{ Parameter, Pointer, Detail string }
		}
		if err == nil {
			err = json.Unmarshal(body, &page)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", at, err, body)
		}
		for _, e := range page.Errors {
			return fmt.Sprintf("%d %s%s: %s", res.StatusCode, e.Parameter, e.Pointer, e.Detail)
		}
		for _, g := range page.Groups {
			all = append(all, string(g))
		}
		if at = ""; page.Next != "" {
			at = path + "&after=" + url.QueryEscape(page.Next)
		}
	}
	return strings.Join(all, " ")
}

// TestRule158RelatedGroups groups by fields of the related item. A sale without a buyer, and one of a buyer
// that the caller may not see, are in the group of null.
func TestRule158RelatedGroups(t *testing.T) {
	t.Parallel()
	const noGroup = `cannot group by "buyer.code", only by status, buyer.role, buyer.age and buyer.id`
	for _, test := range []struct {
		name    string
		options saleOptions
		query   string
		want    string
	}{
		{"one field", saleOptions{}, "group=buyer.role&count",
			`{"buyer.role":null,"count":2} {"buyer.role":"admin","count":1} {"buyer.role":"user","count":1}`},
		{"with an own field", saleOptions{}, "group=buyer.age,status&count&sort=-buyer.age",
			`{"buyer.age":30,"status":"paid","count":1} {"buyer.age":20,"status":"paid","count":1} ` +
				`{"buyer.age":null,"status":"new","count":2}`},
		{"two fields", saleOptions{}, "group=buyer.role,buyer.id&sort=-buyer.id",
			`{"buyer.role":"user","buyer.id":"p2"} {"buyer.role":"admin","buyer.id":"p1"} ` +
				`{"buyer.role":null,"buyer.id":null}`},
		{"pages", saleOptions{}, "group=buyer.role&max=id&limit=1&sort=-buyer.role",
			`{"buyer.role":"user","max":{"id":2}} {"buyer.role":"admin","max":{"id":1}} ` +
				`{"buyer.role":null,"max":{"id":4}}`},
		{"filter and having", saleOptions{}, `group=buyer.role&count&status=new&having={"count":{"gte":2}}`,
			`{"buyer.role":null,"count":2}`},
		{"filter of the relation", saleOptions{}, "group=buyer.role&buyer.age.gte=20",
			`{"buyer.role":"admin"} {"buyer.role":"user"}`},
		{"view", saleOptions{old: true}, "group=buyer.kind&count",
			`{"buyer.kind":null,"count":2} {"buyer.kind":"admin","count":1} {"buyer.kind":"user","count":1}`},
		{"not in the view", saleOptions{old: true}, "group=buyer.age",
			`400 group: cannot group by "buyer.age", only by status, buyer.kind and buyer.id`},
		{"undeclared", saleOptions{}, "group=buyer.code&count", "400 group: " + noGroup},
		{"two steps", saleOptions{}, "group=buyer.sales.id",
			`400 group: cannot group by "buyer.sales.id", only by status, buyer.role, buyer.age and buyer.id`},
		{"twice", saleOptions{}, "group=buyer.role,buyer.role", "400 group: names buyer.role twice"},
		{"aggregate of a related item", saleOptions{}, "group=status&max=buyer.age",
			`400 max: max does not apply to "buyer.age", only to id`},
		{"number of different values", saleOptions{}, "distinct=buyer.role",
			`400 distinct: the field "buyer.role" has no aggregates`},
		{"order by another field", saleOptions{}, "group=buyer.role&sort=buyer.age",
			`400 sort: cannot sort by "buyer.age", only by buyer.role`},
		{"not joined", saleOptions{separate: true}, "group=buyer.role",
			`400 group: cannot group by "buyer.role", only by status`},
		{"cursor of other groups", saleOptions{}, "group=buyer.role&limit=1&after=x",
			"400 after: the cursor is damaged or belongs to another list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := saleServer(t, test.options)
			if diff := cmp.Diff(test.want, groupsOf(t, server, "GET", "/sales?"+escapeHaving(test.query), "")); diff != "" {
				t.Errorf("GET (-want +got):\n%s", diff)
			}
		})
	}
}

// escapeHaving encodes the value of having, which is the last parameter.
func escapeHaving(query string) string {
	before, having, ok := strings.Cut(query, "having=")
	if !ok {
		return query
	}
	return before + "having=" + url.QueryEscape(having)
}

// TestRule158RelatedGroupsByQUERY sends the fields as content.
func TestRule158RelatedGroupsByQUERY(t *testing.T) {
	t.Parallel()
	server := saleServer(t, saleOptions{})
	for _, test := range []struct{ content, want string }{
		{`{"group":["status","buyer.role"],"count":true,"sort":["-count","buyer.role"]}`,
			`{"status":"new","buyer.role":null,"count":2} {"status":"paid","buyer.role":"admin","count":1} ` +
				`{"status":"paid","buyer.role":"user","count":1}`},
		{`{"group":"buyer.hidden"}`,
			`422 /group: cannot group by "buyer.hidden", only by status, buyer.role, buyer.age and buyer.id`},
	} {
		if diff := cmp.Diff(test.want, groupsOf(t, server, "QUERY", "/sales", test.content)); diff != "" {
			t.Errorf("QUERY %s (-want +got):\n%s", test.content, diff)
		}
	}
}

// TestRelationGroupAlone: a resource that can group by nothing but a field of a related item has groups.
func TestRelationGroupAlone(t *testing.T) {
	t.Parallel()
	server := saleServer(t, saleOptions{groups: []string{"buyer.role"}})
	want := `{"buyer.role":"admin","count":1} {"buyer.role":"user","count":1}`
	if diff := cmp.Diff(want, groupsOf(t, server, "GET", "/sales?group=buyer.role&count&status=paid", "")); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(`{"count":4}`, groupsOf(t, server, "GET", "/sales?count", "")); diff != "" {
		t.Errorf("count (-want +got):\n%s", diff)
	}
}

// TestRelationGroupRegistration: mistakes in the paths of Options.Query.Group are found at the start.
func TestRelationGroupRegistration(t *testing.T) {
	t.Parallel()
	one := resource.Relation[bargain]{Name: "buyer", Target: "buyers", Field: "buyerId"}
	groups := query.Support{Group: []string{"role"}}
	authorize := func(context.Context, resource.Op, *buyer, *buyer) error { return nil }
	for _, test := range []struct {
		name   string
		path   string
		rel    resource.Relation[bargain]
		buyers resource.Options[buyer]
		alone  bool // the buyers are not joined
		want   string
	}{
		{name: "valid", path: "buyer.role", rel: one, buyers: resource.Options[buyer]{Query: groups}},
		{name: "the id", path: "buyer.id", rel: one},
		{name: "ScopeComplete", path: "buyer.role", rel: one,
			buyers: resource.Options[buyer]{Query: groups, Authorize: authorize, ScopeComplete: true}},
		{name: "unknown relation", path: "seller.role", rel: one,
			want: `Options.Query.Group names "seller.role", but "seller" is not the name of a relation`},
		{name: "to many", path: "buyer.role",
			rel:  resource.Relation[bargain]{Name: "buyer", Target: "buyers", Field: "status", By: "role"},
			want: `but "buyer" is a relation to many items; it must be to one item`},
		{name: "name of an aggregate", path: "sum.role",
			rel:  resource.Relation[bargain]{Name: "sum", Target: "buyers", Field: "buyerId"},
			want: `names "sum.role", which is the name of an aggregate; give the relation another name`},
		{name: "unknown field", path: "buyer.name", rel: one, want: `buyers has no field "name"`},
		{name: "no group of its own", path: "buyer.age", rel: one, buyers: resource.Options[buyer]{Query: groups},
			want: `declare "age" in Options.Query.Group of buyers`},
		{name: "Authorize", path: "buyer.id", rel: one, buyers: resource.Options[buyer]{Authorize: authorize},
			want: "Options.Authorize of buyers hides items one by one; hide them by Options.Scope"},
		{name: "not joined", path: "buyer.role", rel: one, alone: true, buyers: resource.Options[buyer]{Query: groups},
			want: "the collection of buyers is not a Joiner, or Get or List of it is decorated"},
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
					Query: query.Support{Group: []string{test.path}}, Relations: []resource.Relation[bargain]{test.rel}}))
		})
	}
}
