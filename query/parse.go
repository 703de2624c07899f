package query

import "net/url"

// ParseOptions say what [Parse] may accept. The zero value accepts a limit and a sort by id.
type ParseOptions struct {
	// Support is what the list can be asked. What is not in it is refused.
	Support Support
	// ID is the JSON name of the id field, by which every list can be sorted. Empty means "id".
	ID string
	// Value turns the text of a value into one of the field's kind. Its error goes to the client, so it must name no
	// Go types. Nil keeps all values strings. It is not asked for Contains and StartsWith, whose text is only a part
	// of a value, nor for IsNull. For [Query.Values] to be read back alike it must accept a number as Go writes it and
	// a time in RFC 3339.
	Value func(field, text string) (any, error)
	// DefaultLimit is the limit where none is asked for; 0 means 50, and never more than MaxLimit.
	DefaultLimit int
	// MaxLimit is the largest limit that may be asked for; 0 means 200.
	MaxLimit int
	// MaxTerms is the largest number of comparisons; 0 means 20.
	MaxTerms int
	// MaxValues is the largest number of values in one In or NotIn; 0 means 200.
	MaxValues int
	// MaxSort is the largest number of sort keys; 0 means 4.
	MaxSort int
	// Ignore are the names of parameters that somebody else reads, such as after, before, expand and version.
	Ignore []string
	// Lenient ignores unknown parameters instead of refusing them.
	Lenient bool
}

// Parse reads a query from the parameters of a URL. Nil options are the zero options.
//
//	status=paid             status is equal to paid
//	total.gte=100           any comparison, by its name
//	status.in=paid,sent     a list; \, is a comma in a value and \\ a backslash; repeated, it adds values
//	shipped.isNull=true     true or false
//	sort=-total,name        sort keys, a minus for descending
//	limit=20                the number of items
//	fields=id,total         the fields wanted; whether they exist is the caller's to check
//	filter={"or":[{"status":{"eq":"paid"}},{"not":{"total":{"gte":100}}}]}
//
// All conditions must hold. The parameter filter is a JSON object with the same members as the filter in GraphQL:
// fields, each with an object of comparisons, and "and", "or" and "not"; the text of its strings, numbers and booleans
// is read like the text of a parameter. Members of duplicate names are refused, and so is null, for which there is
// isNull.
//
// The names sort, limit, fields, filter, after, before, expand and version never stand for a field by themselves: a
// field called limit is asked for as limit.eq. The same goes for one whose name ends in a dot and a comparison.
//
// A parameter given twice with different values is refused, except in and notIn. The faults come as [Errors], all at
// once up to a bound, ordered by parameter.
//
// The conditions of the result stand in the order of their fields' names, whatever the order in the URL.
func Parse(v url.Values, opts *ParseOptions) (Query, error) { return Query{}, nil }

func parameterName(field string, op Op) string { return field + "." + string(op) }
