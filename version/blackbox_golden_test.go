package version_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
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

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

// update rewrites the conversations: go test ./version -run Exchanges -update
var update = flag.Bool("update", false, "write golden files anew")

// TestExchanges replays the exchanges in testdata/exchanges, with a counter that sells one order.
// The README there describes the format.
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
			var changes []func(*market)
			if strings.Contains(file, "other-servers") {
				changes = append(changes, elsewhere)
			}
			after := converse(t, string(before), changes...)
			if after == string(before) {
				return
			}
			if !*update {
				t.Errorf("%s (-want +got); if it is right, run: go test ./version -run Exchanges -update\n%s",
					file, gocmp.Diff(strings.Split(string(before), "\n"), strings.Split(after, "\n")))
			} else if err := os.WriteFile(file, []byte(after), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// converse opens the counter, makes the requests of a conversation and returns it with the answers that it got.
func converse(t *testing.T, text string, changes ...func(*market)) string {
	t.Helper()
	api, clock := openMarket(t, append(changes, func(m *market) { m.stall = counter })...)
	mux := http.NewServeMux()
	mux.Handle("/versions", api.List())
	mux.Handle("/", api)
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.Trim(paragraph, "\n")
		switch {
		case paragraph == "" || strings.HasPrefix(paragraph, "<"): // the answer of last time
		case strings.HasPrefix(paragraph, "@ "):
			now, err := time.Parse(time.RFC3339, paragraph[2:])
			if err != nil {
				t.Fatal(err)
			}
			clock.set(now)
			out = append(out, paragraph)
		case strings.HasPrefix(paragraph, ">"):
			out = append(out, paragraph, spoken(t, request(t, mux, paragraph)))
		default:
			out = append(out, paragraph)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// elsewhere puts 1.0.0 on a server to which requests are redirected, and 1.1.0 on one to which they
// are forwarded.
func elsewhere(m *market) {
	other := version.New([]version.Contract{{Name: "1.1.0", Handler: counter("1.1.0")}},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}}, nil)
	m.contracts[1].At = "https://old.market.example/v1.0"
	m.contracts[2].At, m.contracts[2].Proxy = "http://10.0.0.2:8080/v1", true
	m.options.Logger = slog.New(slog.DiscardHandler)
	m.options.Transport = transportFunc(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/down") {
			return nil, errors.New("dial tcp 10.0.0.2:8080: connect: connection refused")
		}
		r = r.Clone(r.Context())
		if r.Body == nil {
			r.Body = http.NoBody
		}
		r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
		w := httptest.NewRecorder()
		other.ServeHTTP(w, r)
		return w.Result(), nil
	})
}

// request sends the request of a paragraph.
func request(t *testing.T, h http.Handler, paragraph string) *answer {
	t.Helper()
	var lines []string
	for line := range strings.SplitSeq(paragraph, "\n") {
		rest, ok := strings.CutPrefix(line, ">")
		if !ok {
			t.Fatalf("a line in a request does not begin with >: %q", line)
		}
		lines = append(lines, strings.TrimPrefix(rest, " "))
	}
	if end := slices.Index(lines, ""); end >= 0 {
		lines = append(lines[:end+1], strings.Join(lines[end+1:], "\n"))
	}
	return ask(t, h, lines[0], lines[1:]...)
}

// spoken returns a response in the format of the files.
func spoken(t *testing.T, res *answer) string {
	t.Helper()
	if length, ok := res.header["Content-Length"]; ok && !strings.HasPrefix(res.line, "HEAD ") &&
		length[0] != strconv.Itoa(len(res.body)) {
		t.Errorf("%s: Content-Length %s of %d octets", res.line, length, len(res.body))
	}
	lines := []string{fmt.Sprintf("%d %s", res.status, http.StatusText(res.status))}
	for _, name := range slices.Sorted(maps.Keys(res.header)) {
		if name == "Content-Length" || name == "X-Content-Type-Options" {
			continue
		}
		// one target a line
		value := strings.ReplaceAll(strings.Join(res.header[name], ", "), ", <", ",\n   <")
		spelling := map[string]string{"Etag": "ETag", "Api-Version": "API-Version"}[name]
		lines = append(lines, cmp.Or(spelling, name)+": "+value)
	}
	if res.body != "" && !strings.HasPrefix(res.line, "HEAD ") { // which a server would leave out
		lines = append(lines, "", readableJSON(t, res.body))
	}
	text := instance.ReplaceAllString(strings.Join(lines, "\n"), "urn:uuid:...")
	text = "< " + strings.ReplaceAll(text, "\n", "\n< ")
	return strings.ReplaceAll(text, "< \n", "<\n")
}

// readableJSON lays out what does not fit a line.
func readableJSON(t *testing.T, body string) string {
	t.Helper()
	if len(body) <= 110 {
		return strings.TrimSuffix(body, "\n")
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(body), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return leaf.ReplaceAllStringFunc(b.String(), func(s string) string {
		return s[:1] + strings.TrimSpace(blanks.ReplaceAllString(s[1:len(s)-1], " ")) + s[len(s)-1:]
	})
}

// leaf is an array or an object with nothing but plain values in it, which fits a line.
var (
	leaf   = regexp.MustCompile(`[[{][^][{}]{1,110}[]}]`)
	blanks = regexp.MustCompile(`\s+`)
)

// instance is the id of a problem, which differs each time.
var instance = regexp.MustCompile(`urn:uuid:[0-9a-f-]+`)

// orderIn is the order 1 in the shape of each contract.
var orderIn = map[string]string{
	"1.0.0": `{"id":1,"status":"paid","itemId":7,"qty":2}`,
	"1.1.0": `{"id":1,"status":"paid","itemId":7,"qty":2,"note":"at the door"}`,
	"2.0.0": `{"id":1,"status":"paid","lines":[{"itemId":7,"qty":2}],"note":"at the door"}`,
	"3.0.0": `{"id":"1","status":"paid","lines":[{"itemId":7,"qty":2}],"note":"at the door"}`,
}

// counter is what a contract of an application does with what was selected: it answers in the media type that was
// asked for, and with links that stay in the contract.
func counter(name string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/1", func(w http.ResponseWriter, r *http.Request) {
		sel := contract.From(r.Context())
		w.Header().Set("Content-Type", sel.ContentType("order"))
		w.Header().Set("Vary", "Accept-Encoding")
		w.Header().Set("Cache-Control", "private, no-cache")
		w.Header().Set("Link", "<"+sel.URL("/orders")+`>; rel="collection"`)
		_, _ = io.WriteString(w, orderIn[name])
	})
	write := func(w http.ResponseWriter, r *http.Request) {
		sel := contract.From(r.Context())
		content, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", sel.ContentType("order"))
		w.Header().Set("Location", sel.URL("/orders/1"))
		w.WriteHeader(http.StatusCreated)
		member := ""
		if name, value, ok := sel.Member(); ok {
			member = fmt.Sprintf(`,%q:%q`, name, value)
		}
		_, _ = fmt.Fprintf(w, `{"id":1,"received":%s%s}`, content, member)
	}
	mux.HandleFunc("POST /orders", write)
	mux.HandleFunc("PUT /orders/1", write)
	mux.HandleFunc("PATCH /orders/1", write)
	mux.HandleFunc("OPTIONS /orders/1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", "GET, HEAD, PUT, PATCH, OPTIONS")
		w.WriteHeader(http.StatusNoContent)
	})
	return mux
}
