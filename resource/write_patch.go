package resource

// Applying a patch to the JSON of an item. Called by write.go. It calls package patch.

import (
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

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
