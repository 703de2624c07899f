package schema

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
)

// Fingerprint returns an identifier of the JSON that the type is encoded to: the names and kinds of
// all members, at any depth. It has 16 characters and is the same in each program. Two types with
// equal fingerprints read each other's documents. Rules such as required or maxLength, defaults and
// documentation do not change it.
func (t *Type) Fingerprint() string {
	h := sha256.New()
	(&fingerprint{h, map[*Type]int{}}).add(t)
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:12])
}

// fingerprint writes the structure of a type to a hash.
type fingerprint struct {
	hash.Hash
	seen map[*Type]int // a type that contains itself is written as its number
}

func (f *fingerprint) add(t *Type) {
	if t == nil {
		return
	}
	if n, seen := f.seen[t]; seen {
		fmt.Fprintf(f, "type %d\n", n)
		return
	}
	f.seen[t] = len(f.seen)
	var key op
	if t.Key != nil {
		key = t.Key.op
	}
	fmt.Fprintf(f, "%v %q %d %t %t %d %d\n",
		t.Kind, t.Format, t.Bits, t.Unsigned, t.ElemNullable, t.Len, key)
	f.add(t.Elem)
	for _, m := range t.Fields {
		fmt.Fprintf(f, "%q %t %t %t\n", m.Name, m.Nullable, m.Quoted, m.WriteOnly)
		f.add(m.Type)
	}
	fmt.Fprintln(f, "end")
}
