package resource

import (
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// applyPatch changes doc, which is a value of t with its writeOnly fields. No operation may look at one of these: to
// test, copy or move what a client may not see would show it. For the client there is nothing at such a place.
func applyPatch(p *patch.Patch, t *schema.Type, doc []byte) ([]byte, error) {
	for i, at := range p.Reads() {
		if pointer.Secret(t, at) {
			return nil, patch.Missing(i, at)
		}
	}
	return p.Apply(doc)
}
