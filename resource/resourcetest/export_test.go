package resourcetest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/patch"
)

// Verdict is the result of one case.
type Verdict struct {
	Failures []string
	Message  string // the message that go test prints
	Notes    []string
	Panicked bool
	Blocked  bool
}

// Judge runs every case that applies, or only those named, and returns the verdicts by case. Tests
// use it with broken collections, which must fail.
func Judge[T any](t *testing.T, newOps func() resource.Ops[T], opts *Options[T], patience time.Duration, only ...string,
) map[string]Verdict {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatal(err)
	}
	s.patience = patience
	able := capabilitiesOf(erase(newOps()), s.Support)
	verdicts := map[string]Verdict{}
	for _, c := range cases() {
		if !able.has(c.needs) || len(only) > 0 && !slices.Contains(only, c.name) {
			continue
		}
		rec := c.try(context.Background(), s, erase(newOps()))
		verdicts[c.name] = Verdict{
			Failures: rec.failures,
			Message:  explain(rec, c.contract, s.Seed, t.Name()+"/"+c.name),
			Notes:    rec.notes,
			Panicked: rec.panicked,
			Blocked:  rec.blocked,
		}
	}
	return verdicts
}

// Contracts returns the explanation of each case.
func Contracts() map[string]string {
	contracts := map[string]string{}
	for _, c := range cases() {
		contracts[c.name] = c.contract
	}
	return contracts
}

// CaseNames returns the names of all cases in their order.
func CaseNames() (names []string) {
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// Foundations returns the cases that each case builds on.
func Foundations() map[string][]string { return foundations }

// Describe returns the sentence about capabilities, and the errors of Require.
func Describe[T any](ops resource.Ops[T], opts *Options[T]) (string, []string) {
	s, err := newSetup(opts)
	if err != nil {
		return err.Error(), nil
	}
	able := capabilitiesOf(erase(ops), s.Support)
	return able.describe(), able.require(opts.Require)
}

// Erase returns the operations that the cases call.
func Erase[T any](ops resource.Ops[T]) resource.Ops[any] { return erase(ops).Ops }

// EraseOptions returns the options that the cases have.
func EraseOptions[T any](o Options[T]) Options[any] { return eraseOptions(o) }

// SetupError returns the error of invalid options.
func SetupError[T any](opts *Options[T]) error {
	_, err := newSetup(opts)
	return err
}

// Make generates the nth value in each style.
func Make[T any](t *testing.T, opts *Options[T], n int) map[string]T {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]T{}
	for name, st := range map[string]style{"distinct": distinct, "clustered": clustered, "extreme": extreme, "hard": hard} {
		v, err := s.value(st, n)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		made[name] = *v.(*T)
	}
	return made
}

// Filters generates n filters as the filter cases do.
func Filters[T any](t *testing.T, opts *Options[T], n int) []query.Filter {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{setup: s, rng: rand.New(rand.NewPCG(s.Seed, 0))}
	values := samples{}
	for field := range s.Support.Filter {
		values[field] = []any{nil}
	}
	filters := make([]query.Filter, n)
	for i := range filters {
		filters[i] = k.boundedTree(values, 3)
	}
	return filters
}

// JudgeBlobs is Judge for stores of bytes.
func JudgeBlobs(t *testing.T, newStore func() blob.Store, opts *BlobsOptions) map[string]Verdict {
	t.Helper()
	s, err := newBlobSetup(opts)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Verdict{}
	for _, c := range blobCases() {
		rec := c.try(context.Background(), s, newStore())
		verdicts[c.name] = Verdict{Failures: rec.failures, Message: explain(rec, c.contract, s.Seed, t.Name()+"/"+c.name),
			Panicked: rec.panicked, Blocked: rec.blocked}
	}
	return verdicts
}

// BlobContracts returns the explanation of each case of RunBlobs.
func BlobContracts() map[string]string {
	contracts := map[string]string{}
	for _, c := range blobCases() {
		contracts[c.name] = c.contract
	}
	return contracts
}

// JudgePatches is Judge for patch formats.
func JudgePatches(t *testing.T, f patch.Format, newItem func() string, patches []string, opts *PatchesOptions,
) map[string]Verdict {
	t.Helper()
	verdicts := map[string]Verdict{}
	for _, c := range patchCases {
		if c.unless != nil && c.unless(f) {
			continue
		}
		rec := c.try(t.Context(), f, newItem, patches, opts)
		verdicts[c.name] = Verdict{Failures: rec.failures, Panicked: rec.panicked, Blocked: rec.blocked}
	}
	return verdicts
}
