package resource

import (
	"strings"

	"github.com/stoa-go/stoa/resource/internal/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// The media types of patches.
const (
	MergePatch = "application/merge-patch+json" // RFC 7396
	JSONPatch  = "application/json-patch+json"  // RFC 6902
)

// Patch is a change to an item, read once and applied as often as the write loop has to. It is immutable.
type Patch struct {
	inner *patch.Patch
}

// PatchLimits bound a patch. Zero values mean the defaults: 1000 operations, depth 64, and a result of 8 MiB.
type PatchLimits struct {
	Operations, Depth int
	Size              int64
}

// ParsePatch reads a patch of the media type [MergePatch] or [JSONPatch]. The error can be told to the client by
// [Problem].
func ParsePatch(mediaType string, doc []byte, l PatchLimits) (*Patch, error) {
	limits := patch.Limits{Ops: l.Operations, Depth: l.Depth, Size: l.Size}
	var p *patch.Patch
	var err error
	switch mediaType {
	case MergePatch:
		p, err = patch.ParseMergePatch(doc, limits)
	case JSONPatch:
		p, err = patch.ParseJSONPatch(doc, limits)
	default:
		return nil, problem.New(problem.UnsupportedMediaType, "This is no patch.")
	}
	if err != nil {
		return nil, err
	}
	return &Patch{inner: p}, nil
}

// apply changes doc, which is a value of t with its writeOnly fields. No operation may look at one of these: to test,
// copy or move what a client may not see would show it. For the client there is nothing at such a place.
func (p *Patch) apply(t *schema.Type, doc []byte) ([]byte, error) {
	for i, pointer := range p.inner.Reads() {
		if secretAt(t, pointer) {
			return nil, patch.Missing(i, pointer)
		}
	}
	return p.inner.Apply(doc)
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
