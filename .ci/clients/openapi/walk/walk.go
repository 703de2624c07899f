// Package walk asks a server thousands of random questions, out of the OpenAPI document that it
// publishes, and holds each answer against that document.
//
// A walk visits all operations. It sends valid requests, made from the schemas of parameters and content, and
// valid ones with one mistake put in. What must hold:
//
//   - a valid request validates, and the server does not refuse it as one that it cannot understand;
//   - a mistake is refused with a status of 400 or more;
//   - every response, whatever its status, is documented: status, header fields, media type, content.
//
// The validation itself is github.com/getkin/kin-openapi's. It leaves out some things, which are
// checked here: fields and members that no document mentions, content where none is documented, and
// the answers to HEAD and the 304s.
//
// walk.go has the loop; operation.go is the document as a walk sees it, memory.go what has been
// learnt from responses, valid.go makes requests, mistake.go spoils them, value.go and pattern.go
// make values, and check.go judges.
package walk

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
)

// Options of a walk.
type Options struct {
	// Document is the OpenAPI document, as JSON.
	Document []byte
	// URL is that of the server, such as http://127.0.0.1:8080. The servers of the document are
	// resolved against it.
	URL string
	// Prism reports that URL is a proxy of Stoplight's Prism before the server, where the paths of
	// the document begin. Then all requests are valid, and what the proxy notes about them is a
	// violation too. What Prism 5.16 does not know is left out: HEAD where the document has only
	// GET, JSON Patch beside merge patch, and answers without content.
	Prism bool
	// Requests is how many are sent.
	Requests int
	// Seed makes a walk ask the same again.
	Seed uint64
}

// Report is what came of a walk.
type Report struct {
	Requests, Mistakes int
	// Statuses counts the responses by operation and status: "getOrder 200".
	Statuses map[string]int
	// Violations are descriptions of what does not hold, with request and response. A walk ends
	// when there are too many.
	Violations []string
}

// enough is the number of violations that end a walk: more of them are not useful.
const enough = 10

type walker struct {
	opts       *Options
	rand       *rand.Rand
	operations []*operation
	memory     map[string]*memory // by collection
	client     *http.Client
	reported   map[string]bool // the faults in the report
	depth      int             // of the object that is being made
	keys       int             // that were made
	report     Report
}

// Run walks. The error means that no walk was possible; violations are in the report.
func Run(ctx context.Context, opts *Options) (*Report, error) {
	operations, err := load(ctx, opts.Document)
	if err != nil {
		return nil, err
	}
	w := &walker{
		opts:       opts,
		rand:       rand.New(rand.NewPCG(opts.Seed, 0)),
		operations: operations,
		memory:     map[string]*memory{},
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		reported: map[string]bool{},
		report:   Report{Statuses: map[string]int{}},
	}
	for _, op := range operations {
		if w.memory[op.collection] == nil {
			w.memory[op.collection] = newMemory()
		}
	}
	for w.report.Requests < opts.Requests && len(w.report.Violations) < enough {
		if err := w.step(ctx); err != nil {
			return nil, err
		}
	}
	return &w.report, nil
}

// step sends one request and judges the answer.
func (w *walker) step(ctx context.Context) error {
	q := w.valid(w.operation())
	if !w.opts.Prism && w.chance(0.35) {
		w.spoil(q)
	}
	req, err := w.request(ctx, q)
	if err != nil {
		return err
	}
	var faults []error
	if q.mistake == "" {
		faults = append(faults, q.checkRequest(ctx, req.Clone(ctx)))
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL, err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return fmt.Errorf("%s %s: %w", req.Method, req.URL, err)
	}
	if w.opts.Prism {
		faults = append(faults, noted(resp.Header))
	}
	faults = append(faults, q.checkStatus(resp.StatusCode), q.checkResponse(ctx, req, resp, body))
	w.count(q, resp)
	for _, fault := range faults {
		if fault != nil && w.isNew(q, fault) {
			w.report.Violations = append(w.report.Violations, w.describe(q, req, resp, body, fault))
		}
	}
	w.learn(q, resp, body)
	return nil
}

// isNew reports whether such a fault of the operation has not been reported yet.
func (w *walker) isNew(q *question, fault error) bool {
	line, _, _ := strings.Cut(fault.Error(), "\n")
	key := q.op.id + ": " + line
	isNew := !w.reported[key]
	w.reported[key] = true
	return isNew
}

func (w *walker) count(q *question, resp *http.Response) {
	w.report.Requests++
	if q.mistake != "" {
		w.report.Mistakes++
	}
	w.report.Statuses[fmt.Sprintf("%s %d", q.op.id, resp.StatusCode)]++
}

// describe returns all that is needed to understand a violation without repeating the walk.
func (w *walker) describe(q *question, req *http.Request, resp *http.Response, body []byte, fault error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: request %d of seed %d", q.op.id, w.report.Requests, w.opts.Seed)
	if q.mistake != "" {
		fmt.Fprintf(&b, ", with the mistake %q", q.mistake)
	}
	fmt.Fprintf(&b, ": %v\n", fault)
	req.Body = nil
	if dump, err := httputil.DumpRequest(req, false); err == nil {
		fmt.Fprintf(&b, "%s%s\n\n", dump, shorten(q.body))
	}
	if dump, err := httputil.DumpResponse(resp, false); err == nil {
		fmt.Fprintf(&b, "%s%s\n", dump, shorten(body))
	}
	return b.String()
}

func shorten(b []byte) string {
	const most = 2000
	if len(b) > most {
		return fmt.Sprintf("%s... (%d bytes)", b[:most], len(b))
	}
	return string(b)
}

// operation chooses what to do next. Deletions are rarer, so that there is something to ask about,
// and so is OPTIONS, to which there is only one answer.
func (w *walker) operation() *operation {
	for {
		op := pick(w.rand, w.operations)
		if op.method != http.MethodDelete && op.method != http.MethodOptions || w.chance(0.3) {
			return op
		}
	}
}

func (w *walker) chance(p float64) bool { return w.rand.Float64() < p }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// String is a table of what was asked and answered.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, %d of them with a mistake, %d violations\n", r.Requests, r.Mistakes, len(r.Violations))
	last := ""
	for _, key := range sortedKeys(r.Statuses) {
		id, status, _ := strings.Cut(key, " ")
		if id != last {
			fmt.Fprintf(&b, "%s  %-16s", strings.Repeat("\n", min(1, len(last))), id)
		}
		last = id
		fmt.Fprintf(&b, "  %s: %d", status, r.Statuses[key])
	}
	return b.String()
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
