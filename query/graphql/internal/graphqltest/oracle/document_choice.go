package oracle

import (
	"hash/fnv"
	"math/rand/v2"
)

// choice decides everything about a document. It takes what it is given, byte for byte, so that whoever mutates bytes
// mutates documents; behind their end it goes on by chance, and by the same for the same bytes.
type choice struct {
	data []byte
	then *rand.PCG
}

// newRand returns choices that depend on nothing but data.
func newRand(data []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(data)
	return rand.New(&choice{data, rand.NewPCG(h.Sum64(), uint64(len(data)))})
}

// Uint64 implements [rand.Source]. A byte decides most where numbers are chosen from a few, since it comes first.
func (c *choice) Uint64() uint64 {
	n := c.then.Uint64()
	if len(c.data) > 0 {
		n = n>>8 | uint64(c.data[0])<<56
		c.data = c.data[1:]
	}
	return n
}
