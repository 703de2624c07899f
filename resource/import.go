package resource

import (
	"context"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// NewImport returns a command that stores many items at once. It is served at /name, as in "places/import", and takes
// content of the type application/x-ndjson, in gzip if the client likes: each line is an item as POST would take it. What
// has an id that is there already is replaced, as by PUT, and everything else is created. Policy, validation and hooks are
// those of into, line by line, and where into demands If-Match nothing that is there can be replaced.
//
// The answer is 200 with what has become of the lines:
//
//	{"created": 2, "replaced": 1, "rejected": [{"line": 3, "problem": {...}}]}
//
// Lines are counted from 1. An item that is there already just as the line has it counts as replaced, and nothing is
// written. Empty lines are passed over. Of the lines that are rejected the first hundred are told; where there are more,
// the member rejectedTotal is their number. What is no matter of a line, such as a store that is not available, ends the
// import: the answer is its problem, which has created and replaced besides.
//
// Lines are read a few hundred at a time and then forgotten, so the content may be of any length, in constant memory. Each
// line is bounded by Limits.Body, and nothing else is: a handler in front can put an [http.MaxBytesReader] around the
// content. Where the collection is a [Transactor], the lines that are read together are also committed together; if the
// client goes away in the middle, what has been committed stays. To send all of it again does no harm to lines that have an
// id; those without are then there twice.
//
// With ?atomic=true all lines are stored in one transaction, or none: where a line is rejected, the answer is 422 with the
// rejected lines in its problem. The content is then put aside in a temporary file of 1 GiB at most, so that the
// transaction does not wait for the client. It takes a Transactor; elsewhere it is 400. An import that is called inside of
// a transaction is always of that kind.
//
// With an Idempotency-Key the content has a digest (RFC 9530), or else is held in memory and bounded by what the Keeper reads.
// What one import did is answered again, also where it came to an end before its last line and something stayed. With
// ?atomic=true it is done exactly once where the items share transactions with the records, as long as it takes no longer than
// they may; otherwise at most once.
//
// It panics if the name is not of the form area/action, or if no items can be created in into.
//
// Its content is a stream, which no value of Go stands for, so [Command.Invoke] has nothing to do and returns a problem, 501.
// Other doors leave it out: it is a Command whose [Command.Into] is not nil.
func NewImport(name string, into *Resource) *Command {
	if !validCommand.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a command: it is of the form area/action", name))
	}
	if into == nil || !into.Can(OpCreate) {
		panic(fmt.Sprintf("resource: import %s: there is no resource in which items can be created", name))
	}
	_, action, _ := strings.Cut(name, "/")
	return &Command{
		name: name, media: strings.ToLower(action), in: schema.For[struct{}](), out: schema.For[imported](), into: into,
		public:  true, // that is, into is asked
		doc:     "Stores the items in the lines of the content: what is there is replaced, and the rest is created.",
		accepts: []string{mediaNDJSON},
		serve:   (*call).importLines,
		do: func(context.Context, any) (any, error) {
			return nil, problem.New(problem.NotImplemented, "Items are imported from the lines of a POST to /"+name+", and in no other way.")
		},
	}
}

// imported is the answer of an import.
type imported struct {
	Created  int            `json:"created" required:"true" minimum:"0" doc:"How many items are new."`
	Replaced int            `json:"replaced" required:"true" minimum:"0" doc:"How many items were there before."`
	Rejected []rejectedLine `json:"rejected" required:"true" maxItems:"100" doc:"The lines that were not stored, the first hundred of them."`
	Total    int            `json:"rejectedTotal,omitzero" minimum:"0" doc:"How many lines were rejected, if that is more."`
}

// rejectedLine says why a line was not stored.
type rejectedLine struct {
	Line    int              `json:"line" required:"true" minimum:"1" doc:"The number of the line, counted from 1."`
	Problem *problem.Details `json:"problem" required:"true" doc:"What the item would have been answered with alone (RFC 9457)."`
}

// maxRejected is how many lines are told.
const maxRejected = 100

// reject notes a line that was not stored.
func (done *imported) reject(line int, err error) {
	if done.Total++; len(done.Rejected) < maxRejected {
		done.Rejected = append(done.Rejected, rejectedLine{line, brief(Problem(err))})
	}
}

// maxBrief is about how many bytes a problem of one line has.
const maxBrief = 8 << 10

// brief leaves out the last of many violations: a line can have a thousand members that nobody knows, with long names.
func brief(d *problem.Details) *problem.Details {
	room := maxBrief
	for i, v := range d.Errors {
		if room -= len(v.Pointer) + len(v.Detail) + 64; room < 0 {
			short := *d
			short.Errors = d.Errors[:i:i]
			return &short
		}
	}
	return d
}

// count notes a line that was.
func (done *imported) count(out Outcome) {
	if out == Created {
		done.Created++
	} else {
		done.Replaced++
	}
}

// add adds what has become of other lines, which come behind.
func (done *imported) add(more *imported) {
	done.Created += more.Created
	done.Replaced += more.Replaced
	done.Total += more.Total
	done.Rejected = append(done.Rejected, more.Rejected[:min(len(more.Rejected), maxRejected-len(done.Rejected))]...)
}

// answer is what the client is told.
func (done *imported) answer() *imported {
	told := *done
	if told.Rejected == nil {
		told.Rejected = []rejectedLine{}
	}
	if told.Total == len(told.Rejected) {
		told.Total = 0
	}
	return &told
}
