package command

// Calls with a JSON document: its validation, the policy, the idempotency key, and the job. Called
// by protocols; command.go has Invoke, for protocols that have decoded the input. It calls
// resource.Key and Jobs.

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/keyed"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// CallOptions adjust one call of a [Command]. nil is the zero value.
type CallOptions struct {
	// WriteOptions are Key, Lenient, MaxDepth and MaxNames; the others are not used.
	resource.WriteOptions
	// Report logs an internal error of a job and returns the id by which a problem names the log
	// entry. Nil logs nothing.
	Report func(ctx context.Context, err error) (instance string)
}

// Result is the result of [Command.Call].
type Result struct {
	// Output is the output as JSON; nil if the command has no output, and if it has Jobs.
	Output []byte
	// Job is the id of the job that carries out the command; empty if the command has no Jobs.
	Job string
	// Done is closed when the job has ended; nil if the result was replayed for a key.
	Done <-chan struct{}
	// Outcome returns the output or the error of a job that has ended.
	Outcome func() ([]byte, error)
}

// Call carries out the command with a JSON document as its input. An empty document is the input of
// a command without one. With Jobs it starts a job, which is not canceled with ctx, and returns
// without waiting for it. The policy is checked before the key is looked up, and so for each
// repeated request. Errors are those of [Command.Invoke].
func (c *Command) Call(ctx context.Context, doc []byte, opts *CallOptions) (*Result, error) {
	ctx = c.binding.Context(ctx)
	call := keyedCall{c: c, doc: doc}
	if opts != nil {
		call.opts = *opts
	}
	if call.in, call.invalid = c.decode(doc, &call.opts.WriteOptions); call.invalid == nil {
		if err := c.authorized(ctx, call.in); err != nil {
			return nil, err
		}
	} else if call.opts.Key == nil {
		return nil, call.invalid
	}
	if err := call.opts.Key.Do(ctx, &call); err != nil {
		return nil, err
	}
	return &call.result, nil
}

// decode reads a document into the input. The result shares no memory with doc.
func (c *Command) decode(doc []byte, o *resource.WriteOptions) (any, error) {
	if c.Input() == nil && len(doc) == 0 {
		return c.in.New(), nil
	}
	return c.in.Decode(doc, &schema.DecodeOptions{
		Mode: schema.Create, AllowUnknown: o.Lenient, MaxDepth: o.MaxDepth, MaxNames: o.MaxNames,
	})
}

// keyedCall is one call of a command. It is a [resource.KeyedWrite].
type keyedCall struct {
	c       *Command
	doc     []byte
	opts    CallOptions
	in      any   // nil after the function has received it, because it may have changed it
	invalid error // the error of decoding, if there is no input
	result  Result
}

// Do calls the function, or starts its job.
func (call *keyedCall) Do(ctx context.Context) (err error) {
	c := call.c
	if call.in == nil && call.invalid == nil {
		call.in, call.invalid = c.decode(call.doc, &call.opts.WriteOptions)
	}
	if call.invalid != nil {
		return call.invalid
	}
	in := call.in
	call.in, call.result = nil, Result{}
	if c.jobs != nil {
		o := &jobOutcome{err: errJobLost}
		call.result.Outcome = func() ([]byte, error) { return o.doc, o.err }
		call.result.Job, call.result.Done, err = c.jobs.Start(ctx, c.name, call.job(o, in))
		return c.wrap(err)
	}
	out, err := c.call(ctx, in)
	if err != nil || out == nil {
		return err
	}
	call.result.Output, err = c.out.Append(nil, out)
	return err
}

// jobOutcome is the outcome of a job, set when the job is done.
type jobOutcome struct {
	doc jsontext.Value
	err error
}

const mediaJSON = "application/json"

var errJobLost = errors.New("command: job ended without an outcome")

// job returns the function of a job. It outlives the request.
func (call *keyedCall) job(o *jobOutcome, in any) func(ctx context.Context) (jsontext.Value, error) {
	c, report := call.c, call.opts.Report
	return func(ctx context.Context) (doc jsontext.Value, err error) {
		err = errJobLost // unless the function returns: it may call runtime.Goexit
		defer func() {
			if v := recover(); v != nil {
				err = safe.Recovered(v)
			}
			if err != nil {
				doc, err = nil, reported(ctx, err, report)
			}
			o.doc, o.err = doc, err
		}()
		out, err := c.call(ctx, in)
		if err != nil || out == nil {
			return nil, err
		}
		return c.out.Append(nil, out)
	}
}

// reportedError is an internal error of a job that has been logged. Its problem is for the client
// that waits and for those that read the job.
type reportedError struct {
	problem *problem.Details
	cause   error
}

func (e *reportedError) Error() string   { return e.cause.Error() }
func (e *reportedError) Unwrap() []error { return []error{e.problem, e.cause} }

// reported logs an internal error and returns it with the instance under which it was logged, so
// that a recorded result refers to the log, too.
func reported(ctx context.Context, err error, report func(context.Context, error) string) error {
	d := *resource.Problem(err)
	if d.StatusCode() != http.StatusInternalServerError || report == nil {
		return err
	}
	d.Instance = report(ctx, err)
	return &reportedError{problem: &d, cause: err}
}

// Content returns what the input is compared by with others that have its key.
func (call *keyedCall) Content(ctx context.Context) resource.KeyedContent {
	return resource.KeyedContent{
		Sent:     idempotency.CanonicalJSON(call.doc),
		Contract: contract.From(ctx).Name(),
		Members:  call.members,
	}
}

// members returns the members of the input. Commands of different contracts can have the same name
// and input. Their outputs must have the same schema, because that of one is replayed for another.
func (call *keyedCall) members() []idempotency.Member {
	if call.invalid != nil {
		return nil
	}
	input := keyed.Document{JSON: call.doc}
	return append(input.Members(call.c.in, call.in),
		idempotency.Member{Name: " output", Value: []byte(etag.TypeHash(call.c.out)), Sent: true})
}

// Creates is false, because commands have one guarantee.
func (call *keyedCall) Creates() bool { return false }

// Record returns the output, or the id of the job.
func (call *keyedCall) Record() (idempotency.Record, error) {
	switch {
	case call.result.Job != "":
		return idempotency.Record{
			Status:     http.StatusAccepted,
			Collection: call.c.jobs.Name(),
			ID:         call.result.Job,
		}, nil
	case call.result.Output == nil:
		return idempotency.Record{Status: http.StatusNoContent}, nil
	}
	return idempotency.Record{Status: http.StatusOK, Media: mediaJSON, Result: call.result.Output}, nil
}

// Replay restores the result. Call has checked the policy.
func (call *keyedCall) Replay(_ context.Context, rec *idempotency.Record) error {
	if rec.Reference() {
		return rec.NotKept()
	}
	call.result = Result{Output: rec.Result}
	if rec.Status == http.StatusAccepted {
		call.result = Result{Job: rec.ID}
	}
	return nil
}
