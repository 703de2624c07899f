package compat

// The layout of snapshots: JSON in which a value that fits has a line of its own. A review then shows
// one line for each parameter, member or header field that changed.

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// width is the length of lines in characters. Longer values are split.
const width = 120

// ordered is an object with members in an order.
type ordered []member

type member struct {
	name  string
	value any
}

// layout returns a file. It writes the short parts first.
func layout(f file) []byte {
	var o ordered
	o = append(o, member{"contract", f.Contract})
	if f.Preview {
		o = append(o, member{"preview", true})
	}
	if f.Deprecated != nil {
		o = append(o, member{"deprecated", f.Deprecated})
	}
	if f.Sunset != nil {
		o = append(o, member{"sunset", f.Sunset})
	}
	if len(f.Responses) > 0 {
		list := make([]any, len(f.Responses))
		for i, r := range f.Responses {
			list[i] = r.inOrder()
		}
		o = append(o, member{"responses", list})
	}
	if f.OpenAPI != nil {
		o = append(o, member{"openapi", f.OpenAPI})
	}
	if len(f.SDL) > 0 {
		o = append(o, member{"sdl", anySlice(f.SDL)})
	}
	var b bytes.Buffer
	writeValue(&b, o, 0, 0)
	b.WriteByte('\n')
	return b.Bytes()
}

// inOrder returns the members of a response in the order of the struct.
func (r Response) inOrder() ordered {
	o := ordered{{"request", r.Request}, {"status", r.Status}}
	if len(r.Header) > 0 {
		o = append(o, member{"header", r.Header})
	}
	if r.Problem != "" {
		o = append(o, member{"problem", r.Problem})
	}
	if r.Title != "" {
		o = append(o, member{"title", r.Title})
	}
	if len(r.Codes) > 0 {
		o = append(o, member{"codes", anySlice(r.Codes)})
	}
	if len(r.Members) > 0 {
		o = append(o, member{"members", r.Members})
	}
	if len(r.Order) > 0 {
		o = append(o, member{"order", anySlice(r.Order)})
	}
	return o
}

// writeValue writes a value after used characters of a line.
func writeValue(b *bytes.Buffer, v any, indent, used int) {
	line := inline(v)
	if indent+used+utf8.RuneCount(line) < width && indent > 0 {
		b.Write(line)
		return
	}
	var members ordered
	switch v := v.(type) {
	case ordered:
		members = v
	case object:
		for _, name := range sorted(v) {
			members = append(members, member{name, v[name]})
		}
	case map[string]string:
		for _, name := range sorted(v) {
			members = append(members, member{name, v[name]})
		}
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			newline(b, i > 0, indent+1)
			writeValue(b, e, indent+1, 0)
		}
		newline(b, false, indent)
		b.WriteByte(']')
		return
	default:
		b.Write(line)
		return
	}
	b.WriteByte('{')
	for i, m := range members {
		newline(b, i > 0, indent+1)
		name := append(inline(m.name), ": "...)
		b.Write(name)
		writeValue(b, m.value, indent+1, len(name))
	}
	newline(b, false, indent)
	b.WriteByte('}')
}

// newline begins a line, after a comma between elements.
func newline(b *bytes.Buffer, comma bool, indent int) {
	if comma {
		b.WriteByte(',')
	}
	b.WriteByte('\n')
	for range indent {
		b.WriteByte(' ')
	}
}

// inline returns a value as one line of JSON.
func inline(v any) []byte {
	var b bytes.Buffer
	switch v := v.(type) {
	case ordered:
		b.WriteByte('{')
		for i, m := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			b.Write(inline(m.name))
			b.WriteString(": ")
			b.Write(inline(m.value))
		}
		b.WriteByte('}')
	case object:
		o := ordered{}
		for _, name := range sorted(v) {
			o = append(o, member{name, v[name]})
		}
		return inline(o)
	case map[string]string:
		o := ordered{}
		for _, name := range sorted(v) {
			o = append(o, member{name, v[name]})
		}
		return inline(o)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			b.Write(inline(e))
		}
		b.WriteByte(']')
	default:
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // scalars and times always encode
		b.Truncate(b.Len() - 1)
	}
	return b.Bytes()
}
