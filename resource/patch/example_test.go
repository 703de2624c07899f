package patch_test

import (
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/patch"
)

func ExampleParseJSONPatch() {
	p, err := patch.ParseJSONPatch([]byte(`[
		{"op": "test", "path": "/price", "value": 10},
		{"op": "replace", "path": "/price", "value": 12.50},
		{"op": "add", "path": "/tags/-", "value": "new"}
	]`), patch.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	changed, err := p.Apply([]byte(`{"name": "tea", "price": 10.0, "tags": []}`))
	fmt.Println(string(changed), err)

	// The same patch for another document: the test fails, and nothing is changed.
	_, err = p.Apply([]byte(`{"name": "tea", "price": 11, "tags": []}`))
	if e, ok := errors.AsType[*patch.Error](err); ok {
		fmt.Println(e.Kind, e.Operation, e.Path, e.Code)
	}
	// Output:
	// {"name":"tea","price":12.50,"tags":["new"]} <nil>
	// conflict 0 /price test
}

func ExampleParseMergePatch() {
	p, err := patch.ParseMergePatch([]byte(`{"price": 12.50, "note": null, "size": {"width": 3}}`),
		patch.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	changed, err := p.Apply([]byte(`{"name": "tea", "note": "old", "price": 10}`))
	fmt.Println(string(changed), err)
	// Output: {"name":"tea","price":12.50,"size":{"width":3}} <nil>
}

func ExampleParseMembers() {
	p, err := patch.ParseMembers([]byte(`{"note": null, "size": {"width": 3}, "a/b~c": 1}`), patch.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	changed, err := p.Apply([]byte(`{"name": "tea", "note": "old", "size": {"width": 1, "height": 2}}`))
	fmt.Println(string(changed), err)

	for _, text := range []string{`[]`, `{"a":1,"a":2}`, `{`} {
		_, err := patch.ParseMembers([]byte(text), patch.Limits{})
		fmt.Println(err)
	}
	// Output:
	// {"name":"tea","note":null,"size":{"width":3},"a/b~c":1} <nil>
	// patch: malformed: the patch must be an object
	// patch: malformed: the member name "a" occurs twice
	// patch: malformed: the patch is not valid JSON at byte 1
}
