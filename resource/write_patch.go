package resource

// Applying a patch to an item. Called by write.go. It calls packages patch and schema.

import (
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// patched returns the value that p makes of v, a value of t. A merge patch that names few members needs
// neither the JSON of the others nor their values decoded again. An error is always that of the document.
func patched(p *patch.Patch, t *schema.Type, v any, opts *schema.DecodeOptions) (any, error) {
	if text, size, ok := p.Merge(); ok {
		if v, ok := t.Merge(text, size, opts); ok {
			return v, nil
		}
	}
	doc, err := applyPatch(p, t, v)
	if err != nil {
		return nil, err
	}
	return t.Decode(doc, opts)
}

// applyPatch applies p to v, a value of t, and returns the JSON with writeOnly fields. A JSON Patch that
// tests, copies or moves a writeOnly field fails as if the field did not exist, because the result would
// reveal the value. The reads of a format of the application are not known, so it gets no writeOnly fields.
func applyPatch(p *patch.Patch, t *schema.Type, v any) ([]byte, error) {
	doc, err := t.AppendFull(nil, v)
	if err != nil {
		return nil, err
	}
	if p.Format() != nil && pointer.Secret(t, "") {
		visible, err := t.Append(nil, v)
		if err != nil {
			return nil, err
		}
		return p.ApplyVisible(doc, visible)
	}
	for i, at := range p.Reads() {
		if pointer.Secret(t, at) {
			return nil, patch.Missing(i, at)
		}
	}
	return p.Apply(doc)
}
