package query

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Values returns q as URL parameters. If q is the result of [Parse], parsing them with the same
// options returns an equal query. Conditions joined by And become separate parameters; all others
// become the parameter filter. After and Token are omitted, because clients receive them as a
// [Cursor].
func (q Query) Values() url.Values {
	v := make(url.Values)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if !q.Search.IsZero() {
		v.Set("q", q.Search.String())
	}
	if len(q.Sort) > 0 {
		v.Set("sort", sortText(q.Sort))
	}
	if len(q.Fields) > 0 {
		v.Set("fields", strings.Join(q.Fields, ","))
	}
	if rest := setConditions(v, "", q.Filter); !rest.IsZero() {
		v.Set("filter", string(appendTree(nil, rest)))
	}
	return v
}

// sortText returns the text that parser.sort parses.
func sortText(keys []Order) string {
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.Field
		if key.Desc {
			names[i] = "-" + key.Field
		}
	}
	return strings.Join(names, ",")
}

// setConditions writes as many conditions of f as possible as parameters, which are easier to read
// than JSON, and returns the rest. prefix is the path of a relation, with a dot at its end.
func setConditions(v url.Values, prefix string, f Filter) Filter {
	terms := []Filter{f}
	if f.Op == AndOp {
		terms = f.Filters
	}
	var rest []Filter
	seen := make(map[string]bool)
	for _, term := range terms {
		// Two conditions with the same name cannot both be parameters. Marking the name even
		// without a text keeps their order.
		name := prefix + parameterName(term.Field, term.Op)
		relation, quantifier, operand, isRelation := quantified(term)
		if isRelation {
			name = prefix + relation + "." + quantifier + "."
		}
		switch text, ok := conditionText(term); {
		case seen[name]:
			rest = append(rest, term)
		case isRelation:
			if !setRelated(v, name, operand) {
				rest = append(rest, term)
			}
		case ok:
			v.Set(name, text)
		default:
			rest = append(rest, term)
		}
		seen[name] = true
	}
	return And(rest...)
}

// setRelated writes the conditions on related items as parameters. It returns false and writes nothing
// if not all of them can be parameters.
func setRelated(v url.Values, prefix string, f Filter) bool {
	if isEverything(f) || strings.Count(prefix, ".") > 2*maxRelations {
		return false
	}
	related := make(url.Values)
	if rest := setConditions(related, prefix, f); !rest.IsZero() {
		return false
	}
	maps.Copy(v, related)
	return true
}

// conditionText returns the value of a comparison as a parameter, if Parse would read it back.
func conditionText(f Filter) (text string, ok bool) {
	// The empty element of a list cannot be a parameter.
	if f.Field == "" || !slices.Contains(comparisons, f.Op) || f.Op == Contains && f.Value == "" {
		return "", false
	}
	list, isList := f.Value.([]any)
	if !isList {
		b, _ := appendText(nil, f.Value)
		return string(b), scalar(f.Value) != nil && f.Op != In && f.Op != NotIn
	}
	texts := make([]string, len(list))
	for i, v := range list {
		if scalar(v) == nil {
			return "", false
		}
		b, _ := appendText(nil, v)
		texts[i] = escapeList.Replace(string(b))
	}
	// An empty list has no text, because the empty text is a list of one empty value.
	return strings.Join(texts, ","), len(list) > 0 && (f.Op == In || f.Op == NotIn)
}

// escapeList is the inverse of splitList for one value.
var escapeList = strings.NewReplacer(`,`, `\,`, `\`, `\\`)

// appendTree appends f as the JSON that tree parses.
func appendTree(b []byte, f Filter) []byte {
	if relation, quantifier, operand, ok := quantified(f); ok {
		b = appendString(append(b, '{'), relation)
		b = append(append(append(b, `:{"`...), quantifier...), `":`...)
		return append(appendTree(b, operand), "}}"...)
	}
	switch f.Op {
	case AndOp:
		return appendAnd(b, f.Filters)
	case OrOp:
		return append(appendTrees(append(b, `{"or":`...), f.Filters), '}')
	case NotOp:
		return append(appendTree(append(b, `{"not":`...), And(f.Filters...)), '}')
	}
	if f.IsZero() {
		return append(b, "{}"...)
	}
	b = appendString(append(b, '{'), f.Field)
	b = appendString(append(b, ":{"...), string(f.Op))
	b = appendValue(append(b, ':'), f.Value)
	return append(b, "}}"...)
}

// appendTrees appends the array of an "and" or an "or".
func appendTrees(b []byte, fs []Filter) []byte {
	b = append(b, '[')
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTree(b, f)
	}
	return append(b, ']')
}

// appendAnd appends an And as members of one object if their names differ, otherwise as "and".
func appendAnd(b []byte, fs []Filter) []byte {
	names := make([]string, len(fs))
	for i, f := range fs {
		names[i] = memberName(f)
		if names[i] == "" || slices.Contains(names[:i], names[i]) {
			return append(appendTrees(append(b, `{"and":`...), fs), '}')
		}
	}
	b = append(b, '{')
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		member := appendTree(nil, f)
		b = append(b, member[1:len(member)-1]...) // without the braces
	}
	return append(b, '}')
}

// memberName returns the name of the only member that appendTree writes for f, or "" if there are
// several.
func memberName(f Filter) string {
	if relation, _, _, ok := quantified(f); ok {
		return relation
	}
	switch {
	case f.Op == OrOp || f.Op == NotOp:
		return string(f.Op)
	case f.isConnective() || slices.Contains([]Op{AndOp, OrOp, NotOp}, Op(f.Field)):
		return ""
	}
	return f.Field
}

// appendValue appends the operand of a comparison. It writes null although Parse rejects it,
// because different queries must have different texts: cursors are bound to the text.
func appendValue(b []byte, v any) []byte {
	list, ok := v.([]any)
	if !ok {
		return appendScalar(b, v)
	}
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendScalar(b, v)
	}
	return append(b, ']')
}

// appendScalar quotes values without another JSON form: strings, times and non-finite floats.
func appendScalar(b []byte, v any) []byte {
	text, bare := appendText(nil, v)
	if bare {
		return append(b, text...)
	}
	return appendString(b, string(text))
}

func appendString(b []byte, s string) []byte {
	// The error reports invalid UTF-8, which is replaced and which Parse rejects.
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
