// Package keyed lists the members of documents, for comparing requests with the same idempotency key
// in different contracts.
package keyed

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/schema"
)

// Document is a JSON document that was decoded to a value.
type Document struct {
	JSON []byte
	// Rename returns the name in the type of the value of a member of the document; "" if there is
	// none. Nil means the same name.
	Rename func(name string) string
	// Blank is what a document without members is decoded to. A member with another value counts as
	// sent. Nil compares nothing.
	Blank any
	// Prefix is put before the names of the members.
	Prefix string
}

// Members returns the fields of v, which has the type typ, with names that are the same in each
// contract. A member was sent if the document has its name. It is nil if v cannot be encoded.
func (d *Document) Members(typ *schema.Type, v any) []idempotency.Member {
	const more = 3 // that callers append
	out := make([]idempotency.Member, len(typ.Fields), len(typ.Fields)+more)
	d.markSent(typ, out)
	buf := make([]byte, 0, len(d.JSON)+128)
	for i, f := range typ.Fields {
		start := len(buf)
		var err error
		if buf, err = typ.AppendField(buf, f, v); err != nil {
			return nil
		}
		m := &out[i]
		m.Name, m.Value = d.Prefix+f.Name, buf[start:len(buf):len(buf)]
		if c := m.Value[0]; c == '{' || c == '[' {
			m.Value = idempotency.CanonicalJSON(m.Value)
		}
		if d.Blank != nil && !m.Sent {
			m.Sent = !f.Equal(v, d.Blank)
		}
	}
	return out
}

// markSent sets Sent of the members, which are in the order of the fields of typ, that the document
// has. It stops at a syntax error.
func (d *Document) markSent(typ *schema.Type, members []idempotency.Member) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(d.JSON), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return
	}
	for dec.PeekKind() == '"' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return
		}
		name := string(quoted[1 : len(quoted)-1])
		if bytes.IndexByte(quoted, '\\') >= 0 {
			unquoted, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return
			}
			name = string(unquoted)
		}
		if d.Rename != nil {
			name = d.Rename(name)
		}
		for i, f := range typ.Fields {
			if f.Name == name {
				members[i].Sent = true
			}
		}
		if dec.SkipValue() != nil {
			return
		}
	}
}
