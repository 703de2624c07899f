package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// A price survives the conversion to 1.0.0 and back, and the currency is kept.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, price := range []string{"0.00", "0.01", "12.50", "9999999999.99"} {
		want := Product{ID: 7, Title: "Lamp", Price: price, Currency: "USD"}
		v1, err := toV1(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := fromV1(v1, want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", price, diff)
		}
	}
}
