package patch_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/patch"
)

// mergeValues is the pseudocode of RFC 7396 section 2 for Go values.
func mergeValues(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = mergeValues(object[name], value)
		}
	}
	return object
}

func FuzzMergePatch(f *testing.F) {
	f.Add(`{"a":{"b":null,"c":[null,{"d":null}]},"e":1.0}`, `{"a":{"b":1},"f":"x"}`)
	f.Add(`{"a":{"b":{"c":null}}}`, `{"a":"x","d":[{"e":null}]}`)
	f.Add(`[null]`, `{}`)
	f.Fuzz(func(t *testing.T, mergePatch, doc string) {
		p, err := patch.ParseMergePatch([]byte(mergePatch), patch.Limits{})
		if err != nil || !jsontext.Value(doc).IsValid() {
			return
		}
		got, err := p.Apply([]byte(doc))
		if err != nil {
			t.Fatalf("%s on %s: %v", mergePatch, doc, err)
		}
		want := mergeValues(decode(t, doc), decode(t, mergePatch))
		if diff := cmp.Diff(want, decode(t, string(got))); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", mergePatch, doc, diff)
		}
	})
}

// FuzzParse parses arbitrary input with both parsers, and checks the guarantees of Apply for the
// accepted patches.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"op":"copy","from":"","path":"/a~0"}]`), []byte(`{"a":1}`))
	f.Add([]byte(`[{"op":"test","path":"/0","value":1e99999999999999999999}]`),
		[]byte(`[10e99999999999999999998]`))
	f.Add([]byte(`{"a":{"b":null}}`), []byte(`{"a":[1]}`))
	f.Add([]byte("[{\"op\":\"\xff"), []byte(`"\ud800"`))
	f.Fuzz(func(t *testing.T, text, doc []byte) {
		for _, parse := range []parser{patch.ParseJSONPatch, patch.ParseMergePatch} {
			p, err := parse(text, patch.Limits{Size: 1 << 16})
			if err != nil {
				checkFault(t, err, patch.Malformed, patch.TooLarge)
				continue
			}
			checkApply(t, p, doc)
		}
	})
}

func checkApply(t *testing.T, p *patch.Patch, doc []byte) {
	before := bytes.Clone(doc)
	got, err := p.Apply(doc)
	again, errAgain := p.Apply(doc)
	if !bytes.Equal(before, doc) {
		t.Fatalf("Apply changed the document from %q to %q", before, doc)
	}
	first, second := []string{string(got), fmt.Sprint(err)}, []string{string(again), fmt.Sprint(errAgain)}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second time is another (-first +second):\n%s", diff)
	}
	if err != nil {
		if jsontext.Value(doc).IsValid() {
			checkFault(t, err, patch.Conflict, patch.TooLarge)
		}
		return
	}
	canonical, err := jsontext.AppendFormat(nil, got)
	if diff := cmp.Diff(string(canonical), string(got)); diff != "" || err != nil {
		t.Errorf("not canonical: error %v (-want +got):\n%s", err, diff)
	}
}

func checkFault(t *testing.T, err error, kinds ...patch.Kind) {
	got := fault(err)
	if !slices.Contains(kinds, got.Kind) || got.Code == "" || got.Operation < -1 {
		t.Errorf("unexpected error %v: %+v", err, got)
	}
}
