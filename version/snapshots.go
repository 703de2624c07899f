package version

// Committed snapshots of the contracts. New checks them, list.go and changelog.go show what changed.

import (
	"strings"
	"time"

	"github.com/stoa-go/stoa/version/compat"
)

// contractChanges are the changes of a contract since the previous one.
type contractChanges struct {
	Since string          `json:"since"`
	List  []compat.Change `json:"list"`
}

// addSnapshots checks Options.Snapshots and computes the changes. It panics if a contract breaks the
// rules of version names. A contract without a snapshot is reported only, because the test that
// records it starts the program, too.
func (n *Negotiator) addSnapshots() {
	recorded := n.opts.Snapshots
	if recorded == nil {
		return
	}
	var served []*compat.Snapshot
	for _, c := range n.contracts {
		if r := snapshotOf(recorded, c.Name); r != nil && r.Preview == c.Preview {
			served = append(served, &compat.Snapshot{Contract: c.Name, Preview: c.Preview,
				Deprecated: c.Contract.Deprecated, Sunset: c.Sunset})
		}
	}
	violations := compat.Check(recorded, served,
		&compat.CheckOptions{MinDeprecation: n.opts.MinDeprecation, Now: n.opts.Now()})
	if len(violations) > 0 {
		texts := make([]string, len(violations))
		for i, v := range violations {
			texts[i] = v.Error()
		}
		panic("version: Options.Snapshots: " + strings.Join(texts, "\n"))
	}
	var previous *compat.Snapshot
	for i := len(n.contracts) - 1; i >= 0; i-- {
		c := n.contracts[i]
		s := snapshotOf(recorded, c.Name)
		if s == nil {
			continue
		}
		if previous != nil {
			c.changes = &contractChanges{previous.Contract, compat.Compare(previous, s)}
			if c.changes.List == nil {
				c.changes.List = []compat.Change{}
			}
		}
		if !s.Preview {
			previous = s
		}
	}
}

func snapshotOf(all []*compat.Snapshot, contract string) *compat.Snapshot {
	for _, s := range all {
		if s.Contract == contract {
			return s
		}
	}
	return nil
}

// reportSnapshots returns a line for each contract that is served and has no snapshot.
func (n *Negotiator) reportSnapshots(now time.Time) string {
	if n.opts.Snapshots == nil {
		return ""
	}
	var b strings.Builder
	for _, c := range n.contracts {
		if c.Handler != nil && !c.retired(now) && snapshotOf(n.opts.Snapshots, c.Name) == nil {
			b.WriteString("weak: contract " + c.Name + " has no snapshot in Options.Snapshots, so its " +
				"changes are not checked (see package versiontest)\n")
		}
	}
	return b.String()
}
