package openapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
)

type sale struct {
	ID     string  `json:"id"`
	Status string  `json:"status"`
	Region *string `json:"region"`
	Total  string  `json:"total" format:"decimal"`
	Count  int64   `json:"count"`
	Weight float64 `json:"weight"`
}

// salesCatalog returns a catalog with a resource that declares groups and aggregates.
func salesCatalog(t *testing.T) *resource.Catalog {
	t.Helper()
	numbers := []query.Func{query.Sum, query.Avg, query.Min, query.Max}
	store := memory.New[sale](nil)
	north := "north"
	for _, v := range []sale{{Status: "paid", Region: &north, Total: "10.50", Count: 2, Weight: 0.5}, {Status: "paid", Total: "2"}} {
		if _, err := store.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	return resource.NewCatalog(nil, resource.New("sales", store, &resource.Options[sale]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"status": {query.Eq}, "count": {query.Eq, query.Gt}},
		Group:  []string{"status", "region"},
		Aggregate: map[string][]query.Func{"total": numbers, "count": numbers, "weight": numbers,
			"region": {query.Distinct, query.Min}},
	}}))
}

// TestGoldenGroups checks the description, and responses with groups against it. The default profile
// describes items alone.
func TestGoldenGroups(t *testing.T) {
	t.Parallel()
	c := salesCatalog(t)
	doc := openapi.New(c, &openapi.Options{Title: "Sales"})
	golden(t, "groups.json", full(doc))
	d := described(t, doc)
	h := rest.New(c, nil)
	schema := d.schemaOf(d.at(d.root, "paths", "/sales", "get", "responses", "200"), "application/json")
	for _, q := range []string{"count", "group=status,region&count=true&sum=total,count,weight&avg=total,count,weight",
		"group=region&count&min=region,total,count&max=weight&distinct=region&sort=-count&having=%7B%22count%22%3A%7B%22gte%22%3A1%7D%7D",
		"status=none&sum=total&avg=count", "limit=1"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/sales?"+q, nil))
		var v any
		if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d, %v: %s", q, w.Code, err, w.Body)
		}
		for _, bad := range d.invalid(schema, v, "") {
			t.Errorf("%s: %s in %s", q, bad, w.Body)
		}
	}
	simple := read(t, doc.JSON())
	if p := simple.parameters("/sales", "get"); p["group"] != nil || p["having"] != nil || p["count"] != nil || p["count.eq"] == nil {
		t.Errorf("the default profile has parameters of groups: %v", p)
	}
}
