package files

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The folders for everything that is not content.
const (
	control    = ".stoa"
	metaFolder = control + "/meta"
	goneFolder = control + "/gone"
	tempFolder = control + "/tmp"
	lockFolder = control + "/locks"
)

// servable reports whether a file with this name is served: it must be a valid file name, not a
// path, on every system, and not hidden. 255 bytes is the limit of most file systems. Dots are
// excluded with the first character, and with them .stoa.
func servable(name string) bool {
	if name == "" || len(name) > 255 || name[0] == '.' || !utf8.ValidString(name) ||
		strings.ContainsAny(name, `/\`) ||
		strings.ContainsFunc(name, unicode.IsControl) || !filepath.IsLocal(name) {
		return false
	}
	if runtime.GOOS == "windows" { // alternate streams, and suffixes that Windows ignores
		return !strings.Contains(name, ":") && !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, " ")
	}
	return true
}

// keyOf returns the key of a name in meta. Names that some file system treats as equal have keys
// with the same first two digits, and therefore the same lock. Case is ignored, and all names
// beyond ASCII begin with 00, because systems compare them differently.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(fold(name)))
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		sum[0] = 0
	}
	return hex.EncodeToString(sum[:16])
}

// fold converts ASCII letters to lower case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, name)
}

// identity distinguishes the contents of one name by properties that a rename and a backup keep:
// time and size. Nanoseconds are used, because setUniqueTime sets them.
func identity(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
}
