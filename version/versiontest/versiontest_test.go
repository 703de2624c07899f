package versiontest_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
	"github.com/stoa-go/stoa/version/versiontest"
)

var now = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// service is an API of one operation, GET /a, with one contract or more. Tests change it.
type service struct {
	contracts  map[string]string // member of the response by contract
	dates      map[string][2]time.Time
	strategies []version.Strategy
	header     http.Header // of responses
	problem    problem.Kind
	least      time.Duration
	brownouts  map[string][]version.Window
	probes     []compat.Probe
	list       string // the body of GET /items
}

func newService() *service {
	return &service{
		contracts:  map[string]string{"1.0.0": "a", "1.1.0": "a b"},
		dates:      map[string][2]time.Time{},
		strategies: []version.Strategy{version.Path{}},
		header:     http.Header{"Etag": {`"1"`}},
		problem:    problem.NotFound,
	}
}

// api returns the service for versiontest.
func (s *service) api() *versiontest.API {
	var all []version.Contract
	for name, members := range s.contracts {
		all = append(all, version.Contract{Name: name, Handler: s.handler(members), Deprecated: s.dates[name][0],
			Sunset: s.dates[name][1], Brownouts: s.brownouts[name]})
	}
	return &versiontest.API{
		Versions: version.New(all, s.strategies, &version.Options{Now: func() time.Time { return now },
			MinDeprecation: s.least}),
		OpenAPI: func(contract string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, document(s.contracts[contract]))
			})
		},
		SDL: func(contract string) string {
			fields := strings.ReplaceAll(s.contracts[contract], " ", ": Int ")
			return "type Query { " + fields + ": Int }"
		},
		Now:            now,
		Probes:         s.probes,
		MinDeprecation: s.least,
	}
}

func document(members string) string {
	var properties []string
	for name := range strings.FieldsSeq(members) {
		properties = append(properties, fmt.Sprintf(`%q:{"type":"integer"}`, name))
	}
	return `{"openapi":"3.1.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":
		{"type":"object","properties":{` + strings.Join(properties, ",") + `}}}}}}}}}}`
}

func (s *service) handler(members string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/items") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, s.list)
			return
		}
		if r.URL.Path != "/a" || r.Method != http.MethodGet {
			problem.Write(w, r, problem.New(s.problem, "There is nothing here."))
			return
		}
		for name, lines := range s.header {
			w.Header()[name] = lines
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"%s":1}`, strings.ReplaceAll(members, " ", `":1,"`))
	})
}

// recorded returns a folder with the snapshots of a service.
func recorded(t *testing.T, s *service) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "contracts")
	api := s.api()
	api.Update = true
	for _, err := range versiontest.Verify(t.Context(), api, dir) {
		t.Fatal(err)
	}
	return dir
}

func TestVerify(t *testing.T) {
	t.Parallel()
	june, august := now.AddDate(0, -5, 0), now.AddDate(0, -3, 0)
	tests := []struct {
		name   string
		before func(s *service)
		change func(s *service)
		want   []string // parts of the only error; nil means that there is none
	}{
		{name: "nothing", change: func(*service) {}},
		{name: "member removed", change: func(s *service) { s.contracts["1.1.0"] = "a" },
			want: []string{"contract 1.1.0: It differs from its snapshot, which breaks its clients.",
				".b: Responses no longer have the member.", "Query.b: GraphQL: the field was removed.", "serve it as contract 2.0.0"}},
		{name: "member added to a released contract", change: func(s *service) { s.contracts["1.1.0"] = "a b c" },
			want: []string{"contract 1.1.0: It differs from its snapshot by additions.", ".c: Responses have the new member.",
				"serve it as contract 1.2.0", "delete 1.1.0.json"}},
		{name: "header lost", change: func(s *service) { s.header = nil },
			want: []string{"contract 1.0.0: It differs", "GET /a: 200 etag: The header field etag was removed."}},
		{name: "problem renamed", change: func(s *service) { s.problem = problem.Gone },
			want: []string{"contract 1.0.0: It differs", "OPTIONS /a: The status changed from 404 to 410."}},
		{name: "new contract without a snapshot", change: func(s *service) { s.contracts["1.2.0"] = "a b c" },
			want: []string{"contract 1.2.0: There is no snapshot of it.", "VERSIONTEST=update"}},
		{name: "contract removed", change: func(s *service) { delete(s.contracts, "1.0.0") },
			want: []string{"contract 1.0.0: It is no longer served, and its Sunset has not passed.",
				"Serve it until a Sunset"}},
		{name: "contract removed after its sunset",
			before: func(s *service) { s.dates["1.0.0"] = [2]time.Time{june, now.AddDate(0, 0, 1)} },
			change: func(s *service) { delete(s.contracts, "1.0.0") },
			want:   []string{"contract 1.0.0: It is no longer served, and its Sunset has not passed."}},
		{name: "sunset moved to an earlier time",
			before: func(s *service) { s.dates["1.0.0"] = [2]time.Time{june, now.AddDate(1, 0, 0)} },
			change: func(s *service) { s.dates["1.0.0"] = [2]time.Time{june, now.AddDate(0, 1, 0)} },
			want: []string{"contract 1.0.0: Its Sunset 2026-12-01T00:00:00Z is earlier than the announced " +
				"2027-11-01T00:00:00Z."}},
		{name: "dates not recorded",
			change: func(s *service) { s.dates["1.0.0"] = [2]time.Time{august, now.AddDate(1, 0, 0)} },
			want:   []string{"the dates of contract 1.0.0 differ", "VERSIONTEST=update"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService()
			if tt.before != nil {
				tt.before(s)
			}
			dir := recorded(t, s)
			tt.change(s)
			check(t, versiontest.Verify(t.Context(), s.api(), dir), tt.want)
		})
	}
}

// check compares the first error with the parts of its text.
func check(t *testing.T, errs []error, want []string) {
	t.Helper()
	if len(errs) == 0 && want == nil {
		return
	}
	if (len(errs) > 0) != (want != nil) {
		t.Fatalf("errors %v, want %q", errs, want)
	}
	for _, part := range want {
		if !strings.Contains(errs[0].Error(), part) {
			t.Errorf("the error does not contain %q:\n%v", part, errs[0])
		}
	}
}

// TestSuccessors records contracts that break the rules of their names. Recording does not hide that.
func TestSuccessors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		contracts map[string]string
		want      []string
	}{
		{"minor with additions", map[string]string{"1.0.0": "a", "1.1.0": "a b"}, nil},
		{"minor that breaks", map[string]string{"1.0.0": "a b", "1.1.0": "a"},
			[]string{"contract 1.1.0, compared with 1.0.0: This MINOR breaks clients", "name the contract 2.0.0"}},
		{"visible patch", map[string]string{"1.0.0": "a", "1.0.1": "a b"},
			[]string{"contract 1.0.1, compared with 1.0.0: Clients can observe this PATCH.", "name the contract 1.1.0"}},
		{"patch that breaks", map[string]string{"1.0.0": "a b", "1.0.1": "a"},
			[]string{"Clients can observe this PATCH.", "name the contract 2.0.0"}},
		{"patch", map[string]string{"1.0.0": "a", "1.0.1": "a"}, nil},
		{"major", map[string]string{"1.0.0": "a b", "2.0.0": "c"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService()
			s.contracts = tt.contracts
			api, dir := s.api(), t.TempDir()
			api.Update = true
			versiontest.Verify(t.Context(), api, dir)
			api.Update = false
			check(t, versiontest.Verify(t.Context(), api, dir), tt.want)
		})
	}
}

// TestMajorWithoutDeprecation removes a major version after a period that is too short.
func TestMajorWithoutDeprecation(t *testing.T) {
	t.Parallel()
	s := newService()
	s.least = -1 // as a program that wanted to skip the period
	s.dates["1.1.0"] = [2]time.Time{now.AddDate(0, 0, -9), now.AddDate(0, 0, -1)}
	s.dates["1.0.0"] = s.dates["1.1.0"]
	s.contracts["2.0.0"] = "c"
	dir := t.TempDir()
	for name, members := range s.contracts {
		snapshot, err := compat.Record(t.Context(), compat.Source{Contract: name, OpenAPI: []byte(document(members)),
			Deprecated: s.dates[name][0], Sunset: s.dates[name][1]})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), snapshot.Encode(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := compat.Load(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	violations := compat.Check(all, []*compat.Snapshot{{Contract: "2.0.0"}}, &compat.CheckOptions{Now: now})
	if len(violations) != 2 || !strings.Contains(violations[0].Error(), "Its Sunset is 192h0m0s after Deprecated") {
		t.Errorf("violations %v, want the short periods of 1.0.0 and 1.1.0", violations)
	}
}

// TestUpdate checks which files are written: missing ones, and none that hide a change.
func TestUpdate(t *testing.T) {
	t.Parallel()
	s := newService()
	dir := recorded(t, s)
	first, err := os.ReadFile(filepath.Join(dir, "1.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	s.contracts["1.1.0"], s.contracts["1.2.0"] = "b", "a b c"
	api := s.api()
	api.Update = true
	check(t, versiontest.Verify(t.Context(), api, dir), []string{"contract 1.1.0: It differs from its snapshot"})
	again, err := os.ReadFile(filepath.Join(dir, "1.1.0.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Errorf("the snapshot of a released contract was overwritten (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "1.2.0.json")); err != nil {
		t.Errorf("the new contract was not recorded: %v", err)
	}
	if errs := versiontest.Verify(t.Context(), newService().api(), t.TempDir()); len(errs) != 1 ||
		!strings.Contains(errs[0].Error(), "there are no snapshots") {
		t.Errorf("an empty folder: %v", errs)
	}
}

// TestNoResponse empties a list, and starts a brownout. An update keeps what was recorded.
func TestNoResponse(t *testing.T) {
	t.Parallel()
	period := [2]time.Time{now.AddDate(0, -5, 0), now.AddDate(1, 0, 0)}
	tests := []struct {
		name   string
		change func(s *service)
		want   []string
	}{
		{"empty list", func(s *service) { s.list = "[]" },
			[]string{"contract 1.0.0 has no response to GET /items/{id}; the list needs an item"}},
		{"brownout", func(s *service) {
			s.brownouts = map[string][]version.Window{"1.0.0": {{From: now, Until: now.Add(time.Hour)}}}
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService()
			delete(s.contracts, "1.1.0")
			s.dates["1.0.0"], s.list = period, `[{"id":"x"}]`
			s.probes = []compat.Probe{{Method: "GET", Path: "/items/{id}"}}
			dir := recorded(t, s)
			first, err := os.ReadFile(filepath.Join(dir, "1.0.0.json"))
			if err != nil {
				t.Fatal(err)
			}
			tt.change(s)
			for _, update := range []bool{false, true} {
				api := s.api()
				api.Update = update
				check(t, versiontest.Verify(t.Context(), api, dir), tt.want)
			}
			again, err := os.ReadFile(filepath.Join(dir, "1.0.0.json"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(first), string(again)); diff != "" {
				t.Errorf("the update changed the snapshot (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStrategies names the contract by each strategy that can do it.
func TestStrategies(t *testing.T) {
	t.Parallel()
	for _, strategy := range []version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.Query{},
		version.Query{Name: "v"}, version.Host{Domains: []string{"example.com"}}} {
		s := newService()
		s.strategies = []version.Strategy{strategy}
		dir := recorded(t, s)
		all, err := compat.Load(os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, snapshot := range all {
			i := slices.IndexFunc(snapshot.Responses, func(r compat.Response) bool { return r.Request == "GET /a" })
			if i < 0 || snapshot.Responses[i].Status != http.StatusOK {
				t.Errorf("%s: %s: %v", strategy.Source(), snapshot.Contract, snapshot.Responses)
			}
		}
	}
	s := newService()
	s.strategies = []version.Strategy{version.MediaType{Vendor: "shop"}}
	check(t, versiontest.Verify(t.Context(), s.api(), t.TempDir()), []string{"set API.Prepare"})
	check(t, versiontest.Verify(t.Context(), &versiontest.API{}, t.TempDir()), []string{"API.Versions is nil"})
	api := newService().api()
	api.OpenAPI = func(string) http.Handler { return http.NotFoundHandler() }
	check(t, versiontest.Verify(t.Context(), api, t.TempDir()), []string{"GET of the OpenAPI document of contract"})
}

func ExampleVerify() {
	service := newService() // serves the contracts 1.0.0 and 1.1.0
	api := service.api()
	dir, err := os.MkdirTemp("", "contracts")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	api.Update = true // or VERSIONTEST=update
	fmt.Println(len(versiontest.Verify(context.Background(), api, dir)), "violations")

	service.contracts["1.1.0"] = "a" // the member b is removed
	for _, err := range versiontest.Verify(context.Background(), service.api(), dir) {
		fmt.Println(err)
	}
	// Output:
	// 0 violations
	// contract 1.1.0: It differs from its snapshot, which breaks its clients.
	// 	GET /a: 200 body.b: Responses no longer have the member.
	// 	Query.b: GraphQL: the field was removed.
	// 	fix: Undo the change, or serve it as contract 2.0.0 and keep 1.1.0 as it is (see resource.View). If 1.1.0 was never released, delete 1.1.0.json and record it again with VERSIONTEST=update.
}
