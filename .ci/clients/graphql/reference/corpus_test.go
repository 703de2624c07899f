//go:build reference

package reference_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/graphql/reference"
)

var update = flag.Bool("update", false, "write the responses of the reference into the corpora")

// specimen is a document of a corpus and the errors of the reference, one per line, sorted.
type specimen struct {
	Text string   `json:"text"`
	Want []string `json:"want"`
}

// TestCorpora holds the answers in the corpora, which the tests of the packages go by, against the reference.
func TestCorpora(t *testing.T) {
	for folder, kind := range map[string]string{"parser": "parse", "validate": "validate"} {
		t.Run(kind, func(t *testing.T) {
			file := filepath.Join("../../../../query/graphql/internal", folder, "testdata/reference.json")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var corpus []specimen
			if err := json.Unmarshal(text, &corpus); err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(corpus)
			for i, answer := range asked(t, kind, corpus) {
				got[i].Want = lines(answer)
			}
			if *update {
				write(t, file, got)
				return
			}
			if diff := cmp.Diff(corpus, got); diff != "" {
				t.Errorf("(-corpus +reference):\n%s", diff)
			}
		})
	}
}

func asked(t *testing.T, kind string, corpus []specimen) []reference.Answer {
	t.Helper()
	var requests []reference.Request
	for _, s := range corpus {
		requests = append(requests, reference.Request{Kind: kind, Text: s.Text})
	}
	answers, err := reference.Ask(t.Context(), schemaFile, requests)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

func lines(a reference.Answer) []string {
	list := a.Errors
	if a.Error != nil {
		list = []reference.Problem{*a.Error}
	}
	all := []string{}
	for _, p := range list {
		line := p.Message + " @ " + strings.Join(p.Places, " ")
		if p.Rule != "" {
			line = p.Rule + ": " + line
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func write(t *testing.T, file string, corpus []specimen) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(corpus); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
