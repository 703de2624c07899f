package patch

// Patch formats of the application.

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
)

// Format is a patch format of the application, in addition to JSON Patch and JSON Merge Patch. A
// server parses each request with [Format.Parse], so the rest of a write is the same for all formats.
type Format struct {
	// MediaType is the media type of the format, in lower case and without parameters, such as
	// "application/vnd.example.increment+json". If it ends with "+json", patches must be I-JSON and
	// obey [Limits].Depth, and Apply receives them in canonical form. Otherwise Apply receives the
	// bytes of the request body.
	MediaType string
	// Description is one sentence about the format for the documentation of an API. Default none.
	Description string
	// Idempotent declares that to apply a patch twice has the same result as to apply it once. The
	// documentation of an API then states that a client may repeat the request. The declaration is
	// not checked when patches are applied; resourcetest.RunPatches tests it.
	Idempotent bool
	// Apply returns the document that the patch makes of doc. Both are valid JSON texts, except for
	// the patch of a format without "+json". The result must be one JSON value.
	//
	// doc has what the client can read. A server restores members that clients can only write,
	// unless the result has them. Read-only members must stay as they are.
	//
	// Apply must not modify its arguments and must be safe for concurrent use. It must be a function
	// of its arguments alone, because it is called again if another request has changed the document.
	//
	// The error is an [*Error], such as one of [NewError]. Any other error is a fault of the server.
	Apply func(doc, patch []byte) ([]byte, error)
}

// Validate returns an error if the format has no Apply, or if its media type has parameters or upper
// case letters or is that of a standard format.
func (f Format) Validate() error {
	media, params, err := mime.ParseMediaType(f.MediaType)
	switch {
	case err != nil || len(params) > 0 || media != f.MediaType || !strings.Contains(media, "/"):
		return fmt.Errorf("patch: media type %q must be a type in lower case without parameters", f.MediaType)
	case media == MergeType || media == JSONType || media == plainType:
		return fmt.Errorf("patch: media type %q has a standard meaning; choose another one", f.MediaType)
	case f.Apply == nil:
		return fmt.Errorf("patch: the format %q has no Apply", f.MediaType)
	}
	return nil
}

// plainType is not a patch format. Servers may accept it as a merge patch.
const plainType = "application/json"

// JSON reports whether patches of the format are JSON: the media type ends with "+json".
func (f Format) JSON() bool { return strings.HasSuffix(f.MediaType, "+json") }

// Parse returns the patch with this text. If the format is JSON and the text is not valid, the error
// is an [*Error] of kind [Malformed] or [TooLarge]. Mistakes that only Apply can find are errors of
// [Patch.Apply]. Parse panics if f is not valid; see [Format.Validate].
func (f Format) Parse(data []byte, l Limits) (*Patch, error) {
	if err := f.Validate(); err != nil {
		panic(err.Error())
	}
	p := &Patch{limits: l.withDefaults(), format: &f}
	if !f.JSON() {
		p.text = bytes.Clone(data)
		return p, nil
	}
	text, e := canonicalPatch(data)
	switch {
	case e != nil:
		e.Operation = -1
		return nil, e
	case depthOf(text) > p.limits.Depth:
		return nil,
			tooLarge(codeDepth, "", "a patch must not be nested deeper than %d levels", p.limits.Depth)
	}
	p.text = text
	return p, nil
}

// NewError returns an [Error] for [Format].Apply. path is a JSON Pointer into the document, or empty.
// code and detail are those of [Error], and may be of the application.
func NewError(kind Kind, path, code, detail string) *Error {
	return &Error{Kind: kind, Operation: -1, Path: path, Code: code, Detail: detail}
}

// Format returns the format of the application that the patch has, and nil for a patch of a standard
// format.
func (p *Patch) Format() *Format { return p.format }

// apply calls Format.Apply and returns the result in canonical form.
func (f *Format) apply(doc, patch []byte) ([]byte, error) {
	changed, err := f.Apply(doc, bytes.Clone(patch)) // the text is shared by concurrent calls
	if err != nil {
		return nil, err
	}
	if changed, err = canonical(changed); err != nil {
		return nil, fmt.Errorf("patch: the format %q returned invalid JSON: %w", f.MediaType, err)
	}
	return changed, nil
}
