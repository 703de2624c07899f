// Package patch changes JSON documents by the two standard patch formats: JSON Patch (RFC 6902) and JSON Merge Patch
// (RFC 7396).
//
// Its noun is a [Patch], read once from the request and applied as often as the write loop needs:
//
//	p, err := patch.Parse(patch.JSONType, body, patch.Limits{})
//	...
//	changed, err := p.Apply(document)
//
// Both sides are JSON texts. Every text passes the same gate first: one value and nothing after it, valid UTF-8, no
// byte order mark, no lone surrogate, no member name twice (RFC 7493). A text that has passed is canonical in one
// narrow sense, which the rest of the package builds on: no space between tokens, every string in its shortest form (so
// equal strings are equal bytes, and "<" is never written as an escape), numbers and the order of members as they came.
//
// JSON Patch is applied by code of this package. github.com/evanphx/json-patch/v5 is the second opinion in its tests:
// it panics on a null inside a compared array, and it is wrong, beyond what options can mend, on the empty key, on the
// whole document as a place, on numbers, and on what a "test" finds missing. The tests name these faults one by one.
package patch

import (
	"fmt"
	"iter"
)

// The media types of patches.
const (
	MergeType = "application/merge-patch+json" // RFC 7396
	JSONType  = "application/json-patch+json"  // RFC 6902
)

// Limits bound what one patch may ask for. A field that is zero means its default.
type Limits struct {
	// Ops is the largest number of operations in a JSON Patch; 1000 by default.
	Ops int
	// Depth is the deepest nesting of a value in a patch, of a place that a pointer names, and of the patched
	// document; 64 by default. A document that is deeper already may stay so, but not deepen.
	Depth int
	// Size is the largest size of the patched document in bytes, and of everything that the "copy" operations of one
	// patch duplicate; 8 MiB by default. A document that is larger already may shrink, but not grow.
	Size int64
}

const (
	defaultOps   = 1000
	defaultDepth = 64
	defaultSize  = 8 << 20
)

// orDefault returns l with the defaults in place of what is not given.
func (l Limits) orDefault() Limits {
	if l.Ops <= 0 {
		l.Ops = defaultOps
	}
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	if l.Size <= 0 {
		l.Size = defaultSize
	}
	return l
}

// Parse reads a patch of one of the two media types; of any other it is an error. What the client has to know is an
// [*Error].
func Parse(mediaType string, data []byte, l Limits) (*Patch, error) {
	switch mediaType {
	case MergeType:
		return ParseMergePatch(data, l)
	case JSONType:
		return ParseJSONPatch(data, l)
	}
	return nil, fmt.Errorf("patch: %q is no media type of a patch", mediaType)
}

// Patch is a change to a document, parsed and checked. It never changes, shares no memory with the text it came from,
// and may be applied by many goroutines at once. The zero Patch changes nothing.
type Patch struct {
	limits Limits
	ops    []operation
	merge  *mergePatch // nil for a JSON Patch
	err    error       // of Invalid
}

// Invalid returns a Patch whose Apply always returns err, which is what Parse has returned. A write can then report first
// what is wrong with its target.
func Invalid(err error) *Patch { return &Patch{err: err} }

// Apply returns what the patch makes of doc: a new text, or an error and no text (RFC 6902 section 5). It never
// changes doc. Space between tokens is not kept, and strings are written in their shortest form; the text of numbers
// and the order of members are kept, and new members come last.
//
// What the client has to know is an [*Error], whose Kind is [Conflict] or [TooLarge]. Any other error says that doc is
// not JSON, which is the fault of whoever made it.
func (p *Patch) Apply(doc []byte) ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	text, err := canonical(doc)
	if err != nil {
		return nil, fmt.Errorf("patch: the document to change: %w", err)
	}
	var changed []byte
	if p.merge != nil {
		changed = p.merge.appendTo(make([]byte, 0, len(text)+len(p.merge.text)), text)
	} else if changed, err = p.applyOps(text); err != nil {
		return nil, err
	}
	if e := p.checkResult(text, changed); e != nil {
		return nil, e
	}
	return changed, nil
}

// applyOps applies the operations of a JSON Patch in turn. A nil *Error must not become an error that is not nil,
// hence the explicit return.
func (p *Patch) applyOps(text []byte) ([]byte, error) {
	d := newDocument(text, p.limits)
	for i := range p.ops {
		if e := d.apply(&p.ops[i]); e != nil {
			e.Operation = i
			return nil, e
		}
	}
	return d.root.appendTo(make([]byte, 0, max(d.size, 0))), nil
}

// checkResult holds the patched document against the limits. What was beyond a limit before may stay where it is.
func (p *Patch) checkResult(before, after []byte) *Error {
	limits := p.limits.orDefault()
	if size := int64(len(after)); size > limits.Size && size > int64(len(before)) {
		return tooLarge(codeSize, "", "the patched document would be larger than %d bytes", limits.Size)
	}
	if depth := depthOf(after); depth > limits.Depth && depth > depthOf(before) {
		return tooLarge(codeDepth, "", "the patched document would be nested deeper than %d", limits.Depth)
	}
	return nil
}

// Reads yields the pointers at whose values a JSON Patch looks, which are what it tests, moves and copies, each with
// the index of its operation. A merge patch looks at nothing.
func (p *Patch) Reads() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range p.ops {
			at := p.ops[i].from
			switch p.ops[i].verb {
			case "test":
				at = p.ops[i].path
			case "move", "copy":
			default:
				continue
			}
			if !yield(i, at.text) {
				return
			}
		}
	}
}

// Missing is the error of an operation at whose pointer there is nothing.
func Missing(operation int, path string) *Error {
	e := conflict(codeMissing, path, "the path does not exist")
	e.Operation = operation
	return e
}
