package resource

// Applying a patch to the JSON of an item. Called by write.go. It calls package patch.

import (
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// applyPatch applies p to doc, a value of t with its writeOnly fields. An operation that tests,
// copies or moves a writeOnly field fails as if the field did not exist, because its result would
// reveal the value.
func applyPatch(p *patch.Patch, t *schema.Type, doc []byte) ([]byte, error) {
	for i, at := range p.Reads() {
		if pointer.Secret(t, at) {
			return nil, patch.Missing(i, at)
		}
	}
	return p.Apply(doc)
}
