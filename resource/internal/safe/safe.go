// Package safe limits what code and text of others can do to a process: a panic of a hook becomes
// an error, and text that a client has sent is shortened for the log.
package safe

import (
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
)

// Call calls do. If do panics, the error is a [*PanicError].
func Call(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Recovered(v)
		}
	}()
	return do()
}

// Recovered returns the error of a panic with the value v. It is called in the deferred function
// that has recovered, because it records the stack.
func Recovered(v any) *PanicError { return &PanicError{v, string(debug.Stack())} }

// PanicError is the error of a panic.
type PanicError struct {
	value any
	stack string
}

// Error returns the value of the panic as text.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Stack returns the stack at the panic, for logs.
func (p *PanicError) Stack() string { return p.stack }

// Truncate returns the first 256 bytes of s, followed by "..." if there are more. It limits what a
// request can write to the log.
func Truncate(s string) string {
	if len(s) > 256 {
		return s[:256] + "..."
	}
	return s
}

// maxQuoted is the length in bytes above which Quote shortens a text.
const maxQuoted = 64

// Quote returns a text of the client in quotation marks, for the detail of a problem. It escapes
// control characters and invalid UTF-8, and shortens a long text.
func Quote(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "..."
	}
	return strconv.Quote(s)
}
