package query

import (
	"slices"
	"strconv"
	"strings"
)

// Check says whether a store with this Support can answer q, where id is the JSON name of the id field. It returns an
// *[Error] that names the first thing not declared, and what could be asked instead.
//
// Every comparison must be declared, those of the id too. Every sort key must be declared, or be the id. A Natural
// store takes no sort keys and no After; only a Natural one takes a Token.
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

// checkPosition refuses the position of the other kind of store. It is no fault of a client's, who has only cursors,
// but then a store would begin again from the start and the client would go round for ever.
func (s Support) checkPosition(q Query) error {
	if s.Natural && len(q.After) > 0 || !s.Natural && q.Token != "" {
		return &Error{Code: invalidCursor, Detail: "the position is not one of this list"}
	}
	return nil
}

// checkTerm refuses one comparison; the caller knows in which parameter it was asked.
func (s Support) checkTerm(field string, op Op) *Error {
	ops := s.Filter[field]
	switch {
	case slices.Contains(ops, op):
		return nil
	case len(ops) > 0:
		return &Error{Code: unsupportedFilter, Detail: field + " can be compared with " + listOf(ops)}
	}
	return &Error{Code: unsupportedFilter, Detail: "cannot filter by " + clip(field) + ": " + s.filterable()}
}

// filterable is a sentence on what can be filtered by.
func (s Support) filterable() string {
	var fields []string
	for field, ops := range s.Filter {
		if len(ops) > 0 {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return "there are no filters"
	}
	slices.Sort(fields)
	return "filters are " + listOf(fields)
}

// checkSort refuses one sort key.
func (s Support) checkSort(field, id string) *Error {
	if s.Natural {
		return &Error{Parameter: "sort", Code: unsupportedSort, Detail: "this list has an order of its own"}
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

// clip keeps what a client made up from filling the answer.
func clip(name string) string {
	const most = 64
	if len(name) <= most {
		return strconv.Quote(name)
	}
	return strconv.Quote(strings.ToValidUTF8(name[:most], "")) + "..."
}

// listOf writes names as an English enumeration: a, b and c.
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
