package linearizetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/stoa-go/stoa/resource"
)

// call is what was asked.
type call struct {
	method string // Get, Insert, Replace or Delete
	id     string
	expect resource.Rev
	value  string // as JSON
}

// outcome sorts answers: nil and the errors of package resource.
type outcome string

const (
	done   outcome = "done"
	absent outcome = "ErrNotFound"
	gone   outcome = "ErrGone"
	exists outcome = "ErrExists"
	stale  outcome = "ErrStale"
)

// answer is what was told.
type answer struct {
	outcome outcome
	rev     resource.Rev
	value   string
}

// item is the state of the model: one item, which was never there, is there, or has been deleted.
type item struct {
	alive, deleted bool
	rev            resource.Rev
	value          string
}

// model is a collection that does one thing after the other. Items do not depend on each other, so each has a history of
// its own, which keeps the search short.
func model(recreates bool) porcupine.Model {
	return porcupine.Model{
		Partition: partition,
		Init:      func() any { return item{} },
		Step: func(state, input, output any) (bool, any) {
			return step(state.(item), input.(call), output.(answer), recreates)
		},
		DescribeOperation: func(input, output any) string { return show(input.(call), output.(answer)) },
	}
}

// partition splits a history by item, in the order in which the calls were made.
func partition(history []porcupine.Operation) [][]porcupine.Operation {
	byID := map[string][]porcupine.Operation{}
	for _, op := range history {
		id := op.Input.(call).id
		byID[id] = append(byID[id], op)
	}
	var parts [][]porcupine.Operation
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		part := byID[id]
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		parts = append(parts, part)
	}
	return parts
}

// step says whether an item in a state can give an answer, and what it is afterwards.
func step(s item, c call, a answer, recreates bool) (bool, item) {
	if a.outcome == absent || a.outcome == gone {
		return s.missing(c, a, recreates), s
	}
	switch c.method {
	case "Get":
		return s.alive && a.outcome == done && a.rev == s.rev && a.value == s.value, s
	case "Insert":
		if a.outcome == exists {
			return s.alive, s
		}
		ok := a.outcome == done && !s.alive && (!s.deleted || recreates)
		return ok, item{alive: true, rev: a.rev, value: c.value}
	case "Replace":
		if a.outcome == stale {
			return s.alive && c.expect != s.rev, s
		}
		ok := a.outcome == done && s.alive && c.expect == s.rev && a.rev != s.rev
		return ok, item{alive: true, rev: a.rev, value: c.value}
	default:
		if a.outcome == stale {
			return s.alive && c.expect != s.rev, s
		}
		return a.outcome == done && s.alive && c.expect == s.rev, item{deleted: true}
	}
}

// missing says whether an item in a state can be said not to be there. A store that forgets deletions says ErrNotFound
// for a deleted item, but none may say ErrGone of one that never was; and Insert never finds nothing.
func (s item) missing(c call, a answer, recreates bool) bool {
	switch {
	case s.alive, a.outcome == gone && !s.deleted:
		return false
	case c.method == "Insert":
		return a.outcome == gone && !recreates
	}
	return true
}

// show writes a call with its answer.
func show(c call, a answer) string {
	asked := fmt.Sprintf("%s %s", c.method, c.id)
	if c.method == "Replace" || c.method == "Delete" {
		asked += fmt.Sprintf(" at %q", c.expect)
	}
	if c.value != "" {
		asked += " " + c.value
	}
	told := string(a.outcome)
	if a.rev != "" {
		told = fmt.Sprintf("revision %q", a.rev)
	}
	if a.value != "" {
		told += " " + a.value
	}
	return asked + " -> " + told
}
