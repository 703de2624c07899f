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
// Each comparison must be declared, including those of the id. Each sort key must be declared or be
// the id. A Natural store accepts no sort keys and no After, and other stores accept no Token.
func (s Support) Check(q Query, id string) error {
	for term := range q.Filter.terms() {
		if err := s.checkTerm(term.Field, term.Op); err != nil {
			err.Parameter = parameterName(term.Field, term.Op)
			return err
		}
	}
	for _, key := range q.Sort {
		if err := s.checkSort(key.Field, id); err != nil {
			return err
		}
	}
	return s.checkPosition(q)
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

// noFilters is part of the errors of a list without filters.
const noFilters = "this list has no filters"

// filterable returns the names of the fields with filters, in order.
func (s Support) filterable() []string {
	var fields []string
	for field, ops := range s.Filter {
		if len(ops) > 0 {
			fields = append(fields, field)
		}
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
