package exec

// Mutations with an idempotency key: package graphql inspects the writes first, executes them in a
// transaction that may be retried, and checks the items of a stored response again.

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource"
)

// Prepared is a mutation with coerced variables that has not been executed. It allows to inspect
// the writes before execution, and to execute again after a rollback. See [Engine.Prepare]. It is
// not safe for concurrent use. The caller calls End.
type Prepared struct {
	r     *run
	given map[string]jsontext.Value // variables as sent
}

// Write is a root field of a mutation.
type Write struct {
	Key     string // response key
	Field   *model.Field
	NamesID bool // for a creation: the input contains the id
}

// Attempt configures a call of [Prepared.Run]. Nil means the zero value.
type Attempt struct {
	// Whole is set in a transaction that is rolled back after an error. Fields after an error are
	// not executed, and the data of a response with errors is null.
	Whole bool
	// NewID is the id for a created item, if the store would choose it. Empty lets the store
	// choose.
	NewID string
}

// Result describes a call of [Prepared.Run].
type Result struct {
	// Err is the first error of any field, or nil.
	Err error
	// First is the error of the first write itself, not of its subfields, or nil if it succeeded.
	First error
	// Begun reports whether the first write was started. After an error it is then unknown whether
	// it was performed.
	Begun bool
}

// Prepare coerces variables and checks the limits of a run. If it returns no errors, the caller
// must call [Prepared.End]. The errors are request errors: nothing has been executed.
func (e *Engine) Prepare(p *Plan, variables map[string]jsontext.Value) (*Prepared, []*gqlerror.Error) {
	r := e.begin(p)
	if errs := r.prepare(variables); errs != nil {
		r.end()
		return nil, errs
	}
	return &Prepared{r, variables}, nil
}

// writeFields yields the fields that are executed, in order. Fields such as __typename write
// nothing and are skipped.
func (p *Prepared) writeFields() iter.Seq[*field] {
	return func(yield func(*field) bool) {
		for i := range p.r.plan.root.ops {
			s := &p.r.plan.root.ops[i]
			if p.r.on[s.when] && fetched(s.def.Source) && !yield(s.field) {
				return
			}
		}
	}
}

// Writes returns the fields that are executed, in order. It is empty if directives exclude all of
// them, or only __typename is selected.
func (p *Prepared) Writes() []Write {
	var out []Write
	for n := range p.writeFields() {
		out = append(out, Write{n.key, n.def, p.namesID(n)})
	}
	return out
}

// namesID reports whether a field creates an item with an id in its input.
func (p *Prepared) namesID(n *field) bool {
	if n.def.Source != model.Create {
		return false
	}
	args, err := p.r.args(n)
	given, _ := args["input"].(map[string]any)
	if input := n.def.Arg("input"); err == nil && input != nil {
		for _, in := range input.Type.Named().Inputs {
			if in.Member.Name == n.def.Resource.Describe().ID {
				return given[in.Name] != nil
			}
		}
	}
	return false
}

// Meaning returns a hash of the operation and the JSON object of its variables as sent. Requests
// with equal results have the same effect. Defaults of the schema are not in the result, because a
// new field of an input may have one.
func (p *Prepared) Meaning() (operation, variables []byte) {
	object := []byte{'{'}
	for i := range p.r.plan.variables {
		v := &p.r.plan.variables[i]
		given, ok := p.given[v.Name]
		if !ok {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(strconv.AppendQuote(object, v.Name), ':') // a name has only letters, digits and _
		object = append(object, given...)
	}
	return p.r.plan.meaning[:], append(object, '}')
}

// Run executes the mutation and appends the response to dst. It may be called again after the
// effects of the previous call were rolled back. Fetched values of the previous call are released,
// and its variables and switches are used again.
func (p *Prepared) Run(ctx context.Context, a *Attempt, dst []byte) ([]byte, Result) {
	r := p.r
	r.forget()
	if a != nil {
		r.attempt = *a
	}
	start := len(dst)
	dst, _ = r.execute(ctx, dst)
	result := Result{Err: r.cause}
	for n := range p.writeFields() {
		first := &r.loaded[n.fetchIndex]
		result.First, result.Begun = first.err, first.asked
		break
	}
	// The writes are rolled back, so the response must not show their results.
	if r.attempt.Whole && r.cause != nil {
		dst = append(gqlerror.List(append(dst[:start], `{"errors":`...), r.errs), `,"data":null}`...)
	}
	return dst, result
}

// Shown is an item in a response.
type Shown struct {
	Key   string // response key of the write
	Of    *resource.Resource
	Entry *resource.Entry // valid until the next run
}

// Shown yields the items in the response of the last run: written items and related items. It may
// yield an item several times.
func (p *Prepared) Shown() iter.Seq[Shown] {
	return func(yield func(Shown) bool) {
		for n := range p.writeFields() {
			if !p.r.shows(n.key, n, yield) {
				return
			}
		}
	}
}

// shows yields the items of a field and of its subfields. Results of commands and functions have no
// items.
func (r *run) shows(key string, n *field, yield func(Shown) bool) bool {
	if n.sub == nil || n.sub.typ.Resource == nil {
		return true
	}
	l, of := &r.loaded[n.fetchIndex], n.sub.typ.Resource
	if l.found && !yield(Shown{key, of, &l.item[0]}) {
		return false
	}
	for i := range l.page.Entries {
		if !yield(Shown{key, of, &l.page.Entries[i]}) {
			return false
		}
	}
	for i := range n.sub.fetches {
		if below := &n.sub.fetches[i]; r.active(below) && !r.shows(key, below.field, yield) {
			return false
		}
	}
	return true
}

// Permit authorizes the commands among the writes again. It returns the response key of the first
// command that the caller is not allowed to invoke, and the error.
func (p *Prepared) Permit(ctx context.Context) (key string, err error) {
	for n := range p.writeFields() {
		if n.def.Source != model.Invoke {
			continue
		}
		args, err := p.r.args(n)
		if err == nil {
			err = p.r.e.fetch.Permit(ctx, n.def, args)
		}
		if err != nil {
			return n.key, err
		}
	}
	return "", nil
}

// End releases the memory of p, which must not be used afterwards.
func (p *Prepared) End() { p.r.end() }

// errSkipped marks fields that were not fetched because of an earlier error. It is not reported.
var errSkipped = errors.New("graphql: skipped after an error of another field")

// meaningOf returns a hash of a document and the name of its operation. It does not depend on
// layout. The name is part of it, because a document may have several operations.
func meaningOf(doc *parser.Document, op *parser.OperationDefinition) [sha256.Size]byte {
	text := parser.Print(doc)
	if op.Name != nil {
		text = op.Name.Value + " " + text
	}
	return sha256.Sum256([]byte(text))
}
