// Package command adds actions to a catalog: operations that are more than a write of one item,
// such as a login or the cancellation of old orders.
//
// [New] makes a [Command] of a function. Package rest serves it as POST /area/action, package
// graphql as a field of Mutation. The input is validated like an item, and Options.Authorize is
// called before the function:
//
//	func logIn(ctx context.Context, in Credentials) (Token, error) { ... }
//
//	login := command.New("auth/login", logIn, nil)
//	catalog := resource.NewCatalog(nil, orders, login)
//
// A command with [Jobs], such as those of package job, can outlive its request: the response is 202
// with the location of an item that shows the job. [NewImport] makes a command that stores many
// items at once.
package command

// The command, its options and its invocation. Called by applications and protocols; call.go has
// calls with a JSON document and a key.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// OpInvoke is the operation of a command, in errors and in descriptions of the API. Hooks and
// policies of resources never receive it.
const OpInvoke resource.Op = "invoke"

// Command is an action that is served at /area/action. It is a [resource.Part]. In REST it is a
// POST: the request body is the input, and the response is 200 with the output, or with an empty
// object if there is none. A command with [Jobs] may respond with 202 before it is done.
// Preconditions (RFC 9110 section 13) do not apply, because there is no item.
//
// A Command is safe for concurrent use if its function is.
type Command struct {
	name      string
	in, out   *schema.Type                                   // without fields: no input, no output
	do        func(ctx context.Context, in any) (any, error) // in is a *In, and the result a *Out
	authorize func(ctx context.Context, in any) error
	doc       string
	public    bool
	jobs      Jobs
	wait      time.Duration
	cost      int
	problems  []problem.Kind
	into      *resource.Resource // of an import; nil for any other command

	transactions tx.Runner // nil for none
	secret       bool
	binding      resource.Binding // of a catalog; zero for a definition
}

// Options adjust a [Command]. The zero value lets every caller invoke it, and the start-up report
// has a warning.
type Options[In any] struct {
	// Authorize is called with the input before the command. [resource.ErrUnauthenticated] is 401,
	// [resource.ErrForbidden] 403 and [resource.ErrNotFound] 404; any other error is an internal
	// one, 500.
	Authorize func(ctx context.Context, in *In) error
	// Public declares that Authorize is nil on purpose. With Authorize it is a mistake.
	Public bool
	// Doc describes the command in descriptions of the API.
	Doc string
	// Jobs lets the command outlive its request, and stores its outcome. Nil means that the client
	// waits, and that the context of the command is canceled with the request. A request with an
	// Idempotency-Key does not wait for its job, because the result that is recorded is the job.
	Jobs Jobs
	// Wait is how long a request waits for its job before the response is 202 (RFC 9110 section
	// 15.3.3). Default 0. A client can change it with Prefer: wait=10, up to 30 seconds or Wait if
	// that is longer, and with Prefer: respond-async (RFC 7240 section 4).
	Wait time.Duration
	// Cost is the cost of a call if one request can have many, as in GraphQL, where Limits.Cost is
	// 50,000 by default. Default 1. A high cost makes it harder to guess passwords with one
	// request.
	Cost int
	// Problems are the kinds of problems that the command returns, such as
	// [problem.Unauthenticated] for a wrong password. They are part of the descriptions of the API,
	// which otherwise state that there may be others.
	Problems []problem.Kind
	// Transactions declares that the command writes to the database of this Runner and has no other
	// effects: all its writes use its context, which may have a transaction. With an
	// Idempotency-Key the command then runs in one transaction with the record of the key, if the
	// records are in the same database; see [resource.CatalogOptions]. It may run several times
	// before the transaction is committed. If it returns an error, its writes are rolled back,
	// unless it has called [idempotency.RecordRefusal].
	//
	// Nil means that there are other effects, or that they are unknown. With a key the command then
	// runs at most once, and a refusal (4xx) means that it has done nothing. It is not used with
	// Jobs.
	Transactions tx.Runner
	// Secret declares that the output must not be stored, for example because it is a token. An
	// Idempotency-Key is then ignored, because a replay needs the stored output: a repeated request
	// runs the command again.
	Secret bool
}

// Jobs runs commands in the background and stores their outcomes as items of a resource. Package
// job implements it.
type Jobs interface {
	// Name returns the name of the resource that has the jobs.
	Name() string
	// Start stores a job as running and calls do in a new goroutine, with a context that has the
	// values of ctx and is not canceled with it. do returns the result as JSON, nil for none. done
	// is closed when do has returned and the outcome has been stored.
	Start(
		ctx context.Context,
		command string,
		do func(ctx context.Context) (jsontext.Value, error),
	) (id string,
		done <-chan struct{}, err error)
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*/[A-Za-z0-9][A-Za-z0-9_.~-]*$`)

func checkName(name string) {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("command: invalid command name %q; use the form area/action", name))
	}
}

// New returns a command that is served at /name, such as auth/login or orders/cancel-stale; no
// order can then have the id cancel-stale. In and Out are structs; a struct without fields means no
// input or no output. opts may be nil.
//
// An error of do reaches the client if it is a sentinel of package resource, a [*problem.Details],
// or an error of [resource.Invalid] or [resource.Taken] that names a field of In. Any other error
// is an internal one, 500.
//
// New panics if the name is not of the form area/action, if do is nil, if In or Out is a pointer or
// not a valid schema, or if Options.Public is set beside Authorize.
func New[In, Out any](
	name string, do func(ctx context.Context, in In) (Out, error), opts *Options[In],
) *Command {
	checkName(name)
	var o Options[In]
	if opts != nil {
		o = *opts
	}
	in, found := structOf[In]()
	out, more := structOf[Out]()
	found = append(found, more...)
	if do == nil {
		found = append(found, "do is nil; pass the function to call")
	}
	if o.Public && o.Authorize != nil {
		found = append(found,
			"Options.Public declares that there is no policy, but Authorize is set; remove Public")
	}
	if o.Jobs != nil && mistakes.Nil(o.Jobs) {
		found = append(found, fmt.Sprintf("Options.Jobs is a nil %T; pass an initialized one or leave it out",
			o.Jobs))
	}
	mistakes.Panic("command: "+name, found)
	c := &Command{
		name: name, in: in, out: out, doc: o.Doc,
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

// structOf returns the schema of the input or output of a command, and its mistakes.
func structOf[T any]() (*schema.Type, []string) {
	typ, found := mistakes.TypeOf[T]()
	if len(found) == 0 && typ.Kind != schema.Object {
		found = []string{fmt.Sprintf("%s is not a struct; input and output must be structs", typ.GoType)}
	}
	return typ, found
}

// Part describes the command to a catalog.
func (c *Command) Part() resource.PartInfo {
	p := resource.PartInfo{Name: c.name, Keyed: !c.secret, Runner: c.transactions, Bind: c.bind,
		Report: c.summary()}
	switch {
	case c.jobs != nil:
		p.Runner, p.Jobs = nil, c.jobs.Name()
	case c.into != nil:
		p.Runner = c.into.Part().Runner
		p.Guarantee = func(g *idempotency.Guarantee) {
			if g.Others > idempotency.AtMostOnce { // without atomic=true
				g.Others = idempotency.AtMostOnce
				g.Reason = "with atomic=true " + g.Reason + "; otherwise lines are stored in chunks"
			}
		}
	case c.transactions == nil:
		p.Guarantee = func(g *idempotency.Guarantee) {
			g.Reason = "Options.Transactions is nil"
		}
	}
	return p
}

// bind returns the command of a catalog.
func (c *Command) bind(b resource.Binding) resource.Part {
	bound := *c
	bound.binding, bound.into = b, b.Resource(c.into)
	return &bound
}

// summary returns the lines of the start-up report.
func (c *Command) summary() string {
	text := "/" + c.name + "  POST, OPTIONS\n"
	if c.into != nil {
		return text + "    import: lines of application/x-ndjson or text/csv into /" + c.into.Name() + "\n"
	}
	text += "    command: input " + fieldNames(c.in) + ", output " + fieldNames(c.out)
	if c.jobs != nil {
		text += ", as a job in /" + c.jobs.Name()
	}
	text += "\n"
	if c.authorize == nil && !c.public {
		text += "    weak: no Authorize: every caller may call it; set Public if intended\n"
	}
	return text
}

// fieldNames returns the fields of a type for the start-up report.
func fieldNames(typ *schema.Type) string {
	if len(typ.Fields) == 0 {
		return "nothing"
	}
	names := make([]string, len(typ.Fields))
	for i, f := range typ.Fields {
		names[i] = f.Name
	}
	return strings.Join(names, " ")
}

// Invoke carries out the command for a protocol that has decoded its input: it validates in, a
// pointer to the Go type of Input, calls Authorize and the function, and returns a pointer to the
// Go type of Output. in is nil if there is no input, and so is the result if there is no output.
// Invoke waits until the command is done, also with Jobs. [resource.Problem] returns the problem of
// an error. A command of [NewImport] cannot be invoked.
func (c *Command) Invoke(ctx context.Context, in any) (any, error) {
	ctx = c.binding.Context(ctx)
	in, err := c.checkInput(in)
	if err != nil {
		return nil, err
	}
	if bad := c.in.Validate(in); len(bad) > 0 {
		return nil, c.wrap(schema.Violations(bad))
	}
	if err := c.authorized(ctx, in); err != nil {
		return nil, err
	}
	return c.call(ctx, in)
}

// Permit calls Authorize without carrying out the command. It is for protocols that replay a
// response. in and the errors are those of [Command.Invoke].
func (c *Command) Permit(ctx context.Context, in any) error {
	ctx = c.binding.Context(ctx)
	in, err := c.checkInput(in)
	if err != nil {
		return err
	}
	return c.authorized(ctx, in)
}

// checkInput returns in, or an empty input if in is nil and the command has no input.
func (c *Command) checkInput(in any) (any, error) {
	if in == nil && c.Input() == nil {
		return c.in.New(), nil
	}
	if reflect.TypeOf(in) != reflect.PointerTo(c.in.GoType) {
		return nil, c.wrap(fmt.Errorf("input is a %T, want a *%v", in, c.in.GoType))
	}
	return in, nil
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

// wrap adds the place to an error, and points field errors into the input. nil stays nil.
func (c *Command) wrap(err error) error {
	if err == nil || errors.As(err, new(*resource.Error)) {
		return err
	}
	return &resource.Error{Op: OpInvoke, Resource: c.name, Err: fielderr.Locate(err, c.pointer)}
}

// pointer returns the pointer to a field of the input, and to the whole input if it has no such
// field.
func (c *Command) pointer(field string) string {
	if c.in.Field(field) == nil {
		return ""
	}
	return pointer.To(field)
}

// Name returns the name of the command, area/action.
func (c *Command) Name() string { return c.name }

// Input returns the schema of the input; nil if there is none.
func (c *Command) Input() *schema.Type { return orNone(c.in) }

// Output returns the schema of the output; nil if there is none.
func (c *Command) Output() *schema.Type { return orNone(c.out) }

func orNone(typ *schema.Type) *schema.Type {
	if len(typ.Fields) == 0 {
		return nil
	}
	return typ
}

// Doc returns Options.Doc.
func (c *Command) Doc() string { return c.doc }

// Cost returns Options.Cost, at least 1.
func (c *Command) Cost() int { return c.cost }

// Public reports whether every caller may invoke the command.
func (c *Command) Public() bool { return c.authorize == nil }

// Secret returns Options.Secret.
func (c *Command) Secret() bool { return c.secret }

// Jobs returns Options.Jobs; nil means that the command is done when the client receives the
// response.
func (c *Command) Jobs() Jobs { return c.jobs }

// Wait returns Options.Wait.
func (c *Command) Wait() time.Duration { return c.wait }

// Problems returns Options.Problems. The caller must not change them.
func (c *Command) Problems() []problem.Kind { return c.problems }
