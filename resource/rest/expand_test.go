package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

type shopper struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name"`
}

type bought struct {
	ID     int64  `json:"id" readOnly:"true"`
	Buyer  int64  `json:"buyerId"`
	Status string `json:"status"`
	Secret string `json:"secret,omitempty" writeOnly:"true"`
}

// boughtOf serves two buyers: Ann has the purchases 1, 3 and 5, Bob has 2 and 4. Odd ones are paid.
func boughtOf(t *testing.T) *linked {
	t.Helper()
	var l linked
	buyers := stocked(t, shopper{Name: "Ann"}, shopper{Name: "Bob"})
	var all []bought
	for i := range int64(5) {
		all = append(all, bought{Buyer: i%2 + 1, Status: []string{"paid", "placed; (new)"}[i%2]})
	}
	ops := counting(resource.OpsOf(stocked(t, all...)), &l.books)
	support := query.Support{Search: []string{"status"}, Sort: []string{"status"}, Relations: []string{"buyer"},
		Filter: map[string][]query.Op{"buyerId": {query.Eq, query.In}, "status": {query.Eq, query.In}}}
	l.catalog = resource.NewCatalog(nil,
		resource.New("buyers", buyers, &resource.Options[shopper]{Public: true,
			Query:     query.Support{Filter: map[string][]query.Op{"name": {query.Eq}}},
			Relations: []resource.Relation[shopper]{{Name: "purchases", Target: "purchases", By: "buyerId", Limit: 2}}}),
		ops.Resource("purchases", &resource.Options[bought]{Public: true, Query: support,
			Relations: []resource.Relation[bought]{{Name: "buyer", Target: "buyers", Field: "buyerId"}}}))
	l.Handler = rest.New(l.catalog, nil)
	return &l
}

func fetch(t *testing.T, h http.Handler, target string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
	return w.Code, w.Body.String()
}

func TestRule160ExpandPages(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, expand, want string }{
		{"/buyers", "purchases()", `[[1,3],{"next":true}] [[2,4],{}]`},
		{"/buyers", "purchases(limit=1)", `[[1],{"next":true}] [[2],{"next":true}]`},
		{"/buyers", "purchases(limit=1;sort=-id;count=exact)", `[[5],{"next":true,"total":3}] [[4],{"next":true,"total":2}]`},
		{"/buyers", "purchases(status=paid;count=exact;limit=9)", `[[1,3,5],{"total":3}] [[],{"total":0}]`},
		{"/buyers", "purchases(status=placed%3B %28new%29)", `[[],{}] [[2,4],{}]`},
		{"/buyers", "purchases(status.in=paid,nope;limit=9)", `[[1,3,5],{}] [[],{}]`},
		{"/buyers", `purchases(filter={"not":{"status":{"eq":"paid"}}})`, `[[],{}] [[2,4],{}]`},
		{"/buyers", "purchases(sort=status,-id;limit=2)", `[[5,3],{"next":true}] [[4,2],{}]`},
		{"/buyers", "purchases(buyer.name=Bob;count=exact)", `[[],{"total":0}] [[2,4],{"total":2}]`},
		{"/buyers/1", "purchases(limit=2)", `[[1,3],{"next":true}]`},
		{"/buyers/1", "purchases", `[[1,3],null]`},
	} {
		l := boughtOf(t)
		status, body := fetch(t, l, tt.path+"?expand="+url.QueryEscape(tt.expand))
		if status != 200 {
			t.Fatalf("%s: %d %s", tt.expand, status, body)
		}
		if diff := cmp.Diff(tt.want, pagesIn(t, body)); diff != "" {
			t.Errorf("%s of %s (-want +got):\n%s\n%s", tt.expand, tt.path, diff, body)
		}
	}
}

// pagesIn returns the ids and the pages of purchases of each buyer, with true for each cursor.
func pagesIn(t *testing.T, body string) string {
	t.Helper()
	type one struct {
		Purchases     []bought
		PurchasesPage map[string]any
	}
	var list struct{ Items []one }
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if list.Items == nil {
		list.Items = make([]one, 1)
		if err := json.Unmarshal([]byte(body), &list.Items[0]); err != nil {
			t.Fatal(err)
		}
	}
	var out []string
	for _, it := range list.Items {
		ids := []int64{}
		for _, p := range it.Purchases {
			ids = append(ids, p.ID)
		}
		if it.PurchasesPage["next"] != nil {
			it.PurchasesPage["next"] = true
		}
		text, _ := json.Marshal([]any{ids, it.PurchasesPage})
		out = append(out, string(text))
	}
	return strings.Join(out, " ")
}

// TestRule160ExpandNext follows the cursor of one buyer, and checks the calls of the store.
func TestRule160ExpandNext(t *testing.T) {
	t.Parallel()
	l := boughtOf(t)
	var item struct{ PurchasesPage struct{ Next string } }
	_, body := fetch(t, l, "/buyers/1?expand=purchases(limit=1;status=paid)")
	var got []string
	for {
		item.PurchasesPage.Next = ""
		if err := json.Unmarshal([]byte(body), &item); err != nil {
			t.Fatal(err)
		}
		got = append(got, pagesIn(t, body))
		if item.PurchasesPage.Next == "" {
			break
		}
		_, body = fetch(t, l, "/buyers/1?expand=purchases(limit=1;status=paid;after="+item.PurchasesPage.Next+")")
	}
	if diff := cmp.Diff([]string{`[[1],{"next":true}]`, `[[3],{"next":true}]`, `[[5],{}]`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.books.reset()
	if status, body := fetch(t, l, "/buyers?expand=purchases(limit=1;count=exact)"); status != 200 {
		t.Fatal(body)
	}
	if diff := cmp.Diff(map[string]int{"ListByKeys": 1, "CountByKeys": 1}, l.books.reset()); diff != "" {
		t.Errorf("calls for a page (-want +got):\n%s", diff)
	}
}

// TestRule160ExpandFields checks that a page selects members, and that none is writeOnly.
func TestRule160ExpandFields(t *testing.T) {
	t.Parallel()
	_, body := fetch(t, boughtOf(t), "/buyers/2?expand=purchases(fields=id;limit=9)")
	if want := `{"id":2,"name":"Bob","purchases":[{"id":2},{"id":4}],"purchasesPage":{}}`; strings.TrimSpace(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

// TestRule160ExpandInQuery checks that the parameters are part of the content of QUERY.
func TestRule160ExpandInQuery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ media, content string }{
		{"application/json", `{"expand":["purchases(sort=status,-id;limit=2)"]}`},
		{"application/json", `{"expand":"purchases(sort=status,-id;limit=2)"}`},
		{"application/x-www-form-urlencoded", `expand=purchases(sort=status,-id;limit=2)`},
	} {
		r := httptest.NewRequest("QUERY", "/buyers", strings.NewReader(tt.content))
		r.Header.Set("Content-Type", tt.media)
		w := httptest.NewRecorder()
		boughtOf(t).ServeHTTP(w, r)
		diff := cmp.Diff(`[[5,3],{"next":true}] [[4,2],{}]`, pagesIn(t, w.Body.String()))
		if w.Code != http.StatusOK || diff != "" {
			t.Errorf("%s: %d %s (-want +got):\n%s", tt.content, w.Code, w.Body, diff)
		}
	}
}

func TestRule160ExpandPagesRefuses(t *testing.T) {
	t.Parallel()
	l := boughtOf(t)
	for _, tt := range []struct{ target, want string }{
		{"/buyers?expand=purchases(limit=1", "closing parenthesis"},
		{"/buyers?expand=purchases(limit=1)x", "closing parenthesis"},
		{"/buyers?expand=purchases(limit=0)", "limit"},
		{"/buyers?expand=purchases(limit=201)", "200"},
		{"/buyers?expand=purchases(q=paid)", "purchases: q"},
		{"/buyers?expand=purchases(nope=1)", "purchases: nope"},
		{"/buyers?expand=purchases(sort=buyerId)", "sort"},
		{"/buyers?expand=purchases(secret=x)", "secret"},
		{"/buyers?expand=purchases(fields=secret)", "secret"},
		{"/buyers?expand=purchases(count=1)", "count must be exact"},
		{"/buyers?expand=purchases(after=x)", "expand"},
		{"/buyers/1?expand=purchases(after=x)", "cursor"},
		{"/buyers/1?expand=purchases(after=)", "must be one value"},
		{"/buyers/1?expand=purchases(status=%25zz)", "percent-encoded"},
		{"/buyers/1?expand=purchases(limit=1),purchases", "must occur once"},
		{"/buyers/1?expand=other(limit=1)", "there is no relation"},
		{"/purchases/1?expand=buyer(limit=1)", "relation to one item"},
	} {
		status, body := fetch(t, l, tt.target)
		if status != http.StatusBadRequest || !strings.Contains(body, tt.want) || !strings.Contains(body, `"parameter":"expand"`) {
			t.Errorf("%s: %d %s", tt.target, status, body)
		}
	}
}

// TestRule160ExpandBoundsResponses requests more related items than a response has.
func TestRule160ExpandBoundsResponses(t *testing.T) {
	t.Parallel()
	l := boughtOf(t)
	for range 50 {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "/buyers", strings.NewReader(`{"name":"Eve"}`))
		r.Header.Set("Content-Type", "application/json")
		if l.ServeHTTP(w, r); w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
	}
	for target, want := range map[string]int{
		"/buyers?limit=50&expand=purchases(limit=200)": http.StatusOK,
		"/buyers?limit=51&expand=purchases(limit=200)": http.StatusBadRequest,
	} {
		if status, body := fetch(t, l, target); status != want ||
			want == http.StatusBadRequest && !strings.Contains(body, "use a smaller limit") {
			t.Errorf("%s: %d %.200s, want %d", target, status, body, want)
		}
	}
}
