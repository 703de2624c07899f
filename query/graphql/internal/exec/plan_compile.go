package exec

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
)

// compile makes a plan, or says why there is none. The order is that of safety: nobody recurses into what Guard has not
// let pass, and nobody follows spreads in what is not valid.
func (e *Engine) compile(document, operation string) (*Plan, []*gqlerror.Error) {
	if err := lexer.Guard(document, e.cfg.Scan); err != nil {
		return nil, []*gqlerror.Error{unread(err)}
	}
	doc, err := parser.Parse(document)
	if err != nil {
		return nil, []*gqlerror.Error{unread(err)}
	}
	if bad := validate.Document(e.cfg.Schema, doc, e.cfg.Rules); len(bad) > 0 {
		return nil, invalid(bad)
	}
	op, failed := choose(doc, operation)
	if failed != nil {
		return nil, []*gqlerror.Error{failed}
	}
	// Of fragments with one name there is one by now, and every spread finds its own.
	c := &compiler{e: e, fragments: map[string]*parser.FragmentDefinition{}}
	for _, def := range doc.Definitions {
		if f, ok := def.(*parser.FragmentDefinition); ok {
			c.fragments[f.Name.Value] = f
		}
	}
	p, failed := c.planOperation(op)
	if failed != nil {
		return nil, []*gqlerror.Error{failed}
	}
	p.bytes += len(document) + len(operation) // the key, whose memory names in the plan share
	if p.Kind == parser.OperationMutation {
		p.meaning = meaningOf(doc, op)
	}
	return p, nil
}

// unread is the error for a text that is no document, or too much of one. To be too much is a matter of rules: the text
// may be right, and another server may take it.
func unread(err error) *gqlerror.Error {
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
		out.Places = []gqlerror.Place{{Line: e.Line, Column: e.Column}}
	}
	return out
}

// invalid are the errors for a document that breaks rules. There are as many as validation gives, which has a limit.
func invalid(bad []validate.Error) []*gqlerror.Error {
	out := make([]*gqlerror.Error, len(bad))
	for i, e := range bad {
		out[i] = &gqlerror.Error{Message: shortened(e.Message), Code: gqlerror.ValidationFailed, Rule: e.Rule}
		for _, at := range e.Places {
			out[i].Places = append(out[i].Places, gqlerror.Place(at))
		}
	}
	return out
}

// choose is GetOperation (section 6.1), in the words of the reference implementation.
func choose(doc *parser.Document, name string) (*parser.OperationDefinition, *gqlerror.Error) {
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
	return nil, unresolvable("Unknown operation named " + strconv.Quote(gqlerror.Cut(name)) + ".")
}

// unresolvable is the error for a document in which there is nothing to execute.
func unresolvable(message string) *gqlerror.Error {
	return &gqlerror.Error{Message: message, Code: gqlerror.Unresolvable}
}

// compiler makes one plan. Its work is in proportion to the fields of the operation, each counted as often as fragments
// bring it, and validation has bounded these.
type compiler struct {
	e         *Engine
	fragments map[string]*parser.FragmentDefinition // by name
	to        *Plan
	bytes     int // about what the fields take
	used      int // variables in arguments, each as often as it is there
}

// planOperation makes the plan of an operation that is valid.
func (c *compiler) planOperation(op *parser.OperationDefinition) (*Plan, *gqlerror.Error) {
	p := &Plan{id: c.e.ids.Add(1), Kind: op.Operation, switches: 1}
	c.to = p
	schema := c.e.cfg.Schema
	// The words are those of the reference implementation.
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
	if failed := c.refuseIntrospection(); failed != nil {
		return nil, failed
	}
	p.bytes = 1024 + 576*len(op.VariableDefinitions) + c.bytes
	// Tools ask for the schema again and again, and it is the same until the program ends. Whatever the answer is, an error
	// included, it stays that way.
	if c.unchanging() {
		p.answer, _ = c.e.Run(context.Background(), p, nil, nil)
		p.bytes += len(p.answer)
	}
	return p, nil
}

// refuseIntrospection is the rule for those who do not want to show their schema. It concerns the operation alone: what
// is not executed shows nothing.
func (c *compiler) refuseIntrospection() *gqlerror.Error {
	if !c.e.cfg.NoIntrospection {
		return nil
	}
	for i := range c.to.root.ops {
		n := c.to.root.ops[i].field
		if n.def == c.e.cfg.Schema.MetaSchema || n.def == c.e.cfg.Schema.MetaType {
			return &gqlerror.Error{Code: gqlerror.ValidationFailed, Rule: "NoSchemaIntrospection",
				Places: n.places,
				Message: "GraphQL introspection is disabled here, but the operation selects " + n.def.Name +
					"."}
		}
	}
	return nil
}

// unchanging reports whether the operation asks for nothing but the schema, so that its answer is always the same.
func (c *compiler) unchanging() bool {
	for i := range c.to.root.ops {
		if w := c.to.root.ops[i].write; w != meta && w != constant {
			return false
		}
	}
	return c.to.variables == nil && c.to.Kind != parser.OperationSubscription
}
