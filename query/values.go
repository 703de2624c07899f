package query

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Values writes q as parameters of a URL, which [Parse] reads back: equal to q if q came from Parse with the same
// options. Conditions that are joined by And become parameters of their own, all others the parameter filter. After
// and Token are left out, as clients know them only as a [Cursor].
func (q Query) Values() url.Values {
	v := make(url.Values)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	if len(q.Sort) > 0 {
		v.Set("sort", sortText(q.Sort))
	}
	if len(q.Fields) > 0 {
		v.Set("fields", strings.Join(q.Fields, ","))
	}
	if rest := setConditions(v, q.Filter); !rest.IsZero() {
		v.Set("filter", string(appendTree(nil, rest)))
	}
	return v
}

// sortText is what parser.sort reads.
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

// setConditions writes what it can of f as parameters and returns the rest. People read and edit parameters more easily
// than JSON in a URL, so only what has no parameter goes into the tree.
func setConditions(v url.Values, f Filter) Filter {
	terms := []Filter{f}
	if f.Op == AndOp {
		terms = f.Filters
	}
	var rest []Filter
	seen := make(map[string]bool)
	for _, term := range terms {
		name := parameterName(term.Field, term.Op)
		text, ok := conditionText(term)
		// Two conditions of one name cannot both be parameters. The first of them counts as seen even where it has no
		// text, so that the order among them survives.
		if ok && !seen[name] {
			v.Set(name, text)
		} else {
			rest = append(rest, term)
		}
		seen[name] = true
	}
	return And(rest...)
}

// conditionText writes the value of a comparison as that of a parameter, if it is one that Parse would read so.
func conditionText(f Filter) (text string, ok bool) {
	if f.Field == "" || !slices.Contains(comparisons, f.Op) {
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
	// An empty list has no text: the empty text is a list of one empty value.
	return strings.Join(texts, ","), len(list) > 0 && (f.Op == In || f.Op == NotIn)
}

// escapeList is what splitList takes out of one part.
var escapeList = strings.NewReplacer(`,`, `\,`, `\`, `\\`)

// appendTree writes f as the JSON that tree reads.
func appendTree(b []byte, f Filter) []byte {
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

// appendTrees writes the array of an and or an or.
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

// appendAnd writes an And as the members of one object where their names differ, else with the name and.
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
		b = append(b, member[1:len(member)-1]...) // without its braces
	}
	return append(b, '}')
}

// memberName is the name of the only member that appendTree writes for f, or empty if there is not just one.
func memberName(f Filter) string {
	switch {
	case f.Op == OrOp || f.Op == NotOp:
		return string(f.Op)
	case f.isConnective() || slices.Contains([]Op{AndOp, OrOp, NotOp}, Op(f.Field)):
		return ""
	}
	return f.Field
}

// appendValue writes what a comparison is made with. A null, which Parse would refuse, is written all the same: two
// queries that differ must not be written alike, since cursors are bound to the text.
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

// appendScalar quotes what JSON has no other form for: strings, times, and the floats that are no numbers.
func appendScalar(b []byte, v any) []byte {
	text, bare := appendText(nil, v)
	if bare {
		return append(b, text...)
	}
	return appendString(b, string(text))
}

func appendString(b []byte, s string) []byte {
	// The error is about invalid UTF-8, which is replaced, and which Parse lets through nowhere.
	b, _ = jsontext.AppendQuote(b, s)
	return b
}
