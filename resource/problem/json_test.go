package problem_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

// broken cannot be encoded as JSON.
type broken struct{}

func (broken) MarshalJSON() ([]byte, error) { return nil, errors.New("broken") }

func TestRule137Members(t *testing.T) {
	t.Parallel()
	const head = `{"type":"https://stoa-go.github.io/problems/`
	third := 2
	tests := []struct {
		name string
		d    problem.Details
		want string
	}{
		{"the zero value", problem.Details{}, head +
			`internal-error","title":"Internal Error","status":500}`},
		{
			"the real status", problem.Details{Kind: problem.Conflict, Status: 423},
			head + `conflict","title":"Conflict","status":423}`,
		},
		{
			"everything in order",
			problem.Details{
				Kind: problem.PatchConflict, Detail: "d", Instance: "urn:uuid:1",
				Errors: []problem.Violation{
					{Pointer: "/a~1b", Code: "missing", Detail: "no such member", Operation: &third},
					{Parameter: "sort", Code: "unknown"}, {Header: "If-Match", Code: "syntax"}, {},
				},
				Extensions: map[string]any{"z": 1, "a": []string{"x"}, "m": map[string]int{"y": 2, "b": 1}},
			},
			head +
				`patch-conflict","title":"Patch Conflict","status":409,"detail":"d",` +
				`"instance":"urn:uuid:1","errors":[` +
				`{"pointer":"/a~1b","code":"missing","detail":"no such member","operation":2},` +
				`{"parameter":"sort","code":"unknown"},{"header":"If-Match","code":"syntax"},` +
				`{"pointer":""}],` +
				`"a":["x"],"m":{"b":1,"y":2},"z":1}`,
		},
		{
			"no HTML escaping", problem.Details{Kind: problem.Gone, Detail: "<a href=\"x\">&\u2028\n"},
			head + `gone","title":"Gone","status":410,"detail":"<a href=\"x\">&` + "\u2028" + `\n"}`,
		},
		{
			"no HTML escaping in extensions",
			problem.Details{Kind: problem.Gone, Extensions: map[string]any{"<": "<&>"}},
			head + `gone","title":"Gone","status":410,"<":"<&>"}`,
		},
		{
			"bytes that are no UTF-8",
			problem.Details{
				Kind: problem.Gone, Detail: "a\xffb",
				Errors:     []problem.Violation{{Pointer: "/\xc3", Code: "\x80"}},
				Extensions: map[string]any{"e": "\xff", "\xfe": 1, "\xff": 2},
			},
			head + `gone","title":"Gone","status":410,"detail":"a` + "\ufffd" + `b","errors":[{"pointer":"/` +
				"\ufffd" +
				`","code":"` + "\ufffd" + `"}],"e":"` + "\ufffd" + `"}`,
		},
		{
			"extensions that cannot be written are left out",
			problem.Details{Kind: problem.Gone, Extensions: map[string]any{
				"a": broken{}, "b": math.NaN(), "c": make(chan int), "d": json.RawMessage(`{"x":1,"x":2}`),
				"e": nil, "f": func() {},
			}},
			head + `gone","title":"Gone","status":410,"e":null}`,
		},
		{
			"extensions do not replace members",
			problem.Details{Kind: problem.Gone, Extensions: map[string]any{
				"type": 1, "title": 1, "status": 1, "detail": 1, "instance": 1, "errors": 1, "Type": 2,
			}},
			head + `gone","title":"Gone","status":410,"Type":2}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.d.Append([]byte("x"))
			if diff := cmp.Diff("x"+tt.want, string(got)); diff != "" {
				t.Errorf("Append mismatch (-want +got):\n%s", diff)
			}
			if !json.Valid(got[1:]) {
				t.Errorf("no JSON: %s", got)
			}
		})
	}
}

func TestMarshalJSON(t *testing.T) {
	t.Parallel()
	d := problem.New(problem.Gone, "<gone>")
	got, err := json.Marshal(map[string]any{"error": d})
	if err != nil {
		t.Fatal(err)
	}
	// encoding/json escapes the output of MarshalJSON, so compare the decoded members.
	var want, have any
	plain := `{"error":` + string(d.Append(nil)) + `}`
	if err := errors.Join(json.Unmarshal([]byte(plain), &want), json.Unmarshal(got, &have)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("Marshal mismatch (-want +got):\n%s", diff)
	}
}

func FuzzAppend(f *testing.F) {
	f.Add("not-found", "no such <item>", "/a\xff", "x", "\u2028")
	f.Add("https://example.com/é", "", "", "errors", "")
	f.Fuzz(func(t *testing.T, kind, detail, pointer, name, value string) {
		d := &problem.Details{
			Kind: problem.Kind(kind), Detail: detail,
			Errors:     []problem.Violation{{Pointer: pointer}, {Header: detail, Code: value}},
			Extensions: map[string]any{name: value, value: name},
		}
		got := d.Append(nil)
		var members map[string]any
		if err := json.Unmarshal(got, &members); err != nil {
			t.Fatalf("%v: %q", err, got)
		}
		if string(d.Append(nil)) != string(got) {
			t.Errorf("a second time it is not %q", got)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	d := problem.New(problem.Invalid, "the order is not valid")
	d.Errors = []problem.Violation{{Pointer: "/lines/0/quantity", Code: "minimum", Detail: "at least 1"}}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = d.Append(buf[:0])
	}
}
