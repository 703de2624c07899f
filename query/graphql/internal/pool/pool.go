// Package pool lends buffers that are used again: for contents, answers and messages.
package pool

import "sync"

// Buffers are buffers that are used again. Several goroutines may use them at the same time. Make them with [New].
type Buffers struct {
	most int
	pool sync.Pool
}

// New returns buffers that have room for first bytes to begin with. One that has grown to more than most is not kept.
func New(first, most int) *Buffers {
	return &Buffers{most: most, pool: sync.Pool{New: func() any {
		b := make([]byte, 0, first)
		return &b
	}}}
}

// Get lends an empty buffer, which may be appended to, until Put.
func (p *Buffers) Get() *[]byte { return p.pool.Get().(*[]byte) }

// Put gives a buffer back. Nothing may refer to its memory any more, which is somebody else's now. Under the race detector
// it is overwritten, so that whoever reads it all the same is found by any test.
func (p *Buffers) Put(b *[]byte) {
	poison(*b)
	if cap(*b) <= p.most {
		*b = (*b)[:0]
		p.pool.Put(b)
	}
}
