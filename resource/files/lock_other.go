//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import (
	"io/fs"
	"os"
)

// Only one process may write to a folder on these systems, so file locks are not needed.

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

func isInvalidName(error) bool { return false }

func isDamage(error) bool { return false }

func isFull(error) bool { return false }

func isReadOnly(error) bool { return false }

func inode(fs.FileInfo) string { return "" }
