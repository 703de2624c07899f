// Package jsondiff describes for a person how two JSON documents differ.
package jsondiff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/internal/pointer"
)

// Lines returns a line such as `/name was "a" and is "b"` for each place in which two documents in
// the same form differ, nil if there is none. Lists of different lengths are one place. A form is
// one encoding, such as the compact one with sorted maps: numbers and strings are compared as text.
func Lines(was, is jsontext.Value) []string { return appendLines(nil, "", was, is) }

// appendLines appends the lines for the values at the pointer at. A value that cannot be parsed is
// one place, so the result never lacks a difference. nil is an absent member. Kinds that differ,
// such as an object and null, are one place.
func appendLines(found []string, at string, was, is jsontext.Value) []string {
	switch {
	case string(was) == string(is):
		return found
	case was.Kind() == '{' && is.Kind() == '{':
		var a, b map[string]jsontext.Value
		if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
			break
		}
		// The names of both, sorted, so that the lines have the same order each time. A member that
		// only one document has is compared with nil.
		both := maps.Clone(a)
		maps.Copy(both, b)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			found = appendLines(found, at+"/"+pointer.Escape(name), a[name], b[name])
		}
		return found
	case was.Kind() == '[' && is.Kind() == '[':
		var a, b []jsontext.Value
		// Elements have no identity: after an insertion at the front each would differ.
		if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil || len(a) != len(b) {
			break
		}
		for i := range a {
			found = appendLines(found, fmt.Sprintf("%s/%d", at, i), a[i], b[i])
		}
		return found
	}
	return append(found, fmt.Sprintf("%s was %s and is %s", at, orAbsent(was), orAbsent(is)))
}

// orAbsent distinguishes an absent member from null. A lookup in a map returns nil for it.
// Otherwise the value is written as JSON.
func orAbsent(v jsontext.Value) string {
	if v == nil {
		return "absent"
	}
	return string(v)
}
