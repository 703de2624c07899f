package exec_test

import (
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
)

// FuzzRun executes valid documents. It checks for panics and that each response is JSON.
func FuzzRun(f *testing.F) {
	for _, text := range graphqltest.Hostile() {
		if len(text) < 10_000 {
			f.Add(text, "")
		}
	}
	f.Add(list100, "{}")
	f.Add(wide, "")
	f.Add(fullIntrospection, "")
	s := all()
	s.config = exec.Config{Cost: 2000, PlanBytes: 100_000}
	s.fields = append(s.fields, oddFields()...)
	w := newWorld(f, s)
	f.Fuzz(func(t *testing.T, document, variables string) {
		p, errs := w.engine.Plan(document, "")
		if (p == nil) == (errs == nil) {
			t.Fatal("neither a plan nor an error, or both")
		}
		var out []byte
		for _, e := range errs {
			if out = e.Append(out[:0]); !jsontext.Value(out).IsValid() && utf8.ValidString(document) {
				t.Errorf("an error is not JSON: %s", out)
			}
		}
		if p == nil {
			return
		}
		given := map[string]jsontext.Value{}
		for _, name := range []string{"a", "id", "n", "input"} {
			given[name] = jsontext.Value(variables)
		}
		out, outcome := w.engine.Run(t.Context(), p, given, []byte("front"))
		if string(out[:5]) != "front" || !jsontext.Value(out[5:]).IsValid() {
			t.Errorf("outcome %v, answer %s", outcome, out)
		}
	})
}
