package version_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

func TestReport(t *testing.T) {
	t.Parallel()
	const strategies = "    named in: the path, the host, the query parameter version, " +
		"the member version of the content, the header field API-Version, the media type\n"
	api, clock := openMarket(t)
	want := "contract 3.0.0  preview, named 3.0.0\n" +
		"contract 2.0.0  current, named 2 2.0 2.0.0, default\n" +
		"contract 1.1.0  deprecated, named 1 1.1 1.1.0, deprecated 2026-06-01T00:00:00Z, " +
		"sunset 2027-06-30T23:59:59Z\n" +
		"contract 1.0.0  deprecated, named 1.0 1.0.0, deprecated 2026-06-01T00:00:00Z, " +
		"sunset 2027-06-30T23:59:59Z\n" +
		"contract 0.9.0  retired, deprecated 2025-07-31T00:00:00Z, sunset 2026-01-31T00:00:00Z\n" + strategies
	if diff := cmp.Diff(want, api.Report()); diff != "" {
		t.Errorf("Report (-want +got):\n%s", diff)
	}
	want = "contracts: 3.0.0 preview; 2.0.0 current (default); 1.1.0 deprecated, sunset 2027-06-30; " +
		"1.0.0 deprecated, sunset 2027-06-30; 0.9.0 retired, sunset 2026-01-31\n" + strategies
	if diff := cmp.Diff(want, api.BriefReport()); diff != "" {
		t.Errorf("BriefReport (-want +got):\n%s", diff)
	}
	clock.set(nextJune)
	want = "contracts: 3.0.0 preview; 2.0.0 current (default); 1.1.0 retired, sunset 2027-06-30; " +
		"1.0.0 retired, sunset 2027-06-30; 0.9.0 retired, sunset 2026-01-31\n" + strategies
	if diff := cmp.Diff(want, api.BriefReport()); diff != "" {
		t.Errorf("BriefReport after the sunset (-want +got):\n%s", diff)
	}
}

// A major version that a newer one replaces needs a date for its clients.
func TestRule145ReportOfMajors(t *testing.T) {
	t.Parallel()
	const end = ", of which no contract is deprecated (see Contract.Deprecated)\n"
	tests := []struct {
		name      string
		contracts []version.Contract
		want      string
	}{
		{"one major", []version.Contract{{Name: "1.0.0"}, {Name: "1.1.0"}}, ""},
		{"nothing is deprecated", []version.Contract{{Name: "1.0.0"}, {Name: "1.1.0"}, {Name: "2.0.0"},
			{Name: "2.1.0"}}, "weak: contract 2.1.0 replaces major version 1" + end},
		{"two majors", []version.Contract{{Name: "1.0.0"}, {Name: "2.0.0"}, {Name: "10.0.0"}},
			"weak: contract 10.0.0 replaces major version 2" + end +
				"weak: contract 10.0.0 replaces major version 1" + end},
		{"one of two majors", []version.Contract{{Name: "1.0.0", Deprecated: sinceJune}, {Name: "2.0.0"},
			{Name: "3.0.0"}}, "weak: contract 3.0.0 replaces major version 2" + end},
		{"one contract is deprecated", []version.Contract{{Name: "1.0.0", Deprecated: sinceJune},
			{Name: "1.1.0"}, {Name: "2.0.0"}}, ""},
		{"one contract will be", []version.Contract{{Name: "1.0.0"}, {Name: "1.1.0", Deprecated: nextJune},
			{Name: "2.0.0"}}, ""},
		{"only a retired contract is", []version.Contract{{Name: "1.1.0"}, {Name: "2.0.0"},
			{Name: "1.0.0", Deprecated: lastYear.AddDate(-1, 0, 0), Sunset: lastYear}},
			"weak: contract 2.0.0 replaces major version 1" + end},
		{"all are retired", []version.Contract{{Name: "1.0.0", Sunset: lastYear}, {Name: "2.0.0"}}, ""},
		{"the newer one is a preview", []version.Contract{{Name: "1.0.0"}, {Name: "2.0.0", Preview: true}}, ""},
		{"the newer one is retired", []version.Contract{{Name: "1.0.0"}, {Name: "2.0.0", Sunset: lastYear}}, ""},
		{"the older one is a preview", []version.Contract{{Name: "0.1.0", Preview: true}, {Name: "1.0.0"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, only(version.Path{}), withDefault(""), func(m *market) {
				m.contracts = tt.contracts
			})
			for name, report := range map[string]string{"Report": api.Report(), "BriefReport": api.BriefReport()} {
				if diff := cmp.Diff("    named in: the path\n"+tt.want, afterContracts(report)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// afterContracts returns a report from the line about strategies on.
func afterContracts(report string) string {
	_, after, _ := strings.Cut(report, "    named in: ")
	return "    named in: " + after
}
