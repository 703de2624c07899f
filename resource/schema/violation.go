package schema

// Violations, in the form in which problem documents list them.

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Violation describes an invalid value in a document.
type Violation struct {
	Pointer string // JSON Pointer (RFC 6901) from the root of the document
	Code    string // the violated rule, such as "required", for programs
	Detail  string // a sentence in English that begins with the name of the member
}

// At returns the violation for a value that is at another pointer in the document of the client,
// such as that of an older version. It replaces the name of the member in Detail.
func (v Violation) At(pointer string) Violation {
	if rest, ok := strings.CutPrefix(v.Detail, subject(v.Pointer)+" "); ok {
		v.Detail = subject(pointer) + " " + rest
	}
	v.Pointer = pointer
	return v
}

// subject returns the subject of Detail for the value at a pointer: the name of the member,
// followed by the indexes of an element.
func subject(pointer string) string {
	end := len(pointer)
	for {
		i := strings.LastIndexByte(pointer[:end], '/')
		if i < 0 {
			break
		}
		token := pointer[i+1 : end]
		if _, err := parseCanonical(token); err != nil {
			return subjectName(jsontext.Pointer(pointer[i:end]).LastToken()) + indexes(pointer[end:])
		}
		end = i
	}
	return "the content" + indexes(pointer)
}

// indexes formats a pointer of array indexes: "/1/2" becomes "[1][2]".
func indexes(pointer string) string {
	if pointer == "" {
		return ""
	}
	return "[" + strings.ReplaceAll(pointer[1:], "/", "][") + "]"
}

// maxSubject limits the length in bytes of names that a client has sent.
const maxSubject = 64

// subjectName returns the name of a member, quoted unless it is a word, and truncated.
func subjectName(name string) string {
	for i := range len(name) {
		c := name[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') || i == maxSubject {
			return strconv.Quote(strings.ToValidUTF8(name[:min(len(name), maxSubject)], ""))
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// maxViolations limits the violations of one document. Without it a short document could cause a
// response many times its size.
const maxViolations = 1000

// The codes of violations.
const (
	codeType      = "type"      // wrong JSON type
	codeNull      = "null"      // null is not valid
	codeRequired  = "required"  // the member is required
	codeUnknown   = "unknown"   // the member does not exist in the schema
	codeReadOnly  = "readOnly"  // the server sets the member
	codeEnum      = "enum"      // not one of the listed values
	codeMinLength = "minLength" // string too short
	codeMaxLength = "maxLength" // string too long
	codePattern   = "pattern"   // string does not match the pattern
	codeMinimum   = "minimum"   // number too small
	codeMaximum   = "maximum"   // number too large
	codePrecision = "precision" // decimal with too many digits
	codeMinItems  = "minItems"  // too few elements
	codeMaxItems  = "maxItems"  // too many elements
	codeUnique    = "unique"    // equal elements
	codeFormat    = "format"    // not a date, an email address, ...
	codeRange     = "range"     // number overflows the Go type
	codeImmutable = "immutable" // the member is part of the id
	codeMismatch  = "mismatch"  // the member contradicts the id
)

// Violations is the error of [Type.Decode] for a document that is valid JSON and violates the
// schema, with all violations in the order of the schema. Servers respond with 422.
type Violations []Violation

// Error returns all details on one line, with the pointers of values that are not at the top level.
func (vs Violations) Error() string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(v.Detail)
		if strings.Count(v.Pointer, "/") > 1 {
			b.WriteString(" (at " + strconv.Quote(v.Pointer) + ")")
		}
	}
	return b.String()
}

// SyntaxError is the error of [Type.Decode] for data that is not valid JSON or exceeds a limit.
// Servers respond with 400.
//
// Code is one of:
//   - "empty": there is no JSON value.
//   - "syntax": the JSON is malformed.
//   - "encoding": invalid UTF-8, a lone surrogate, or a byte order mark.
//   - "duplicateName": an object has two members of the same name.
//   - "trailing": there is content after the JSON value.
//   - "depth": the nesting depth exceeds DecodeOptions.MaxDepth.
//   - "names": an object has more members than DecodeOptions.MaxNames.
type SyntaxError struct {
	Offset  int64  // position in bytes; the error is here or shortly after
	Pointer string // JSON Pointer (RFC 6901) to the value with the error
	Code    string // one of the codes above
	Detail  string // a description in English for developers of the client
}

// Error returns the detail and the offset.
func (e *SyntaxError) Error() string {
	return e.Detail + " (at byte " + strconv.FormatInt(e.Offset, 10) + ")"
}
