//go:build race

package pool

// spoil overwrites the memory of a buffer with what is neither JSON nor UTF-8.
func spoil(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xDD
	}
}
