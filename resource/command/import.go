package command

// The command that imports items. Called by applications; protocols call resource.Resource.Import
// with Command.Into of a bound command.

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/importresult"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// NewImport returns a command that stores many items of a resource with one request: POST /name,
// such as places/import, with a body of the type application/x-ndjson or text/csv, which may be
// compressed with gzip. Each line, or each row of CSV, is an item as POST accepts it; package csv
// describes the cells. The query parameter fields names the columns of CSV without a header row. An
// item with an existing id is replaced, as by PUT, and any other is created; see
// [resource.Resource.Import]. A member that a line lacks is then reset. With ?mode=merge an existing item
// keeps it, so that some columns of an export can be edited and sent back. The response is 200 with the
// result:
//
//	{"created": 2, "replaced": 1, "rejected": [{"line": 3, "problem": {...}}]}
//
// A line may refer to an item of a later line, or have a unique value that a later line changes: a line
// that is refused only for unknown items and taken values is tried again after the last line, as long as
// that stores some of these lines, at most 32 times. It is rejected instead if a later line has its id, or
// if there are more than 16 MiB of such lines. Hooks run at each try.
//
// Lines are counted from 1; the line of a row of CSV is its first one. An item that is equal to the
// existing one counts as replaced, and nothing is written. At most a hundred rejected lines are in the
// result; if there are more, rejectedTotal is their number. An error that does not concern a single
// line, such as an unavailable store, ends the import: its problem has the members created and
// replaced.
//
// A quotation mark of CSV that is not doubled rejects its line alone. At the beginning of a cell it takes
// the lines up to the next mark: skipped is their number, in the rejected line and in all.
//
// A line has at most Limits.Body bytes. Limits.ImportLines and Limits.ImportBytes limit the import, and
// its decompressed content of more than 1 MiB must not exceed 100 times the compressed bytes. Otherwise the
// response is 413, with what was stored. A client that disconnects ends the import, unless the request has
// an Idempotency-Key and was received.
//
// With ?atomic=true all lines are stored in one transaction, or none: if a line is rejected, the
// response is 422, and its problem has the rejected lines. The body is first copied to a temporary
// file, so that the transaction does not wait for the client. If the collection is
// not a [resource.Transactor], the response is 400.
//
// A request with an Idempotency-Key must have a digest of the body (RFC 9530), or a body no longer
// than the MaxBody of the Guard. Content with a digest is verified before any line is stored. A repeated
// request gets the same result; one that ended early continues if all lines have ids. An atomic import is
// done exactly once if the items share transactions with the records and it takes no longer than they may;
// any other at most once.
//
// NewImport panics if the name is not of the form area/action, and if no items can be created in
// the resource.
//
// GraphQL has no imports, because their input is a stream: [Command.Invoke] returns a problem, 501.
func NewImport(name string, into *resource.Resource) *Command {
	checkName(name)
	if into == nil || !into.Can(resource.OpCreate) {
		panic(fmt.Sprintf("command: import %s: into must be a resource in which items can be created", name))
	}
	return &Command{
		name:   name,
		in:     schema.For[struct{}](),
		out:    schema.For[importresult.Result](),
		into:   into,
		public: true, // the policy of the resource applies
		doc: "Stores one item for each line of the request body. Existing items are replaced, " +
			"and the others are created.",
		do: func(context.Context, any) (any, error) {
			return nil, problem.New(problem.NotImplemented,
				"An import is only available as POST of application/x-ndjson or text/csv to /"+name+".")
		},
	}
}

// Into returns the resource that an import writes to; nil for any other command.
func (c *Command) Into() *resource.Resource { return c.into }
