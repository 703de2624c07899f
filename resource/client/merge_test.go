package client

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stoa-go/stoa/resource/patch"
)

// FuzzMergePatch applies the patch of two objects to the first: the result is the second, without
// members that are null.
func FuzzMergePatch(f *testing.F) {
	f.Add(`{}`, `{"a":1}`)
	f.Add(`{"a":{"b":1,"c":[1]}}`, `{"a":{"c":[2]}}`)
	f.Add(`{"a":{"b":1}}`, `{"a":"x"}`)
	f.Add(`{"a":1}`, `{"a":{"b":{}}}`)
	f.Add(`{"a":{}}`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		var before, after map[string]any
		if json.Unmarshal([]byte(a), &before) != nil || json.Unmarshal([]byte(b), &after) != nil || before == nil || after == nil {
			t.Skip()
		}
		prune(before)
		prune(after)
		was, _ := json.Marshal(before)
		is, _ := json.Marshal(after)
		diff, changed, err := mergePatch(was, is)
		if err != nil {
			t.Fatal(err)
		}
		if changed == reflect.DeepEqual(before, after) {
			t.Fatalf("%s to %s: changed is %v", was, is, changed)
		}
		if !changed {
			return
		}
		p, err := patch.ParseMergePatch(diff, patch.Limits{})
		if err != nil {
			t.Skip(err) // not I-JSON
		}
		got, err := p.Apply(was)
		if err != nil {
			t.Skip(err)
		}
		var result map[string]any
		if err := json.Unmarshal(got, &result); err != nil || !reflect.DeepEqual(result, after) {
			t.Errorf("%s patched with %s is %s, want %s (%v)", was, diff, got, is, err)
		}
	})
}

// prune removes members that are null.
func prune(object map[string]any) {
	for name, value := range object {
		switch v := value.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			prune(v)
		}
	}
}
