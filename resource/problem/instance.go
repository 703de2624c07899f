package problem

import (
	"crypto/rand"
	"fmt"
)

// NewInstance returns a new value for [Details.Instance]: the URN of a random UUID (RFC 9562
// section 5.4). Log it together with the cause of the problem, which the client must not see.
func NewInstance() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
