package resource

import (
	"github.com/stoa-go/stoa/resource/internal/patch"
	"github.com/stoa-go/stoa/resource/problem"
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

func (p *Patch) apply(doc []byte) ([]byte, error) { return p.inner.Apply(doc) }
