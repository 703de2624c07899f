package compat

// The rules of version names. Called by Snapshots.Violations and by versiontest.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/version"
)

// CheckOptions configures [Check]. The zero value is valid.
type CheckOptions struct {
	// MinDeprecation is the minimum period between Deprecated and Sunset. Default 60 days; negative
	// means no minimum.
	MinDeprecation time.Duration
	// Now is the current time. Default [time.Now].
	Now time.Time
}

// Violation is a broken rule.
type Violation struct {
	// Contract is the full name of the contract that breaks the rule.
	Contract string
	// Before is the contract that it was compared with: an older one, or Contract itself for a
	// difference from its snapshot. It is empty if the rule is about one contract.
	Before string
	// Rule is the sentence that does not hold.
	Rule string
	// Changes are what breaks the rule, if it is about changes.
	Changes []version.Change
	// Fix describes how to comply.
	Fix string
}

// Error returns the rule, each change on a line of its own, and the fix.
func (v *Violation) Error() string {
	var b strings.Builder
	b.WriteString("contract " + v.Contract)
	if v.Before != "" && v.Before != v.Contract {
		b.WriteString(", compared with " + v.Before)
	}
	b.WriteString(": " + v.Rule)
	const most = 20
	for i, c := range v.Changes {
		if i == most {
			fmt.Fprintf(&b, "\n\tand %d more", len(v.Changes)-most)
			break
		}
		b.WriteString("\n\t" + c.String())
	}
	b.WriteString("\n\tfix: " + v.Fix)
	return b.String()
}

// Check returns the violations of the rules of version names. recorded are the committed snapshots,
// served those of the contracts that the program serves. Previews are ignored. The rules are:
//
//   - Each served contract has a recorded snapshot, and equals it. A snapshot without content, which
//     has only a name and dates, is not compared.
//   - A later PATCH of the same MINOR has no changes, and a later MINOR of the same MAJOR none that
//     break clients. Each contract is compared with the previous one.
//   - A contract ends after its deprecation period: Sunset is at least MinDeprecation after Deprecated,
//     and is not moved to an earlier time. A recorded contract that is no longer served has a Sunset
//     that has passed.
//
// opts may be nil.
func Check(recorded, served []*Snapshot, opts *CheckOptions) []*Violation {
	c := checker{now: time.Now(), least: 60 * 24 * time.Hour}
	if opts != nil {
		if !opts.Now.IsZero() {
			c.now = opts.Now
		}
		if opts.MinDeprecation != 0 {
			c.least = opts.MinDeprecation
		}
	}
	recorded, served = final(recorded), final(served)
	for _, s := range served {
		c.checkServed(byContract(recorded, s.Contract), s)
	}
	for _, r := range recorded {
		if byContract(served, r.Contract) == nil {
			c.checkRemoved(r)
		}
	}
	c.checkSuccessors(recorded)
	return c.violations
}

// final returns the snapshots that are no previews, oldest first.
func final(all []*Snapshot) (list []*Snapshot) {
	for _, s := range all {
		if !s.Preview {
			list = append(list, s)
		}
	}
	sortNewestFirst(list)
	slices.Reverse(list)
	return list
}

func byContract(all []*Snapshot, name string) *Snapshot {
	for _, s := range all {
		if s.Contract == name {
			return s
		}
	}
	return nil
}

// checker collects violations.
type checker struct {
	now        time.Time
	least      time.Duration
	violations []*Violation
}

func (c *checker) add(v *Violation) { c.violations = append(c.violations, v) }

// empty reports whether a snapshot has only a name and dates.
func (s *Snapshot) empty() bool { return len(s.OpenAPI) == 0 && s.SDL == "" && len(s.Responses) == 0 }

// checkServed compares a served contract with its snapshot r, which may be nil.
func (c *checker) checkServed(r, s *Snapshot) {
	c.checkPeriod(s)
	switch {
	case r == nil && !s.Sunset.IsZero() && !c.now.Before(s.Sunset):
		return // it has ended
	case r == nil:
		c.add(&Violation{Contract: s.Contract, Rule: "There is no snapshot of it.",
			Fix: "Run the test of versiontest with VERSIONTEST=update and commit " + s.Contract + ".json."})
		return
	case !r.Sunset.IsZero() && !s.Sunset.IsZero() && s.Sunset.Before(r.Sunset):
		c.add(&Violation{Contract: s.Contract, Before: s.Contract,
			Rule: "Its Sunset " + s.Sunset.UTC().Format(timeLayout) + " is earlier than the announced " +
				r.Sunset.UTC().Format(timeLayout) + ".",
			Fix: "Set Sunset to " + r.Sunset.UTC().Format(timeLayout) + " or later."})
	}
	if s.empty() {
		return
	}
	var changes []version.Change
	for _, change := range Compare(r, s) {
		if Kind(change.Kind) != sunsetEarlier {
			changes = append(changes, change)
		}
	}
	if len(changes) == 0 {
		return
	}
	rule, next := "It differs from its snapshot by additions.", following(s.Contract, 1)
	if changes[0].Breaking {
		rule, next = "It differs from its snapshot, which breaks its clients.", following(s.Contract, 0)
	}
	c.add(&Violation{Contract: s.Contract, Before: s.Contract, Rule: rule, Changes: changes,
		Fix: "Undo the change, or serve it as contract " + next + " and keep " + s.Contract +
			" as it is (see resource.View). If " + s.Contract + " was never released, delete " + s.Contract +
			".json and record it again with VERSIONTEST=update."})
}

// following returns the next name after a contract; part is 0 for MAJOR and 1 for MINOR.
func following(contract string, part int) string {
	name, _ := parseName(contract)
	name[part]++
	texts := make([]string, len(name))
	for i := range name {
		if i > part {
			name[i] = 0
		}
		texts[i] = strconv.Itoa(name[i])
	}
	return strings.Join(texts, ".")
}

// checkPeriod checks the deprecation period of a contract. A contract that has ended may have a Sunset
// only, because a period that is over cannot be corrected.
func (c *checker) checkPeriod(s *Snapshot) {
	ended := !s.Sunset.IsZero() && !c.now.Before(s.Sunset)
	if c.least < 0 || s.Sunset.IsZero() || ended && s.Deprecated.IsZero() {
		return
	}
	latest := s.Sunset.Add(-c.least).UTC().Format(timeLayout)
	if s.Deprecated.IsZero() {
		c.add(&Violation{Contract: s.Contract, Rule: "It has a Sunset and no Deprecated.",
			Fix: "Set Deprecated to " + latest + " or earlier."})
		return
	}
	if found := s.Sunset.Sub(s.Deprecated); found < c.least {
		c.add(&Violation{Contract: s.Contract,
			Rule: fmt.Sprintf("Its Sunset is %s after Deprecated, less than %s.", found, c.least),
			Fix:  "Set Sunset to " + s.Deprecated.Add(c.least).UTC().Format(timeLayout) + " or later."})
	}
}

// checkRemoved checks a recorded contract that is no longer served.
func (c *checker) checkRemoved(r *Snapshot) {
	if r.Sunset.IsZero() || c.now.Before(r.Sunset) {
		c.add(&Violation{Contract: r.Contract, Rule: "It is no longer served, and its Sunset has not passed.",
			Fix: "Serve it until a Sunset that its clients can see, or delete " + r.Contract +
				".json if it was never released."})
		return
	}
	c.checkPeriod(r)
}

// checkSuccessors compares each contract with the next one of the same MAJOR.
func (c *checker) checkSuccessors(recorded []*Snapshot) {
	for i := 1; i < len(recorded); i++ {
		a, b := recorded[i-1], recorded[i]
		x, _ := parseName(a.Contract)
		y, _ := parseName(b.Contract)
		if x[0] != y[0] {
			continue
		}
		changes := Compare(a, b)
		if x[1] == y[1] {
			if len(changes) > 0 {
				part := 1
				if changes[0].Breaking {
					part = 0
				}
				c.add(&Violation{Contract: b.Contract, Before: a.Contract, Changes: changes,
					Rule: "Clients can observe this PATCH.",
					Fix:  "Undo the change, or name the contract " + following(b.Contract, part) + "."})
			}
			continue
		}
		breaking := slices.DeleteFunc(changes, func(c version.Change) bool { return !c.Breaking })
		if len(breaking) > 0 {
			c.add(&Violation{Contract: b.Contract, Before: a.Contract, Changes: breaking,
				Rule: "This MINOR breaks clients of the previous one.",
				Fix:  "Undo the change, or name the contract " + following(b.Contract, 0) + "."})
		}
	}
}
