//go:build race

package httpbody

// poison overwrites the memory of a buffer with bytes that are neither JSON nor UTF-8, so that
// tests detect use after Put.
func poison(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = 0xDD
	}
}
