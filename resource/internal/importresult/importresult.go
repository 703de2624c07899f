// Package importresult has the result of an import: how many items were created and replaced, and
// which lines were rejected. The import of package resource fills it in, and package command
// describes it.
package importresult

import "github.com/stoa-go/stoa/resource/problem"

// Result is the response to an import. The zero value is that of no lines.
type Result struct {
	Created  int            `json:"created" required:"true" minimum:"0" doc:"The number of items created."`
	Replaced int            `json:"replaced" required:"true" minimum:"0" doc:"The number of items replaced."`
	Rejected []RejectedLine `json:"rejected" required:"true" maxItems:"100" doc:"The first 100 rejected lines."`
	Total    int            `json:"rejectedTotal,omitzero" minimum:"0" doc:"The number of rejected lines, if over 100."`
}

// RejectedLine is a line that was not stored.
type RejectedLine struct {
	Line    int              `json:"line" required:"true" minimum:"1" doc:"The line number, from 1."`
	Problem *problem.Details `json:"problem" required:"true" doc:"The problem of the line (RFC 9457)."`
}

// maxRejected limits the lines in Rejected.
const maxRejected = 100

// Reject counts a line that was not stored because of d. Lines are counted from 1.
func (r *Result) Reject(line int, d *problem.Details) {
	if r.Total++; len(r.Rejected) < maxRejected {
		r.Rejected = append(r.Rejected, RejectedLine{line, shorten(d)})
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

// Add adds the result of the lines that follow.
func (r *Result) Add(more *Result) {
	r.Created += more.Created
	r.Replaced += more.Replaced
	r.Total += more.Total
	r.Rejected = append(r.Rejected, more.Rejected[:min(len(more.Rejected), maxRejected-len(r.Rejected))]...)
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
