package httpbody

import "sync"

// Buffers is a pool of buffers for request and response bodies. It is safe for concurrent use.
// Create it with [NewBuffers].
type Buffers struct {
	largest int
	pool    sync.Pool
}

// NewBuffers returns a pool of buffers with an initial capacity of size bytes. Put drops buffers
// that have grown to more than largest bytes.
func NewBuffers(size, largest int) *Buffers {
	return &Buffers{largest: largest, pool: sync.Pool{New: func() any {
		b := make([]byte, 0, size)
		return &b
	}}}
}

// Get returns an empty buffer. The caller may append to it until it calls Put.
func (p *Buffers) Get() *[]byte { return p.pool.Get().(*[]byte) }

// Put returns a buffer to the pool. The caller must not use its memory afterward. With the race
// detector, Put overwrites the memory, so that tests detect such use.
func (p *Buffers) Put(b *[]byte) {
	poison(*b)
	if cap(*b) <= p.largest {
		*b = (*b)[:0]
		p.pool.Put(b)
	}
}
