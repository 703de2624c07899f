package contract_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

// A handler links to other resources in the contract of the request. It does not import package version.
func ExampleFrom() {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		selected := contract.From(r.Context())
		fmt.Fprintf(w, "%q: %s", selected.Name(), selected.URL("/orders?limit=5"))
	})
	api := version.New([]version.Contract{{Name: "1.1.0", Handler: h}}, []version.Strategy{version.Path{}}, nil)
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/single", h)
	for _, target := range []string{"/v1/orders", "/single"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		fmt.Println(w.Body)
	}
	// Output:
	// "1.1.0": /v1/orders?limit=5
	// "": /orders?limit=5
}

// selection is what the methods of a Selection return.
type selection struct {
	Name, Source, URL, Query, Member, MediaType, Range, ContentType string
	Content                                                         bool
}

func read(s contract.Selection) selection {
	member, name, ok := s.Member()
	return selection{Name: s.Name(), Source: s.Source(), URL: s.URL("/orders"), Query: s.Query(),
		Member: fmt.Sprint(member, name, ok), MediaType: s.MediaType("order"), Range: s.Range("order"),
		ContentType: s.ContentType("order"), Content: s.Content("order")}
}

// TestFrom checks that a context without a contract has a Selection, too, and that other values under
// the key are ignored.
func TestFrom(t *testing.T) {
	t.Parallel()
	single := selection{URL: "/orders", Member: "false", ContentType: "application/json"}
	tests := []struct {
		name  string
		value any
		want  selection
	}{
		{name: "no value", want: single},
		{name: "another type", value: "1.0.0", want: single},
		{name: "a selection", value: other{contract.From(context.Background())},
			want: selection{Name: "2.0.0", URL: "/v2/orders", Member: "false", ContentType: "application/json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			if tt.value != nil {
				ctx = context.WithValue(ctx, contract.Key{}, tt.value)
			}
			if diff := cmp.Diff(tt.want, read(contract.From(ctx))); diff != "" {
				t.Errorf("From (-want +got):\n%s", diff)
			}
		})
	}
}

// other is the Selection of code that selects contracts without package version.
type other struct{ contract.Selection }

func (other) Name() string          { return "2.0.0" }
func (other) URL(ref string) string { return "/v2" + ref }
