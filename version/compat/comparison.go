package compat

// The collection of changes. Called by Compare; compare_*.go add changes.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/version"
)

// comparison collects the changes between two snapshots.
type comparison struct {
	changes []version.Change
}

// add records a change. The sentence is made of format and the values.
func (c *comparison) add(kind Kind, place, before, after, text string) {
	c.changes = append(c.changes, version.Change{Kind: string(kind), Breaking: kind.Breaking(),
		Place: place, Before: before, After: after, Text: text})
}

// compareParts compares what belongs to the whole contract.
func (c *comparison) compareParts(before, after *Snapshot) {
	part := func(name string, had, has bool) {
		switch {
		case had && !has:
			c.add(partRemoved, name, "present", "", "The contract no longer has it.")
		case has && !had:
			c.add(partAdded, name, "", "present", "The contract has it now.")
		}
	}
	part("OpenAPI document", len(before.OpenAPI) > 0, len(after.OpenAPI) > 0)
	part("GraphQL schema", before.SDL != "", after.SDL != "")
	if before.Contract != after.Contract || before.Sunset.IsZero() || after.Sunset.IsZero() {
		return
	}
	if after.Sunset.Before(before.Sunset) {
		was, is := before.Sunset.UTC().Format(timeLayout), after.Sunset.UTC().Format(timeLayout)
		c.add(sunsetEarlier, "Sunset", was, is, "The contract ends earlier, at "+is+" in place of "+was+".")
	}
}

// timeLayout is how dates are written in texts: RFC 3339 without fractions.
const timeLayout = "2006-01-02T15:04:05Z07:00"

// result merges equal changes of several places, and sorts them. The operators of a filter, such as
// the parameters status and status.in, are one change.
func (c *comparison) result() []version.Change {
	type key struct {
		kind, member        string
		before, after, text string
	}
	var merged []*version.Change
	found := map[key]*version.Change{}
	for i := range c.changes {
		change := &c.changes[i]
		k := key{change.Kind, memberOf(change.Place), change.Before, change.After, change.Text}
		if base, _, ok := strings.Cut(change.Place, " parameter "); ok &&
			(Kind(change.Kind) == parameterAdded || Kind(change.Kind) == parameterRemoved) {
			name, _, _ := strings.Cut(change.Place[len(base):], ".")
			k = key{kind: change.Kind, member: base + name} // status.in is one with status
		}
		if first := found[k]; first != nil {
			if first.Place != change.Place {
				first.Also = append(first.Also, change.Place)
			}
			continue
		}
		found[k] = change
		merged = append(merged, change)
	}
	slices.SortStableFunc(merged, func(a, b *version.Change) int {
		switch {
		case a.Breaking && !b.Breaking:
			return -1
		case b.Breaking && !a.Breaking:
			return 1
		}
		return cmp.Or(cmp.Compare(kindOrder[Kind(a.Kind)], kindOrder[Kind(b.Kind)]),
			cmp.Compare(a.Place, b.Place),
			cmp.Compare(a.Before, b.Before), cmp.Compare(a.After, b.After))
	})
	all := make([]version.Change, len(merged))
	for i, change := range merged {
		slices.Sort(change.Also)
		change.Also = slices.Compact(change.Also)
		all[i] = *change
	}
	return all
}

// memberOf returns the part of a place after the operation or the schema, so that the same change of
// OrderCreate.qty and OrderReplace.qty is reported once.
func memberOf(place string) string {
	if i := strings.IndexAny(place, ".:"); i >= 0 {
		return place[i:]
	}
	return ""
}

// join returns the elements separated by commas. Beyond ten it gives their number.
func join(list []string) string {
	const most = 10
	if len(list) > most {
		return strings.Join(list[:most], ", ") + " and " + strconv.Itoa(len(list)-most) + " more"
	}
	return strings.Join(list, ", ")
}

// lost returns the elements of before that are not in after.
func lost(before, after []string) (all []string) {
	for _, v := range before {
		if !slices.Contains(after, v) {
			all = append(all, v)
		}
	}
	return all
}
