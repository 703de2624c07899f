package sqltabletest

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// serve serves resources over a real connection.
func serve(tb testing.TB, opts *rest.Options, parts ...resource.Part) *httptest.Server {
	tb.Helper()
	server := httptest.NewServer(rest.New(resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(tb.Output(), nil))}, parts...), opts))
	tb.Cleanup(server.Close)
	return server
}

// serveTable serves one table with all that it can be asked.
func serveTable[T any](tb testing.TB, name string, table *sqltable.Table[T], idField string) (url string) {
	tb.Helper()
	r := table.Ops().Resource(name, &resource.Options[T]{
		ID: idField, Query: table.Support(), AllowRecreate: true, Public: true})
	always := &rest.Options{Resources: map[string]rest.ResourceOptions{name: {AlwaysETagOnPut: true}}}
	return serve(tb, always, r).URL + "/" + name
}

// runOverHTTP runs the whole kit on the table as a client sees it.
func (s shape[T]) runOverHTTP(t *testing.T, e *enginetest.Engine) {
	o := s.options(t, e)
	able := s.open(t, e).Ops()
	o.Require, o.Served = nil, true
	for name, there := range map[string]bool{"Creator": able.Create != nil, "Inserter": able.Insert != nil, "Replacer": true,
		"Deleter": true, "Counter": true, "MultiGetter": true} {
		if there {
			o.Require = append(o.Require, name)
		}
	}
	o.Support.Group, o.Support.Aggregate = nil, nil // which the table does not declare
	o.Items = 20                                    // the client reads each item of a list again
	// The kit has asked the table itself by all fields.
	o.Support.Sort = o.Support.Sort[:min(8, len(o.Support.Sort))]
	maps.DeleteFunc(o.Support.Filter, func(field string, _ []query.Op) bool {
		return !slices.Contains([]string{"note", "stars", "subject", "due", "made", "seen"}, field)
	})
	resourcetest.RunOps(t, func(t *testing.T) resource.Ops[T] {
		ops := resourcetest.Over[T](serveTable(t, "items", s.open(t, e), s.opts.ID), &resourcetest.OverOptions{IDField: s.opts.ID})
		if able.Create == nil {
			ops.Create = nil
		}
		if able.Insert == nil {
			ops.Insert = nil
		}
		return ops
	}, &o)
}

func TestKitOverHTTPOfOwnTable(t *testing.T)   { enginetest.EachEngine(t, ownTable().runOverHTTP) }
func TestKitOverHTTPOfOwnNumbers(t *testing.T) { enginetest.EachEngine(t, ownNumbers().runOverHTTP) }
func TestKitOverHTTPOfOwnUUIDs(t *testing.T)   { enginetest.EachEngine(t, ownUUIDs().runOverHTTP) }
func TestKitOverHTTPOfTableThatExists(t *testing.T) {
	enginetest.EachEngine(t, ofTickets(sqltable.Options{Rev: sqltable.Content, Modified: "touched"}).runOverHTTP)
}

// do makes a request of the shop.
func (s *shop) do(t *testing.T, method, path, body string) (status int, header http.Header, text string) {
	t.Helper()
	return request(t, s.client, method, s.url+path, body)
}

// request sends a request with the media type of its method.
func request(t testing.TB, client *http.Client, method, url, body string) (status int, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}
