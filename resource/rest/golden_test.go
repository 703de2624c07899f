package rest_test

import (
	"cmp"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	gocmp "github.com/google/go-cmp/cmp"
)

// TestExchanges replays the conversations in testdata/exchanges: it sends the requests of a file
// and compares the responses. The README there describes the format and the substitutions.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".http"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { replay(t, file) }) // so that jobs take the expected time
		})
	}
}

// update rewrites the golden files of this package: go test ./resource/rest -run Exchanges -update
var update = flag.Bool("update", false, "write golden files anew")

// replay sends the requests of a file and compares the responses, or updates the file.
func replay(t *testing.T, file string) {
	// no time in the shop is in the future
	time.Sleep(time.Until(time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)))
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after := converse(t, opened(t, file), string(before))
	if after == string(before) {
		return
	}
	if !*update {
		t.Errorf("%s (-want +got); if it is right, run: go test ./resource/rest -run Exchanges -update\n%s",
			file, gocmp.Diff(strings.Split(string(before), "\n"), strings.Split(after, "\n")))
	} else if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// opened opens the shop for a conversation; for those about contracts, with several contracts.
func opened(t *testing.T, file string) http.Handler {
	switch {
	case strings.HasSuffix(file, "-feeds-contracts.http"):
		return goldenContracts(t, newFeed(t))
	case strings.HasSuffix(file, "-restoring.http"):
		return goldenRestoring(t)
	case strings.HasSuffix(file, "-groups.http"):
		return goldenGroups(t)
	case strings.HasSuffix(file, "-values.http"):
		return goldenValues(t)
	case strings.HasSuffix(file, "-contracts.http"):
		return goldenContracts(t, nil)
	}
	return goldenShop(t)
}

// patience is how long a conversation reads a feed: until its first heartbeat.
const patience = 20 * time.Second

// converse sends the requests of a conversation and returns it with the responses.
func converse(t *testing.T, shop http.Handler, text string) string {
	names := newNames()
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		switch {
		case paragraph == "" || strings.HasPrefix(paragraph, "<"): // the previous response
		case strings.HasPrefix(paragraph, ">"):
			r := parse(t, names, paragraph)
			if r.Header.Get("Accept") == "text/event-stream" { // it does not end by itself
				ctx, cancel := context.WithTimeout(r.Context(), patience)
				defer cancel()
				r = r.WithContext(ctx)
			}
			out = append(out, paragraph, names.answer(t, sent(shop, r)))
		default:
			out = append(out, paragraph)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// parse reads a request. All of its lines begin with ">".
func parse(t *testing.T, names *names, paragraph string) *http.Request {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(paragraph, "\n") {
		rest, ok := strings.CutPrefix(line, ">")
		if !ok {
			t.Fatalf("a line in a request does not begin with >: %q", line)
		}
		lines = append(lines, strings.TrimPrefix(rest, " "))
	}
	end := slices.Index(append(lines, ""), "") // end of the header
	for i := range lines[:end] {
		lines[i] = names.real(lines[i])
	}
	if end < len(lines) {
		lines = append(lines[:end+1], names.realQuoted(strings.Join(lines[end+1:], "\n")))
	}
	return request(t, lines[0], lines[1:]...)
}

// names replaces values that differ in each run by short names, in order of appearance.
type names struct {
	short  map[string]string // real -> short
	long   map[string]string // short -> real
	counts map[string]int
}

func newNames() *names {
	return &names{short: map[string]string{}, long: map[string]string{}, counts: map[string]int{}}
}

// of returns the name of a value. A new name begins with kind.
func (n *names) of(kind, real string) string {
	if n.short[real] == "" {
		n.counts[kind]++
		n.call(real, kind+strconv.Itoa(n.counts[kind]))
	}
	return n.short[real]
}

func (n *names) call(real, short string) {
	n.short[real], n.long[short] = short, real
}

var (
	tagPattern   = regexp.MustCompile(`"([^".]+)\.([^".]+)(?:\.([^"]+))?"`)
	bytesPattern = regexp.MustCompile(`"bytes[0-9]+"`)
	// contractPattern matches the contract and the form in an entity tag.
	contractPattern = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(\+[a-z]+)?`)
	// jobPattern matches a UUID of version 7, which only jobs have.
	jobPattern    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	jobName       = regexp.MustCompile(`\bjob[0-9]+\b`)
	cursorPattern = regexp.MustCompile(`(after=|before=|"next": ")([\w-]+)`)
	// eventPattern matches a cursor of a feed.
	eventPattern = regexp.MustCompile(`(?m)(^id: |^Last-Event-ID: |lastEventId=)([\w-]{22,35}|e[0-9]+)\b`)
)

// tag returns the name of an entity tag. Revision, variant and part have separate names.
func (n *names) tag(t *testing.T, real, variant string, weak bool) string {
	t.Helper()
	if n.short[real] != "" {
		return n.short[real]
	}
	m := tagPattern.FindStringSubmatch(real)
	if m == nil { // a blob, which has no variants
		n.counts["bytes"]++
		n.call(real, fmt.Sprintf("\"bytes%d\"", n.counts["bytes"]))
		return n.short[real]
	}
	kind := "r"
	if weak {
		kind = "list"
	}
	short := n.of(kind, m[1]) + "." + variant
	mark, which := contractPattern.FindString(m[3]), ""
	if mark == "" {
		which = m[3]
	} else {
		short += "." + mark
		which = strings.TrimPrefix(m[3][len(mark):], ".")
	}
	if which != "" {
		short += "." + n.of("part", which)
	}
	short = `"` + short + `"`
	if other := n.long[short]; other != "" {
		t.Errorf("two tags are %s: %s and %s", short, other, real)
	}
	n.call(real, short)
	return short
}

// real replaces names in a line of a request by their values.
func (n *names) real(line string) string {
	line = tagPattern.ReplaceAllStringFunc(line, func(tag string) string { return cmp.Or(n.long[tag], tag) })
	line = jobName.ReplaceAllStringFunc(line, func(name string) string { return cmp.Or(n.long[name], name) })
	line = bytesPattern.ReplaceAllStringFunc(line, func(tag string) string { return cmp.Or(n.long[tag], tag) })
	for _, pattern := range []*regexp.Regexp{cursorPattern, eventPattern} {
		line = pattern.ReplaceAllStringFunc(line, func(s string) string {
			m := pattern.FindStringSubmatch(s)
			return m[1] + cmp.Or(n.long[m[2]], m[2])
		})
	}
	return line
}

// quotedTag matches an entity tag in JSON.
var quotedTag = regexp.MustCompile(`\\"[\w~-]+\.[\w-]+(?:\.[\w.+-]+)?\\"`)

// realQuoted replaces the names of tags in a request body.
func (n *names) realQuoted(content string) string {
	return quotedTag.ReplaceAllStringFunc(content, func(s string) string {
		tag := strings.ReplaceAll(s, `\"`, `"`)
		return strings.ReplaceAll(cmp.Or(n.long[tag], tag), `"`, `\"`)
	})
}

// quoted replaces the tags in a response body by names.
func (n *names) quoted(t *testing.T, content string) string {
	return quotedTag.ReplaceAllStringFunc(content, func(s string) string {
		return strings.ReplaceAll(n.tag(t, strings.ReplaceAll(s, `\"`, `"`), "json", false), `"`, `\"`)
	})
}

// cursors replaces the cursors in a text by names.
func (n *names) cursors(text string) string {
	return cursorPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := cursorPattern.FindStringSubmatch(s)
		return m[1] + n.of("c", m[2])
	})
}

// events replaces the cursors in a stream by names, hides values that differ in each run, and makes
// empty lines visible.
func (n *names) events(text string) string {
	text = eventPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := eventPattern.FindStringSubmatch(s)
		return m[1] + n.of("e", m[2])
	})
	text = retryLine.ReplaceAllString(strings.TrimSuffix(text, "\n"), "retry: 2...")
	return strings.NewReplacer("\n\n", "\n.\n", ": \n", ":\n").Replace(text)
}

// jobs replaces the jobs in a text by names.
func (n *names) jobs(text string) string {
	return jobPattern.ReplaceAllStringFunc(text, func(id string) string { return n.of("job", id) })
}

// usual removes the fields that every response has, after checking them.
func usual(t *testing.T, res *response) {
	t.Helper()
	if res.status >= 400 {
		want(t, res, res.status, "X-Content-Type-Options: nosniff")
	}
	if length, ok := res.header["Content-Length"]; ok && !strings.HasPrefix(res.line, "HEAD ") &&
		length[0] != strconv.Itoa(len(res.body)) {
		t.Errorf("%s: Content-Length %s of %d octets", res.line, length, len(res.body))
	}
	res.header.Del("X-Content-Type-Options")
	res.header.Del("Content-Length")
}

// spelled has the header fields with a usual spelling that differs from that of net/http.
var spelled = map[string]string{"Api-Version": "API-Version", "Etag": "ETag", "Www-Authenticate": "WWW-Authenticate"}

// answer formats a response as in a conversation.
func (n *names) answer(t *testing.T, res *response) string {
	t.Helper()
	usual(t, res)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(res.header)) {
		value := n.jobs(strings.Join(res.header[name], ", "))
		switch name {
		case "Etag":
			variant := cmp.Or(res.header.Get("Content-Encoding"), "json")
			weak := strings.HasPrefix(value, "W/")
			value = map[bool]string{true: "W/"}[weak] + n.tag(t, strings.TrimPrefix(value, "W/"), variant, weak)
		case "Event-Cursor":
			value = n.of("e", value)
		case "Link":
			value = strings.ReplaceAll(n.cursors(value), ", <", ",\n<   <") // one target per line
		}
		lines = append(lines, cmp.Or(spelled[name], name)+": "+value)
	}
	status := fmt.Sprintf("< %d %s", res.status, http.StatusText(res.status))
	head := strings.Join(append([]string{status}, lines...), "\n< ")
	if res.body == "" {
		return head
	}
	body := n.jobs(n.quoted(t, n.cursors(readable(t, res))))
	if res.header.Get("Content-Type") == "text/event-stream" {
		body = n.events(body)
	}
	return head + "\n<\n< " + strings.ReplaceAll(strings.TrimSuffix(body, "\n"), "\n", "\n< ")
}

var instancePattern = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`)

// readable decompresses and formats a body.
func readable(t *testing.T, res *response) string {
	t.Helper()
	body := []byte(res.body)
	if res.header.Get("Content-Encoding") == "gzip" {
		zr, err := gzip.NewReader(strings.NewReader(res.body))
		if err == nil {
			body, err = io.ReadAll(zr)
		}
		if err != nil {
			t.Fatalf("%s: %v", res.line, err)
		}
	}
	if strings.HasPrefix(res.header.Get("Content-Type"), "text/csv") {
		body = []byte(strings.ReplaceAll(string(body), "\r\n", "\n"))
	}
	body = instancePattern.ReplaceAll(body, []byte("urn:uuid:..."))
	if strings.HasSuffix(res.header.Get("Content-Type"), "json") && !strings.Contains(string(body), "\n") {
		return string(layOut(t, body, 0))
	}
	return string(body)
}

// layOut breaks a value that is too long for one line.
func layOut(t *testing.T, v jsontext.Value, indent int) []byte {
	t.Helper()
	const width = 116
	flat := v.Clone()
	if err := flat.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true), jsontext.PreserveRawStrings(true)); err != nil {
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
		value, _ := d.ReadValue() // Format has read the value before
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
