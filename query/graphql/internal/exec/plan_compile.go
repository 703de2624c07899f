package exec

// From a document to a plan. Called by Engine.Plan; calls packages lexer, parser and validate, and
// plan_collect.go for the selection sets.

import (
	"context"
	"errors"
	"strconv"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
	"github.com/stoa-go/stoa/resource"
)

// compile compiles an operation, or returns request errors. The order makes each step safe: Guard
// limits recursion before parsing, and validation excludes cycles before fragments are expanded.
// Errors are not cached, so an invalid document is validated for each request.
func (e *Engine) compile(document, operation string) (*Plan, []*gqlerror.Error) {
	if err := lexer.Guard(document, e.cfg.Scan); err != nil {
		return nil, []*gqlerror.Error{documentError(err)}
	}
	doc, err := parser.Parse(document)
	if err != nil {
		return nil, []*gqlerror.Error{documentError(err)}
	}
	if bad := validate.Document(e.cfg.Schema, doc, e.cfg.Rules); len(bad) > 0 {
		return nil, e.invalid(bad)
	}
	op, failed := getOperation(doc, operation)
	if failed != nil {
		return nil, []*gqlerror.Error{failed}
	}
	// Validation has checked that fragment names are unique.
	c := &compiler{e: e, fragments: map[string]*parser.FragmentDefinition{}, byID: map[target]bool{}}
	for _, def := range doc.Definitions {
		if f, ok := def.(*parser.FragmentDefinition); ok {
			c.fragments[f.Name.Value] = f
		}
	}
	p, failed := c.planOperation(op)
	if failed != nil {
		return nil, []*gqlerror.Error{failed}
	}
	p.bytes += len(document) + len(operation) // the cache key, which shares memory with the names in the plan
	if p.Kind == parser.OperationMutation {
		p.meaning = meaningOf(doc, op)
	}
	return p, nil
}

// documentError returns the error for a text that is not a document or exceeds a limit. The latter is a
// validation error, because the text may be syntactically correct.
func documentError(err error) *gqlerror.Error {
	out := &gqlerror.Error{Message: shortened(err.Error()), Code: gqlerror.ParseFailed}
	var e *lexer.Error
	if !errors.As(err, &e) {
		return out
	}
	out.Message, out.Rule = shortened(e.Message), e.Rule
	switch {
	case e.Limit:
		out.Code, out.Rule = gqlerror.ValidationFailed, "Limits"
	case e.Rule != "":
		out.Code = gqlerror.ValidationFailed
	}
	if e.Line > 0 {
		out.Locations = []gqlerror.Location{{Line: e.Line, Column: e.Column}}
	}
	return out
}

// invalid converts the errors of validation, which limits their number. Their messages contain
// names of the document, which may be long. Hints are names of the schema, so they are left out if
// introspection is.
func (e *Engine) invalid(bad []validate.Error) []*gqlerror.Error {
	out := make([]*gqlerror.Error, len(bad))
	for i, b := range bad {
		out[i] = &gqlerror.Error{Message: shortened(b.Message), Code: gqlerror.ValidationFailed, Rule: b.Rule}
		if b.Hint != "" && !e.cfg.NoIntrospection {
			out[i].Message += " " + b.Hint
		}
		for _, at := range b.Locations {
			out[i].Locations = append(out[i].Locations, gqlerror.Location(at))
		}
	}
	return out
}

// getOperation implements GetOperation (section 6.1), with the messages of the reference
// implementation. It follows validation, so all operations of a document must be valid, whichever
// is executed.
func getOperation(doc *parser.Document, name string) (*parser.OperationDefinition, *gqlerror.Error) {
	var found *parser.OperationDefinition
	for _, def := range doc.Definitions {
		op, ok := def.(*parser.OperationDefinition)
		switch {
		case !ok:
		case name == "" && found != nil:
			return nil, unresolvable("Must provide operation name if query contains multiple operations.")
		case name == "" || op.Name != nil && op.Name.Value == name:
			found = op
		}
	}
	switch {
	case found != nil:
		return found, nil
	case name == "":
		return nil, unresolvable("Must provide an operation.")
	}
	return nil, unresolvable("Unknown operation named " + strconv.Quote(gqlerror.Truncate(name)) + ".")
}

// unresolvable returns the error for a document without an operation to execute.
func unresolvable(message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Code: gqlerror.Unresolvable}
}

// compiler compiles one plan. Its work is proportional to the number of fields with fragments
// expanded, which validation limits.
type compiler struct {
	e         *Engine
	fragments map[string]*parser.FragmentDefinition // by name
	to        *Plan
	bytes     int // estimated size of the fields
	used      int // number of uses of variables in arguments
	fields    int // number of compiled fields
	tooMany   bool
	depth     int             // number of fetched fields that contain the current one
	byID      map[target]bool // of the relations by id
}

// target is the resource of a relation at a level.
type target struct {
	resource *resource.Resource
	depth    int
}

// maxFields is the maximum number of fields of an operation if Config.Rules has none.
const maxFields = 10_000

// planOperation compiles a valid operation.
func (c *compiler) planOperation(op *parser.OperationDefinition) (*Plan, *gqlerror.Error) {
	p := &Plan{id: c.e.ids.Add(1), Kind: op.Operation, switches: 1}
	c.to = p
	schema := c.e.cfg.Schema
	// The message is that of the reference implementation.
	root := map[string]*model.Type{
		parser.OperationQuery: schema.Query, parser.OperationMutation: schema.Mutation,
		parser.OperationSubscription: schema.Subscription,
	}[op.Operation]
	if root == nil {
		return nil, unresolvable("Schema is not configured to execute " + op.Operation + " operation.")
	}
	if len(op.VariableDefinitions) > 0 {
		p.variables = coerce.Definitions(schema, op)
	}
	p.root = c.compileSet(root, []occurrence{{set: op.SelectionSet}})
	if c.tooMany {
		return nil, &gqlerror.Error{Code: gqlerror.ValidationFailed, Rule: "Limits",
			Message: "The operation selects too many fields of the interface Node. Select fewer fields."}
	}
	if failed := c.refuseIntrospection(); failed != nil {
		return nil, failed
	}
	p.bytes = 1024 + 576*len(op.VariableDefinitions) + c.bytes
	// The response to an introspection query never changes, so it is computed once, including
	// errors.
	// No other goroutine has the plan before it is in the cache, so the fields may be set after a
	// run.
	if c.unchanging() {
		p.answer, _ = c.e.Run(context.Background(), p, nil, nil)
		p.bytes += len(p.answer)
	}
	return p, nil
}

// refuseIntrospection rejects the operation if introspection is disabled. Other operations of the
// document are not executed and are not checked.
func (c *compiler) refuseIntrospection() *gqlerror.Error {
	if !c.e.cfg.NoIntrospection {
		return nil
	}
	for i := range c.to.root.ops {
		n := c.to.root.ops[i].field
		if n.def == c.e.cfg.Schema.MetaSchema || n.def == c.e.cfg.Schema.MetaType {
			return &gqlerror.Error{Code: gqlerror.ValidationFailed, Rule: "NoSchemaIntrospection",
				Locations: n.locations,
				Message: "GraphQL introspection is disabled, but the operation selects " + n.def.Name +
					"."}
		}
	}
	return nil
}

// unchanging reports whether the operation selects only introspection fields, so that its response
// is constant.
func (c *compiler) unchanging() bool {
	for i := range c.to.root.ops {
		if w := c.to.root.ops[i].write; w != meta && w != constant {
			return false
		}
	}
	return c.to.variables == nil && c.to.Kind != parser.OperationSubscription
}
