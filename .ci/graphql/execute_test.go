//go:build reference

package reference_test

import (
	"bytes"
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
	"github.com/google/go-cmp/cmp"

	run "github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

// executed is what both sides have to agree about.
type executed struct {
	Refused bool
	Data    string   // as text, so that the order of members counts
	Errors  []string // the places of nulls, and why they are there
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
		opts.Spoil = n%8 == 7
		docs = append(docs, oracle.Generate(w.Model, binary.BigEndian.AppendUint64(nil, (n+*seed)*0x9e3779b97f4a7c15), opts))
	}
	e := run.New(&run.Config{Schema: w.Model, Types: w.Types, Catalog: w.Catalog, Rules: unlimited, Cost: math.MaxInt,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	bad, refused, nulls := 0, 0, 0
	for i, raw := range askToExecute(t, sdl.Print(w.Model), docs) {
		d := docs[i]
		want, got := executedBy(t, raw), weExecute(t, e, d)
		if diff := cmp.Diff(want, got); diff != "" {
			bad++
			if bad <= 5 {
				t.Errorf("document %d, spoilt by %q\n%s\nvariables %s\nthe reference says %s\n(-reference +ours):\n%s", i, d.Spoilt,
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

// comparable reports whether a field has the same value on both sides. Cursors and entity tags are ours to choose; the
// order of types and of directives, and descriptions of what the specification has, the reference takes from what it has
// built itself, whatever an SDL says; descriptions are compared with the schemas.
func comparable(parent *model.Type, f *model.Field) bool {
	switch parent.Name + "." + f.Name {
	case "__Schema.types", "__Schema.directives":
		return false
	}
	return (f.Name != "description" || !strings.HasPrefix(parent.Name, "__")) && !slices.Contains([]model.Source{model.Cursor, model.StartCursor, model.EndCursor, model.Tag}, f.Source)
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

// executedBy reads an answer of the reference.
func executedBy(t *testing.T, raw []byte) executed {
	t.Helper()
	var a struct {
		Data   json.RawMessage
		Errors []struct {
			Path []any
			Code string
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	if a.Data == nil {
		return executed{Refused: true}
	}
	out := executed{Data: evened(t, a.Data)}
	for _, e := range a.Errors {
		out.note(t, a.Data, e.Path, e.Code)
	}
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
	var a struct {
		Data   json.RawMessage
		Errors []struct {
			Path       []any
			Extensions struct{ Code string }
		}
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		t.Fatal(err)
	}
	out := executed{Data: evened(t, a.Data)}
	for _, e := range a.Errors {
		out.note(t, a.Data, e.Path, e.Extensions.Code)
	}
	return out
}

// note adds an error: where it has left a null, and its code, if the null has not gone up from further below. Which of
// the errors there are told is left to those who execute (section 6.4.4).
func (x *executed) note(t *testing.T, raw []byte, path []any, code string) {
	t.Helper()
	var data any
	if err := json.Unmarshal(raw, &data); err != nil {
		t.Fatal(err)
	}
	if code == "" {
		code = "INTERNAL_SERVER_ERROR"
	}
	var place strings.Builder
	for i, step := range path {
		fmt.Fprint(&place, ".", step)
		switch at := data.(type) {
		case map[string]any:
			data = at[step.(string)]
		case []any:
			data = at[int(step.(float64))]
		}
		if data == nil {
			if i < len(path)-1 {
				code = "(below)"
			}
			break
		}
	}
	if data != nil {
		code = "(nothing is null)"
	}
	x.Errors = append(x.Errors, place.String()+" "+code)
	slices.Sort(x.Errors)
	x.Errors = slices.Compact(x.Errors)
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
