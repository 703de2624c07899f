package oracle_test

import (
	"encoding/binary"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// documents is the number of documents of TestOracle. .ci/clients/run reference uses more.
var documents = flag.Uint64("documents", defaultDocuments(), "how many documents are held against graphql-go")

// defaultDocuments returns allDocuments if the environment variable STOA_TEST is "full", as in the
// gate, and otherwise at most 400, because 2,000 take half a minute on a busy machine.
func defaultDocuments() uint64 {
	if os.Getenv("STOA_TEST") == "full" {
		return allDocuments
	}
	return min(allDocuments, 400)
}

// seed returns the data for a number.
func seed(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n*0x9e3779b97f4a7c15) }

// world returns a new World.
func world(t testing.TB) *oracle.World {
	t.Helper()
	w, err := oracle.New()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// generous has limits that no document reaches.
func generous() validate.Limits { return validate.Limits{Depth: 100, Fields: 100000} }

// TestDocuments: a generated document is valid if and only if it has no defect, and all kinds of
// defects occur.
func TestDocuments(t *testing.T) {
	t.Parallel()
	w := world(t)
	defect := map[string]int{}
	for n := range uint64(3000) {
		d := oracle.Generate(w.Model, seed(n), oracle.Options{Mutation: n%4 == 3, Defects: n%3 == 2})
		doc, err := parser.Parse(d.Text)
		if err != nil {
			t.Fatalf("%d: %v\n%s", n, err, d.Text)
		}
		defect[d.Defect]++
		errs := validate.Document(w.Model, doc, generous())
		later := d.Defect == "a variable of another type" ||
			strings.HasPrefix(d.Defect, "an operation that") ||
			strings.HasPrefix(d.Defect, "one of two")
		if (len(errs) > 0) != (d.Defect != "" && !later) {
			t.Errorf("%d: defect %q: %v\n%s", n, d.Defect, errs, d.Text)
		}
	}
	if t.Log(defect); len(defect) < 17 {
		t.Errorf("there are %d kinds of documents", len(defect))
	}
}

// TestDocumentsAreReproducible: equal data generate equal documents.
func TestDocumentsAreReproducible(t *testing.T) {
	t.Parallel()
	a, b := world(t), world(t)
	for n := range uint64(200) {
		one, other := oracle.Generate(a.Model, seed(n), oracle.Options{}),
			oracle.Generate(b.Model, seed(n), oracle.Options{})
		if one.Text != other.Text || written(one.Variables) != written(other.Variables) {
			t.Fatalf("%d:\n%s\n%s", n, one.Text, other.Text)
		}
	}
}

// judge compares package exec with graphql-go, with equal worlds.
type judge struct {
	w       *oracle.World // for queries, which do not change it
	e       *exec.Engine
	cursors []string
}

func newJudge(t testing.TB) *judge {
	t.Helper()
	j := &judge{w: world(t)}
	j.e = engine(j.w)
	got, said := ours(t, j.e,
		&oracle.Document{Text: `{ authors { edges { cursor } } books { edges { cursor } } ` +
			`dear: books(orderBy: {field: price, direction: DESC}) { edges { cursor } } }`})
	data := got.Data.(map[string]any)
	for _, name := range []string{"authors", "books", "dear"} {
		for _, edge := range data[name].(map[string]any)["edges"].([]any) {
			j.cursors = append(j.cursors, edge.(map[string]any)["cursor"].(string))
		}
	}
	if len(j.cursors) != 11 {
		t.Fatalf("there are cursors in %s", said)
	}
	return j
}

// options returns the options of document n: one in eight has a mutation, and one in eight a defect.
// Documents with mutations omit entity tags, which differ between two worlds.
func (j *judge) options(n uint64) oracle.Options {
	o := oracle.Options{Without: without(), Defects: n%8 == 7, Mutation: n%8 == 3, Texts: j.texts}
	if o.Mutation {
		o.Field = func(_ *model.Type, f *model.Field) bool { return f.Source != model.ETag }
	}
	return o
}

// texts has strings with a meaning for arguments.
func (j *judge) texts(in *model.Input) []string {
	switch in.Name {
	case "after", "before":
		return j.cursors
	case "ifMatch":
		return []string{"*", "*", `"x"`, "x"}
	}
	return nil
}

// judge compares the two responses to one document.
func (j *judge) judge(t testing.TB, data []byte, o oracle.Options) {
	t.Helper()
	d := oracle.Generate(j.w.Model, data, o)
	if !o.Mutation {
		compare(t, j.e, j.w, d)
		return
	}
	mine, other := world(t), world(t)
	compare(t, engine(mine), other, d)
}

// TestOracle compares the responses of package exec with those of graphql-go.
func TestOracle(t *testing.T) {
	t.Parallel()
	if *documents < allDocuments {
		t.Logf("%d documents; STOA_TEST=full has %d", *documents, allDocuments)
	}
	j := newJudge(t)
	for n := range *documents {
		if j.judge(t, seed(n), j.options(n)); t.Failed() {
			t.Fatalf("that was document %d", n)
		}
	}
}

// FuzzOracle does the same with documents generated from the input, 16 for each. The input is
// numbers, because the coverage of graphql-go is not deterministic, and go test would try to
// minimize a slice without end.
func FuzzOracle(f *testing.F) {
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, a, b, c, d uint64) {
		for n := range uint64(16) {
			data := []byte{byte(n)}
			for _, number := range [...]uint64{a, b, c, d} {
				data = binary.BigEndian.AppendUint64(data, number)
			}
			j.judge(t, data, j.options(n))
		}
	})
}
