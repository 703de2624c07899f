package query

// Relations in the names of parameters and in the parameter filter. condition.go and tree.go call it.

import (
	"slices"
	"strings"
)

// scope is the items that conditions apply to: those of the list, or those of a relation.
type scope struct {
	*Target
	path  string // the relations that lead to it, for messages
	depth int    // their number
	// unquantified reports that the path lacks the some, none or every of its last relation.
	unquantified bool
	// rest is the part after the path of a parameter that is unknown.
	rest string
}

// follow returns the scope of a relation. ok is false if it is not declared, or too deep.
func (s scope) follow(relation string) (in scope, ok bool) {
	if s.Relation == nil || s.depth == maxRelations || !slices.Contains(s.Support.Relations, relation) {
		return s, false
	}
	target := s.Relation(relation)
	if target == nil {
		return s, false
	}
	return scope{Target: target, path: s.pathTo(relation), depth: s.depth + 1}, true
}

// pathTo returns a field or relation with the path to it.
func (s scope) pathTo(field string) string {
	if s.path == "" {
		return field
	}
	return s.path + "." + field
}

// describe adds the path to an error about a field.
func (s scope) describe(err *Error) *Error {
	if s.path != "" {
		err.Detail = s.path + ": " + err.Detail
	}
	return err
}

// conditionGroup is the conditions of the parameters with the same relations and quantifiers.
type conditionGroup struct {
	scope
	relation, quantifier string // empty for the list
	name                 string // the first parameter
	conditions           []*condition
	subs                 []*conditionGroup
}

// add adds a parameter. rest is the part of its name that belongs to g. If the parameter is unknown, in
// is the last scope that is known.
func (g *conditionGroup) add(name, rest string, texts []string) (in scope, known bool) {
	field, op := splitParameter(rest)
	if _, declared := g.Support.Filter[field]; declared {
		c := g.conditionOf(name, field, op)
		c.texts = append(c.texts, texts...)
		return g.scope, true
	}
	relation, inside, _ := strings.Cut(rest, ".")
	in, ok := g.follow(relation)
	if !ok {
		in = g.scope
		in.rest = rest
		return in, false
	}
	rest = inside
	quantifier, inner, found := strings.Cut(rest, ".")
	switch {
	case found && slices.Contains(quantifiers, quantifier):
		rest = inner
	case in.Many:
		in.unquantified = true
		return in, false
	default:
		quantifier = some
	}
	sub := g.sub(in, relation, quantifier, name)
	in, known = sub.add(name, rest, texts)
	if known && !slices.Contains(g.subs, sub) {
		g.subs = append(g.subs, sub)
	}
	return in, known
}

// conditionOf returns the condition of a field and operator.
func (g *conditionGroup) conditionOf(name, field string, op Op) *condition {
	for _, c := range g.conditions {
		if c.field == field && c.op == op {
			return c
		}
	}
	c := &condition{field: field, op: op, name: name}
	g.conditions = append(g.conditions, c)
	return c
}

// sub returns the group of a relation, which may be new.
func (g *conditionGroup) sub(in scope, relation, quantifier, name string) *conditionGroup {
	for _, s := range g.subs {
		if s.relation == relation && s.quantifier == quantifier {
			return s
		}
	}
	return &conditionGroup{scope: in, relation: relation, quantifier: quantifier, name: name}
}

// relation parses the conditions on related items: an object with some, none and every or, if the
// relation is to one item, a filter.
func (r treeReader) relation(in scope, name string, depth int) (Filter, *Error) {
	if err := r.open('{', in.path+" must be an object"); err != nil {
		return Filter{}, err
	}
	var all, members []Filter
	quantified := false
	for r.dec.PeekKind() != '}' {
		token, err := r.next()
		if err != nil {
			return Filter{}, err
		}
		member := token.String()
		switch {
		case slices.Contains(quantifiers, member):
			quantified = true
			if err := r.countTerm(); err != nil {
				return Filter{}, err
			}
			f, err := r.filter(in, depth)
			if err != nil {
				return Filter{}, err
			}
			all = append(all, quantify(name, member, f))
		case in.Many:
			r.addError(r.treeName, unsupportedFilter,
				in.path+" has many items, so its members are some, none and every")
			if err := r.skip(); err != nil {
				return Filter{}, err
			}
		default:
			f, err := r.member(in, member, depth)
			if err != nil {
				return Filter{}, err
			}
			members = append(members, f)
		}
	}
	if _, err := r.next(); err != nil {
		return Filter{}, err
	}
	if in.Many || members == nil && quantified {
		return And(all...), nil
	}
	return And(append(all, quantify(name, some, And(members...)))...), r.countTerm()
}
