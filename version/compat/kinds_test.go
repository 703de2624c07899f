package compat_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version/compat"
)

var update = flag.Bool("update", false, "write the list of changes in version/README.md")

// TestReadmeKinds compares the list of changes in version/README.md with the kinds of this package.
func TestReadmeKinds(t *testing.T) {
	t.Parallel()
	const file, begin, end = "../README.md", "<!-- kinds: begin -->\n", "<!-- kinds: end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	list, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no list of changes", file)
	}
	var b strings.Builder
	b.WriteString("| needs a new MAJOR | kind |\n|---|---|\n")
	allowed, line := "", "\nAllowed in a MINOR:"
	for _, k := range compat.Kinds() {
		if k.Breaking() {
			b.WriteString("| " + k.Meaning() + " | `" + string(k) + "` |\n")
			continue
		}
		if name := " `" + string(k) + "`"; len(line)+len(name) > 118 {
			allowed += line + "\n"
			line = name[1:]
		} else {
			line += name
		}
	}
	b.WriteString(allowed + line + "\n")
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(b.String(), list); diff != "" {
		t.Errorf("if the change is intended, run the test with -update (-want +got):\n%s", diff)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[compat.Kind]bool{}
	for _, k := range compat.Kinds() {
		if seen[k] {
			t.Errorf("%s is listed twice", k)
		}
		seen[k] = true
		if !strings.HasSuffix(k.Meaning(), ".") || strings.Contains(k.Meaning(), "|") {
			t.Errorf("%s: meaning %q", k, k.Meaning())
		}
	}
	if unknown := compat.Kind("unknown"); !unknown.Breaking() || unknown.Meaning() != "" {
		t.Errorf("an unknown kind: breaking %t, meaning %q", unknown.Breaking(), unknown.Meaning())
	}
}
