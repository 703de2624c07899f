//go:build race

package pool_test

import (
	"bytes"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/pool"
)

// TestSpoiled: with the race detector, a buffer that was given back says nothing any more, be it kept or not.
func TestSpoiled(t *testing.T) {
	t.Parallel()
	for _, most := range []int{4, 4096} {
		p := pool.New(16, most)
		b := p.Get()
		*b = append(*b, "an answer"...)
		kept := *b
		p.Put(b)
		if !bytes.Equal(kept, bytes.Repeat([]byte{0xDD}, len(kept))) {
			t.Errorf("of at most %d bytes: what was given back still says %q", most, kept)
		}
	}
}
