package rest_test

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// TestRule158GroupsRefuseParametersOfItems sends parameters that lists have and groups do not have, also with the preference
// that ignores unknown parameters.
func TestRule158GroupsRefuseParametersOfItems(t *testing.T) {
	t.Parallel()
	h := goldenGroups(t)
	for _, parameter := range []string{"before=x", "fields=id", "expand=x", "lastEventId=x"} {
		for _, prefer := range []string{"", "handling=lenient"} {
			r := httptest.NewRequest("GET", "/sales?group=status&"+parameter, nil)
			r.Header.Set("Authorization", "Bearer reader")
			r.Header.Set("Prefer", prefer)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != 400 || !strings.Contains(w.Body.String(), "is not supported by groups") {
				t.Errorf("%s with Prefer %q: %d %s", parameter, prefer, w.Code, w.Body)
			}
		}
	}
}

// TestRule158SumsBeyondInt64: integers have no overflow, and floating-point numbers no infinity.
func TestRule158SumsBeyondInt64(t *testing.T) {
	t.Parallel()
	type load struct {
		ID   int64   `json:"id" readOnly:"true"`
		N    int64   `json:"n"`
		U    uint64  `json:"u"`
		F    float64 `json:"f"`
		Site string  `json:"site"`
	}
	full := load{N: math.MaxInt64, U: math.MaxUint64, F: math.MaxFloat64}
	funcs := []query.Func{query.Sum}
	h := catalog(t, resource.New("loads", stocked(t, full, full), &resource.Options[load]{Public: true,
		Query: query.Support{Aggregate: map[string][]query.Func{"n": funcs, "u": funcs, "f": funcs}}}))
	wantBody(t, send(t, h, "GET /loads?sum=n,u,f"), http.StatusOK,
		`{"groups":[{"sum":{"n":18446744073709551614,"u":36893488147419103230,"f":null}}]}`)
}

// TestRule158GroupErrors sends groups and aggregates that are not declared. Each error names the parameter and
// what is declared.
func TestRule158GroupErrors(t *testing.T) {
	t.Parallel()
	h := goldenGroups(t)
	tests := []struct{ query, parameter, detail string }{
		{"group=id&count", "group", "region"},
		{"group=status&sum=region", "sum", "count and total"},
		{"sum=status", "sum", "total"},
		{"group=status&count&sort=total", "sort", "count"},
		{"group=status&having={%22sum.total%22:{%22gt%22:1}}", "having", "aggregates"},
		{"group=status,region,status&count", "group", "status"},
		{"count&limit=0", "limit", "1"},
		{"group=status&count&after=x", "after", "cursor"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest("GET", "/sales?"+tt.query, nil)
		r.Header.Set("Authorization", "Bearer reader")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var p struct {
			Errors []struct{ Parameter, Detail string }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &p, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		if w.Code != 400 || len(p.Errors) == 0 || p.Errors[0].Parameter != tt.parameter ||
			!strings.Contains(p.Errors[0].Detail, tt.detail) {
			t.Errorf("%s: %d %s, want an error of %s that contains %q", tt.query, w.Code, w.Body, tt.parameter, tt.detail)
		}
	}
}
