// Package pointer has JSON Pointers (RFC 6901) to members of documents.
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
