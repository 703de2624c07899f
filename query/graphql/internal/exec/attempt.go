package exec

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parse"
)

// Prepared is a mutation with its variables that has not been run yet, for whoever has to know before what it does, and
// may run it again: see [Engine.Prepare]. It belongs to one goroutine, and End is its end.
type Prepared struct{ r *run }

// Write is a field at the root of a mutation.
type Write struct {
	Key   string // of the answer
	Field *model.Field
}

// Attempt says how one run of a Prepared went.
type Attempt struct {
	Outcome Outcome
	// Err is the first error of any field, and nil if there is none in the answer.
	Err error
	// First is the error of the first of the writes itself, whatever became of what is selected from it. Nil says that it
	// was done.
	First error
	// Begun says that the first write was begun, so that an error leaves it open what has been done.
	Begun bool
}

// Prepare coerces variables. The errors say why the plan cannot be run with them; else call End in the end.
func (e *Engine) Prepare(p *Plan, variables map[string]jsontext.Value) (*Prepared, []*fault.Error) {
	r := e.begin(p)
	if errs := r.prepare(variables); errs != nil {
		r.end()
		return nil, errs
	}
	return &Prepared{r}, nil
}

// Writes returns what will be done, in its order. It is empty if directives have left nothing, or nothing but names of
// types.
func (p *Prepared) Writes() []Write {
	var out []Write
	for i := range p.r.plan.root.steps {
		s := &p.r.plan.root.steps[i]
		if p.r.on[s.when] && fetched(s.field.Source) {
			out = append(out, Write{s.key, s.field})
		}
	}
	return out
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
//
// With whole, it is for a transaction: what comes behind an error is not done, and an answer with errors has null for its
// data, since nothing of them will have happened.
func (p *Prepared) Run(ctx context.Context, whole bool, dst []byte) ([]byte, Attempt) {
	r := p.r
	r.forget()
	r.whole = whole
	start := len(dst)
	r.loadRoot(ctx)
	dst, outcome := r.answer(ctx, dst)
	a := Attempt{Outcome: outcome, Err: r.cause}
	if writes := p.first(); writes != nil {
		a.First, a.Begun = writes.err, writes.asked
	}
	if whole && r.cause != nil {
		dst = append(fault.List(append(dst[:start], `{"errors":`...), r.errs), `,"data":null}`...)
		a.Outcome = NoData
	}
	return dst, a
}

// first is what the first write has become.
func (p *Prepared) first() *loaded {
	for i := range p.r.plan.root.steps {
		s := &p.r.plan.root.steps[i]
		if p.r.on[s.when] && fetched(s.field.Source) {
			return &p.r.loaded[s.load]
		}
	}
	return nil
}

// End gives back what is held.
func (p *Prepared) End() { p.r.end() }

// errSkipped is of fields that were not fetched since one before them failed. Nobody is told of it.
var errSkipped = errors.New("an error of another field has ended the operation")

// meaningOf is the hash of a document and of which of its operations is meant. Who wrote it in another layout, or named the
// only operation or not, means the same.
func meaningOf(doc *parse.Document, op *ast.OperationDefinition) [sha256.Size]byte {
	text := parse.Print(doc)
	if op.Name != nil {
		text = op.Name.Value + " " + text
	}
	return sha256.Sum256([]byte(text))
}
