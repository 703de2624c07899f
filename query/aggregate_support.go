package query

// The checks of an aggregation against what a store declares. Called by parsers of REST and GraphQL.

import (
	"maps"
	"slices"
	"strconv"
)

// The limits of one aggregation, which bound the cost of a group.
const (
	MaxGroup      = 4 // fields of Group
	MaxAggregates = 8 // elements of Aggregates
)

// havingOps are the comparisons of aggregates. The operators of text and lists do not apply to
// numbers, and a minimum is compared in order.
var havingOps = []Op{Eq, Ne, In, NotIn, Lt, Lte, Gt, Gte, IsNull}

const noAggregates = "compares aggregates of the request, which has none"

// CanAggregate reports whether s declares groups or aggregates. [Count] is then available too.
func (s Support) CanAggregate() bool { return len(s.Group) > 0 || len(s.Aggregate) > 0 }

// CheckAggregation reports whether a store with this Support can answer a. The error is an *[Error]
// that names the first unsupported part and what is declared. There can be at most [MaxGroup] fields of
// Group and [MaxAggregates] Aggregates.
func (s Support) CheckAggregation(a Aggregation) error {
	if err := s.checkItems(a.Filter, a.Search); err != nil {
		return err
	}
	if errs := s.aggregationErrors(a); len(errs) > 0 {
		return errs[0]
	}
	having := a.havingSupport()
	for term := range a.Having.terms() {
		if err := having.checkTerm(term.Field, term.Op); err != nil {
			err.Parameter = "having"
			return err
		}
	}
	return nil
}

// aggregationErrors checks the groups, the aggregates and the order.
func (s Support) aggregationErrors(a Aggregation) (found []*Error) {
	add := func(parameter, code, detail string) {
		found = append(found, &Error{Parameter: parameter, Code: code, Detail: detail})
	}
	if len(a.Group) == 0 && len(a.Aggregates) == 0 {
		add("group", unsupportedAggregate, "at least one field of group or one aggregate is required")
	}
	if len(a.Group) > MaxGroup {
		add("group", tooMany, "can have at most "+strconv.Itoa(MaxGroup)+" fields")
	} else {
		for i, field := range a.Group {
			if err := s.checkGroup(field); err != nil {
				found = append(found, err)
			} else if slices.Contains(a.Group[:i], field) {
				add("group", invalidValue, "names "+field+" twice")
			}
		}
	}
	if len(a.Aggregates) > MaxAggregates {
		add(string(a.Aggregates[MaxAggregates].Func), tooMany,
			"there can be at most "+strconv.Itoa(MaxAggregates)+" aggregates")
		return found
	}
	for i, v := range a.Aggregates {
		if err := s.checkAggregate(v); err != nil {
			found = append(found, err)
		} else if slices.Contains(a.Aggregates[:i], v) {
			add(string(v.Func), invalidValue, "names "+v.Field+" twice")
		}
	}
	if len(a.Aggregates) == 0 && !a.Having.IsZero() {
		add("having", unsupportedFilter, noAggregates)
	}
	names := a.names()
	for i, key := range a.Sort {
		if !slices.Contains(names, key.Field) {
			add("sort", unsupportedSort, "cannot sort by "+clip(key.Field)+", only by "+listOf(names))
		} else if slices.ContainsFunc(a.Sort[:i], func(o Order) bool { return o.Field == key.Field }) {
			add("sort", invalidValue, "names "+key.Field+" twice")
		}
	}
	return found
}

// names returns the names that Sort can have.
func (a Aggregation) names() []string {
	names := slices.Clone(a.Group)
	for _, v := range a.Aggregates {
		names = append(names, v.Name())
	}
	return names
}

// checkGroup checks one field of Group.
func (s Support) checkGroup(field string) *Error {
	if slices.Contains(s.Group, field) {
		return nil
	}
	detail := "cannot group by " + clip(field) + ": this list has no groups"
	if len(s.Group) > 0 {
		detail = "cannot group by " + clip(field) + ", only by " + listOf(s.Group)
	}
	return &Error{Parameter: "group", Code: unsupportedGroup, Detail: detail}
}

// checkAggregate checks one aggregate.
func (s Support) checkAggregate(a Aggregate) *Error {
	err := &Error{Parameter: string(a.Func), Code: unsupportedAggregate}
	switch {
	case a.Func == Count && a.Field == "":
		return nil
	case a.Func == Count:
		err.Detail = "count has no field"
		return err
	case slices.Contains(s.Aggregate[a.Field], a.Func):
		return nil
	}
	var fields []string
	for _, field := range slices.Sorted(maps.Keys(s.Aggregate)) {
		if slices.Contains(s.Aggregate[field], a.Func) {
			fields = append(fields, field)
		}
	}
	switch own := s.Aggregate[a.Field]; {
	case len(fields) > 0:
		err.Detail = string(a.Func) + " does not apply to " + clip(a.Field) + ", only to " + listOf(fields)
	case len(own) > 0:
		err.Detail = "the aggregates of " + a.Field + " are " + listOf(own)
	default:
		err.Detail = "the field " + clip(a.Field) + " has no aggregates"
	}
	return err
}

// havingSupport returns the conditions that Having can have.
func (a Aggregation) havingSupport() Support {
	s := Support{Filter: map[string][]Op{}}
	for _, v := range a.Aggregates {
		s.Filter[v.Name()] = havingOps
	}
	return s
}
