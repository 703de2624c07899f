package version_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// The black-box tests send requests to a market. Its contracts are stalls, plain handlers that
// respond with the request. These tests use the rules and the documentation, not the
// implementation.

// market is what a test may change before it opens.
type market struct {
	contracts  []version.Contract
	strategies []version.Strategy
	options    version.Options
	clock      *marketClock
	// stall makes the handler of a contract; seenBy if a test does not set another one.
	stall func(contract string) http.Handler
}

// The life of the contracts. Today the first two are deprecated.
var (
	today     = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	sinceJune = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	nextJune  = time.Date(2027, 6, 30, 23, 59, 59, 0, time.UTC)
	lastYear  = time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
)

// everyStrategy is all that the package has, in the order of the policy table.
func everyStrategy() []version.Strategy {
	return []version.Strategy{
		version.Path{},
		version.Host{Domains: []string{"market.example"}, Others: []string{"127.0.0.1", "[::1]"}},
		version.Query{}, version.Body{}, version.Header{Name: "API-Version"},
		version.MediaType{Vendor: "shop"},
	}
}

// openMarket serves 0.9.0 (retired), 1.0.0 and 1.1.0 (deprecated), 2.0.0 (the default) and 3.0.0 (a preview), by every
// strategy.
func openMarket(t testing.TB, changes ...func(*market)) (*version.Negotiator, *marketClock) {
	t.Helper()
	clock := &marketClock{now: today}
	m := &market{
		clock: clock,
		contracts: []version.Contract{
			{Name: "0.9.0", Deprecated: lastYear.AddDate(0, -6, 0), Sunset: lastYear},
			{
				Name: "1.0.0", Deprecated: sinceJune, Sunset: nextJune,
				DeprecationLink: "https://market.example/moving",
				SunsetLink:      "https://market.example/sunsets",
			},
			{Name: "1.1.0", Deprecated: sinceJune, Sunset: nextJune, OpenAPI: "/openapi/1.1.0.json"},
			{Name: "2.0.0", OpenAPI: "/openapi/2.0.0.json"},
			{Name: "3.0.0", Preview: true},
		},
		strategies: everyStrategy(),
		options:    version.Options{Default: "2.0.0", Now: clock.Now},
		stall:      func(contract string) http.Handler { return seenBy(contract) },
	}
	for _, change := range changes {
		change(m)
	}
	for i := range m.contracts {
		if c := &m.contracts[i]; c.Handler == nil && c.At == "" && c.Name != "0.9.0" {
			c.Handler = m.stall(c.Name)
		}
	}
	return version.New(m.contracts, m.strategies, &m.options), clock
}

// only leaves these strategies.
func only(strategies ...version.Strategy) func(*market) {
	return func(m *market) { m.strategies = strategies }
}

// serving leaves contracts of these names, that are current all of them, and no default.
func serving(names ...string) func(*market) {
	return func(m *market) {
		m.contracts, m.options.Default = nil, ""
		for _, name := range names {
			m.contracts = append(m.contracts, version.Contract{Name: name})
		}
	}
}

// with sets the default: "" for none.
func withDefault(name string) func(*market) { return func(m *market) { m.options.Default = name } }

// answering replaces the handlers of all contracts.
func answering(h http.HandlerFunc) func(*market) {
	return func(m *market) { m.stall = func(string) http.Handler { return h } }
}

// marketClock is a clock that a test moves.
type marketClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *marketClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *marketClock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// seen is what a contract saw of a request.
type seen struct {
	Contract string // of the handler that was asked
	Selected string // the same in the response to From
	Source   string
	Method   string
	Path     string
	RawPath  string
	Query    string
	Target   string // RequestURI
	Type     string // Content-Type
	Coding   string // Content-Encoding
	Body     string `json:"-"`
	Octets   []byte // the same, since JSON carries no octets that are not UTF-8
	ReadErr  string
	Length   int64
	Stated   string // the field Content-Length

	Link    string // Selection.URL("/orders/5")
	Linked  string // Selection.URL("/orders?after=x")
	Param   string // Selection.Query
	Media   string // Selection.MediaType("order")
	Range   string // Selection.Range("order")
	Answer  string // Selection.ContentType("order")
	Claimed bool   // Selection.Content("order")
	Member  string // Selection.Member, as member=contract
}

// seenBy answers with what it sees.
func seenBy(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := seen{
			Contract: name, Method: r.Method, Path: r.URL.Path, RawPath: r.URL.RawPath,
			Query:  r.URL.RawQuery,
			Target: r.RequestURI, Type: r.Header.Get("Content-Type"),
			Coding: r.Header.Get("Content-Encoding"),
			Length: r.ContentLength, Stated: r.Header.Get("Content-Length"),
		}
		content, err := io.ReadAll(r.Body)
		s.Octets = content
		if err != nil {
			s.ReadErr = err.Error()
		}
		s.look(contract.From(r.Context()))
		w.Header().Set("Content-Type", "application/json")
		if r.Method != http.MethodHead {
			_ = json.NewEncoder(w).Encode(s)
		}
	}
}

// look records the selection.
func (s *seen) look(sel contract.Selection) {
	s.Selected, s.Source = sel.Name(), sel.Source()
	s.Link, s.Linked, s.Param = sel.URL("/orders/5"), sel.URL("/orders?after=x"), sel.Query()
	s.Media, s.Range, s.Answer = sel.MediaType("order"), sel.Range("order"), sel.ContentType("order")
	s.Claimed = sel.Content("order")
	if name, contract, ok := sel.Member(); ok {
		s.Member = name + "=" + contract
	}
}

// answer is what came back.
type answer struct {
	line   string // of the request
	status int
	header http.Header
	body   string
}

// ask makes a request as it reads on the wire: the request line, header lines, an empty line, the content. Without a
// Host line it is for market.example; "Host:" means that there is none.
//
//	ask(t, api, "POST /orders", "Content-Type: application/json", "", `{"version":"1"}`)
func ask(t testing.TB, h http.Handler, line string, rest ...string) *answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, asked(t, line, rest...))
	return answered(line, w.Result())
}

// asked is the request of ask.
func asked(t testing.TB, line string, rest ...string) *http.Request {
	t.Helper()
	var fields strings.Builder
	content, host, length := "", "Host: market.example\r\n", true
	for i, s := range rest {
		if s == "" {
			content = strings.Join(rest[i+1:], "")
			break
		}
		if strings.HasPrefix(s, "Host:") {
			host = ""
		}
		length = length && !strings.HasPrefix(s, "Transfer-Encoding:")
		fields.WriteString(s + "\r\n")
	}
	if length && content != "" {
		fields.WriteString("Content-Length: " + strconv.Itoa(len(content)) + "\r\n")
	}
	text := line + " HTTP/1.1\r\n" + host + fields.String() + "\r\n" + content
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	r.RemoteAddr = "192.0.2.1:1234"
	return r.WithContext(t.Context())
}

func answered(line string, res *http.Response) *answer {
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = append(body, " <"+err.Error()+">"...)
	}
	return &answer{line: line, status: res.StatusCode, header: res.Header, body: string(body)}
}

// has checks status and header fields. "ETag:" means that the field is absent, "ETag: *" that it is there.
func (a *answer) has(t testing.TB, status int, fields ...string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %s", a.line, a.status, status, a.body)
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ":")
		value = strings.TrimSpace(value)
		got, there := a.header[http.CanonicalHeaderKey(name)]
		if value == "*" {
			if !there {
				t.Errorf("%s: no %s", a.line, name)
			}
		} else if diff := cmp.Diff(value, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", a.line, name, diff)
		}
	}
}

// saw reads what the contract saw, and checks that the contract is the one.
func (a *answer) saw(t testing.TB, contract string) seen {
	t.Helper()
	var s seen
	if a.status != http.StatusOK {
		t.Errorf("%s: status %d, want contract %s: %s", a.line, a.status, contract, a.body)
		return s
	}
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		t.Errorf("%s: %v: %s", a.line, err, a.body)
	}
	s.Body = string(s.Octets)
	if s.Contract != contract || s.Selected != contract {
		t.Errorf("%s: contract %s was asked and %s selected, want %s", a.line, s.Contract, s.Selected,
			contract)
	}
	return s
}

// refusal is a refusal as a client reads it.
type refusal struct {
	Type      string   `json:"type"`
	Status    int      `json:"status"`
	Detail    string   `json:"detail"`
	Supported []string `json:"supported-versions"`
	Errors    []struct {
		Pointer   *string `json:"pointer"`
		Parameter string  `json:"parameter"`
		Header    string  `json:"header"`
	} `json:"errors"`
}

// marketServes is what every refusal of the market lists.
var marketServes = []string{"3.0.0", "2.0.0", "1.1.0", "1.0.0"}

// refused checks that the answer is a refusal of that kind, with all that the policy wants of one.
func (a *answer) refused(t testing.TB, status int, kind problem.Kind) refusal {
	t.Helper()
	a.has(t, status, "Content-Type: "+problem.MediaType, "Cache-Control: no-store",
		"X-Content-Type-Options: nosniff")
	var r refusal
	if strings.HasPrefix(a.line, "HEAD ") {
		return r
	}
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Errorf("%s: %v: %s", a.line, err, a.body)
	}
	if r.Type != kind.URI() || r.Status != status {
		t.Errorf("%s: got %s (%d), want %s (%d)", a.line, r.Type, r.Status, kind.URI(), status)
	}
	if len(r.Supported) == 0 {
		t.Errorf("%s: no supported-versions in %s", a.line, a.body)
	}
	return r
}

// varies checks that Vary lists each of these once, in whatever order and case, and nothing else.
func (a *answer) varies(t testing.TB, names ...string) {
	t.Helper()
	got := map[string]int{}
	for _, line := range a.header["Vary"] {
		for name := range strings.SplitSeq(line, ",") {
			got[strings.ToLower(strings.TrimSpace(name))]++
		}
	}
	want := map[string]int{}
	for _, name := range names {
		want[strings.ToLower(name)] = 1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: Vary (-want +got):\n%s", a.line, diff)
	}
	if n := len(a.header["Vary"]); len(names) > 0 && n != 1 {
		t.Errorf("%s: Vary has %d lines, want one merged list", a.line, n)
	}
}

// Header lines that many tests send.
const (
	asJSON  = "Content-Type: application/json"
	asMerge = "Content-Type: application/merge-patch+json"
	asPatch = "Content-Type: application/json-patch+json"
)

// recorded is ask for a request that a test has made itself.
func recorded(t testing.TB, h http.Handler, r *http.Request) *answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answered(r.Method+" "+r.RequestURI, w.Result())
}

// kindOf is the type of a problem.
func kindOf(t testing.TB, a *answer) string {
	t.Helper()
	var r refusal
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Errorf("%s: %v: %s", a.line, err, a.body)
	}
	return r.Type
}

// mentions reports whether text holds a name as a word of its own.
func mentions(text, name string) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune("\"\\ ,;:()[]{}/'", r)
	}) {
		if strings.TrimPrefix(strings.TrimSuffix(word, "."), "v") == name {
			return true
		}
	}
	return false
}
