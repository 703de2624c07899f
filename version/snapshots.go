package version

// Committed snapshots of the contracts. New checks them, list.go and changelog.go show what changed.
// Package compat implements Snapshots. It is not imported, so only programs with snapshots link it.

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Snapshots are the committed snapshots of the contracts: what clients could observe of each one when
// it was recorded. Package version/compat implements it; compat.MustLoad reads them from a folder.
type Snapshots interface {
	// Recorded reports whether the contract with this full name has a snapshot, and whether it was a
	// preview when it was recorded.
	Recorded(contract string) (preview, ok bool)
	// Violations returns an error for each rule of version names that is broken if served are the
	// contracts of the program: a patch that clients can observe, a minor version that breaks them, or a
	// recorded contract that is not served before its Sunset. It reads names and dates of the contracts,
	// all of which are Recorded. minDeprecation is [Options.MinDeprecation], and now the current time.
	Violations(served []Contract, minDeprecation time.Duration, now time.Time) []error
	// Changes returns what changed for clients from one contract to another: changes that break clients
	// first. It returns nil if they cannot observe a difference, or if a contract has no snapshot.
	Changes(before, after string) []Change
}

// Change is one difference between two contracts, or between two snapshots of one contract. Package
// version/compat finds them, and [Negotiator.List] and [Negotiator.Changelog] show them.
type Change struct {
	// Kind names what changed, such as response-member-removed. compat.Kinds returns all kinds. Values
	// are stable.
	Kind string `json:"kind"`
	// Breaking reports whether the change breaks clients, so that it needs a new major version. It
	// follows from Kind.
	Breaking bool `json:"breaking"`
	// Place is where it changed: an operation such as "GET /orders", a member of a schema such as
	// "Order.status", or a GraphQL type or field such as "Query.orders(first:)".
	Place string `json:"place"`
	// Before and After are the values; empty if there was or is none.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Text is one sentence about the change, without the place.
	Text string `json:"text"`
	// Also are further places with the same change, sorted.
	Also []string `json:"also,omitempty"`
}

// String returns the place and the sentence, and at most ten of the further places.
func (c Change) String() string {
	const most = 10
	text := c.Place + ": " + c.Text
	switch n := len(c.Also); {
	case n > most:
		text += " Also: " + strings.Join(c.Also[:most], ", ") + " and " + strconv.Itoa(n-most) + " more."
	case n > 0:
		text += " Also: " + strings.Join(c.Also, ", ") + "."
	}
	return text
}

// contractChanges are the changes of a contract since the previous one.
type contractChanges struct {
	Since string   `json:"since"`
	List  []Change `json:"list"`
}

// addSnapshots checks Options.Snapshots and computes the changes. It panics if a contract breaks the
// rules of version names. A contract without a snapshot is reported only, because the test that
// records it starts the program, too.
func (n *Negotiator) addSnapshots() {
	recorded := n.opts.Snapshots
	if recorded == nil {
		return
	}
	var served []Contract
	for _, c := range n.contracts {
		if preview, ok := recorded.Recorded(c.Name); ok && preview == c.Preview {
			served = append(served, c.Contract)
		}
	}
	if errs := recorded.Violations(served, n.opts.MinDeprecation, n.opts.Now()); len(errs) > 0 {
		panic("version: Options.Snapshots: " + errors.Join(errs...).Error())
	}
	previous := ""
	for i := len(n.contracts) - 1; i >= 0; i-- {
		c := n.contracts[i]
		preview, ok := recorded.Recorded(c.Name)
		if !ok {
			continue
		}
		if previous != "" {
			c.changes = &contractChanges{previous, recorded.Changes(previous, c.Name)}
			if c.changes.List == nil {
				c.changes.List = []Change{}
			}
		}
		if !preview {
			previous = c.Name
		}
	}
}

// reportSnapshots returns a line for each contract that is served and has no snapshot.
func (n *Negotiator) reportSnapshots(now time.Time) string {
	if n.opts.Snapshots == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range n.contracts {
		if c.Handler == nil || c.retired(now) {
			continue
		}
		if _, ok := n.opts.Snapshots.Recorded(c.Name); !ok {
			b.WriteString("weak: contract " + c.Name + " has no snapshot in Options.Snapshots, so its " +
				"changes are not checked (see package versiontest)\n")
		}
	}
	return b.String()
}
