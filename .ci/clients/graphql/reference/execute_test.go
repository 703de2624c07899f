//go:build reference

package reference_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	run "github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

// executed is what both sides have to agree about.
type executed struct {
	Refused bool
	Data    string   // as text, so that the order of members counts
	Errors  []string // path and code

	places []string // of errors in the document
}

// TestAnswersLikeTheReference executes documents on both sides, over the same items.
func TestAnswersLikeTheReference(t *testing.T) {
	w, err := oracle.New()
	if err != nil {
		t.Fatal(err)
	}
	opts := oracle.Options{
		Field:    comparable,
		Argument: func(_ *model.Field, a *model.Input) bool { return a.Name != "after" && a.Name != "before" },
	}
	var docs []*oracle.Document
	for n := range uint64(*documents) / 4 {
		opts.Defects = n%8 == 7
		docs = append(docs, oracle.Generate(w.Model, binary.BigEndian.AppendUint64(nil, (n+*seed)*0x9e3779b97f4a7c15), opts))
	}
	e := run.New(&run.Config{Schema: w.Model, Catalog: w.Catalog, Rules: unlimited, Cost: math.MaxInt,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	bad, refused, nulls := 0, 0, 0
	for i, raw := range askToExecute(t, sdl.Print(w.Model), docs) {
		d := docs[i]
		want, got := read(t, raw), weExecute(t, e, d)
		// Stoa also reports the location of a field that a variable skips.
		lacking := slices.DeleteFunc(want.places, func(place string) bool { return slices.Contains(got.places, place) })
		want.places, got.places = lacking, nil
		if diff := gocmp.Diff(want, got, gocmp.AllowUnexported(executed{}), cmpopts.EquateEmpty()); diff != "" {
			bad++
			if bad <= 5 {
				t.Errorf("document %d, defect %q\n%s\nvariables %s\nthe reference returns %s\n(-reference +ours):\n%s", i, d.Defect,
					d.Text, d.Variables, raw, diff)
			}
		}
		if got.Refused {
			refused++
		}
		if len(got.Errors) > 0 {
			nulls++
		}
	}
	t.Logf("%d documents executed on both sides, of which %d are refused and %d have errors: %d disagreements", len(docs),
		refused, nulls, bad)
}

// comparable reports whether a field has the same value on both sides. Cursors and entity tags are
// opaque. The reference has its own order of types and directives, and its own descriptions of
// those of the specification; descriptions are compared with the schemas.
func comparable(parent *model.Type, f *model.Field) bool {
	switch parent.Name + "." + f.Name {
	case "__Schema.types", "__Schema.directives":
		return false
	}
	return (f.Name != "description" || !strings.HasPrefix(parent.Name, "__")) && !slices.Contains([]model.Source{model.Cursor, model.StartCursor, model.EndCursor, model.ETag}, f.Source)
}

// askToExecute has documents executed by the reference, and returns its answers.
func askToExecute(t *testing.T, schema string, docs []*oracle.Document) []jsontext.Value {
	t.Helper()
	dir := t.TempDir()
	dump, err := oracle.Dump()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(dir, "schema.graphql"), filepath.Join(dir, "world.json")}
	for i, text := range []string{schema, string(dump)} {
		if err := os.WriteFile(files[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var in, complaint bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, d := range docs {
		if err := enc.Encode(map[string]any{"text": d.Text, "operation": d.Operation, "variables": d.Variables}); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "execute.mjs", files[0], files[1])
	cmd.Stdin, cmd.Stderr = &in, &complaint
	out, err := cmd.Output()
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err != nil || len(lines) != len(docs) {
		t.Fatalf("execute.mjs gave %d answers to %d documents: %v\n%s", len(lines), len(docs), err, &complaint)
	}
	answers := make([]jsontext.Value, len(lines))
	for i, line := range lines {
		answers[i] = line
	}
	return answers
}

// responseError is an error of a response, in a form that both sides produce.
type responseError struct {
	Path      []any
	Locations []struct{ Line, Column int }
	Code      string
	// Extensions has the code in our answers. The reference has it only of errors that resolvers make.
	Extensions struct{ Code string }
}

// read reads an answer, of which there is no data if nothing was executed.
func read(t *testing.T, raw []byte) executed {
	t.Helper()
	var a struct {
		Data   json.RawMessage
		Errors []responseError
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	if a.Data == nil {
		return executed{Refused: true}
	}
	out := executed{Data: evened(t, a.Data)}
	for _, e := range a.Errors {
		code := cmp.Or(e.Code, e.Extensions.Code, "INTERNAL_SERVER_ERROR")
		what := fmt.Sprint(e.Path, " ", code)
		out.Errors = append(out.Errors, what)
		for _, place := range e.Locations {
			out.places = append(out.places, fmt.Sprint(what, " at ", place))
		}
	}
	slices.Sort(out.Errors)
	return out
}

// weExecute is our answer.
func weExecute(t *testing.T, e *run.Engine, d *oracle.Document) executed {
	t.Helper()
	p, errs := e.Plan(d.Text, d.Operation)
	if errs != nil {
		return executed{Refused: true}
	}
	raw, outcome := e.Run(t.Context(), p, d.Variables, nil)
	if outcome == run.Refused {
		return executed{Refused: true}
	}
	return read(t, raw)
}

// evened writes JSON with numbers in one form.
func evened(t *testing.T, raw []byte) string {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	var b strings.Builder
	for {
		token, err := dec.ReadToken()
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		text := token.String()
		if token.Kind() == '0' {
			if _, err := strconv.ParseInt(text, 10, 64); err != nil {
				f, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				text = strconv.FormatFloat(f, 'g', -1, 64)
			}
		} else if token.Kind() == '"' {
			text = strconv.Quote(text)
		}
		b.WriteString(text)
		b.WriteByte(' ')
	}
}
