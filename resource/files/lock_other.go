//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package files

import (
	"io/fs"
	"os"
)

// Here only one process may write to a folder, so there is nobody to be kept apart from.

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

func tryLockFile(*os.File) bool { return true }

func unnameable(error) bool { return false }

func inode(fs.FileInfo) string { return "" }
