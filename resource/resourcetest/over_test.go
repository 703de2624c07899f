package resourcetest_test

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
)

// alwaysETag makes PUT return the new revision, which the kit needs.
var alwaysETag = &rest.Options{Resources: map[string]rest.ResourceOptions{"things": {AlwaysETagOnPut: true}}}

// served serves o over HTTP and returns the functions of a client.
func served(t *testing.T, o ops) ops {
	t.Helper()
	support := thingSupport
	support.Filter = maps.Clone(support.Filter)
	support.Filter["id"] = []query.Op{query.In} // which GetMany asks for
	things := o.Resource("things", &resource.Options[thing]{
		Query: support, AllowRecreate: true, Public: true, Restore: o.Restore != nil && o.Transactions != nil,
	})
	quiet := &resource.CatalogOptions{Logger: slog.New(slog.DiscardHandler)}
	server := httptest.NewServer(rest.New(resource.NewCatalog(quiet, things), alwaysETag))
	t.Cleanup(server.Close)
	return resourcetest.Over[thing](server.URL+"/things", &resourcetest.OverOptions{
		Client: server.Client(), Restore: things.Can(resource.OpRestore)})
}

func TestOver(t *testing.T) {
	t.Parallel()
	resourcetest.RunOps(t, func(t *testing.T) ops { return served(t, resource.OpsOf(newTable(""))) },
		&resourcetest.Options[thing]{Support: thingSupport, Items: 40, Writers: 6, Recreates: true, Served: true,
			Require: []string{"Creator", "Inserter", "Replacer", "Deleter", "Restorer", "Counter", "MultiGetter",
				"Aggregator"}})
}

// TestOverHidesNoBugs checks that the kit finds the same bugs through HTTP: the client must not
// correct the errors of a server.
func TestOverHidesNoBugs(t *testing.T) {
	t.Parallel()
	visible := map[string]string{ // the case that finds it
		"the revision is a hash of the content":   "replace-revisions",
		"a page continues by the first key alone": "page-walk",
		"the order ignores desc":                  "list-sort",
		"after is ignored":                        "page-walk",
		"ne leaves null out":                      "filter-comparisons",
		"or without parentheses":                  "filter-trees",
		"count ignores the filter":                "count-list",
		"groups ignore the filter":                "aggregate-groups",
		"groups ignore the order":                 "aggregate-pages",
		"sums wrap":                               "aggregate-exact",
		"text is trimmed":                         "value-edges",
		"integers pass through float64":           "value-edges",
		"replace merges":                          "replace-get",
		"a taken value is an unknown error":       "unique-taken",
		"the time of the creation is not stored":  "set-fields",
		"a change does not store its time":        "set-fields",
	}
	for _, p := range mutants() {
		want, ok := visible[p.bug]
		if !ok {
			continue
		}
		t.Run(p.bug, func(t *testing.T) {
			t.Parallel()
			opts := smallOptions()
			opts.Served = true
			verdicts := resourcetest.Judge(t, func() ops { return served(t, p.newOps()) }, opts, unhurried, want)
			if v := verdicts[want]; len(v.Failures) == 0 || v.Panicked || v.Blocked {
				t.Errorf("case %s should have found it: %+v", want, v)
			}
		})
		delete(visible, p.bug)
	}
	if len(visible) > 0 {
		t.Errorf("there are no such bugs: %v", visible)
	}
}

// TestOverReturnsErrors answers a request with one status after the other.
func TestOverReturnsErrors(t *testing.T) {
	t.Parallel()
	const kinds = "https://stoa-go.github.io/problems/"
	tests := []struct {
		name   string
		status int
		body   string
		want   error
	}{
		{"not found", 404, "", resource.ErrNotFound},
		{"gone", 410, `{"type":"` + kinds + `gone"}`, resource.ErrGone},
		{"unavailable", 503, "", resource.ErrUnavailable},
		{"forbidden", 403, "", resource.ErrForbidden},
		{"unauthenticated", 401, "", resource.ErrUnauthenticated},
		{"existing id", 409, `{"type":"` + kinds + `already-exists"}`, resource.ErrExists},
		{"taken value", 409, `{"type":"` + kinds + `conflict","errors":[{"pointer":"/serial","code":"taken"}]}`,
			resource.Taken("serial")},
		{"invalid value", 422, `{"errors":[{"pointer":"/name","code":"first"},{"pointer":"/size","code":"check"}]}`,
			resource.Invalid("size", "check")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(tt.status)
				fmt.Fprint(w, tt.body)
			}))
			defer server.Close()
			_, err := resourcetest.Over[thing](server.URL, nil).Create(t.Context(), thing{})
			if !errors.Is(err, tt.want) {
				t.Errorf("response %d %s became error %v, want %v", tt.status, tt.body, err, tt.want)
			}
		})
	}
}

// TestOverNeedsTags checks the error for a server that responds to PUT without a revision.
func TestOverNeedsTags(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(rest.New(resource.NewCatalog(nil, resource.New("things", newTable(""), nil)), nil))
	defer server.Close()
	// A member that the server adds makes its answer differ from what was sent; see RFC 9110 section 9.3.4.
	_, err := resourcetest.Over[thing](server.URL+"/things", nil).Insert(t.Context(), "a", thing{ID: "a", Color: "red"})
	if err == nil || !strings.Contains(err.Error(), "AlwaysETagOnPut") {
		t.Errorf("Insert without an ETag in the response returned %v", err)
	}
}

func TestOverWithoutID(t *testing.T) {
	t.Parallel()
	defer func() {
		want := `resourcetest: Over: resourcetest_test.thing has no field with the JSON name "number"`
		if diff := cmp.Diff(want, recover()); diff != "" {
			t.Errorf("Over panicked with (-want +got):\n%s", diff)
		}
	}()
	resourcetest.Over[thing]("http://localhost", &resourcetest.OverOptions{IDField: "number"})
}

// TestFiltersFitTheLimits checks that a server with the default limits accepts every filter of the kit.
func TestFiltersFitTheLimits(t *testing.T) {
	t.Parallel()
	longest := 0
	for _, f := range resourcetest.Filters(t, smallOptions(), 100_000) {
		longest = max(longest, f.Terms())
	}
	if limit := 20; longest != limit {
		t.Errorf("the longest filter has %d comparisons, want %d", longest, limit)
	}
}
