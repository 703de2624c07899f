package version_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// changing returns a Negotiator of contracts with snapshots of their GraphQL schemas.
func changing(t *testing.T, schemas map[string]string, change func([]version.Contract, *version.Options)) *version.Negotiator {
	t.Helper()
	opts := &version.Options{Default: "2.0.0", Now: func() time.Time { return today }}
	var recorded compat.Snapshots
	for name, sdl := range schemas {
		s, err := compat.Record(t.Context(), compat.Source{Contract: name, SDL: sdl})
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, s)
		opts.Snapshots = recorded
	}
	contracts := []version.Contract{
		{Name: "2.0.0", Handler: http.NotFoundHandler(), OpenAPI: "/openapi/2.0.0.json"},
		{Name: "1.1.0", Handler: http.NotFoundHandler(), Deprecated: sinceJune, Sunset: nextJune,
			DeprecationLink: "/changes"},
		{Name: "1.0.0", Handler: http.NotFoundHandler(), Deprecated: sinceJune, Sunset: nextJune},
		{Name: "0.9.0", Sunset: lastYear},
	}
	if change != nil {
		change(contracts, opts)
	}
	return version.New(contracts, []version.Strategy{version.Header{Name: "API-Version"}}, opts)
}

var changingSchemas = map[string]string{
	"1.0.0": "type Query { a: Int }",
	"1.1.0": "type Query { a: Int b: Int }",
	"2.0.0": "type Query { b: Int }",
}

func TestChangesInList(t *testing.T) {
	t.Parallel()
	type change struct {
		Kind     string
		Breaking bool
		Place    string
	}
	type changes struct {
		Since string
		List  []change
	}
	var list struct {
		Versions []struct {
			Name    string
			Changes *changes
		}
	}
	res := ask(t, changing(t, changingSchemas, nil).List(), "GET /versions")
	if err := json.Unmarshal([]byte(res.body), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]*changes{}
	for _, v := range list.Versions {
		got[v.Name] = v.Changes
	}
	want := map[string]*changes{
		"2.0.0": {"1.1.0", []change{{"field-removed", true, "Query.a"}}},
		"1.1.0": {"1.0.0", []change{{"field-added", false, "Query.b"}}},
		"1.0.0": nil, "0.9.0": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestChangelog(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{"1.0.0": "type Query { a: Int }", "1.1.0": "type Query { a: Int }",
		"2.0.0": `type Query { b(x: [Int!] = [1]): Int }`}
	n := changing(t, schemas, func(contracts []version.Contract, _ *version.Options) {
		contracts[0].OpenAPI = `/"><script>`
	})
	res := ask(t, n.Changelog(), "GET /changes")
	res.has(t, http.StatusOK, "Content-Type: text/html; charset=utf-8", "X-Content-Type-Options: nosniff",
		"ETag: *", "Cache-Control: no-cache")
	policy := res.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") {
		t.Errorf("Content-Security-Policy: %s", policy)
	}
	for _, part := range []string{`<html lang="en">`, `name="viewport"`, `id="2.0.0"`, `href="#1.1.0"`,
		"<code>Query.a</code> <span>GraphQL: the field was removed.</span>", "1 change breaks clients of 1.1.0",
		"Clients observe no difference from", "30 June 2027, 23:59 UTC", "Ended"} {
		if !strings.Contains(res.body, part) {
			t.Errorf("the page does not contain %s", part)
		}
	}
	if found := regexp.MustCompile(`<script|(src|@import|url\()[ ="']*(https?:)?//`).FindString(res.body); found != "" {
		t.Errorf("the page contains %s", found)
	}
	for _, id := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(res.body, -1) {
		if !strings.Contains(res.body, ` id="`+id[1]+`"`) {
			t.Errorf("a link leads to #%s, which does not exist", id[1])
		}
	}
	ask(t, n.Changelog(), "POST /changes").has(t, http.StatusMethodNotAllowed, "Allow: GET, HEAD, OPTIONS")
}

// TestSnapshotsAtStart checks that a program with a contract that breaks the rules does not start.
func TestSnapshotsAtStart(t *testing.T) {
	t.Parallel()
	with := func(name, sdl string) map[string]string {
		all := map[string]string{}
		for n, s := range changingSchemas {
			all[n] = s
		}
		all[name] = sdl
		return all
	}
	tests := []struct {
		name    string
		schemas map[string]string
		change  func([]version.Contract, *version.Options)
		want    []string // nil means that it starts
	}{
		{name: "as the names allow", schemas: changingSchemas},
		{name: "no snapshots", schemas: nil},
		{name: "minor that breaks", schemas: with("1.1.0", "type Query { b: Int }"), want: []string{
			"version: Options.Snapshots: contract 1.1.0, compared with 1.0.0: This MINOR breaks clients",
			"Query.a: GraphQL: the field was removed.", "fix: Undo the change, or name the contract 2.0.0."}},
		{name: "contract removed", schemas: with("1.2.0", "type Query { a: Int b: Int }"), want: []string{
			"contract 1.2.0: It is no longer served, and its Sunset has not passed.", "fix: Serve it until"}},
		{name: "sunset moved", schemas: changingSchemas, change: func(_ []version.Contract, o *version.Options) {
			for _, s := range o.Snapshots.(compat.Snapshots) {
				s.Sunset = nextJune.AddDate(1, 0, 0)
			}
		}, want: []string{"Its Sunset 2027-06-30T23:59:59Z is earlier than the announced 2028-06-30T23:59:59Z."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				v := recover()
				if (v != nil) != (tt.want != nil) {
					t.Fatalf("panic %v, want %q", v, tt.want)
				}
				text, _ := v.(string)
				for _, part := range tt.want {
					if !strings.Contains(text, part) {
						t.Errorf("the panic does not contain %q:\n%s", part, text)
					}
				}
			}()
			changing(t, tt.schemas, tt.change)
		})
	}
}

// Parts that contain parts. The members of strictPart are never null.
type (
	part struct {
		ID     string  `json:"id" readOnly:"true"`
		Parent *part   `json:"parent"`
		Parts  []*part `json:"parts"`
	}
	strictPart struct {
		ID     string       `json:"id" readOnly:"true"`
		Parent *strictPart  `json:"parent,omitzero"`
		Parts  []strictPart `json:"parts"`
	}
)

// partsDocument returns the OpenAPI document of a collection.
func partsDocument[T any]() []byte {
	parts := resource.New("parts", memory.New[T](nil), &resource.Options[T]{Public: true})
	document := openapi.New(resource.NewCatalog(nil, parts), nil).JSON()
	return []byte(strings.ReplaceAll(string(document), "StrictPart", "Part"))
}

// TestSnapshotsOfRecursiveTypes checks that the comparison of types that contain themselves ends.
func TestSnapshotsOfRecursiveTypes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after []byte
		want          []string
	}{
		{name: "null no longer allowed", before: partsDocument[part](), after: partsDocument[strictPart](),
			want: []string{"PartCreate2.parts[]: Requests no longer allow null.", "Part.parent: "}},
		{name: "null allowed", before: partsDocument[strictPart](), after: partsDocument[part](),
			want: []string{"Part.parent: ", "Part.parts[]: ", "Responses can contain null."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var recorded compat.Snapshots
			var contracts []version.Contract
			for name, document := range map[string][]byte{"1.0.0": tt.before, "1.1.0": tt.after} {
				s, err := compat.Record(t.Context(), compat.Source{Contract: name, OpenAPI: document})
				if err != nil {
					t.Fatal(err)
				}
				recorded = append(recorded, s)
				contracts = append(contracts, version.Contract{Name: name, Handler: http.NotFoundHandler()})
			}
			defer func() {
				text, _ := recover().(string)
				for _, want := range tt.want {
					if !strings.Contains(text, want) {
						t.Errorf("the panic does not contain %q:\n%s", want, text)
					}
				}
			}()
			version.New(contracts, []version.Strategy{version.Header{Name: "API-Version"}},
				&version.Options{Snapshots: recorded})
		})
	}
}

// TestReportSnapshots checks that a contract without a snapshot is reported.
func TestReportSnapshots(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{"1.0.0": changingSchemas["1.0.0"], "1.1.0": changingSchemas["1.1.0"]}
	report := changing(t, schemas, nil).Report()
	if want := "weak: contract 2.0.0 has no snapshot in Options.Snapshots"; !strings.Contains(report, want) {
		t.Errorf("the report does not contain %q:\n%s", want, report)
	}
	if report := changing(t, nil, nil).Report(); strings.Contains(report, "snapshot") {
		t.Errorf("snapshots are reported, although there are none:\n%s", report)
	}
}

// fakeSnapshots implements version.Snapshots without snapshots. It has the names of recorded contracts
// and whether they are previews, and keeps what version.New passes.
type fakeSnapshots struct {
	previews   map[string]bool
	violations []error
	served     []string
	least      time.Duration
	now        time.Time
}

func (f *fakeSnapshots) Recorded(contract string) (preview, ok bool) {
	preview, ok = f.previews[contract]
	return preview, ok
}

func (f *fakeSnapshots) Violations(served []version.Contract, least time.Duration, now time.Time) []error {
	for _, c := range served {
		f.served = append(f.served, c.Name)
	}
	f.least, f.now = least, now
	return f.violations
}

func (f *fakeSnapshots) Changes(before, after string) []version.Change {
	if after == "2.0.0" {
		return nil
	}
	return []version.Change{{Kind: "field-added", Place: before + " to " + after, Text: "There is one more."}}
}

// TestSnapshotsOfAnotherType checks what New passes to Options.Snapshots, and what it shows of the result:
// an element without snapshot is left out, and a preview is compared with the contract before it only.
func TestSnapshotsOfAnotherType(t *testing.T) {
	t.Parallel()
	var contracts []version.Contract
	for _, name := range []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "2.0.0"} {
		contracts = append(contracts, version.Contract{Name: name, Handler: http.NotFoundHandler(),
			Preview: name == "1.2.0"})
	}
	recorded := &fakeSnapshots{previews: map[string]bool{"1.0.0": false, "1.2.0": true, "1.3.0": true, "2.0.0": false,
		"3.0.0": false}}
	n := version.New(contracts, []version.Strategy{version.Path{}}, &version.Options{Snapshots: recorded,
		Now: func() time.Time { return today }})
	// 1.3.0 is no preview any more, and its snapshot still is.
	if diff := cmp.Diff([]string{"2.0.0", "1.2.0", "1.0.0"}, recorded.served); diff != "" {
		t.Errorf("contracts passed to Violations (-want +got):\n%s", diff)
	}
	if want := 60 * 24 * time.Hour; recorded.least != want || recorded.now != today {
		t.Errorf("Violations got %s and %s, want %s and %s", recorded.least, recorded.now, want, today)
	}
	type changes struct {
		Since string
		List  []version.Change
	}
	var list struct {
		Versions []struct {
			Name    string
			Changes *changes
		}
	}
	if err := json.Unmarshal([]byte(ask(t, n.List(), "GET /versions").body), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]*changes{}
	for _, v := range list.Versions {
		got[v.Name] = v.Changes
	}
	added := func(place string) []version.Change {
		return []version.Change{{Kind: "field-added", Place: place, Text: "There is one more."}}
	}
	want := map[string]*changes{
		"2.0.0": {"1.0.0", []version.Change{}}, "1.3.0": {"1.0.0", added("1.0.0 to 1.3.0")},
		"1.2.0": {"1.0.0", added("1.0.0 to 1.2.0")}, "1.1.0": nil, "1.0.0": nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if report := n.Report(); strings.Count(report, "has no snapshot") != 1 ||
		!strings.Contains(report, "weak: contract 1.1.0 has no snapshot") {
		t.Errorf("the report names other contracts than 1.1.0:\n%s", report)
	}
}

// TestSnapshotViolations checks that New panics with all violations.
func TestSnapshotViolations(t *testing.T) {
	t.Parallel()
	recorded := &fakeSnapshots{violations: []error{errors.New("one rule"), errors.New("another rule")}}
	defer func() {
		want := "version: Options.Snapshots: one rule\nanother rule"
		if diff := cmp.Diff(want, recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	version.New([]version.Contract{{Name: "1.0.0", Handler: http.NotFoundHandler()}},
		[]version.Strategy{version.Path{}}, &version.Options{Snapshots: recorded})
}

func TestChangeString(t *testing.T) {
	t.Parallel()
	var places []string
	for i := range 12 {
		places = append(places, "p"+strconv.Itoa(i))
	}
	tests := []struct {
		name string
		also []string
		want string
	}{
		{name: "one place", want: "Order.qty: It is gone."},
		{name: "two", also: places[:1], want: "Order.qty: It is gone. Also: p0."},
		{name: "eleven", also: places[:10],
			want: "Order.qty: It is gone. Also: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9."},
		{name: "thirteen", also: places,
			want: "Order.qty: It is gone. Also: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := version.Change{Place: "Order.qty", Text: "It is gone.", Also: tt.also}.String()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("String (-want +got):\n%s", diff)
			}
		})
	}
}
