// Package pointer has JSON Pointers (RFC 6901) into values of a schema: to members of a document,
// and to those that clients cannot read.
package pointer

import (
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
)

var (
	// A Replacer compares at each position and never replaces its own output, so ~01 becomes ~1 and
	// not / (RFC 6901 section 4).
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// Escape escapes a name as a reference token, RFC 6901 section 3. Callers add the slash.
func Escape(name string) string { return escaper.Replace(name) }

// Unescape undoes Escape, RFC 6901 section 4.
func Unescape(token string) string { return unescaper.Replace(token) }

// To returns the pointer to a member of a document. An empty name is the whole document. The store
// uses it for the fields of an item, which are members of the outermost object. A pointer without
// tokens refers to the root of the document (RFC 6901 section 5).
func To(name string) string {
	if name == "" {
		return ""
	}
	return "/" + Escape(name)
}

// Secret reports whether the value at a pointer into a value of t is a writeOnly field, is inside
// of one, or has one in it. A log or a problem must not repeat a value for which it returns true. A
// member that is unknown is not secret; one of type any cannot have secrets.
func Secret(t *schema.Type, pointer string) bool {
	// Each round removes the first token, which follows a slash.
	for pointer != "" {
		token, rest, deeper := strings.Cut(pointer[1:], "/")
		if pointer = ""; deeper {
			pointer = "/" + rest
		}
		switch {
		case t.Kind == schema.Object:
			f := t.Field(Unescape(token))
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

// hasSecrets reports whether a value of t can have writeOnly fields in it. seen are the types that
// have been visited. Types can be recursive.
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

// Restricted reports whether the value at a pointer into a value of t is, or is inside of, a
// readOnly or writeOnly field: one that a PUT can leave as it is. The whole document is not
// restricted. An unknown member is not restricted.
func Restricted(t *schema.Type, pointer string) bool {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case t.Kind == schema.Object:
			f := t.Field(Unescape(token))
			if f == nil {
				return false
			}
			if f.ReadOnly || f.WriteOnly {
				return true
			}
			t = f.Type
		case t.Elem != nil:
			t = t.Elem
		default:
			return false
		}
	}
	return false
}
