//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// lockFile takes an exclusive lock on an open file. The error is errLocked if another process has it. The
// lock is released when the process ends. It belongs to the open file and not to the process. Unlike a
// lock of fcntl, it is not released when another descriptor of the file is closed.
func lockFile(f *os.File) error {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

func unlockFile(f *os.File) error { return flock(f, syscall.LOCK_UN) }

// flock locks or unlocks the file. A signal may interrupt the call, so it is repeated.
func flock(f *os.File, how int) error {
	// Control prevents that the descriptor is closed, and its number reused, during the call.
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = conn.Control(func(fd uintptr) {
		for {
			if locked = syscall.Flock(int(fd), how); !errors.Is(locked, syscall.EINTR) {
				return
			}
		}
	})
	return errors.Join(err, locked)
}

// isInvalidName reports whether err means that the file system does not support a name.
func isInvalidName(err error) bool {
	return errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.EILSEQ)
}

// isDamage reports whether err means that a file cannot be read, now and later.
func isDamage(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EISDIR) || errors.Is(err, fs.ErrPermission)
}

// isFull reports whether err means that the file system or the quota of its user is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// isReadOnly reports whether err means that the file system is mounted read-only. The kernel does
// that after an error of the disk.
func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// inode distinguishes files with the same time and size. A program that replaces a file within the
// resolution of the clock is thereby noticed.
func inode(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return "-" + strconv.FormatUint(uint64(stat.Ino), 36)
	}
	return ""
}
