package oracle

// Randomness for generated documents. Every decision of the generator reads from it, so a document
// can be repeated from its bytes, and a fuzzer can minimize it.

import (
	"hash/fnv"
	"math/rand/v2"
)

// choice is the random source of a document. It returns the bytes of data first, so a fuzzer that
// mutates data mutates the document. After that it returns pseudorandom numbers that are seeded
// with data.
type choice struct {
	data []byte
	then *rand.PCG
}

// newRand returns a random source that depends only on data.
func newRand(data []byte) *rand.Rand {
	h := fnv.New64a()
	h.Write(data)
	return rand.New(&choice{data, rand.NewPCG(h.Sum64(), uint64(len(data)))})
}

// Uint64 implements [rand.Source]. The byte of data is the most significant one, because it decides
// the result of IntN for small n. A power of two is an exception: IntN masks the low bits then,
// which depend on the hash of all data.
func (c *choice) Uint64() uint64 {
	n := c.then.Uint64()
	if len(c.data) > 0 {
		n = n>>8 | uint64(c.data[0])<<56
		c.data = c.data[1:]
	}
	return n
}
