package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestSettingsThatCannotBeMeant: invalid options of REST.
func TestSettingsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	settings := func(name string, s rest.ResourceOptions) *rest.Options {
		return &rest.Options{Resources: map[string]rest.ResourceOptions{name: s}}
	}
	things := resource.New[thing]("things", readOnly[thing]{}, nil)
	c := resource.NewCatalog(nil, things,
		resource.NewLookup("best", "things", func(context.Context, struct{}) (string, error) { return "", nil }))
	for _, tt := range []struct {
		want string
		opts *rest.Options
	}{
		{`rest: Options.Base "/api/" must not have a query or fragment or end with a slash`, &rest.Options{Base: "/api/"}},
		{`rest: Options.Base "/api?x" must not have a query or fragment or end with a slash`, &rest.Options{Base: "/api?x"}},
		{`rest: Options.Resources["things"].RepeatedDelete is 404, but must be 204 or 410`,
			settings("things", rest.ResourceOptions{RepeatedDelete: 404})},
		{`rest: Options.Resources names "nothing", which is not a resource of the catalog`, settings("nothing", rest.ResourceOptions{})},
		{`rest: Options.Resources names "best", which is not a resource of the catalog`, settings("best", rest.ResourceOptions{})},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, tt.want, func() { rest.New(c, tt.opts) })
		})
	}
}

// TestOpsKeepCapabilities: decorated Ops keep the capabilities, and removed ones are not served.
func TestOpsKeepCapabilities(t *testing.T) {
	t.Parallel()
	var c calls
	store := stocked(t, book{Title: "a"})
	inner := newCatalog(t, resource.New("books", store, nil))
	outer := newCatalog(t, counting(resource.OpsOf(store), &c).Resource("books", nil))
	// The decorators of Get and List replace the forms that read no values.
	same(t, "report", strings.NewReplacer("Revisioner RevisionLister ", "", "Joiner ", "").Replace(inner.Report()),
		outer.Report())
	wantBody(t, send(t, rest.New(outer, nil), "GET /books/1"), http.StatusOK, send(t, rest.New(inner, nil), "GET /books/1").body)
	same(t, "calls", map[string]int{"Get": 1}, c.reset())

	tests := []struct {
		name        string
		take        func(*resource.Ops[book])
		list, items string
	}{
		{"nothing", func(*resource.Ops[book]) {}, "GET, HEAD, QUERY, POST, OPTIONS", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"Create", func(o *resource.Ops[book]) { o.Create = nil }, "GET, HEAD, QUERY, POST, OPTIONS",
			"GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"Create and Insert", func(o *resource.Ops[book]) { o.Create, o.Insert = nil, nil }, "GET, HEAD, QUERY, OPTIONS",
			"GET, HEAD, PUT, PATCH, DELETE, OPTIONS"},
		{"Replace", func(o *resource.Ops[book]) { o.Replace = nil }, "GET, HEAD, QUERY, POST, OPTIONS",
			"GET, HEAD, PUT, DELETE, OPTIONS"},
		{"Replace and Insert", func(o *resource.Ops[book]) { o.Replace, o.Insert = nil, nil }, "GET, HEAD, QUERY, POST, OPTIONS",
			"GET, HEAD, DELETE, OPTIONS"},
		{"Delete", func(o *resource.Ops[book]) { o.Delete = nil }, "GET, HEAD, QUERY, POST, OPTIONS",
			"GET, HEAD, PUT, PATCH, OPTIONS"},
	}
	for _, tt := range tests {
		t.Run("without "+tt.name, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(store)
			tt.take(&ops)
			h := catalog(t, ops.Resource("books", nil))
			want(t, send(t, h, "OPTIONS /books"), http.StatusNoContent, "Allow: "+tt.list)
			want(t, send(t, h, "OPTIONS /books/1"), http.StatusNoContent, "Allow: "+tt.items)
		})
	}
}
