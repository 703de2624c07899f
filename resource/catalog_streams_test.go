package resource_test

import (
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/resource"
)

// TestStreamsOfCaller: each caller has its own number of streams, and may open another after the end of one.
func TestStreamsOfCaller(t *testing.T) {
	t.Parallel()
	c := resource.NewCatalog(&resource.CatalogOptions{Principal: caller, Limits: resource.Limits{Streams: 1}})
	leave, err := c.Stream(as(t, "ann"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Stream(as(t, "ann"))
	d := resource.Problem(err)
	same(t, "second stream", []any{http.StatusTooManyRequests, "30"}, []any{d.StatusCode(), d.Header.Get("Retry-After")})
	for _, name := range []string{"bob", "", ""} {
		if _, err := c.Stream(as(t, name)); err != nil {
			t.Errorf("stream of %q: %v", name, err)
		}
	}
	leave()
	if _, err := c.Stream(as(t, "ann")); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}
