package pool_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/pool"
)

// TestEmpty: whatever was in a buffer, it is lent without it.
func TestEmpty(t *testing.T) {
	t.Parallel()
	p := pool.New(16, 4096)
	for range 100 {
		b := p.Get()
		if len(*b) > 0 {
			t.Fatalf("a buffer is lent with %q in it", *b)
		}
		*b = append(*b, "an answer"...)
		p.Put(b)
	}
}
