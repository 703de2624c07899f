package query

import (
	"slices"
	"strconv"
	"strings"
)

// Check reports whether a store with this Support can answer q. id is the JSON name of the id
// field. The error is an *[Error] that names the first unsupported part and the supported
// alternatives.
//
// Each comparison must be declared, including those of the id, and each relation. Check does not know
// the filters of related items: [Parse] and GraphQL check those of clients, and a [Some] of the program
// may use any field of the target. Each sort key must be declared or be the id, or [Rank] in a search.
// A Natural store accepts no sort keys and no After, and other stores accept no Token.
func (s Support) Check(q Query, id string) error {
	if err := s.checkItems(q.Filter, q.Search); err != nil {
		return err
	}
	for _, key := range q.Sort {
		if key.Field == Rank && !q.Search.IsZero() {
			continue
		}
		if err := s.checkSort(key.Field, id); err != nil {
			return err
		}
	}
	return s.checkPosition(q)
}

// checkItems checks the selection of items.
func (s Support) checkItems(f Filter, search Search) error {
	for term := range f.terms() {
		if term.Op == SomeOp {
			if err := s.checkRelation(term.Field); err != nil {
				return err
			}
			continue
		}
		if err := s.checkTerm(term.Field, term.Op); err != nil {
			err.Parameter = parameterName(term.Field, term.Op)
			return err
		}
	}
	if !search.IsZero() {
		if err := s.checkSearch(); err != nil {
			return err
		}
	}
	return nil
}

// checkPosition rejects a position of the other kind of store. Otherwise the list would start
// again, and the client would read it endlessly.
func (s Support) checkPosition(q Query) error {
	if s.Natural && len(q.After) > 0 || !s.Natural && q.Token != "" {
		return &Error{Code: invalidCursor, Detail: "the position belongs to another list"}
	}
	return nil
}

// checkTerm checks one comparison. The caller sets the parameter of the error.
func (s Support) checkTerm(field string, op Op) *Error {
	ops := s.Filter[field]
	switch {
	case slices.Contains(ops, op):
		return nil
	case len(ops) > 0:
		return &Error{Code: unsupportedFilter, Detail: field + " can be compared with " + listOf(ops)}
	}
	detail := "cannot filter by " + clip(field) + ": " + noFilters
	if filters := s.filterable(); len(filters) > 0 {
		detail = "cannot filter by " + clip(field) + ", only by " + listOf(filters)
	}
	return &Error{Code: unsupportedFilter, Detail: detail}
}

// checkRelation checks the name of a relation.
func (s Support) checkRelation(relation string) error {
	if slices.Contains(s.Relations, relation) {
		return nil
	}
	err := s.checkTerm(relation, "")
	err.Parameter = relation
	return err
}

// noFilters is part of the errors of a list without filters.
const noFilters = "this list has no filters"

// filterable returns the names of the fields with filters, in order, and those of relations with a
// placeholder for the fields of their items.
func (s Support) filterable() []string {
	var fields []string
	for field, ops := range s.Filter {
		if len(ops) > 0 {
			fields = append(fields, field)
		}
	}
	for _, relation := range s.Relations {
		fields = append(fields, relation+".*")
	}
	slices.Sort(fields)
	return fields
}

// checkSort checks one sort key.
func (s Support) checkSort(field, id string) *Error {
	if s.Natural {
		return &Error{Parameter: "sort", Code: unsupportedSort,
			Detail: "sort is not supported: this list has a fixed order"}
	}
	if field == id || slices.Contains(s.Sort, field) {
		return nil
	}
	names := slices.Clone(s.Sort)
	if !slices.Contains(names, id) {
		names = append(names, id)
	}
	detail := "cannot sort by " + clip(field) + ", only by " + listOf(names)
	return &Error{Parameter: "sort", Code: unsupportedSort, Detail: detail}
}

// clip quotes and shortens a name from a client.
func clip(name string) string {
	const most = 64
	if len(name) <= most {
		return strconv.Quote(name)
	}
	return strconv.Quote(strings.ToValidUTF8(name[:most], "")) + "..."
}

// listOf returns an English enumeration: a, b and c.
func listOf[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString(" and ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
