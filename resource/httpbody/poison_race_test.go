//go:build race

package httpbody_test

import (
	"bytes"
	"testing"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// TestPoison checks that Put overwrites every buffer, including those that it drops.
func TestPoison(t *testing.T) {
	t.Parallel()
	for _, largest := range []int{4, 4096} {
		p := httpbody.NewBuffers(16, largest)
		b := p.Get()
		*b = append(*b, "a response body"...)
		kept := *b
		p.Put(b)
		if !bytes.Equal(kept, bytes.Repeat([]byte{0xDD}, len(kept))) {
			t.Errorf("buffers of at most %d bytes: after Put the memory is %q", largest, kept)
		}
	}
}
