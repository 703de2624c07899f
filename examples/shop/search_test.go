package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSearch asks for places in REST, QUERY and GraphQL, which agree.
func TestSearch(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	for _, tt := range []struct{ method, target, body, want string }{
		{"GET", "/v2/places?q=san*+-cn&country=US&fields=name", "",
			`{"items":[{"name":"San Jose"},{"name":"San Diego"},{"name":"San Antonio"},{"name":"San Francisco"}`},
		{"QUERY", "/places", `{"q": "\"new york\" us", "fields": "name,country", "highlight": true}`,
			`{"items":[{"name":"New York City","country":"US"}],"highlights":[{"name":[` +
				`{"text":"New York","match":true},{"text":" City"}],` +
				`"country":[{"text":"US","match":true}]}]}`},
		{"GET", "/places?q=athens+OR+sparta&group=country&count", "", `{"groups":[{"country":"GR","count":1}]}`},
		{"GET", "/v1/orders?q=tea", "", `{"type":`},
	} {
		w := ask(t, s, tt.method, tt.target, tt.body, "Content-Type: application/json")
		if !strings.HasPrefix(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d %s, want %s", tt.method, tt.target, w.Code, w.Body, tt.want)
		}
	}
	const operation = `{"query": "{places(search: \"new york OR athens\", orderBy: {field: name}) {nodes {name} totalCount} ` +
		`placesAggregate(search: \"new york OR athens\", groupBy: country) {nodes {country count}}}"}`
	w := ask(t, s, "POST", "/graphql", operation, "Content-Type: application/json")
	want := `{"data":{"places":{"nodes":[{"name":"Athens"},{"name":"New York City"}],"totalCount":2},` +
		`"placesAggregate":{"nodes":[{"country":"GR","count":1},{"country":"US","count":1}]}}}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("GraphQL (-want +got):\n%s", diff)
	}
}

// TestPageSearches checks that the form of the page is a list without its script, too.
func TestPageSearches(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`<form id="search" action="([^"]*)"`).FindSubmatch(pageHTML)
	if form == nil || !strings.Contains(string(pageHTML), `name="q" type="search"`) {
		t.Fatal("the page has no search")
	}
	s := openShop(t)
	w := ask(t, s, "GET", string(form[1])+"?q=athens", "")
	if w.Code != 200 || !strings.Contains(w.Body.String(), "Athens") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if policy := ask(t, s, "GET", "/", "").Header().Get("Content-Security-Policy"); !strings.Contains(policy,
		"form-action 'self'") {
		t.Errorf("the policy %q forbids the form", policy)
	}
}
