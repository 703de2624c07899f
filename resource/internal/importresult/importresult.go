// Package importresult has the result of an import: how many items were created and replaced, and
// which lines were rejected. The import of package resource fills it in, and package command
// describes it.
package importresult

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// The doc comments of the types are the descriptions that clients see. The zero value of Result is
// that of no lines.
//
//go:generate go run ../../schema/describe

// Result is the result of an import.
type Result struct {
	// Created is the number of items created.
	Created int `json:"created" required:"true" minimum:"0"`
	// Replaced is the number of items replaced.
	Replaced int `json:"replaced" required:"true" minimum:"0"`
	// Rejected are the first 100 rejected lines.
	Rejected []RejectedLine `json:"rejected" required:"true" maxItems:"100"`
	// Total is the number of rejected lines, if it is over 100.
	Total int `json:"rejectedTotal,omitzero" minimum:"0"`
	// Skipped is the number of lines inside of rejected rows of CSV, after their first lines.
	Skipped int `json:"skipped,omitzero" minimum:"0"`
}

// RejectedLine is a line that was not stored.
type RejectedLine struct {
	// Line is the line number, from 1.
	Line int `json:"line" required:"true" minimum:"1"`
	// Problem is the problem of the line (RFC 9457).
	Problem *problem.Details `json:"problem" required:"true"`
	// Skipped is the number of lines after it that were read as part of the same row of CSV.
	Skipped int `json:"skipped,omitzero" minimum:"0"`
}

// maxRejected limits the lines in Rejected.
const maxRejected = 100

// Reject counts a line that was not stored because of d, and the skipped lines after it. Lines are
// counted from 1. They may be rejected in any order.
func (r *Result) Reject(line, skipped int, d *problem.Details) {
	r.Skipped += skipped
	r.Total++
	at := sort.Search(len(r.Rejected), func(i int) bool { return r.Rejected[i].Line > line })
	if at < maxRejected {
		r.Rejected = slices.Insert(r.Rejected, at, RejectedLine{line, shorten(d), skipped})
		r.Rejected = r.Rejected[:min(len(r.Rejected), maxRejected)]
	}
}

// maxProblem is about how many bytes the problem of one line has at most.
const maxProblem = 8 << 10

// shorten leaves out the last of many violations: a line can have a thousand unknown members with
// long names.
func shorten(d *problem.Details) *problem.Details {
	left := maxProblem
	for i, v := range d.Errors {
		if left -= len(v.Pointer) + len(v.Detail) + 64; left < 0 {
			short := *d
			short.Errors = d.Errors[:i:i]
			return &short
		}
	}
	return d
}

// Count counts a line that was stored.
func (r *Result) Count(created bool) {
	if created {
		r.Created++
	} else {
		r.Replaced++
	}
}

// Response returns the result as the client receives it: Rejected is never nil, and Total is zero
// if Rejected is complete.
func (r *Result) Response() *Result {
	out := *r
	if out.Rejected == nil {
		out.Rejected = []RejectedLine{}
	}
	if out.Total == len(out.Rejected) {
		out.Total = 0
	}
	return &out
}

// Members returns the rejected lines as members of a problem.
func (r *Result) Members() map[string]any {
	out, members := r.Response(), map[string]any{}
	if len(out.Rejected) > 0 {
		members["rejected"] = out.Rejected
	}
	if out.Total > 0 {
		members["rejectedTotal"] = out.Total
	}
	if out.Skipped > 0 {
		members["skipped"] = out.Skipped
	}
	return members
}

// Unfinished returns the problem of an import that was stored in part and ended because of d. last is the
// last line that was stored or rejected, and unnamed means that lines without an id were stored. unknown
// means that lines after last may be stored, too.
func (r *Result) Unfinished(d *problem.Details, last int, unnamed, unknown bool) *problem.Details {
	next := "All lines have ids, so the import can be repeated."
	switch {
	case unnamed && unknown:
		next = fmt.Sprintf("It is not known whether lines after line %d were stored, too.", last)
	case unnamed:
		next = fmt.Sprintf("Send the lines after line %d as a new import, because lines without an id "+
			"would be stored twice.", last)
	}
	if unnamed && r.Total > maxRejected {
		next += fmt.Sprintf(" Only the first %d of %d rejected lines are listed.", maxRejected, r.Total)
	}
	out := *d
	stored := r.Created + r.Replaced
	out.Detail = strings.TrimSpace(fmt.Sprintf("%s %d items were stored. %s", d.Detail, stored, next))
	out.Extensions = r.Members()
	out.Extensions["created"], out.Extensions["replaced"] = r.Created, r.Replaced
	maps.Copy(out.Extensions, d.Extensions)
	return &out
}
