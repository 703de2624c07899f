//go:build !plan9

package retry

import (
	"errors"
	"syscall"
)

// Exhausted reports whether err means that the process or the system has no file descriptor or no memory
// left. A later attempt may succeed.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}
