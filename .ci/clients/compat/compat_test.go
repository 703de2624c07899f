// Package compat compares the verdicts of version/compat with those of oasdiff and
// graphql-inspector. The file steps.sh starts it.
package compat

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/version/compat"
)

var (
	documents = flag.String("documents", "", "folder with the documents that the tests of version/compat have written")
	oasdiff   = flag.String("oasdiff", "", "the program oasdiff")
	inspector = flag.String("inspector", "", "file with the output of inspect.mjs")
)

// verdict is the result of a tool for a pair of documents.
type verdict struct {
	breaks bool
	level  string   // as the tool calls it
	found  []string // identifiers of the changes
}

// pairs calls fn with each pair of documents.
func pairs(t *testing.T, extension string, fn func(name, before, after string)) {
	t.Helper()
	if *documents == "" {
		t.Skip("run .ci/clients/run compat")
	}
	files, err := filepath.Glob(filepath.Join(*documents, "*.before."+extension))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d pairs in %s: %v", len(files), *documents, err)
	}
	for _, before := range files {
		name := strings.TrimSuffix(filepath.Base(before), ".before."+extension)
		fn(name, before, filepath.Join(*documents, name+".after."+extension))
	}
}

// ours returns the verdict of version/compat.
func ours(t *testing.T, before, after string) verdict {
	t.Helper()
	snapshot := func(file string) *compat.Snapshot {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source := compat.Source{Contract: "1.0.0", OpenAPI: text}
		if strings.HasSuffix(file, ".graphql") {
			source.OpenAPI, source.SDL = nil, string(text)
		}
		s, err := compat.Record(t.Context(), source)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	v := verdict{level: "none"}
	for _, c := range compat.Compare(snapshot(before), snapshot(after)) {
		if v.found = append(v.found, string(c.Kind)); v.level == "none" {
			v.level = "addition"
		}
		if c.Breaking {
			v.breaks, v.level = true, "breaking"
		}
	}
	slices.Sort(v.found)
	v.found = slices.Compact(v.found)
	return v
}

// settle prints a table of all pairs, and fails for each difference that is not explained and for
// each explanation without a difference.
func settle(t *testing.T, tool string, explained map[string]string, all map[string][2]verdict) {
	t.Helper()
	var out strings.Builder
	agreed := 0
	open := maps.Clone(explained)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		our, their := all[name][0], all[name][1]
		why, known := explained[name]
		delete(open, name)
		switch {
		case our.breaks == their.breaks && known:
			t.Errorf("%s: both agree (%s, %s); remove the explanation", name, our.level, their.level)
		case our.breaks == their.breaks:
			agreed++
		case !known:
			t.Errorf("%s: Stoa reports %s %v, %s reports %s %v", name, our.level, our.found, tool, their.level, their.found)
		default:
			fmt.Fprintf(&out, "%-42s %-9s %-13s %s\n", name, our.level, their.level, why)
		}
	}
	for name := range open {
		t.Errorf("%s is explained, and there are no such documents", name)
	}
	fmt.Printf("%s: %d pairs, %d agree, %d differ and are explained\n%s", tool, len(all), agreed, len(all)-agreed, &out)
}

// The explanations below are reviewed when a tool changes its verdict. WARN of oasdiff counts as
// breaking. DANGEROUS of graphql-inspector does not: it means that a client can break, and the
// rules of Stoa decide each such case.

// withoutOasdiff has the pairs for which oasdiff reports a different verdict.
var withoutOasdiff = map[string]string{
	"changed-default-of-a-member":                       "a request without the member has another effect",
	"changed-default-page-size":                         "a request without the parameter has another effect",
	"request-member-default":                            "a request without the member has another effect",
	"changed-encoding-of-a-list":                        "a,b is read as one value; oasdiff does not compare style and explode",
	"problem-type-of-a-status-removed":                  "clients branch on problem types; oasdiff does not read examples",
	"request-constant-to-enum":                          "the enum contains the constant, so no value is lost",
	"request-items-added":                               "elements that are no integers become invalid",
	"request-large-numbers":                             "both limits are the same number in float64, which oasdiff compares",
	"request-member-closed":                             "requests with further members are rejected",
	"request-not-added":                                 "the value 1 becomes invalid",
	"request-pattern-added":                             "oasdiff compares patterns of members, not of a whole body",
	"request-pattern-changed":                           "oasdiff compares patterns of members, not of a whole body",
	"response-pattern-changed":                          "oasdiff compares patterns of requests only",
	"response-pattern-removed":                          "oasdiff compares patterns of requests only",
	"response-member-removed":                           "clients read optional members too; for oasdiff only required ones count",
	"response-member-named-like-a-keyword":              "clients read optional members too; for oasdiff only required ones count",
	"response-member-write-only":                        "the member is no longer in responses",
	"response-null-in-another-form":                     "anyOf with the type null and a list of types allow the same values",
	"request-typed-values-of-a-map":                     "other values of the map become invalid; oasdiff does not compare true with a schema",
	"response-any-values-of-a-map":                      "clients read the values with a type; oasdiff does not compare true with a schema",
	"alternative-that-needs-a-subset":                   "clients have the credentials already",
	"another-charset":                                   "oasdiff does not compare parameters of media types",
	"default-of-an-optional-parameter":                  "a request without the value has another effect",
	"explode-of-a-list":                                 "a,b is read as one value; oasdiff does not compare style and explode",
	"flow-removed":                                      "clients cannot get a token by the flow",
	"request-a-condition-that-contains-itself":          "the schemas allow the same values",
	"request-a-default-beside-a-reference":              "a request without the value has another effect",
	"request-a-default-beside-a-reference-to-any-value": "a request without the value has another effect",
	"request-allOf-of-a-reference":                      "the schemas allow the same values",
	"request-allOf-with-documentation":                  "the schemas allow the same values",
	"request-alternatives-to-any-value":                 "any value becomes valid",
	"request-anyOf-of-a-reference":                      "the schemas allow the same values",
	"request-constant-null":                             "the enum contains the constant, so no value is lost",
	"request-equal-limits-of-integers":                  "the schemas allow the same values",
	"request-exclusive-to-inclusive":                    "the limit itself becomes valid",
	"request-exclusive-to-lower-inclusive":              "the new limit is lower",
	"request-large-constants":                           "the enum contains the constant, so no value is lost",
	"request-members-in-allOf":                          "the schemas allow the same values",
	"request-not-anything":                              "no value is valid",
	"request-null-in-one-alternative":                   "the schemas allow the same values",
	"request-null-of-a-type-without-its-enum":           "the schemas allow the same values",
	"request-null-of-an-enum-without-its-type":          "the schemas allow the same values",
	"request-recursion-beside-a-condition":              "the schemas allow the same values",
	"request-renamed-branches":                          "the schemas allow the same values",
	"request-required-without-a-property":               "the member becomes required; oasdiff compares properties only",
	"request-two-patterns-of-allOf":                     "one of two patterns is no longer required",
	"request-type-of-an-enum":                           "the schemas allow the same values",
	"request-types-and-fewer-alternatives":              "a type is no longer valid",
	"reserved-characters-not-allowed":                   "oasdiff does not compare allowReserved",
	"response-a-condition-that-contains-itself":         "the schemas allow the same values",
	"response-allOf-of-a-reference":                     "the schemas allow the same values",
	"response-allOf-with-documentation":                 "the schemas allow the same values",
	"response-alternatives-to-any-value":                "any value becomes possible",
	"response-anyOf-of-a-reference":                     "the schemas allow the same values",
	"response-both-limits":                              "the schemas allow the same values",
	"response-constant-null":                            "a further value becomes possible",
	"response-equal-limits-of-integers":                 "the schemas allow the same values",
	"response-inclusive-to-exclusive":                   "the new limit is stricter",
	"response-keywords-beside-one-of-several-branches":  "the new limit is stricter",
	"response-members-in-allOf":                         "the schemas allow the same values",
	"response-not-required-without-a-property":          "the member may be absent; oasdiff compares properties only",
	"response-null-in-one-alternative":                  "the schemas allow the same values",
	"response-null-of-an-alternative-beside-an-enum":    "further texts become possible",
	"response-recursion-beside-a-condition":             "the schemas allow the same values",
	"response-renamed-branches":                         "the schemas allow the same values",
	"response-types-and-alternatives":                   "the schemas allow the same values",
	"response-types-and-fewer-alternatives":             "a type is no longer possible",
	"response-types-with-null-and-alternatives":         "the schemas allow the same values",
	"schema-of-a-parameter":                             "any value was valid; oasdiff does not compare an empty schema",
	"scheme-renamed":                                    "clients do not see the names of schemes",
	"scope-no-longer-on-offer":                          "clients that ask for the scope get no token",
}

func TestOasdiff(t *testing.T) {
	all := map[string][2]verdict{}
	pairs(t, "json", func(name, before, after string) {
		cmd := exec.CommandContext(t.Context(), *oasdiff, "breaking", "--format", "json", before, after)
		var complaint bytes.Buffer
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("oasdiff %s: %v\n%s", name, err, &complaint)
		}
		var found []struct {
			ID    string
			Level int
		}
		if out = bytes.TrimSpace(out); len(out) > 0 {
			if err := json.Unmarshal(out, &found); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
		}
		their := verdict{level: "none"}
		for _, c := range found {
			their.found = append(their.found, c.ID)
			if c.Level >= 2 { // 2 is WARN, 3 is ERR
				their.breaks, their.level = true, map[int]string{2: "WARN", 3: "ERR"}[c.Level]
			}
		}
		all[name] = [2]verdict{ours(t, before, after), their}
	})
	settle(t, "oasdiff", withoutOasdiff, all)
}

// withoutInspector has the pairs for which graphql-inspector reports a different verdict.
var withoutInspector = map[string]string{
	"SDL-default-added":                            "a request without the argument has another effect",
	"SDL-default-changed":                          "a request without the argument has another effect",
	"SDL-default-removed":                          "a request without the argument has another effect",
	"SDL-input-field-default":                      "a request without the field has another effect",
	"changed-default-of-a-member":                  "a request without the field has another effect",
	"SDL-argument-loses-the-default-that-it-needs": "a request without the argument becomes invalid",
	"SDL-directive-is-not-repeatable":              "documents that repeat the directive become invalid",
	"SDL-specifiedBy":                              "values of the scalar have another form",
	"SDL-union-member-added":                       "responses contain a type for which clients have no fragment",
	"SDL-value-of-an-enum-in-responses-added":      "generated clients reject values that they do not know",
	"enum-of-responses-widened":                    "generated clients reject values that they do not know",
}

func TestInspector(t *testing.T) {
	all := map[string][2]verdict{}
	var results map[string]struct {
		Level string
		Found []string
	}
	pairs(t, "graphql", func(name, before, after string) {
		if results == nil {
			text, err := os.ReadFile(*inspector)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &results); err != nil {
				t.Fatal(err)
			}
		}
		r, ok := results[name]
		if !ok {
			t.Fatalf("graphql-inspector has not compared %s", name)
		}
		their := verdict{breaks: r.Level == "BREAKING", level: r.Level, found: r.Found}
		all[name] = [2]verdict{ours(t, before, after), their}
	})
	settle(t, "graphql-inspector", withoutInspector, all)
}
