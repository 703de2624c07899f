package compat_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// threeContracts returns the snapshots of 1.0.0, 1.1.0 and a preview of 2.0.0.
func threeContracts(t *testing.T) compat.Snapshots {
	t.Helper()
	var all compat.Snapshots
	for _, source := range []compat.Source{
		{Contract: "1.0.0", SDL: "type Query { a: Int }"},
		{Contract: "2.0.0", SDL: "type Query { b: Int }", Preview: true},
		{Contract: "1.1.0", SDL: "type Query { a: Int b: Int }"},
	} {
		s, err := compat.Record(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// TestSnapshotsRecorded and the tests below check what version.New asks of snapshots.
func TestSnapshotsRecorded(t *testing.T) {
	t.Parallel()
	type recorded struct{ Preview, OK bool }
	all := threeContracts(t)
	for contract, want := range map[string]recorded{
		"1.0.0": {OK: true}, "1.1.0": {OK: true}, "2.0.0": {Preview: true, OK: true}, "3.0.0": {}, "1": {},
	} {
		preview, ok := all.Recorded(contract)
		if diff := cmp.Diff(want, recorded{preview, ok}); diff != "" {
			t.Errorf("Recorded %s (-want +got):\n%s", contract, diff)
		}
	}
}

func TestSnapshotsChanges(t *testing.T) {
	t.Parallel()
	added := version.Change{Kind: "field-added", Place: "Query.b", After: "Int", Text: "GraphQL: the field was added."}
	removed := version.Change{Kind: "field-removed", Breaking: true, Place: "Query.a", Before: "Int",
		Text: "GraphQL: the field was removed."}
	tests := []struct {
		name, before, after string
		want                []version.Change
	}{
		{name: "addition", before: "1.0.0", after: "1.1.0", want: []version.Change{added}},
		{name: "preview", before: "1.0.0", after: "2.0.0", want: []version.Change{removed, added}},
		{name: "the same", before: "1.0.0", after: "1.0.0"},
		{name: "the first is not recorded", before: "0.9.0", after: "1.0.0"},
		{name: "the second is not recorded", before: "1.0.0", after: "3.0.0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := threeContracts(t).Changes(tt.before, tt.after)
			if len(tt.want) == 0 {
				if len(got) > 0 {
					t.Errorf("there are changes: %v", got)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSnapshotsViolations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	first, second := version.Contract{Name: "1.0.0"}, version.Contract{Name: "1.1.0"}
	ending := version.Contract{Name: "1.0.0", Deprecated: now, Sunset: now.AddDate(0, 0, 10)}
	tests := []struct {
		name           string
		served         []version.Contract
		minDeprecation time.Duration
		want           []compat.Violation
	}{
		{name: "none", served: []version.Contract{second, first}},
		{name: "previews are ignored", served: []version.Contract{second, first, {Name: "2.0.0", Preview: true}}},
		{name: "one is not served", served: []version.Contract{second}, want: []compat.Violation{{Contract: "1.0.0",
			Rule: "It is no longer served, and its Sunset has not passed."}}},
		{name: "default period", served: []version.Contract{second, ending}, want: []compat.Violation{{Contract: "1.0.0",
			Rule: "Its Sunset is 240h0m0s after Deprecated, less than 1440h0m0s."}}},
		{name: "shorter period", served: []version.Contract{second, ending}, minDeprecation: 240 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []compat.Violation
			for _, err := range threeContracts(t).Violations(tt.served, tt.minDeprecation, now) {
				v, ok := err.(*compat.Violation)
				if !ok {
					t.Fatalf("the error is a %T", err)
				}
				got = append(got, compat.Violation{Contract: v.Contract, Rule: v.Rule})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
