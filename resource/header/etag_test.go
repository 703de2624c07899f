package header_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestRule097IfMatchStrong(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		lines     []string
		candidate string
		want      bool
	}{
		{"the same", []string{`"x"`}, `"x"`, true},
		{"one of many", []string{`"a", "x"`, `"b"`}, `"x"`, true},
		{"another", []string{`"y"`}, `"x"`, false},
		{"case counts", []string{`"X"`}, `"x"`, false},
		{"a weak tag matches nothing", []string{`W/"x"`}, `"x"`, false},
		{"a weak tag does not match itself", []string{`W/"x"`}, `W/"x"`, false},
		{"nothing matches a weak tag", []string{`"x"`}, `W/"x"`, false},
		{"weak beside strong", []string{`W/"x", "x"`}, `"x"`, true},
		{"any", []string{"*"}, `"x"`, true},
		{"absent", nil, `"x"`, false},
		{"the empty tag", []string{`""`}, `""`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkMatch(t, tt.lines, tt.candidate, false, tt.want)
		})
	}
}

func TestRule098IfNoneMatchWeak(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		lines     []string
		candidate string
		want      bool
	}{
		{"the same", []string{`"x"`}, `"x"`, true},
		{"weak and strong", []string{`W/"x"`}, `"x"`, true},
		{"strong and weak", []string{`"x"`}, `W/"x"`, true},
		{"weak and weak", []string{`W/"x"`}, `W/"x"`, true},
		{"another", []string{`W/"y", "z"`}, `"x"`, false},
		{"any", []string{"*"}, `W/"x"`, true},
		{"absent", nil, `"x"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkMatch(t, tt.lines, tt.candidate, true, tt.want)
		})
	}
}

// checkMatch compares by MatchTag and, for a strong candidate or a weak comparison, by the parsed
// tags.
func checkMatch(t *testing.T, lines []string, candidate string, weak, want bool) {
	t.Helper()
	got, ok := header.MatchTag(lines, candidate, weak)
	if got != want || !ok {
		t.Errorf("MatchTag(%q, %s, %v) = %v, %v, want %v, true", lines, candidate, weak, got, ok, want)
	}
	tags, err := header.ParseTags(lines)
	if err != nil {
		t.Fatalf("ParseTags(%q): %v", lines, err)
	}
	opaque, isWeak := strings.CutPrefix(candidate, "W/")
	opaque = strings.Trim(opaque, `"`)
	switch {
	case weak:
		got = tags.Weak(opaque)
	case isWeak:
		return // Strong compares strong tags only.
	default:
		got = tags.Strong(opaque)
	}
	if got != want {
		t.Errorf("ParseTags(%q) matches %s: %v, want %v", lines, candidate, got, want)
	}
}

func TestRule101ParseTags(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  header.Tags
	}{
		{"absent", nil, header.Tags{}},
		{"any", []string{"*"}, header.Tags{Any: true}},
		{"any with blanks", []string{" * "}, header.Tags{Any: true}},
		{"one", []string{`"abc"`}, tagList("abc")},
		{"weak", []string{`W/"abc"`}, header.Tags{List: []header.Tag{{Opaque: "abc", Weak: true}}}},
		{"two lines", []string{`"a"`, `"b","c"`}, tagList("a", "b", "c")},
		{"blanks around commas", []string{" \"a\"\t,  \"b\" "}, tagList("a", "b")},
		{"no blanks are needed", []string{`"a","b"`}, tagList("a", "b")},
		{"empty members", []string{`,, "a",, "b" ,`, ""}, tagList("a", "b")},
		{"a comma belongs to the tag", []string{`"a,b", ","`}, tagList("a,b", ",")},
		{"a backslash escapes nothing", []string{`"a\", "b\\"`}, tagList(`a\`, `b\\`)},
		{"bytes beyond ASCII", []string{"\"\x80\xffé\""}, tagList("\x80\xffé")},
		{"an empty tag", []string{`""`}, tagList("")},
		{"a star within a tag", []string{`"*"`}, tagList("*")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := header.ParseTags(tt.lines)
			if err != nil {
				t.Fatalf("ParseTags(%q): %v", tt.lines, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseTags(%q) mismatch (-want +got):\n%s", tt.lines, diff)
			}
		})
	}
}

func tagList(opaque ...string) header.Tags {
	var tags header.Tags
	for _, o := range opaque {
		tags.List = append(tags.List, header.Tag{Opaque: o})
	}
	return tags
}

func TestRule101ParseTagsRefuses(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{
		{""}, {" , ,"}, {"", ","},
		{`*, "a"`}, {`"a", *`}, {"*", `"a"`}, {"*, *"}, {"**"}, {`*"a"`},
		{"a"}, {`"a`}, {`a"`}, {`"a" "b"`}, {`"a""b"`}, {`"a"b`}, {`"a", b`},
		{`w/"a"`}, {`W/a`}, {`W/`}, {`W "a"`}, {`W/ "a"`}, {`W/W/"a"`}, {`W/*`},
		{`"a b"`}, {"\"a\tb\""}, {"\"a\x7f\""}, {"\"a\x00\""}, {`'a'`}, {`"a";q=1`},
	} {
		t.Run(strings.Join(lines, "|"), func(t *testing.T) {
			t.Parallel()
			if tags, err := header.ParseTags(lines); err == nil {
				t.Errorf("ParseTags(%q) = %+v, want an error", lines, tags)
			}
			if match, ok := header.MatchTag(lines, `"a"`, true); match || ok {
				t.Errorf("MatchTag(%q) = %v, %v, want false, false", lines, match, ok)
			}
		})
	}
}

func TestMatchTagBadCandidate(t *testing.T) {
	t.Parallel()
	for _, candidate := range []string{"", "a", `"a`, `"a"b`, `"a", "b"`} {
		if match, ok := header.MatchTag([]string{`"a", "b"`}, candidate, true); match || !ok {
			t.Errorf("MatchTag with candidate %q = %v, %v, want false, true", candidate, match, ok)
		}
	}
}

func TestMatchTagAllocations(t *testing.T) {
	lines := []string{`W/"abc.1", "abc.2"`}
	if n := testing.AllocsPerRun(100, func() { header.MatchTag(lines, `"abc.2"`, true) }); n != 0 {
		t.Errorf("MatchTag allocates %v times, want 0", n)
	}
}

func TestAppendTag(t *testing.T) {
	t.Parallel()
	dst := header.AppendTag([]byte("ETag: "), header.Tag{Opaque: "a,b"})
	dst = header.AppendTag(append(dst, ' '), header.Tag{Opaque: "c", Weak: true})
	if diff := cmp.Diff(`ETag: "a,b" W/"c"`, string(dst)); diff != "" {
		t.Errorf("AppendTag mismatch (-want +got):\n%s", diff)
	}
}

func FuzzParseTags(f *testing.F) {
	f.Add(`"a", W/"b,c"`, `"a"`)
	f.Add("*", `W/"a"`)
	f.Add("*\n\"a\"", `"a"`)
	f.Add(",,\n \"\\\" ,", `"\"`)
	f.Fuzz(func(t *testing.T, field, candidate string) {
		lines := strings.Split(field, "\n")
		tags, err := header.ParseTags(lines)
		single, candidateErr := header.ParseTags([]string{candidate})
		for _, weak := range []bool{false, true} {
			match, ok := header.MatchTag(lines, candidate, weak)
			if ok != (err == nil) {
				t.Fatalf("ParseTags(%q) error %v, MatchTag ok %v", lines, err, ok)
			}
			if candidateErr != nil || len(single.List) != 1 ||
				string(header.AppendTag(nil, single.List[0])) != candidate {
				continue // not the canonical form of one tag, which MatchTag requires
			}
			tag := single.List[0]
			want := tags.Any || tags.Weak(tag.Opaque) && (weak || tags.Strong(tag.Opaque) && !tag.Weak)
			if ok && match != want {
				t.Errorf("MatchTag(%q, %q, %v) = %v, want %v", lines, candidate, weak, match, want)
			}
		}
		if err != nil || tags.Any {
			return
		}
		// Parsing the formatted tags yields the same tags.
		var again []string
		for _, tag := range tags.List {
			again = append(again, string(header.AppendTag(nil, tag)))
		}
		got, err := header.ParseTags([]string{strings.Join(again, ", ")})
		if diff := cmp.Diff(tags, got); diff != "" || err != nil {
			t.Errorf("ParseTags(%q) after AppendTag: %v (-want +got):\n%s", lines, err, diff)
		}
	})
}

func ExampleParseTags() {
	tags, err := header.ParseTags([]string{`"7.json", W/"6.json"`})
	fmt.Println(tags.Strong("7.json"), tags.Strong("6.json"), tags.Weak("6.json"), err)
	// Output: true false true <nil>
}

func ExampleMatchTag() {
	ifNoneMatch := []string{`W/"7.json"`}
	match, ok := header.MatchTag(ifNoneMatch, `"7.json"`, true)
	fmt.Println(match, ok)
	// Output: true true
}

func BenchmarkMatchTag(b *testing.B) {
	lines := []string{`"0192f3a1c0de.5f3a9c11"`}
	b.ReportAllocs()
	for b.Loop() {
		header.MatchTag(lines, `"0192f3a1c0de.5f3a9c11"`, true)
	}
}

func BenchmarkParseTags(b *testing.B) {
	lines := []string{`"0192f3a1c0de.5f3a9c11"`}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = header.ParseTags(lines)
	}
}
