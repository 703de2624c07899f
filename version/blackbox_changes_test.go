package version_test

import (
	"encoding/json"
	"net/http"
	"regexp"
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
	for name, sdl := range schemas {
		s, err := compat.Record(t.Context(), compat.Source{Contract: name, SDL: sdl})
		if err != nil {
			t.Fatal(err)
		}
		opts.Snapshots = append(opts.Snapshots, s)
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
			for _, s := range o.Snapshots {
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
			opts := &version.Options{}
			var contracts []version.Contract
			for name, document := range map[string][]byte{"1.0.0": tt.before, "1.1.0": tt.after} {
				s, err := compat.Record(t.Context(), compat.Source{Contract: name, OpenAPI: document})
				if err != nil {
					t.Fatal(err)
				}
				opts.Snapshots = append(opts.Snapshots, s)
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
			version.New(contracts, []version.Strategy{version.Header{Name: "API-Version"}}, opts)
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
