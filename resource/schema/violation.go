package schema

import (
	"strconv"
	"strings"
)

// Violation is one place where a document or a value breaks the schema.
type Violation struct {
	Pointer string // RFC 6901: where, from the root of the document
	Code    string // which rule, for programs
	Detail  string // what is wrong, in English, for the developer of the client
}

// maxViolations is how many violations are listed. A short document can have very many, and the answer would be many
// times as long as the question.
const maxViolations = 1000

// The codes of violations.
const (
	codeType      = "type"      // JSON of another kind, such as a string for a number
	codeNull      = "null"      // null where it may not be
	codeRequired  = "required"  // a required member is absent
	codeUnknown   = "unknown"   // no such member
	codeReadOnly  = "readOnly"  // a member that the server decides
	codeEnum      = "enum"      // none of the listed values
	codeMinLength = "minLength" // a string that is too short
	codeMaxLength = "maxLength" // a string that is too long
	codePattern   = "pattern"   // a string that does not match
	codeMinimum   = "minimum"   // a number that is too small
	codeMaximum   = "maximum"   // a number that is too large
	codeMinItems  = "minItems"  // too few elements
	codeMaxItems  = "maxItems"  // too many elements
	codeUnique    = "unique"    // equal elements
	codeFormat    = "format"    // text that is not a date, an email address, ...
	codeRange     = "range"     // a number that does not fit
)

// Violations are all violations of one document, in the order of the schema. They are an error for which the HTTP layer
// answers 422: the JSON is fine, and what it says is not.
type Violations []Violation

// Error returns the violations in one line.
func (vs Violations) Error() string {
	var b strings.Builder
	for i, v := range vs {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strconv.Quote(v.Pointer))
		b.WriteByte(' ')
		b.WriteString(v.Detail)
	}
	return b.String()
}

// SyntaxError says that data is not acceptable JSON, and why. It is an error for which the HTTP layer answers 400.
//
// Code is one of empty, syntax, encoding (invalid UTF-8, a lone surrogate or a byte order mark), duplicateName,
// trailing (something follows the value), depth and names (too many members in one object).
type SyntaxError struct {
	Offset  int64  // in bytes: the problem is here or shortly after
	Pointer string // RFC 6901: the value in which it is
	Code    string
	Detail  string // in English, for the developer of the client
}

// Error returns the detail and the offset.
func (e *SyntaxError) Error() string {
	return e.Detail + " (at byte " + strconv.FormatInt(e.Offset, 10) + ")"
}
