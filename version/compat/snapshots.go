package compat

// The snapshots of an API as package version uses them. Called by version.New.

import (
	"time"

	"github.com/stoa-go/stoa/version"
)

// Snapshots are the snapshots of the contracts of an API, in any order. They implement
// [version.Snapshots], the type of [version.Options.Snapshots].
type Snapshots []*Snapshot

var _ version.Snapshots = Snapshots(nil)

// Recorded reports whether a contract has a snapshot, and [Snapshot.Preview] of it.
func (all Snapshots) Recorded(contract string) (preview, ok bool) {
	s := byContract(all, contract)
	return s != nil && s.Preview, s != nil
}

// Violations returns the result of [Check] for the names and dates of the contracts in served. Each
// error is a [*Violation].
func (all Snapshots) Violations(
	served []version.Contract, minDeprecation time.Duration, now time.Time,
) (errs []error) {
	dates := make([]*Snapshot, len(served))
	for i, c := range served {
		dates[i] = &Snapshot{Contract: c.Name, Preview: c.Preview, Deprecated: c.Deprecated, Sunset: c.Sunset}
	}
	for _, v := range Check(all, dates, &CheckOptions{MinDeprecation: minDeprecation, Now: now}) {
		errs = append(errs, v)
	}
	return errs
}

// Changes returns the result of [Compare] for the snapshots of two contracts, and nil if one of them
// has no snapshot.
func (all Snapshots) Changes(before, after string) []version.Change {
	a, b := byContract(all, before), byContract(all, after)
	if a == nil || b == nil {
		return nil
	}
	return Compare(a, b)
}
