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
// the same form differ, nil if there is none. Lists of different lengths are one place.
func Lines(was, is jsontext.Value) []string { return appendLines(nil, "", was, is) }

func appendLines(found []string, at string, was, is jsontext.Value) []string {
	switch {
	case string(was) == string(is):
		return found
	case was.Kind() == '{' && is.Kind() == '{':
		var a, b map[string]jsontext.Value
		if json.Unmarshal(was, &a) != nil || json.Unmarshal(is, &b) != nil {
			break
		}
		both := maps.Clone(a)
		maps.Copy(both, b)
		for _, name := range slices.Sorted(maps.Keys(both)) {
			found = appendLines(found, at+"/"+pointer.Escape(name), a[name], b[name])
		}
		return found
	case was.Kind() == '[' && is.Kind() == '[':
		var a, b []jsontext.Value
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

func orAbsent(v jsontext.Value) string {
	if v == nil {
		return "absent"
	}
	return string(v)
}
