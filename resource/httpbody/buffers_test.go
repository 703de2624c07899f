package httpbody_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// TestBuffersAreEmpty checks that Get returns a buffer without its previous content.
func TestBuffersAreEmpty(t *testing.T) {
	t.Parallel()
	p := httpbody.NewBuffers(16, 4096)
	for range 100 {
		b := p.Get()
		if len(*b) > 0 {
			t.Fatalf("Get returns a buffer with %q in it", *b)
		}
		*b = append(*b, "a response body"...)
		p.Put(b)
	}
}
