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

// The folders in which is kept what names have no room for.
const (
	control    = ".stoa"
	metaFolder = control + "/meta"
	goneFolder = control + "/gone"
	tempFolder = control + "/tmp"
	lockFolder = control + "/locks"
)

// servable reports whether a file with this name is served: one that is a name and not a path on any system, and not hidden.
func servable(name string) bool {
	if name == "" || len(name) > 255 || name[0] == '.' || !utf8.ValidString(name) ||
		strings.ContainsAny(name, `/\`) ||
		strings.ContainsFunc(name, unicode.IsControl) || !filepath.IsLocal(name) {
		return false
	}
	if runtime.GOOS == "windows" { // streams of a file, and endings that the system takes off
		return !strings.Contains(name, ":") && !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, " ")
	}
	return true
}

// keyOf is what stands for a name in meta. Names that some file system could take for the same one have keys with the same
// first two digits, by which writers are kept apart: case makes no difference, and names beyond ASCII, of which each system
// has its own idea of equality, all begin with 00.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(fold(name)))
	if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		sum[0] = 0
	}
	return hex.EncodeToString(sum[:16])
}

// fold makes ASCII letters small.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, name)
}

// identity tells the contents of one name apart by what a rename and a careful copy keep: time and size.
func identity(info fs.FileInfo) string {
	return strconv.FormatInt(info.ModTime().UnixNano(), 36) + "-" + strconv.FormatInt(info.Size(), 36)
}
