//go:build race

package resource

// spoil overwrites the memory of a buffer that is given back with what is neither JSON nor UTF-8, so that whoever reads it
// all the same is found by any test.
func spoil(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xDD
	}
}
