package resource

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Command is an action that is more than a write of one item: to log in, to cancel all orders that are old. It is a
// [Part] of a [Catalog]. In REST it is a POST to /area/action whose content is the input, and the answer is the output:
// 200, or 204 where there is none. A command that has [Jobs] may be answered with 202 before it is done.
//
// A Command is safe for concurrent use if its function is.
type Command struct {
	name      string
	in, out   *schema.Type // nil: struct{}, which is nothing
	do        func(ctx context.Context, in any) (any, error)
	authorize func(ctx context.Context, in any) error
	doc       string
	public    bool
	jobs      Jobs
	wait      time.Duration
	problems  []problem.Kind
	into      *Resource // what an import writes to; nil for every other command
}

// CommandOptions adjust a [Command]. The zero value lets everybody call it, and the start-up report says so.
type CommandOptions[In any] struct {
	// Authorize is asked before the command is done, with its input. [ErrUnauthenticated] is 401, [ErrForbidden] 403 and
	// [ErrNotFound] 404; any other error is an internal one, 500.
	Authorize func(ctx context.Context, in *In) error
	// Public declares that there is no Authorize on purpose.
	Public bool
	// Doc says what the command does, in descriptions of the API.
	Doc string
	// Jobs lets the command outlive the request that asked for it, and keeps what became of it. Nil means that the
	// client waits, and that the context of the command ends with its request.
	Jobs Jobs
	// Wait is how long a request waits for its job before it is answered with 202 (RFC 9110 section 15.3.3). Zero means not
	// at all. A client can ask to wait longer or less with Prefer: wait=10, and not to wait with Prefer: respond-async
	// (RFC 7240 section 4); more than 30 seconds are not granted, unless Wait itself is more.
	Wait time.Duration
	// Problems are the kinds of problems that the command itself answers with, such as [problem.Unauthenticated] for a
	// wrong password. They are only for descriptions of the API, which without them say that there may be others.
	Problems []problem.Kind
}

// Jobs runs what commands do behind their answers, and keeps what became of it as items of a resource. Package job has
// one.
type Jobs interface {
	// Name is the name of the resource in which jobs are found.
	Name() string
	// Start begins a job: it notes it as running and calls do in a goroutine of its own, with a context that has the values
	// of ctx and outlives it. do returns the result as JSON, nil for none. done is closed when do has returned and what it
	// returned has been noted.
	Start(ctx context.Context, command string, do func(ctx context.Context) (jsontext.Value, error)) (id string,
		done <-chan struct{}, err error)
}

var validCommand = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*/[A-Za-z0-9][A-Za-z0-9_.~-]*$`)

// NewCommand returns a command that is served at /name: "auth/login", or "orders/cancel-stale", which then can be no id
// of an order. In and Out are structs; struct{} stands for nothing. An error of do that is made by [Invalid], or is one of
// the sentinels of this package or a [*problem.Details], is told to the client; any other is an internal one, 500. opts
// may be nil.
//
// It panics if the name is not of the form area/action, and if In or Out cannot be a schema.
//
//	resource.NewCommand("auth/login", func(ctx context.Context, in Credentials) (Token, error) { ... }, nil)
func NewCommand[In, Out any](name string, do func(ctx context.Context, in In) (Out, error), opts *CommandOptions[In]) *Command {
	if !validCommand.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a command: it is of the form area/action", name))
	}
	var o CommandOptions[In]
	if opts != nil {
		o = *opts
	}
	c := &Command{name: name, in: schema.For[In](), out: schema.For[Out](), doc: o.Doc, public: o.Public, jobs: o.Jobs, wait: o.Wait,
		problems: o.Problems}
	c.do = func(ctx context.Context, in any) (any, error) {
		out, err := do(ctx, *in.(*In))
		return &out, err
	}
	if o.Authorize != nil {
		c.authorize = func(ctx context.Context, in any) error { return o.Authorize(ctx, in.(*In)) }
	}
	return c
}

// Name returns the name it was given.
func (c *Command) Name() string { return c.name }

// Input returns the schema of what it takes, and Output that of what it gives; nil is nothing.
func (c *Command) Input() *schema.Type { return c.in }

// Output returns the schema of what it gives; nil is nothing.
func (c *Command) Output() *schema.Type { return c.out }
