package oracle_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
)

// answer is the part of a response that two executors must agree on.
type answer struct {
	Refused bool // rejected before execution
	Data    any
	Errors  []string // path and code of each, as a set
}

// engine returns the engine of package exec for a world.
func engine(w *oracle.World) *exec.Engine {
	return exec.New(&exec.Config{Schema: w.Model, Catalog: w.Catalog, Rules: generous(), Cost: math.MaxInt,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
}

// ours returns the answer of package exec.
func ours(t testing.TB, e *exec.Engine, d *oracle.Document) (answer, string) {
	t.Helper()
	p, errs := e.Plan(d.Text, d.Operation)
	if errs != nil {
		return answer{Refused: true}, string(gqlerror.List(nil, errs))
	}
	out, outcome := e.Run(t.Context(), p, d.Variables, nil)
	var got struct {
		Data   any
		Errors []reported
	}
	decode(t, out, &got)
	if outcome == exec.Refused {
		return answer{Refused: true}, string(out)
	}
	return answer{Data: plain(got.Data), Errors: summary(got.Data, got.Errors)}, string(out)
}

// theirs returns the answer of graphql-go.
func theirs(t testing.TB, w *oracle.World, d *oracle.Document) (answer, string) {
	t.Helper()
	variables := map[string]any{}
	for name, raw := range d.Variables {
		var v any
		decode(t, raw, &v)
		variables[name] = plain(v)
	}
	res := graphql.Do(graphql.Params{Schema: w.Schema, RequestString: d.Text, OperationName: d.Operation,
		VariableValues: variables, Context: t.Context()})
	out, err := json.Marshal(res)
	if err != nil {
		t.Fatalf("graphql-go's answer is no JSON: %v", err)
	}
	var got struct {
		Data   any
		Errors []reported
	}
	decode(t, out, &got)
	if got.Data == nil && len(got.Errors) > 0 && got.Errors[0].Path == nil {
		return answer{Refused: true}, string(out)
	}
	return answer{Data: plain(got.Data), Errors: summary(got.Data, got.Errors)}, string(out)
}

// reported is an error of a response.
type reported struct {
	Path       []any
	Extensions struct{ Code string }
}

// summary returns the errors as a set: the position of the null that each has caused, and its code.
//
// If a null has propagated to a parent there is no code: which of several errors below it is
// reported is up to the executor (section 6.4.4). Errors of graphql-go itself have no code either.
// All of them mean that a non-null value was missing.
func summary(data any, errs []reported) []string {
	out := []string{}
	for _, e := range errs {
		code := e.Extensions.Code
		if code == "" {
			code = gqlerror.Internal
		}
		site, at := nullAt(data, e.Path)
		if !at {
			code = "(below)"
		}
		out = append(out, strings.Join(site, ".")+" "+code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nullAt returns the prefix of a path up to the null in the data, and whether the prefix is the
// whole path.
func nullAt(data any, path []any) (site []string, at bool) {
	for i, step := range path {
		site = append(site, fmt.Sprint(step))
		switch v := data.(type) {
		case map[string]any:
			data = v[fmt.Sprint(step)]
		case []any:
			n, err := strconv.Atoi(fmt.Sprint(step))
			if err != nil || n >= len(v) {
				return append(site, "is not in the data"), false
			}
			data = v[n]
		}
		if data == nil {
			return site, i == len(path)-1
		}
	}
	return append(site, "is no null"), false
}

func decode(t testing.TB, raw []byte, into any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

// plain replaces numbers by an int if possible, and otherwise by a float64, whatever their
// notation.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(v[name])
		}
	}
	return v
}

// compare compares the two answers to a document: that of package exec, and that of graphql-go with
// another or the same world.
func compare(t testing.TB, e *exec.Engine, other *oracle.World, d *oracle.Document) {
	t.Helper()
	got, said := ours(t, e, d)
	want, say := theirs(t, other, d)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\nvariables %s\ndefect %q, features %v\ngraphql-go says %s\nwe say %s\n(-graphql-go "+
			"+ours):\n%s", d.Text,
			written(d.Variables), d.Defect, d.Features, say, said, diff)
	}
}

func written(variables map[string]jsontext.Value) string {
	out, err := json.Marshal(variables)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
