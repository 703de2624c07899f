package resource_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var securityTest = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)`")

// TestSecurityNotes checks .github/SECURITY.md: each of the ten risks has its row, in order, each row of a table names a
// test, and every named test exists. With -update it follows tests that moved to another folder.
func TestSecurityNotes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(root, ".github", "SECURITY.md")
	text := readText(t, file)
	risks := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| risk ") || strings.HasPrefix(line, "| attack ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		name := strings.TrimSpace(cells[0])
		if strings.HasPrefix(name, "**API") {
			risks++
			if want := fmt.Sprintf("**API%d** ", risks); !strings.HasPrefix(name, want) || len(cells) != 4 {
				t.Errorf("row %q has %d cells, want row %s with 4", name, len(cells), want)
			}
		}
		if !securityTest.MatchString(cells[len(cells)-1]) {
			t.Errorf("row %q names no test", name)
		}
	}
	if risks != 10 {
		t.Errorf("%d risks, want 10", risks)
	}
	folders := testFolders(t)
	current := securityTest.ReplaceAllStringFunc(text, func(named string) string {
		m := securityTest.FindStringSubmatch(named)
		if slices.Contains(folders[m[2]], m[1]) {
			return named
		}
		folder := movedTo(m[1], folders[m[2]])
		switch {
		case folder == "":
			t.Errorf("there is no test %s; it is in %q", named, folders[m[2]])
		case !*update:
			t.Errorf("%s moved to %s; go test ./resource -run TestSecurityNotes -update writes it", named, folder)
		}
		return "`" + folder + "." + m[2] + "`"
	})
	if *update && current != text && !t.Failed() {
		if err := os.WriteFile(file, []byte(current), 0o666); err != nil {
			t.Error(err)
		}
	}
}

// movedTo returns the folder to which a test has moved: the only candidate, or the only one below the old folder. It
// returns "" if that is ambiguous.
func movedTo(old string, candidates []string) string {
	if len(candidates) == 1 {
		return candidates[0]
	}
	below := slices.DeleteFunc(slices.Clone(candidates), func(folder string) bool {
		return !strings.HasPrefix(folder, old+"/")
	})
	if len(below) == 1 {
		return below[0]
	}
	return ""
}
