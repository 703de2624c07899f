package resource

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Command is an action that is more than a write of one item: to log in, to cancel all orders that are old. It is a
// [Part] of a [Catalog]. In REST it is a POST to /area/action whose content is the input, and the answer is the output:
// 200, or 204 where there is none. A command that has [Jobs] may be answered with 202 before it is done.
//
// Preconditions (RFC 9110 section 13) mean nothing to a command, since there is no item that they could be about.
//
// A Command is safe for concurrent use if its function is.
type Command struct {
	name      string
	in, out   *schema.Type                                   // without fields: nothing
	do        func(ctx context.Context, in any) (any, error) // in is a *In, and what it returns a *Out
	authorize func(ctx context.Context, in any) error
	doc       string
	public    bool
	jobs      Jobs
	wait      time.Duration
	cost      int
	problems  []problem.Kind
	into      *Resource // what an import writes to; nil for every other command

	transactions tx.Runner // in which it happens; nil for none
	secret       bool
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
	// client waits, and that the context of the command ends with its request. A request with an Idempotency-Key does not wait
	// for its job: what its key stands for is that there is one.
	Jobs Jobs
	// Wait is how long a request waits for its job before it is answered with 202 (RFC 9110 section 15.3.3). Zero means not
	// at all. A client can ask to wait longer or less with Prefer: wait=10, and not to wait with Prefer: respond-async
	// (RFC 7240 section 4); more than 30 seconds are not granted, unless Wait itself is more.
	Wait time.Duration
	// Cost is what a call counts for where one request can make many of them, as in GraphQL: each against Limits.Cost of that
	// door, 50,000 by default. 0 means 1. To guess a password a hundred times should take more than one request.
	Cost int
	// Problems are the kinds of problems that the command itself answers with, such as [problem.Unauthenticated] for a
	// wrong password. They are only for descriptions of the API, which without them say that there may be others.
	Problems []problem.Kind
	// Transactions says that the command happens in a database and nowhere else: all that it does, it does with its context,
	// in which there may be a transaction of this Runner. With an Idempotency-Key it then runs in one, together with the
	// record of the key, if that is in the same database: see CatalogOptions.Idempotency. It may run several times before the
	// transaction is committed. What it refuses is taken back, unless it has called [idempotency.RecordRefusal].
	//
	// Nil means that it does more, or that nobody knows: with a key it is then done at most once, and its refusal (4xx) says that
	// it has done nothing. With Jobs it means nothing.
	Transactions tx.Runner
	// Secret says that the output is for nobody's books, such as a token. An Idempotency-Key means nothing to the command then,
	// as its output would have to be kept to be answered again; a client that sends it again has it done again.
	Secret bool
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
// of an order. In and Out are structs; one without fields stands for nothing. An error of do that is made by [Invalid] or
// [Taken], where the field is one of In, or is one of the sentinels of this package or a [*problem.Details], is told to the
// client; any other is an internal one, 500. opts may be nil.
//
// It panics if the name is not of the form area/action, and if In or Out cannot be a schema.
//
//	resource.NewCommand("auth/login", func(ctx context.Context, in Credentials) (Token, error) { ... }, nil)
func NewCommand[In, Out any](
	name string, do func(ctx context.Context, in In) (Out, error), opts *CommandOptions[In],
) *Command {
	if !validCommand.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a command: it is of the form area/action", name))
	}
	var o CommandOptions[In]
	if opts != nil {
		o = *opts
	}
	c := &Command{
		name: name, in: structOf[In](name), out: structOf[Out](name), doc: o.Doc,
		public: o.Public, jobs: o.Jobs, wait: o.Wait, cost: max(o.Cost, 1), problems: o.Problems,
		transactions: o.Transactions, secret: o.Secret,
	}
	c.do = func(ctx context.Context, in any) (any, error) {
		out, err := do(ctx, *in.(*In))
		return &out, err
	}
	if o.Authorize != nil {
		c.authorize = func(ctx context.Context, in any) error { return o.Authorize(ctx, in.(*In)) }
	}
	return c
}

// structOf is the schema of the input or output of a command.
func structOf[T any](command string) *schema.Type {
	typ := schema.For[T]()
	if typ.Kind != schema.Object {
		panic(fmt.Sprintf("resource: command %s: %s is no struct", command, reflect.TypeFor[T]()))
	}
	return typ
}

// Part describes the command to a catalog.
func (c *Command) Part() PartInfo {
	p := PartInfo{Name: c.name, Keyed: !c.secret, Runner: c.transactions, Report: c.summary()}
	switch {
	case c.jobs != nil:
		p.Runner, p.Jobs = nil, c.jobs.Name()
	case c.into != nil:
		p.Runner = c.into.core.ops.runner
		p.Guarantee = func(g *idempotency.Guarantee) {
			if g.Others > idempotency.AtMostOnce { // without atomic=true
				g.Others = idempotency.AtMostOnce
				g.Reason = "with atomic=true " + g.Reason + "; else lines are stored piece by piece"
			}
		}
	case c.transactions == nil:
		p.Guarantee = func(g *idempotency.Guarantee) { g.Reason = "it does not say in whose transactions it happens" }
	}
	return p
}

// Secret reports whether keys mean nothing to the command, since its output is not to be kept.
func (c *Command) Secret() bool { return c.secret }

// Invoke does the command for another door: it checks in, a pointer to the Go type of Input, asks Authorize and returns a
// pointer to the Go type of Output. Either is nil where that is nothing. It waits until the command is done, Jobs or not.
// Errors are as those of the methods of [Resource]: see [Problem]. What [NewImport] made cannot be invoked.
func (c *Command) Invoke(ctx context.Context, in any) (any, error) {
	if in == nil && c.Input() == nil {
		in = c.in.New()
	}
	if reflect.TypeOf(in) != reflect.PointerTo(c.in.GoType) {
		return nil, c.wrap(fmt.Errorf("the input is a %T", in))
	}
	if bad := c.in.Validate(in); len(bad) > 0 {
		return nil, c.wrap(schema.Violations(bad))
	}
	if err := c.authorized(ctx, in); err != nil {
		return nil, err
	}
	return c.call(ctx, in)
}

// authorized calls Authorize, if it is set.
func (c *Command) authorized(ctx context.Context, in any) error {
	if c.authorize == nil {
		return nil
	}
	return c.wrap(c.authorize(ctx, in))
}

// call runs the function. The result is nil if the command has no output.
func (c *Command) call(ctx context.Context, in any) (any, error) {
	out, err := c.do(ctx, in)
	if err != nil {
		return nil, c.wrap(err)
	}
	if c.Output() == nil {
		return nil, nil
	}
	return out, nil
}

// wrap adds the place to an error, and points to the fields of the input that it is about. nil stays nil.
func (c *Command) wrap(err error) error {
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Op: OpInvoke, Resource: c.name, Err: fielderr.Locate(err, c.pointer)}
}

// pointer points to a field of the input; to all of it if there is no such field.
func (c *Command) pointer(field string) string {
	if c.in.Field(field) == nil {
		return ""
	}
	return pointer.To(field)
}

// Name returns the name it was given.
func (c *Command) Name() string { return c.name }

// Input returns the schema of what it takes; nil is nothing.
func (c *Command) Input() *schema.Type { return orNothing(c.in) }

// Output returns the schema of what it gives; nil is nothing.
func (c *Command) Output() *schema.Type { return orNothing(c.out) }

func orNothing(typ *schema.Type) *schema.Type {
	if len(typ.Fields) == 0 {
		return nil
	}
	return typ
}

// Permit asks Authorize whether the caller may do the command, without doing it: a pointer to the Go type of Input, nil where
// that is nothing. It is for answers that are given again, and its errors are those of [Command.Invoke].
func (c *Command) Permit(ctx context.Context, in any) error {
	if in == nil && c.Input() == nil {
		in = c.in.New()
	}
	if reflect.TypeOf(in) != reflect.PointerTo(c.in.GoType) {
		return c.wrap(fmt.Errorf("the input is a %T", in))
	}
	return c.authorized(ctx, in)
}
