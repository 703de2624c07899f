// Package patch applies the two standard patch formats to JSON documents: JSON Patch (RFC 6902) and
// JSON Merge Patch (RFC 7396). A [Format] is one that the application defines.
//
// A [Patch] is parsed once per request. It can then be applied to a document any number of times,
// as a compare-and-swap loop requires:
//
//	p, err := patch.Parse(patch.JSONType, body, patch.Limits{})
//	...
//	changed, err := p.Apply(document)
//
// Patches and documents are JSON texts. Both must be I-JSON (RFC 7493): one value in valid UTF-8,
// without a byte order mark, lone surrogates and duplicate member names. The package converts a
// valid text to a canonical form, in which there is no white space between tokens and every string
// has its shortest encoding, so that equal strings are equal bytes. Numbers and the order of
// members are unchanged.
//
// The tests compare the package with github.com/evanphx/json-patch/v5. That library is not used at
// run time, because it deviates from the RFC for empty member names, for pointers to the whole
// document, for numbers, and for missing values in "test", and it panics on null in compared
// arrays.
package patch

import (
	"fmt"

	"github.com/stoa-go/stoa/resource/schema"
)

// The media types of patches.
const (
	MergeType = "application/merge-patch+json" // RFC 7396
	JSONType  = "application/json-patch+json"  // RFC 6902
)

// Limits limits the resources that one patch may use. Zero or negative fields mean the default.
type Limits struct {
	// Ops is the maximum number of operations of a JSON Patch. Default 1000.
	Ops int
	// Depth is the maximum nesting depth of the values of a patch, of its pointers, and of the
	// patched document. Default 64. If the document is already deeper, a patch must not increase
	// its depth.
	Depth int
	// Size is the maximum size of the patched document in bytes, and of all values that the "copy"
	// operations of a patch duplicate. Default 8 MiB. If the document is already larger, a patch
	// must not increase its size.
	Size int64
}

const (
	defaultOps   = 1000
	defaultDepth = 64
	defaultSize  = 8 << 20
)

// withDefaults returns l with the defaults in the fields that are not positive.
func (l Limits) withDefaults() Limits {
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

// Parse parses a patch of the media type, which is [MergeType] or [JSONType], without parameters.
// If the patch is invalid, the error is an [*Error] of kind [Malformed] or [TooLarge]. Any other
// media type is a different error.
func Parse(mediaType string, data []byte, l Limits) (*Patch, error) {
	switch mediaType {
	case MergeType:
		return ParseMergePatch(data, l)
	case JSONType:
		return ParseJSONPatch(data, l)
	}
	return nil, fmt.Errorf("patch: media type %q is not supported", mediaType)
}

// Patch is a parsed and validated change to a document. It is immutable, shares no memory with the
// text that it was parsed from, and is safe for concurrent use. The zero Patch changes nothing.
type Patch struct {
	text   []byte // canonical
	limits Limits
	ops    []operation
	merge  bool    // text is a merge patch, which is split into members when it is applied
	format *Format // of the application; nil for a standard format
	err    error   // set by Invalid
}

// Invalid returns a Patch with an Apply that always returns err, usually an error of [Parse]. A server can
// use it to check the target of the request before it reports an error of the patch.
func Invalid(err error) *Patch { return &Patch{err: err} }

// Text returns the patch in canonical form, so that requests with equal patches can be recognized.
// That of a [Format] that is not JSON is as it was sent. Text is nil for the zero Patch and for the
// result of [Invalid]. The caller must not modify it.
func (p *Patch) Text() []byte { return p.text }

// Apply applies the patch to doc and returns the patched document as a new text. It applies all
// operations or none (RFC 6902 section 5), and never modifies doc. The result has no white space
// between tokens, and its strings have their shortest encoding. Numbers and the order of members
// are unchanged, and new members are appended.
//
// If the patch cannot be applied to doc, the error is an [*Error] of kind [Conflict] or [TooLarge].
// Any other error means that doc is not valid JSON, unless the patch is the result of [Invalid] or
// has a [Format]: the errors of Format.Apply are returned unchanged.
func (p *Patch) Apply(doc []byte) ([]byte, error) {
	if p.err != nil {
		return nil, p.err
	}
	text, err := canonical(doc)
	if err != nil {
		return nil, fmt.Errorf("patch: invalid document: %w", err)
	}
	var changed []byte
	switch {
	case p.merge:
		m := newMergePatch(p.text)
		changed = m.appendTo(make([]byte, 0, len(text)+len(p.text)), text)
	case p.format != nil:
		changed, err = p.format.apply(text, p.text)
	default:
		changed, err = p.applyOps(text, schema.Place{})
	}
	if err != nil {
		return nil, err
	}
	if e := p.checkResult(text, changed); e != nil {
		return nil, e
	}
	return changed, nil
}

// applyOps applies the operations of a JSON Patch in order. It returns error, not *Error, so that a
// nil *Error does not become a non-nil error.
func (p *Patch) applyOps(text []byte, root schema.Place) ([]byte, error) {
	d := newDocument(text, root, p.limits)
	for i := range p.ops {
		if e := d.applyOp(&p.ops[i]); e != nil {
			e.Operation = i
			return nil, e
		}
	}
	d.complete(d.root, root, text)
	return d.root.appendTo(make([]byte, 0, max(d.size, 0))), nil
}

// checkResult checks the patched document against the limits. A document that exceeded a limit
// before the patch may still exceed it, but not by more.
func (p *Patch) checkResult(before, after []byte) *Error {
	limits := p.limits.withDefaults() // the limits of the zero Patch are zero
	if size := int64(len(after)); size > limits.Size && size > int64(len(before)) {
		return tooLarge(codeSize, "", "the patched document must not be larger than %d bytes", limits.Size)
	}
	if depth := depthOf(after); depth > limits.Depth && depth > depthOf(before) {
		return tooLarge(codeDepth, "", "the patched document must not be nested deeper than %d levels",
			limits.Depth)
	}
	return nil
}
