package linearizetest

// The sequential model of a collection, with which porcupine compares histories. record.go fills in
// call and answer.

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"

	"github.com/stoa-go/stoa/resource"
)

// call is one operation with its arguments.
type call struct {
	method string // Get, Insert, Replace or Delete
	id     string
	expect resource.Rev
	value  string // as JSON
}

// outcome is a possible result: success or an error of package resource.
type outcome string

const (
	done   outcome = "done"
	absent outcome = "ErrNotFound"
	gone   outcome = "ErrGone"
	exists outcome = "ErrExists"
	stale  outcome = "ErrStale"
)

// answer is the result of a call.
type answer struct {
	outcome outcome
	rev     resource.Rev
	value   string
}

// item is the state of the model: one item that never existed, exists, or has been deleted.
type item struct {
	live, deleted bool
	rev           resource.Rev
	value         string
}

// model returns the sequential model of a collection. Items are independent, so each has its own
// history, which keeps the search small.
func model(recreates bool) porcupine.Model {
	return porcupine.Model{
		Partition: partition,
		Init:      func() any { return item{} },
		Step: func(state, input, output any) (bool, any) {
			return step(state.(item), input.(call), output.(answer), recreates)
		},
		DescribeOperation: func(input, output any) string {
			return describeCall(input.(call), output.(answer))
		},
	}
}

// partition splits a history by item, sorted by the time of the calls.
func partition(history []porcupine.Operation) [][]porcupine.Operation {
	byID := map[string][]porcupine.Operation{}
	for _, op := range history {
		id := op.Input.(call).id
		byID[id] = append(byID[id], op)
	}
	var parts [][]porcupine.Operation
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		// Judge relies on the order by call time, see shortest.
		part := byID[id]
		slices.SortFunc(part, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
		parts = append(parts, part)
	}
	return parts
}

// step reports whether the answer is possible in state s, and returns the state after the call. It
// is called for each order that the search tries, so it has no side effects.
func step(s item, c call, a answer, recreates bool) (bool, item) {
	if a.outcome == absent || a.outcome == gone {
		return s.missing(c, a, recreates), s
	}
	switch c.method {
	case "Get":
		return s.live && a.outcome == done && a.rev == s.rev && a.value == s.value, s
	case "Insert":
		if a.outcome == exists {
			return s.live, s
		}
		// The revision is that of the answer: the model does not predict revisions, only their
		// equality.
		ok := a.outcome == done && !s.live && (!s.deleted || recreates)
		return ok, item{live: true, rev: a.rev, value: c.value}
	case "Replace":
		if a.outcome == stale {
			return s.live && c.expect != s.rev, s
		}
		ok := a.outcome == done && s.live && c.expect == s.rev && a.rev != s.rev
		return ok, item{live: true, rev: a.rev, value: c.value}
	default:
		if a.outcome == stale {
			return s.live && c.expect != s.rev, s
		}
		return a.outcome == done && s.live && c.expect == s.rev, item{deleted: true}
	}
}

// missing reports whether the answer that the item does not exist is possible. A store without
// tombstones returns ErrNotFound for a deleted item. No store may return ErrGone for an item that
// never existed, and Insert never returns ErrNotFound.
func (s item) missing(c call, a answer, recreates bool) bool {
	switch {
	case s.live, a.outcome == gone && !s.deleted:
		return false
	case c.method == "Insert":
		return a.outcome == gone && !recreates
	}
	return true
}

// describeCall formats a call and its answer.
func describeCall(c call, a answer) string {
	text := fmt.Sprintf("%s %s", c.method, c.id)
	if c.method == "Replace" || c.method == "Delete" {
		text += fmt.Sprintf(" at %q", c.expect)
	}
	if c.value != "" {
		text += " " + c.value
	}
	result := string(a.outcome)
	if a.rev != "" {
		result = fmt.Sprintf("revision %q", a.rev)
	}
	if a.value != "" {
		result += " " + a.value
	}
	return text + " -> " + result
}
