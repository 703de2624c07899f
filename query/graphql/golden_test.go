package graphql_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
)

var update = flag.Bool("update", false, "write the answers in testdata/exchanges anew")

// TestExchanges replays the exchanges in testdata/exchanges, and compares the responses. The README
// there describes the format.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			t.Parallel()
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			after := converse(t, newTestHandler(t, func(s *setup) {
				s.opts.Limits.Body = 20_000
				s.catalog.Idempotency = idempotency.New(
					idempotency.NewMemory(&idempotency.MemoryOptions{Runner: s.db}), nil)
				s.catalog.Principal = func(context.Context) string { return "ada" }
			}), string(before))
			if after == string(before) {
				return
			}
			if !*update {
				t.Errorf("%s (-want +got); if it is right, run: go test ./query/graphql -run Exchanges "+
					"-update\n%s",
					file, gocmp.Diff(strings.Split(string(before), "\n"), strings.Split(after, "\n")))
			} else if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// converse makes the requests of a conversation and returns it with the answers that it got.
func converse(t *testing.T, h http.Handler, text string) string {
	n := &names{short: map[string]string{}, long: map[string]string{}, counts: map[string]int{}}
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		switch {
		case paragraph == "" || strings.HasPrefix(paragraph, "<"): // the answer of last time
		case strings.HasPrefix(paragraph, ">"):
			line, rest := said(t, n.real(paragraph))
			out = append(out, paragraph, n.answer(t, send(t, h, line, rest...)))
		default:
			out = append(out, paragraph)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// said reads a request, every line of which begins with ">".
func said(t *testing.T, paragraph string) (line string, rest []string) {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(paragraph, "\n") {
		text, ok := strings.CutPrefix(line, ">")
		if !ok {
			t.Fatalf("a line in a request does not begin with >: %q", line)
		}
		lines = append(lines, strings.TrimPrefix(text, " "))
	}
	end := slices.Index(append(lines, ""), "") // of the header
	lines[0] = escaped(lines[0])
	if end == len(lines) {
		return lines[0], lines[1:]
	}
	fields, content := lines[1:end], strings.Join(lines[end+1:], "\n")
	if strings.HasPrefix(lines[0], "POST ") && !slices.ContainsFunc(fields, func(f string) bool {
		return strings.HasPrefix(f, "Content-Type:")
	}) {
		fields, content = append(fields, jsonBody), wrapped(content)
	}
	return lines[0], append(fields, "", content)
}

// escaped escapes the parameters of a request line.
func escaped(line string) string {
	path, query, ok := strings.Cut(line, "?")
	if !ok {
		return line
	}
	var params []string
	for param := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(param, "=")
		params = append(params, name+"="+url.QueryEscape(value))
	}
	return path + "?" + strings.Join(params, "&")
}

// wrapped makes a request of a document and, after an empty line, its variables.
func wrapped(content string) string {
	document, variables, ok := strings.Cut(content, "\n\n")
	body, _ := jsontext.AppendQuote([]byte(`{"query":`), document)
	if ok {
		body = append(append(body, `,"variables":`...), variables...)
	}
	return string(body) + "}"
}

// names gives short names to what is different each time, in the order in which it turns up.
type names struct {
	short  map[string]string // real -> short
	long   map[string]string // short -> real
	counts map[string]int
}

// of returns the name of something, which begins with kind if it has none yet.
func (n *names) of(kind, real string) string {
	if n.short[real] == "" {
		n.counts[kind]++
		short := kind + strconv.Itoa(n.counts[kind])
		n.short[real], n.long[short] = short, real
	}
	return n.short[real]
}

var (
	// shortName is a name that of gave.
	shortName = regexp.MustCompile(`\b(rev|tag|cursor)[0-9]+\b`)
	// itemTag is the tag of an item, in JSON.
	itemTag  = regexp.MustCompile(`\\"([\w~-]+\.[\w-]+)\\"`)
	cursor   = regexp.MustCompile(`("(?:startCursor|endCursor|cursor)": ")([\w-]+)`)
	instance = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`)
)

// real puts what was named back into a request.
func (n *names) real(text string) string {
	return shortName.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(n.long[s], s) })
}

// answer writes a response in the format of the files. Fields of every response are checked and
// left out.
func (n *names) answer(t *testing.T, res *answer) string {
	t.Helper()
	want(t, res, res.status, "X-Content-Type-Options: nosniff")
	if length := res.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(res.body)) {
		t.Errorf("%s: Content-Length %s of %d octets", res.line, length, len(res.body))
	}
	lines := []string{fmt.Sprintf("%d %s", res.status, http.StatusText(res.status))}
	for _, name := range slices.Sorted(maps.Keys(res.header)) {
		value := strings.Join(res.header[name], ", ")
		switch name {
		case "X-Content-Type-Options", "Content-Length":
			continue
		case "Etag":
			name, value = "ETag", `"`+n.of("tag", strings.Trim(value, `"`))+`"`
		}
		lines = append(lines, name+": "+value)
	}
	head := "< " + strings.Join(lines, "\n< ")
	if res.body == "" {
		return head
	}
	body := res.body
	if strings.Contains(res.header.Get("Content-Type"), "json") {
		body = n.readable(string(layOut(t, jsontext.Value(body), 0)))
	}
	return head + "\n<\n< " + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n< ")
}

// readable gives names to what is different each time.
func (n *names) readable(body string) string {
	body = instance.ReplaceAllString(body, "urn:uuid:...")
	body = itemTag.ReplaceAllStringFunc(body, func(s string) string {
		return `\"` + n.of("rev", itemTag.FindStringSubmatch(s)[1]) + `\"`
	})
	return cursor.ReplaceAllStringFunc(body, func(s string) string {
		m := cursor.FindStringSubmatch(s)
		return m[1] + n.of("cursor", m[2])
	})
}

// layOut breaks a value into lines where it does not fit one.
func layOut(t *testing.T, v jsontext.Value, indent int) []byte {
	t.Helper()
	const width = 116
	flat := v.Clone()
	if err := flat.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true),
		jsontext.PreserveRawStrings(true)); err != nil {
		t.Fatalf("%v: %s", err, v)
	}
	if k := v.Kind(); k != '{' && k != '[' || indent+len(flat) <= width {
		return flat
	}
	d := jsontext.NewDecoder(strings.NewReader(string(v)))
	open, _ := d.ReadToken()
	out, inner := []byte(open.String()), "\n"+strings.Repeat(" ", indent+2)
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, inner...)
		value, _ := d.ReadValue() // of a value that Format has read before
		if open.Kind() == '{' {
			out = append(append(out, value...), ": "...)
			value, _ = d.ReadValue()
		}
		out = append(out, layOut(t, value, indent+2)...)
	}
	out = append(out, inner[:len(inner)-2]...)
	closing, _ := d.ReadToken()
	return append(out, closing.String()...)
}
