package resource

import (
	"strings"

	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// applyPatch changes doc, which is a value of t with its writeOnly fields. No operation may look at one of these: to
// test, copy or move what a client may not see would show it. For the client there is nothing at such a place.
func applyPatch(p *patch.Patch, t *schema.Type, doc []byte) ([]byte, error) {
	for i, pointer := range p.Reads() {
		if secretAt(t, pointer) {
			return nil, patch.Missing(i, pointer)
		}
	}
	return p.Apply(doc)
}

// unescapeStep undoes the escapes in a step of a JSON Pointer, RFC 6901 section 4.
var unescapeStep = strings.NewReplacer("~1", "/", "~0", "~")

// secretAt reports whether what is at a JSON Pointer is a writeOnly field, is inside of one or has one in it.
func secretAt(t *schema.Type, pointer string) bool {
	for pointer != "" {
		step, rest, deeper := strings.Cut(pointer[1:], "/")
		if pointer = ""; deeper {
			pointer = "/" + rest
		}
		switch {
		case t.Kind == schema.Object:
			f := t.Field(unescapeStep.Replace(step))
			if f == nil || f.WriteOnly {
				return f != nil
			}
			t = f.Type
		case t.Elem != nil:
			t = t.Elem
		default:
			return false
		}
	}
	return hasSecrets(t, map[*schema.Type]bool{})
}

// hasSecrets reports whether a value of t can have writeOnly fields in it. seen are the types that have been looked at.
func hasSecrets(t *schema.Type, seen map[*schema.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	for _, f := range t.Fields {
		if f.WriteOnly || hasSecrets(f.Type, seen) {
			return true
		}
	}
	return hasSecrets(t.Elem, seen)
}
