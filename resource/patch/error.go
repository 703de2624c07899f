package patch

import (
	"fmt"
	"strings"
)

// Kind says who has to act on an [Error], and so which status it gets.
type Kind uint8

// The kinds.
const (
	// Malformed is a patch that could not be applied to any document: 400.
	Malformed Kind = iota + 1
	// Conflict is a good patch that does not fit this state of the document: 409.
	Conflict
	// TooLarge is a patch, or a patched document, beyond [Limits]: 413.
	TooLarge
)

// String returns the name of the kind, for logs.
func (k Kind) String() string {
	switch k {
	case Malformed:
		return "malformed"
	case Conflict:
		return "conflict"
	case TooLarge:
		return "too large"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Error says why a patch was refused. Code, Path and Detail are fit for the client that sent the patch.
//
// Codes of Malformed: "syntax" (not JSON as the gate demands), "duplicate" (a member name twice), "type" (an array,
// object or string is wanted), "required" (a member is missing), "op" (no such operation), "pointer" (no JSON Pointer),
// "ownChild" (a value moved into itself). Of Conflict: "missing" (nothing is there), "index" (no array index), "test"
// (another value is there), "root" (the whole document cannot be removed). Of TooLarge: "operations", "depth", "size".
type Error struct {
	Kind Kind
	// Operation is the index of the operation at fault, and -1 where no single one is.
	Operation int
	// Path is the JSON Pointer at fault as the operation gives it, from "path" or from "from". It points into the
	// document, not into the patch, and is empty where no pointer is at fault.
	Path string
	// Code is a stable word for programs.
	Code string
	// Detail says it to a person.
	Detail string
}

// The codes of Error.Code, in the order of its comment.
const (
	codeSyntax     = "syntax"
	codeDuplicate  = "duplicate"
	codeType       = "type"
	codeRequired   = "required"
	codeOp         = "op"
	codePointer    = "pointer"
	codeOwnChild   = "ownChild"
	codeMissing    = "missing"
	codeIndex      = "index"
	codeTest       = "test"
	codeRoot       = "root"
	codeOperations = "operations"
	codeDepth      = "depth"
	codeSize       = "size"
)

// Error returns the whole of e on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "patch: %v", e.Kind)
	if e.Operation >= 0 {
		fmt.Fprintf(&b, ": operation %d", e.Operation)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, ": path %s", quoted(e.Path))
	}
	fmt.Fprintf(&b, ": %s", e.Detail)
	return b.String()
}

// malformed, conflict and tooLarge make an Error of their kind. Which operation it belongs to is for those to add who
// count them.
func malformed(code, path, format string, args ...any) *Error {
	return &Error{Kind: Malformed, Operation: -1, Path: path, Code: code, Detail: fmt.Sprintf(format, args...)}
}

func conflict(code, path, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Operation: -1, Path: path, Code: code, Detail: fmt.Sprintf(format, args...)}
}

func tooLarge(code, path, format string, args ...any) *Error {
	return &Error{Kind: TooLarge, Operation: -1, Path: path, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// quotedBytes bounds how much of the client's own text a message repeats.
const quotedBytes = 80

// quoted quotes a piece of the client's text for a message, cut where it is long.
func quoted(s string) string {
	if len(s) > quotedBytes {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(s[:quotedBytes], ""))
	}
	return fmt.Sprintf("%q", s)
}
