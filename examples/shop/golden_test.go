package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

var update = flag.Bool("update", false, "rewrite the responses in testdata/exchanges")

// TestExchanges replays the conversations in testdata/exchanges on each database. The README there
// describes the format.
func TestExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/exchanges/*.http")
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		for name, open := range databases() {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".http")+"/"+name, func(t *testing.T) {
				t.Parallel()
				replay(t, file, open(t))
			})
		}
	}
}

// replay runs one conversation on one database. The flag -update writes the responses of the shop
// in memory.
func replay(t *testing.T, file, source string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	after := converse(t, string(before), source)
	if after == string(before) {
		return
	}
	if !*update || source != "memory" {
		t.Errorf(
			"%s (-want +got); if it is right, run: go test -C examples ./shop -run Exchanges -update\n%s",
			file, gocmp.Diff(strings.Split(string(before), "\n"), strings.Split(after, "\n")))
	} else if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// opened is a shop with fixed clocks: its data is from a morning in 2024, and the life cycle of its
// contracts is in November 2026.
type opened struct {
	http.Handler
	collections *collections
	now         time.Time // clock of the life cycle
	today       time.Time // clock of the collections
}

func openShop(t *testing.T) *opened {
	t.Helper()
	return openShopOn(t, settings{db: "memory", cache: "private, no-cache"})
}

// databases returns the kinds of databases, as values of -db.
func databases() map[string]func(t *testing.T) string {
	return map[string]func(t *testing.T) string{
		"memory":     func(*testing.T) string { return "memory" },
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "shop.db") },
		"PostgreSQL": func(t *testing.T) string { return sqltest.PostgreSQL(t) },
	}
}

// openShopOn opens a shop with other settings.
func openShopOn(t *testing.T, s settings) *opened {
	t.Helper()
	o := &opened{now: time.Date(2026, time.November, 21, 8, 0, 0, 0, time.UTC),
		today: time.Date(2024, time.March, 1, 8, 0, 0, 0, time.UTC)}
	if s.files == "" {
		s.files = t.TempDir()
	}
	s.patience = time.Hour // password hashes are slow under the race detector
	db, err := openDatabase(t.Context(), s.db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.close() })
	c, err := newCollections(t.Context(), db, s, func() time.Time { return o.today })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.close() })
	if _, err := c.seed(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	o.collections = c
	s.addr = "127.0.0.1:8080"
	catalogs := c.catalogs()
	negotiator := newNegotiator(newContractHandlers(c, catalogs), s, func() time.Time { return o.now })
	o.Handler = newNeutral(negotiator, catalogs, c.restOptions(), s,
		db.ready).before(c.withCaller(negotiator), s.addr)
	return o
}

// catalogsAgain builds the catalogs of an open shop a second time, with a Guard of their own, as another process
// has.
func (o *opened) catalogsAgain(t *testing.T) map[string]*resource.Catalog {
	t.Helper()
	var err error
	if o.collections.once, err = o.collections.newKeyGuard(t.Context(), settings{}); err != nil {
		t.Fatal(err)
	}
	return o.collections.catalogs()
}

// converse opens a shop, sends the requests of a conversation and returns it with the responses.
func converse(t *testing.T, text, source string) string {
	shop, names := openShopOn(t, settings{db: source, cache: "private, no-cache"}), &names{
		short:  map[string]string{},
		long:   map[string]string{},
		counts: map[string]int{},
	}
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		switch {
		case paragraph == "" || strings.HasPrefix(paragraph, "<"): // the previous response
		case strings.HasPrefix(paragraph, ">"):
			w := httptest.NewRecorder()
			shop.ServeHTTP(w, spoken(t, names, paragraph))
			out = append(out, paragraph, names.written(t, w))
		case strings.HasPrefix(paragraph, "@"):
			now, err := time.Parse(time.RFC3339, strings.TrimSpace(paragraph[1:]))
			if err != nil {
				t.Fatal(err)
			}
			shop.now = now
			out = append(out, paragraph)
		default:
			out = append(out, paragraph)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// spoken parses a request. Each of its lines begins with ">".
func spoken(t *testing.T, names *names, paragraph string) *http.Request {
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
	head, body := lines[:end], names.real(strings.Join(lines[min(end+1, len(lines)):], "\n"))
	method, target, _ := strings.Cut(names.real(head[0]), " ")
	header := append([]string{method + " " + target + " HTTP/1.1"}, head[1:]...)
	if !slices.ContainsFunc(header, func(line string) bool { return strings.HasPrefix(line, "Host:") }) {
		header = append(header, "Host: localhost:8080")
	}
	header = append(header, "Content-Length: "+strconv.Itoa(len(body)))
	wire := names.real(strings.Join(header, "\r\n")) + "\r\n\r\n" + body
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(wire)))
	if err != nil {
		t.Fatalf("%v: %s", err, wire)
	}
	return r.WithContext(t.Context())
}

// names replaces values that differ in each run by short names, numbered in order of appearance.
type names struct {
	short  map[string]string // real -> short
	long   map[string]string // short -> real
	counts map[string]int
}

func (n *names) of(kind, real string) string {
	if n.short[real] == "" {
		n.counts[kind]++
		short := kind + strconv.Itoa(n.counts[kind])
		n.short[real], n.long[short] = short, real
	}
	return n.short[real]
}

var (
	tagPattern    = regexp.MustCompile(`"([\w-]+)\.([\w-]+)\.([^"]+)"`) // revision, representation, and the rest
	cursorPattern = regexp.MustCompile(
		`((?:after|before)=|"(?:next|after|before|cursor|startCursor|endCursor)": ?")([\w-]+)`)
	// In JSON, with or without the rest.
	resultPattern   = regexp.MustCompile(`\\"([\w-]+)\.([\w-]{6,})((?:\.[^"\\]+)?)\\"`)
	jobPattern      = regexp.MustCompile(`(/jobs/|"id": ?")(job[0-9]+|[0-9a-f]{8}-[0-9a-f-]{27})`)
	jsonPattern     = regexp.MustCompile(`json(; charset=utf-8)?$`)
	instancePattern = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`)
)

// real replaces the short names in a request by the real values.
func (n *names) real(text string) string {
	long := func(name string) string { return cmp.Or(n.long[name], name) }
	text = tagPattern.ReplaceAllStringFunc(text, func(tag string) string {
		m := tagPattern.FindStringSubmatch(tag)
		return `"` + long(m[1]) + "." + long(m[2]) + "." + m[3] + `"`
	})
	text = resultPattern.ReplaceAllStringFunc(text, func(tag string) string {
		m := resultPattern.FindStringSubmatch(tag)
		return `\"` + long(m[1]) + "." + long(m[2]) + m[3] + `\"`
	})
	for _, pattern := range []*regexp.Regexp{cursorPattern, jobPattern} {
		text = pattern.ReplaceAllStringFunc(text, func(s string) string {
			m := pattern.FindStringSubmatch(s)
			return m[1] + long(m[2])
		})
	}
	return text
}

// named replaces the values in a response by short names, except in its own tag.
func (n *names) named(text string) string {
	text = resultPattern.ReplaceAllStringFunc(text, func(tag string) string {
		m := resultPattern.FindStringSubmatch(tag)
		return `\"` + n.of("r", m[1]) + "." + n.of("shape", m[2]) + m[3] + `\"`
	})
	text = jobPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := jobPattern.FindStringSubmatch(s)
		return m[1] + n.of("job", m[2])
	})
	return n.cursors(text)
}

func (n *names) cursors(text string) string {
	return cursorPattern.ReplaceAllStringFunc(text, func(s string) string {
		m := cursorPattern.FindStringSubmatch(s)
		return m[1] + n.of("c", m[2])
	})
}

// written formats a response for a conversation.
func (n *names) written(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	header := w.Header()
	if got := header.Get("X-Content-Type-Options"); got != "nosniff" && w.Code >= 400 {
		t.Errorf("X-Content-Type-Options is %q", got)
	}
	header.Del("X-Content-Type-Options")
	header.Del("Content-Length")
	lines := []string{fmt.Sprintf("< %d %s", w.Code, http.StatusText(w.Code))}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		value := strings.Join(header[name], ", ")
		switch name {
		case "Etag":
			name, value = "ETag", tagPattern.ReplaceAllStringFunc(value, func(tag string) string {
				m := tagPattern.FindStringSubmatch(tag)
				return `"` + n.of("r", m[1]) + "." + n.of("shape", m[2]) + "." + m[3] + `"`
			})
		case "Link":
			value = strings.ReplaceAll(value, ", <", ",\n<   <") // one target per line
		case "Api-Version":
			name = "API-Version"
		case "Event-Cursor": // depends on whether the feed has read the last change
			value = "..."
		}
		lines = append(lines, "< "+name+": "+n.named(value))
	}
	if body := n.named(readable(t, w)); body != "" {
		lines = append(lines, "<", "< "+strings.ReplaceAll(body, "\n", "\n< "))
	}
	return strings.Join(lines, "\n")
}

// readable formats a response body that is too long for a line.
func readable(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	body := instancePattern.ReplaceAllString(strings.TrimSpace(w.Body.String()), "urn:uuid:...")
	if len(body) <= 118 || !jsonPattern.MatchString(w.Header().Get("Content-Type")) {
		return body
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(body), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return out.String()
}
