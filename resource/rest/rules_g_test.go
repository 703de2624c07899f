package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Section G: patches over HTTP. How they are applied is tested in package patch.

// sheet is an item with all kinds of members that patches treat differently.
type sheet struct {
	ID    string         `json:"id"`
	Title string         `json:"title" required:"true" maxLength:"20"`
	Cells []cell         `json:"cells"`
	Meta  map[string]any `json:"meta"`
	Note  *string        `json:"note"`
	Seal  string         `json:"seal" readOnly:"true"`
}

type cell struct {
	N     float64 `json:"n"`
	Label *string `json:"label"`
}

const (
	budget = `{"id":"b","title":"Budget","cells":[{"n":1,"label":"one"},{"n":2,"label":null}],` +
		`"meta":{"":"empty","a/b":1,"list":[1,2],"m~n":2},"note":"draft","seal":""}`
	budgetPath = "/sheets/b"
)

// sheets serves one sheet, and returns the number of writes.
func sheets(t *testing.T, limits resource.Limits) (h http.Handler, writes *int) {
	t.Helper()
	ops := resource.OpsOf(memory.New[sheet](nil))
	replace, writes := ops.Replace, new(int)
	ops.Replace = func(ctx context.Context, id string, expect resource.Rev, v sheet) (resource.Item[sheet], error) {
		*writes++
		return replace(ctx, id, expect, v)
	}
	h = rest.New(resource.NewCatalog(&resource.CatalogOptions{Limits: limits}, ops.Resource("sheets", nil)), nil)
	doc := strings.Replace(budget, `,"seal":""`, "", 1)
	wantBody(t, send(t, h, "PUT "+budgetPath, jsonBody, "", doc), http.StatusCreated, budget)
	return h, writes
}

// fault formats an error of a patch: the operation, or -1 without one, the pointer and the code.
func fault(operation int, pointer, code string) string {
	return fmt.Sprintf("operation %d: %q %s", operation, pointer, code)
}

func patchFaults(d details) []string {
	var got []string
	for _, v := range d.Errors {
		operation, pointer := -1, "no pointer"
		if v.Operation != nil {
			operation = *v.Operation
		}
		if v.Pointer != nil {
			pointer = *v.Pointer
		}
		got = append(got, fault(operation, pointer, v.Code))
	}
	return got
}

func TestRule116AllOrNothing(t *testing.T) {
	t.Parallel()
	h, writes := sheets(t, resource.Limits{})
	tag := send(t, h, "GET "+budgetPath).header.Get("ETag")
	for _, last := range []string{
		`{"op":"remove","path":"/nothing"}`, `{"op":"test","path":"/title","value":"Budget"}`,
		`{"op":"replace","path":"/cells/0/n","value":"one"}`, `{"op":"nonsense","path":"/title"}`,
	} {
		res := send(t, h, "PATCH "+budgetPath, patchBody, "", `[{"op":"replace","path":"/title","value":"T"},`+last+`]`)
		if res.status < 400 {
			t.Errorf("%s was accepted with %d", last, res.status)
		}
	}
	res := send(t, h, "GET "+budgetPath)
	wantBody(t, res, http.StatusOK, budget)
	want(t, res, http.StatusOK, "ETag: "+tag)
	if *writes > 0 {
		t.Errorf("%d writes, want none", *writes)
	}
	// Each operation sees the result of those before it.
	ok := `[{"op":"replace","path":"/title","value":"T"},{"op":"test","path":"/title","value":"T"},
		{"op":"copy","from":"/title","path":"/note"},{"op":"remove","path":"/cells/0"},{"op":"test","path":"/cells/0/n","value":2}]`
	want(t, send(t, h, "PATCH "+budgetPath, patchBody, "", ok), http.StatusOK)
	if *writes != 1 {
		t.Errorf("%d writes, want one", *writes)
	}
}

func TestRule117PatchStatus(t *testing.T) {
	t.Parallel()
	h, writes := sheets(t, resource.Limits{})
	tests := []struct {
		name  string
		patch string
		kind  problem.Kind
		want  string
	}{
		// Invalid for every item: 400.
		{"no JSON", `[{"op":`, problem.MalformedPatch, fault(0, "", "syntax")},
		{"nothing", ``, problem.MalformedPatch, fault(-1, "", "syntax")},
		{"two documents", `[] []`, problem.MalformedPatch, fault(-1, "", "syntax")},
		{"no array", `{"op":"remove","path":"/note"}`, problem.MalformedPatch, fault(-1, "", "type")},
		{"null", `null`, problem.MalformedPatch, fault(-1, "", "type")},
		{"no operation", `["remove"]`, problem.MalformedPatch, fault(0, "", "type")},
		{"unknown op", `[{"op":"test","path":"/title","value":"Budget"},{"op":"increment","path":"/n"}]`,
			problem.MalformedPatch, fault(1, "", "op")},
		{"op in upper case", `[{"op":"REMOVE","path":"/note"}]`, problem.MalformedPatch, fault(0, "", "op")},
		{"no op", `[{"path":"/note"}]`, problem.MalformedPatch, fault(0, "", "required")},
		{"no path", `[{"op":"remove"}]`, problem.MalformedPatch, fault(0, "", "required")},
		{"no value", `[{"op":"test","path":"/note"}]`, problem.MalformedPatch, fault(0, "/note", "required")},
		{"no from", `[{"op":"move","path":"/note"}]`, problem.MalformedPatch, fault(0, "", "required")},
		{"path is no string", `[{"op":"remove","path":1}]`, problem.MalformedPatch, fault(0, "", "type")},
		{"path is no pointer", `[{"op":"remove","path":"note"}]`, problem.MalformedPatch, fault(0, "note", "pointer")},
		// Valid, but not for this item: 409.
		{"nothing to remove", `[{"op":"remove","path":"/nothing"}]`, problem.PatchConflict, fault(0, "/nothing", "missing")},
		{"nothing to replace", `[{"op":"replace","path":"/meta/x","value":1}]`, problem.PatchConflict, fault(0, "/meta/x", "missing")},
		{"no parent", `[{"op":"add","path":"/meta/x/y","value":1}]`, problem.PatchConflict, fault(0, "/meta/x/y", "missing")},
		{"no source", `[{"op":"copy","from":"/x","path":"/note"}]`, problem.PatchConflict, fault(0, "/x", "missing")},
		{"after the end", `[{"op":"add","path":"/cells/3","value":{"n":3}}]`, problem.PatchConflict, fault(0, "/cells/3", "missing")},
		{"test", `[{"op":"remove","path":"/note"},{"op":"test","path":"/title","value":"budget"}]`,
			problem.PatchConflict, fault(1, "/title", "test")},
		{"the whole", `[{"op":"remove","path":""}]`, problem.PatchConflict, fault(0, "", "root")},
		// Applicable, but with an invalid result: 422 with its place.
		{"wrong type", `[{"op":"replace","path":"/cells/1/n","value":"2"}]`, problem.Invalid, fault(-1, "/cells/1/n", "type")},
		{"too long", `[{"op":"replace","path":"/title","value":"012345678901234567890"}]`, problem.Invalid,
			fault(-1, "/title", "maxLength")},
		{"required", `[{"op":"remove","path":"/title"}]`, problem.Invalid, fault(-1, "/title", "required")},
		{"read-only", `[{"op":"replace","path":"/seal","value":"x"}]`, problem.Invalid, fault(-1, "/seal", "readOnly")},
		{"the id", `[{"op":"replace","path":"/id","value":"c"}]`, problem.Invalid, fault(-1, "/id", "readOnly")},
		{"unknown member", `[{"op":"add","path":"/colour","value":"red"}]`, problem.Invalid, fault(-1, "/colour", "unknown")},
		{"no object", `[{"op":"replace","path":"","value":[]}]`, problem.Invalid, fault(-1, "", "type")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, "", tt.patch), tt.kind)
			if diff := cmp.Diff([]string{tt.want}, patchFaults(d)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if len(d.Errors) > 0 && d.Errors[0].Detail == "" {
				t.Error("no words for a person")
			}
		})
	}
	wantBody(t, send(t, h, "GET "+budgetPath), http.StatusOK, budget)
	if *writes > 0 {
		t.Errorf("%d writes, want none", *writes)
	}
}

func TestRule117PreconditionsAreNoConflicts(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	conflict := `[{"op":"test","path":"/title","value":"x"}]`
	wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, `If-Match: "x.y"`, "", conflict), problem.PreconditionFailed)
	wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, "If-Match: *", "", conflict), problem.PatchConflict)
	wantProblem(t, send(t, h, "PATCH /sheets/none", patchBody, "", conflict), problem.NotFound)
	wantProblem(t, send(t, h, "PATCH /sheets/none", patchBody, "", "nonsense"), problem.NotFound)
}

func TestRule118Operations(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	for _, twice := range []string{
		`[{"op":"remove","op":"test","path":"/note","value":"draft"}]`,
		`[{"op":"test","path":"/note","value":"draft","value":"x"}]`,
		`[{"op":"test","path":"/meta","value":{"a":1,"a":1}}]`,
	} {
		d := wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, "", twice), problem.MalformedPatch)
		if len(d.Errors) != 1 || d.Errors[0].Code != "duplicate" {
			t.Errorf("%s: %q, want one duplicate", twice, patchFaults(d))
		}
	}
	want(t, send(t, h, "PATCH "+budgetPath, patchBody, "",
		`[{"op":"test","path":"/note","value":"draft","from":7,"comment":"who knows","Op":"remove"}]`), http.StatusOK)
	// The same validation applies to a merge patch.
	wantProblem(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", `{"note":"a","note":"b"}`), problem.MalformedPatch)
}

func TestRule119Pointers(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	tests := []struct {
		pointer string
		status  int
	}{
		{"/meta/", 200}, // the empty name
		{"/meta/a~1b", 200},
		{"/meta/m~0n", 200},
		{"/meta/list/1", 200},
		{"", 200},
		{"/meta/a/b", 409},
		{"/meta/m~n", 400},
		{"/meta/m~2n", 400},
		{"/meta/m~", 400},
		{"/meta/list/01", 409},
		{"/meta/list/+1", 409},
		{"/meta/list/-1", 409},
		{"/meta/list/-", 409}, // after the end of the list
		{"/meta/list/1 ", 409},
		{"#/note", 400},
	}
	for _, tt := range tests {
		op := `[{"op":"copy","from":"` + tt.pointer + `","path":"/meta/list/-"}]`
		if res := send(t, h, "PATCH "+budgetPath, patchBody, "", op); res.status != tt.status {
			t.Errorf("copy from %q: status %d, want %d: %s", tt.pointer, res.status, tt.status, res.body)
		}
	}
}

func TestRule120Equality(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	equal := []string{`1`, `1.0`, `1e0`, `10e-1`}
	for _, value := range equal {
		want(t, send(t, h, "PATCH "+budgetPath, patchBody, "",
			`[{"op":"test","path":"/cells/0","value":{"label":"\u006fne","n":`+value+`}}]`), http.StatusOK)
	}
	for _, value := range []string{`1.5`, `"1"`, `true`, `null`, `[1]`} {
		wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, "",
			`[{"op":"test","path":"/cells/0/n","value":`+value+`}]`), problem.PatchConflict)
	}
}

func TestRule121Root(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	own := `[{"op":"move","from":"/meta","path":"/meta/self"}]`
	d := wantProblem(t, send(t, h, "PATCH "+budgetPath, patchBody, "", own), problem.MalformedPatch)
	if diff := cmp.Diff([]string{fault(0, "/meta/self", "ownChild")}, patchFaults(d)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	whole := `[{"op":"replace","path":"","value":{"id":"b","title":"New","seal":""}}]`
	wantBody(t, send(t, h, "PATCH "+budgetPath, patchBody, "", whole), http.StatusOK,
		`{"id":"b","title":"New","cells":[],"meta":{},"note":null,"seal":""}`)
}

func TestRule122Limits(t *testing.T) {
	t.Parallel()
	doubling := `[` + strings.Repeat(`{"op":"copy","from":"/meta/list","path":"/meta/list/-"},`, 22) +
		`{"op":"test","path":"/title","value":"Budget"}]`
	test := `{"op":"test","path":"/title","value":"Budget"}`
	tests := []struct {
		name   string
		limits resource.Limits
		media  string
		patch  string
		code   string // empty: accepted
	}{
		{"as many operations as allowed", resource.Limits{}, patchBody, "[" + strings.Repeat(test+",", 999) + test + "]", ""},
		{"one operation more", resource.Limits{}, patchBody, "[" + strings.Repeat(test+",", 1000) + test + "]", "operations"},
		{"own limit", resource.Limits{Operations: 2}, patchBody, "[" + strings.Repeat(test+",", 2) + test + "]", "operations"},
		{"copies of copies", resource.Limits{}, patchBody, doubling, "size"},
		{"a deep value", resource.Limits{Depth: 4}, patchBody,
			`[{"op":"add","path":"/meta/x","value":[[[[[1]]]]]}]`, "depth"},
		{"a deep merge patch", resource.Limits{Depth: 4}, mergeBody, `{"meta":{"x":{"y":{"z":{"a":1}}}}}`, "depth"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, writes := sheets(t, tt.limits)
			res := send(t, h, "PATCH "+budgetPath, tt.media, "", tt.patch)
			if tt.code == "" {
				want(t, res, http.StatusOK)
				return
			}
			d := wantProblem(t, res, problem.TooLarge)
			if len(d.Errors) != 1 || d.Errors[0].Code != tt.code {
				t.Errorf("%q, want one %s", patchFaults(d), tt.code)
			}
			if *writes > 0 {
				t.Error("and yet it was written")
			}
		})
	}
}

func TestRule123MergePatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		patch string
		want  string // the whole item
	}{
		{"nothing", `{}`, budget},
		{"a member", `{"title":"T"}`, strings.Replace(budget, `"Budget"`, `"T"`, 1)},
		{"null removes", `{"meta":{"a/b":null,"list":null}}`, strings.NewReplacer(`"a/b":1,`, "", `"list":[1,2],`, "").Replace(budget)},
		{"null for what is not there", `{"meta":{"none":null}}`, budget},
		{"an array replaces, nulls in it and all", `{"meta":{"list":[null,{"x":null}]}}`,
			strings.Replace(budget, `[1,2]`, `[null,{"x":null}]`, 1)},
		{"an array of objects replaces", `{"cells":[{"n":7,"label":null}]}`,
			strings.Replace(budget, `[{"n":1,"label":"one"},{"n":2,"label":null}]`, `[{"n":7,"label":null}]`, 1)},
		{"what is no object counts as one", `{"meta":{"list":{"a":1,"b":null}}}`, strings.Replace(budget, `[1,2]`, `{"a":1}`, 1)},
		{"nullable", `{"note":null}`, strings.Replace(budget, `"draft"`, `null`, 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := sheets(t, resource.Limits{})
			wantBody(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", tt.patch), http.StatusOK, tt.want)
			wantBody(t, send(t, h, "GET "+budgetPath), http.StatusOK, tt.want)
		})
	}
	h, _ := sheets(t, resource.Limits{})
	// replaces the whole value, not an object
	for _, whole := range []string{`null`, `[]`, `[{"title":"T"}]`, `"x"`, `1`, `true`} {
		d := wantProblem(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", whole), problem.Invalid)
		wantErrors(t, d, " type")
	}
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", `{"title":null}`), problem.Invalid),
		"/title required")
	for _, broken := range []string{``, `{`, `{} {}`, `{"a":1,}`, "\xef\xbb\xbf{}", "{\"title\":\"\xff\"}", `{"title":"\ud800"}`} {
		wantProblem(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", broken), problem.MalformedPatch)
	}
}

// Only JSON Patch can set null.
func TestRule124Null(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	want(t, send(t, h, "PATCH "+budgetPath, patchBody, "", `[{"op":"replace","path":"/meta","value":{"a":1}}]`), http.StatusOK)
	res := send(t, h, "PATCH "+budgetPath, patchBody, "", `[{"op":"add","path":"/meta/a","value":null}]`)
	if !strings.Contains(res.body, `"meta":{"a":null}`) {
		t.Errorf("JSON Patch: %s", res.body)
	}
	res = send(t, h, "PATCH "+budgetPath, mergeBody, "", `{"meta":{"a":null}}`)
	if !strings.Contains(res.body, `"meta":{}`) {
		t.Errorf("merge patch: %s", res.body)
	}
	want(t, send(t, h, "OPTIONS "+budgetPath), http.StatusNoContent,
		"Accept-Patch: "+patchTypes)
}

// Rule 125: quirks of a well-known implementation. None of them is supported.
func TestRule125NoOddities(t *testing.T) {
	t.Parallel()
	h, _ := sheets(t, resource.Limits{})
	want(t, send(t, h, "PATCH "+budgetPath, mergeBody, "", `{"title":"<a> & b","meta":{"big":9007199254740993,"e":1e2}}`),
		http.StatusOK)
	res := send(t, h, "PATCH "+budgetPath, patchBody, "", `[{"op":"copy","from":"/meta/big","path":"/meta/copy"}]`)
	want(t, res, http.StatusOK)
	if !strings.Contains(res.body, `"title":"<a> & b"`) {
		t.Errorf("the title is escaped: %s", res.body)
	}
	if strings.Count(res.body, "9007199254740993") != 2 {
		t.Errorf("a large number has changed: %s", res.body)
	}
}
