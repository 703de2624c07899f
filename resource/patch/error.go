package patch

// Errors of patches, with the operation and the place in the document.

import (
	"fmt"
	"strings"
)

// Kind classifies an [Error] by the HTTP status code that a server responds with.
type Kind uint8

// The kinds of errors.
const (
	// Malformed means that the patch is invalid for every document. Status code 400.
	Malformed Kind = iota + 1
	// Conflict means that the patch is valid but cannot be applied to this document. Status code
	// 409.
	Conflict
	// TooLarge means that the patch or the patched document exceeds the [Limits]. Status code 413.
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

// Error describes why a patch is invalid or cannot be applied. Code, Path and Detail are meant for
// the client that sent the patch.
//
// The codes of [Malformed] are:
//   - "syntax": the patch is not valid I-JSON.
//   - "duplicate": an object has two members of the same name.
//   - "type": a value has the wrong JSON type.
//   - "required": an operation has no "op", "path", "from" or "value".
//   - "op": the operation does not exist.
//   - "pointer": a path is not a JSON Pointer.
//   - "ownChild": a move into the moved value.
//
// The codes of [Conflict] are:
//   - "missing": the path does not exist.
//   - "index": the path is not an array index.
//   - "test": the value differs from the tested one.
//   - "root": the patch removes the whole document.
//
// The codes of [TooLarge] are "operations", "depth" and "size".
type Error struct {
	Kind Kind
	// Operation is the index of the operation that failed, or -1 if the error does not belong to a
	// single operation.
	Operation int
	// Path is the value of "path" or "from" that caused the error, a JSON Pointer into the
	// document. It is empty if no pointer caused it.
	Path string
	// Code identifies the error for programs. It is one of the codes above.
	Code string
	// Detail describes the error for developers of the client.
	Detail string
}

// The values of Error.Code, in the order of its comment.
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

// Error returns kind, operation and detail on one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "patch: %v", e.Kind)
	if e.Operation >= 0 {
		fmt.Fprintf(&b, ": operation %d", e.Operation)
	}
	fmt.Fprintf(&b, ": %s", e.Detail)
	return b.String()
}

// The constructors malformed, conflict and tooLarge return an Error without an operation. Their
// callers set Operation.
func malformed(code, path, format string, args ...any) *Error {
	return &Error{Kind: Malformed, Operation: -1, Path: path, Code: code,
		Detail: fmt.Sprintf(format, args...)}
}

func conflict(code, path, format string, args ...any) *Error {
	return &Error{Kind: Conflict, Operation: -1, Path: path, Code: code, Detail: fmt.Sprintf(format, args...)}
}

func tooLarge(code, path, format string, args ...any) *Error {
	return &Error{Kind: TooLarge, Operation: -1, Path: path, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// quotedBytes limits the length of the client's text that a message repeats.
const quotedBytes = 80

// quoted quotes a text of the client for a message and truncates it to quotedBytes.
func quoted(s string) string {
	if len(s) > quotedBytes {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(s[:quotedBytes], ""))
	}
	return fmt.Sprintf("%q", s)
}
