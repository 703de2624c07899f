package patch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/patch"
)

// applyJSON parses and applies a JSON Patch within the default limits.
func applyJSON(jsonPatch, doc string) (string, error) {
	return parseAndApply(patch.ParseJSONPatch, jsonPatch, doc, patch.Limits{})
}

// applyMerge parses and applies a merge patch within the default limits.
func applyMerge(mergePatch, doc string) (string, error) {
	return parseAndApply(patch.ParseMergePatch, mergePatch, doc, patch.Limits{})
}

type parser func([]byte, patch.Limits) (*patch.Patch, error)

func parseAndApply(parse parser, text, doc string, l patch.Limits) (string, error) {
	p, err := parse([]byte(text), l)
	if err != nil {
		return "", err
	}
	changed, err := p.Apply([]byte(doc))
	return string(changed), err
}

// fault returns err without its Detail. It returns the zero value for nil. If err is not a
// *patch.Error, its text becomes Code, so that comparisons show it.
func fault(err error) patch.Error {
	if err == nil {
		return patch.Error{}
	}
	e, ok := errors.AsType[*patch.Error](err)
	if !ok {
		return patch.Error{Code: "not a *patch.Error: " + err.Error()}
	}
	return patch.Error{Kind: e.Kind, Operation: e.Operation, Path: e.Path, Code: e.Code}
}

// decode decodes text into Go values, with numbers as text.
func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decoding %s: %v", text, err)
	}
	return v
}

// nested returns an array of the nesting depth.
func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}
