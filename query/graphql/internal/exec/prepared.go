package exec

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource"
)

// Prepared is a mutation with its variables that has not been run yet, for whoever has to know before what it does, and
// may run it again: see [Engine.Prepare]. It belongs to one goroutine, and End is its end.
type Prepared struct{ r *run }

// Write is a field at the root of a mutation.
type Write struct {
	Key     string // of the answer
	Field   *model.Field
	NamesID bool // of a creation: its input says which id the item will have
}

// Attempt says how a Prepared is run. Nil is the zero Attempt.
type Attempt struct {
	// Whole is for a transaction: what comes behind an error is not done, and an answer with errors has null for its data,
	// since nothing of it will have happened.
	Whole bool
	// NewID is the id of what is created, where the store would choose one; empty if it shall.
	NewID string
}

// Result says how a run of a Prepared went.
type Result struct {
	// Err is the first error of any field, and nil if there is none in the answer.
	Err error
	// First is the error of the first of the writes itself, whatever became of what is selected from it. Nil says that it
	// was done.
	First error
	// Begun says that the first write was begun, so that an error leaves it open what has been done.
	Begun bool
}

// Prepare coerces variables. The errors say why the plan cannot be run with them; else call End in the end.
func (e *Engine) Prepare(p *Plan, variables map[string]jsontext.Value) (*Prepared, []*gqlerror.Error) {
	r := e.begin(p)
	if errs := r.prepare(variables); errs != nil {
		r.end()
		return nil, errs
	}
	return &Prepared{r}, nil
}

// writes yields the fields of what will be done, in its order.
func (p *Prepared) writes() iter.Seq[*field] {
	return func(yield func(*field) bool) {
		for i := range p.r.plan.root.ops {
			s := &p.r.plan.root.ops[i]
			if p.r.on[s.when] && fetched(s.def.Source) && !yield(s.field) {
				return
			}
		}
	}
}

// Writes returns what will be done, in its order. It is empty if directives have left nothing, or nothing but names of
// types.
func (p *Prepared) Writes() []Write {
	var out []Write
	for n := range p.writes() {
		out = append(out, Write{n.key, n.def, p.namesID(n)})
	}
	return out
}

// namesID reports whether a field creates an item under an id that its input has.
func (p *Prepared) namesID(n *field) bool {
	if n.def.Source != model.Create {
		return false
	}
	args, err := p.r.args(n)
	given, _ := args["input"].(map[string]any)
	if input := n.def.Arg("input"); err == nil && input != nil {
		for _, in := range input.Type.Named().Inputs {
			if in.Member.Name == n.def.Resource.ID() {
				return given[in.Name] != nil
			}
		}
	}
	return false
}

// Meaning returns what the operation is, as far as it is in the document, and the variables in canonical JSON, defaults
// filled in. Two requests that are alike in both ask for the same, however they are written. An error says that a variable
// cannot be written as JSON.
func (p *Prepared) Meaning() (operation, variables []byte, err error) {
	// Of maps that coercion has made; a scalar JSON is raw, and loses its spelling here.
	variables, err = json.Marshal(p.r.variables, json.Deterministic(true))
	if err == nil {
		err = (*jsontext.Value)(&variables).Format(jsontext.ReorderRawObjects(true))
	}
	return p.r.plan.meaning[:], variables, err
}

// Run runs it, once more if it has been run before: then somebody has rolled back what was done.
func (p *Prepared) Run(ctx context.Context, a *Attempt, dst []byte) ([]byte, Result) {
	r := p.r
	r.forget()
	if a != nil {
		r.attempt = *a
	}
	start := len(dst)
	r.loadRoot(ctx)
	dst, _ = r.answer(ctx, dst)
	result := Result{Err: r.cause}
	for n := range p.writes() {
		first := &r.loaded[n.fetchIndex]
		result.First, result.Begun = first.err, first.asked
		break
	}
	if r.attempt.Whole && r.cause != nil {
		dst = append(gqlerror.List(append(dst[:start], `{"errors":`...), r.errs), `,"data":null}`...)
	}
	return dst, result
}

// Shown is an item that an answer shows something of.
type Shown struct {
	Key   string // of the write that leads to it
	Of    *resource.Resource
	Entry *resource.Entry // which lasts until the next run
}

// Shown yields the items that the last run shows: those that were written, and those at the ends of relations. One may be
// there several times.
func (p *Prepared) Shown() iter.Seq[Shown] {
	return func(yield func(Shown) bool) {
		for n := range p.writes() {
			if !p.r.shows(n.key, n, yield) {
				return
			}
		}
	}
}

// shows yields the items of a field, and of all below it. Items come from nowhere else: what commands and functions give has
// no relations.
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

// Permit asks again whether the caller may do the commands that are among the writes, and returns the key of one that he
// may not do, with the error.
func (p *Prepared) Permit(ctx context.Context) (key string, err error) {
	for n := range p.writes() {
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

// End gives back what is held.
func (p *Prepared) End() { p.r.end() }

// errSkipped is of fields that were not fetched since one before them failed. Nobody is told of it.
var errSkipped = errors.New("an error of another field has ended the operation")

// meaningOf is the hash of a document and of which of its operations is meant. Who wrote it in another layout, or named the
// only operation or not, means the same.
func meaningOf(doc *parser.Document, op *parser.OperationDefinition) [sha256.Size]byte {
	text := parser.Print(doc)
	if op.Name != nil {
		text = op.Name.Value + " " + text
	}
	return sha256.Sum256([]byte(text))
}
