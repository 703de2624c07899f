package client

import (
	"bytes"
	"encoding/json"
	"errors"
)

// mergePatch returns the merge patch (RFC 7396) that changes the object before into after, and
// whether they differ. Both are compact JSON of the same encoder.
func mergePatch(before, after []byte) (patch json.RawMessage, changed bool, err error) {
	was, isObject := members(before)
	is, stillObject := members(after)
	if !isObject || !stillObject {
		return nil, false, errors.New("Update needs a type that is encoded as a JSON object")
	}
	diff := difference(was, is)
	if len(diff) == 0 {
		return nil, false, nil
	}
	patch, err = json.Marshal(diff)
	return patch, true, err
}

func difference(was, is map[string]json.RawMessage) map[string]json.RawMessage {
	diff := make(map[string]json.RawMessage)
	for name := range was {
		if _, ok := is[name]; !ok {
			diff[name] = json.RawMessage("null")
		}
	}
	for name, value := range is {
		old, ok := was[name]
		if ok && bytes.Equal(old, value) {
			continue
		}
		diff[name] = value
		inner, isObject := members(value)
		outer, wasObject := members(old)
		if isObject && wasObject {
			diff[name], _ = json.Marshal(difference(outer, inner)) // cannot fail: the values are JSON
		}
	}
	return diff
}

// members returns the members of an object.
func members(value []byte) (map[string]json.RawMessage, bool) {
	if len(value) == 0 || value[0] != '{' {
		return nil, false
	}
	var all map[string]json.RawMessage
	return all, json.Unmarshal(value, &all) == nil
}
