package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/report"
	"github.com/stoa-go/stoa/resource/schema"
)

type hidden struct {
	Name   string `json:"name"`
	Hash   string `json:"-"`
	Secret string `json:"secret" writeOnly:"true"`
}

func TestSummary(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		r    report.Resource
		want []string
	}{
		{"read only", report.Resource{Name: "a"},
			[]string{"/a  GET, HEAD, QUERY, OPTIONS", "/a/{id}  GET, HEAD, OPTIONS", "    store: read only"}},
		{"everything", report.Resource{Name: "a", Create: true, Replace: true, Patch: true, Delete: true, Batches: true,
			Capabilities: []string{"Creator", "Deleter"}, View: "V1", Filters: []string{"x", "y"}, Sorts: []string{"z"},
			Lossy: []string{"given", "family"}},
			[]string{"/a  GET, HEAD, QUERY, POST, OPTIONS", "/a/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS",
				"    store: Creator Deleter", "    batches: POST of application/vnd.stoa.batch+json",
				"    view: V1, without filters by x y, without sorting by z, with loss of given family"}},
	} {
		if diff := cmp.Diff(strings.Join(tt.want, "\n")+"\n", tt.r.Summary()); diff != "" {
			t.Errorf("%s: summary (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	typ := schema.For[hidden]()
	for _, tt := range []struct {
		name string
		r    report.Resource
		want []string // the beginning of each
	}{
		{"nothing set", report.Resource{}, []string{"no Authorize"}},
		{"public", report.Resource{Public: true}, nil},
		{"without scope", report.Resource{Authorize: true},
			[]string{"Authorize without a complete Scope", "Authorize without Scope"}},
		{"with scope", report.Resource{Authorize: true, Scope: true}, []string{"Authorize without a complete Scope"}},
		{"with a complete scope", report.Resource{Authorize: true, Scope: true, ScopeComplete: true}, nil},
		{"forgets", report.Resource{Public: true, Deletes: true}, []string{"deletions are not recorded"}},
		{"hides", report.Resource{Scope: true, Deletes: true, Remembers: true, HidesGone: true},
			[]string{"no AuthorizeGone"}},
		{"events", report.Resource{Scope: true, Logged: true}, []string{"events do not have Hash Secret,"}},
	} {
		tt.r.Type = typ
		got := tt.r.Warnings()
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			continue
		}
		for i, want := range tt.want {
			if !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: %q, want %q", tt.name, got[i], want)
			}
		}
	}
}
