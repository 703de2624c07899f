package resource

// Reading the document of a batch, and all violations that can be found without the items. Called
// by batch.go.

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// batchDocument is the document. Its elements are read one by one, so that a mistake in one hides
// none in the others.
type batchDocument struct {
	Operations []jsontext.Value `json:"operations" required:"true" minItems:"1"`
}

// batchOperation is one element of the document. ID is the id as in URLs, also if the
// id field is a number.
type batchOperation struct {
	Op      string         `json:"op" required:"true" enum:"create,replace,patch,delete"`
	ID      string         `json:"id,omitempty"`
	IfMatch string         `json:"ifMatch,omitempty"`
	Value   jsontext.Value `json:"value,omitempty"`
	Patch   jsontext.Value `json:"patch,omitempty"`
	// PatchType is the media type of Patch. It is known if there are BatchOptions.PatchFormats.
	PatchType string `json:"patchType,omitempty"`

	opts   WriteOptions
	change *patch.Patch
}

// membersOf returns the members of an operation beside op: those it must have, and those it may
// have.
func membersOf(op string) (needs, takes []string) {
	switch op {
	case "create":
		return []string{"value"}, nil
	case "replace":
		return []string{"id", "value"}, []string{"ifMatch"}
	case "patch":
		return []string{"id", "patch"}, []string{"ifMatch", "patchType"}
	}
	return []string{"id"}, []string{"ifMatch"}
}

// batchReader notes all that is wrong with a batch.
type batchReader struct {
	r      *Resource
	opts   WriteOptions // of each operation, without its conditions
	limits patch.Limits
	// formats are those of the application, in addition to the standard ones
	formats []patch.Format
	found   schema.Violations
}

// depth returns the maximum nesting depth of a value.
func (b *batchReader) depth() int { return cmp.Or(b.opts.MaxDepth, 64) }

// maxViolations bounds what an answer lists, as package schema does.
const maxViolations = 1000

// read returns the operations of a document. The error is what a client has to know.
func (b *batchReader) read(doc []byte) ([]batchOperation, error) {
	dec := b.opts.decode(schema.Create, nil)
	dec.MaxDepth = b.depth() + 3 // a value may be as deep as in a request of its own
	v, err := schema.For[batchDocument]().Decode(doc, dec)
	if err != nil {
		return nil, err
	}
	list := v.(*batchDocument).Operations
	if len(list) > b.limits.Ops {
		d := problem.New(problem.TooLarge, "The batch has "+strconv.Itoa(len(list))+
			" operations; the limit is "+strconv.Itoa(b.limits.Ops)+".")
		d.Errors = []problem.Violation{{Pointer: "/operations", Code: "maxItems",
			Detail: "operations must have at most " + strconv.Itoa(b.limits.Ops) + " elements"}}
		return nil, d
	}
	ops := make([]batchOperation, len(list))
	for i := range list {
		if err := b.readOperation(&ops[i], list[i], "/operations/"+strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	if len(b.found) > 0 {
		return nil, b.found
	}
	return ops, nil
}

// readOperation reads one element, at a pointer. The error ends the reading; violations do not.
func (b *batchReader) readOperation(op *batchOperation, raw []byte, at string) error {
	dec := b.opts.decode(schema.Create, nil)
	dec.MaxDepth = b.depth() + 1
	v, err := schema.For[batchOperation]().Decode(raw, dec)
	if err != nil {
		return b.note(at, err)
	}
	*op = *v.(*batchOperation)
	op.opts = b.opts
	b.checkMembers(op, at)
	if op.IfMatch != "" {
		if op.opts.If.IfMatch, err = header.ParseTags([]string{op.IfMatch}); err != nil {
			b.add(at+"/ifMatch", "syntax", "ifMatch "+err.Error())
		}
	}
	switch {
	case op.Op == "create" && op.Value != nil:
		return b.note(at+"/value", b.r.readNew(op.Value, &op.opts).invalid)
	case op.Op == "replace" && op.Value != nil:
		return b.note(at+"/value", b.r.checkReplacement(op.Value, &op.opts))
	case op.Op == "patch" && op.Patch != nil:
		op.change, err = b.parsePatch(op, at)
		return b.note(at+"/patch", err)
	}
	return nil
}

// checkMembers looks at which members an operation has, and at what the collection can do.
func (b *batchReader) checkMembers(op *batchOperation, at string) {
	if !b.r.Can(opNamed(op.Op)) {
		b.add(at+"/op", "unsupported", "op "+op.Op+" is not supported by this collection")
	}
	if strings.ContainsFunc(op.ID, unicode.IsControl) { // no store sees it, as with the path of an item
		b.add(at+"/id", "format", "id must not contain control characters")
	}
	needs, takes := membersOf(op.Op)
	if len(b.formats) == 0 {
		takes = slices.DeleteFunc(takes, func(name string) bool { return name == "patchType" })
	}
	for _, m := range [...]struct {
		name  string
		given bool
	}{
		{"id", op.ID != ""}, {"ifMatch", op.IfMatch != ""},
		{"value", op.Value != nil}, {"patch", op.Patch != nil}, {"patchType", op.PatchType != ""},
	} {
		switch {
		case !m.given && slices.Contains(needs, m.name):
			b.add(at+"/"+m.name, "required", m.name+" is required for "+op.Op)
		case m.given && !slices.Contains(append(needs, takes...), m.name):
			b.add(at+"/"+m.name, "unknown", m.name+" is not allowed for "+op.Op)
		}
	}
}

// opNamed returns the Op of an operation. The parser has rejected other names.
func opNamed(name string) Op {
	switch name {
	case "replace":
		return OpReplace
	case "patch":
		return OpPatch
	case "delete":
		return OpDelete
	}
	return OpCreate
}

// add records a violation, up to a maximum.
func (b *batchReader) add(pointer, code, detail string) {
	if len(b.found) < maxViolations {
		b.found = append(b.found, schema.Violation{Pointer: pointer, Code: code, Detail: detail})
	}
}

// note records the violations of err for the value at a pointer. It returns other errors.
func (b *batchReader) note(at string, err error) error {
	var syntax *schema.SyntaxError
	var patching *patch.Error
	switch {
	case err == nil:
	case errors.As(err, &syntax): // a limit: the document itself has been read to its end
		return &schema.SyntaxError{
			Offset:  syntax.Offset,
			Pointer: at + syntax.Pointer,
			Code:    syntax.Code,
			Detail:  syntax.Detail,
		}
	case errors.As(err, &patching):
		b.add(patchPointer(at, patching.Operation), patching.Code, patching.Detail)
	default:
		d := Problem(err)
		if d.StatusCode() != http.StatusUnprocessableEntity {
			return nil // not an error of the document: the execution finds it again
		}
		for _, v := range d.Errors {
			b.add(at+v.Pointer, v.Code, v.Detail)
		}
	}
	return nil
}

// patchPointer points to a patch, or to one operation of it.
func patchPointer(at string, operation int) string {
	if operation < 0 {
		return at
	}
	return at + "/" + strconv.Itoa(operation)
}

// parsePatch parses the patch of an operation. Without patchType an array is a JSON Patch, and any other
// value a merge patch.
func (b *batchReader) parsePatch(op *batchOperation, at string) (*patch.Patch, error) {
	media := patch.MergeType
	switch {
	case op.PatchType != "" && len(b.formats) > 0:
		media = op.PatchType
	case op.Patch.Kind() == '[':
		media = patch.JSONType
	}
	known := []string{patch.MergeType, patch.JSONType}
	for _, f := range b.formats {
		if !f.JSON() {
			continue // it cannot be a JSON value
		}
		if f.MediaType == media {
			return f.Parse(op.Patch, b.limits)
		}
		known = append(known, f.MediaType)
	}
	if !slices.Contains(known, media) {
		b.add(at+"/patchType", "enum", "patchType must be one of "+strings.Join(known, ", "))
		return nil, nil
	}
	return patch.Parse(media, op.Patch, b.limits)
}

// checkReplacement finds what is wrong with the document of a PUT whatever is there now. Members
// that only the server knows, or only the client, are compared with what is there, or stay as it
// is: they are left for later.
func (r *Resource) checkReplacement(doc []byte, o *WriteOptions) error {
	dec := o.decode(schema.Create, nil)
	dec.Filled = r.idNames
	_, err := r.projection.typ.Decode(doc, dec)
	var bad, sure schema.Violations
	if !errors.As(err, &bad) {
		return err
	}
	for _, v := range bad {
		if v.Code != "readOnly" && !r.isKey(v.Pointer) &&
			!pointer.Restricted(r.projection.typ, v.Pointer) {
			sure = append(sure, v)
		}
	}
	if sure == nil {
		return nil
	}
	return sure
}

// isKey reports whether a pointer is that of the id or a field of its key.
func (r *Resource) isKey(at string) bool {
	return at == pointer.To(r.id()) || slices.ContainsFunc(r.idField().Key,
		func(f *schema.Field) bool { return at == pointer.To(f.Name) })
}

// patchLimits returns the limits of the patches of a batch, which are also those of its operations.
func patchLimits(o *BatchOptions) patch.Limits {
	return patch.Limits{Ops: cmp.Or(o.MaxOperations, 1000), Depth: o.MaxDepth}
}
