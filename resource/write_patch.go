package resource

// Applying a patch or a new document to an item. Called by write.go. It calls packages patch and schema.

import (
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
	full, err := t.AppendFull(nil, v)
	if err != nil {
		return nil, err
	}
	doc, err := p.ApplyTo(t, full)
	if err != nil {
		return nil, err
	}
	return t.Decode(doc, opts)
}

// decodeChange returns the value that the document or the patch makes of v, a value of typ.
func (w *writeRequest) decodeChange(typ *schema.Type, v any) (any, error) {
	dec := w.opts.decode(schema.Replace, v)
	dec.ReadOnly = w.r.idNames
	if w.opts.merge {
		p, err := patch.ParseMembers(w.doc, patch.Limits{Depth: w.opts.MaxDepth})
		if err != nil {
			if _, bad := typ.Decode(w.doc, dec); bad != nil { // with the place of the fault
				err = bad
			}
			return nil, err
		}
		w.op, w.patch = OpPatch, p
	}
	if w.op == OpPatch {
		dec.Mode = schema.Patched
		return patched(w.patch, typ, v, dec)
	}
	return typ.Decode(completed(w.doc, typ, v), dec)
}

// completed returns the document of a PUT with the members that v, a value of t, keeps in elements of arrays.
// The decoder keeps those of objects.
func completed(doc []byte, t *schema.Type, v any) []byte {
	if !t.Completes() {
		return doc
	}
	full, err := t.AppendFull(nil, v)
	if err != nil { // the document replaces a value that has no JSON, such as a number that is not finite
		return doc
	}
	return t.Complete(doc, full, false)
}
