package main

import (
	"encoding/json"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The descriptions of types, fields and enums are their doc comments: run go generate if this test
// fails. CI of an application can run the same command.
func TestDescriptionsAreUpToDate(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "run", "github.com/stoa-go/stoa/resource/schema/describe", "-check")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// openDescribed opens a shop that has all commands.
func openDescribed(t *testing.T) *opened {
	t.Helper()
	return openShopOn(t, settings{db: "memory", cache: "private, no-cache", auth: true})
}

var (
	definition = regexp.MustCompile(`^(?:type|input|enum|scalar|interface|union) (\w+)`)
	member     = regexp.MustCompile(`^(?:  |    )(\w+)(?:[(:]| *$| @| =)`)
	// generated matches a description that GraphQL makes of the name alone.
	generated = regexp.MustCompile(
		"^The (member|value|object|argument|values of|conditions on the member) `|^An item of `\\w+`\\.$")
)

// undescribed returns the elements of an SDL without a description of their own, and how many have one.
func undescribed(sdl string) (missing []string, described int) {
	var typ, text string
	lines := strings.Split(sdl, "\n")
	for i := 0; i < len(lines); i++ {
		trimmed := strings.TrimSpace(lines[i])
		if rest, ok := strings.CutPrefix(trimmed, `"""`); ok {
			for !strings.HasSuffix(rest, `"""`) {
				i++
				rest += strings.TrimSpace(lines[i])
			}
			text = strings.TrimSuffix(rest, `"""`)
			continue
		}
		var name string
		if m := definition.FindStringSubmatch(lines[i]); m != nil {
			typ, name = m[1], m[1]
		} else if m := member.FindStringSubmatch(lines[i]); m != nil {
			name = typ + "." + m[1]
		}
		switch {
		case name == "" || strings.HasPrefix(trimmed, "schema "):
		case text == "" || generated.MatchString(text):
			missing = append(missing, name)
		default:
			described++
		}
		text = ""
	}
	return missing, described
}

func TestSDLIsDescribed(t *testing.T) {
	t.Parallel()
	s := openDescribed(t)
	for _, path := range []string{"/v1.0", "/v1.1", "/v2"} {
		w := ask(t, s, "GET", path+"/graphql/schema.graphql", "")
		missing, described := undescribed(strings.Replace(w.Body.String(), "schema {\n  query: Query\n"+
			"  mutation: Mutation\n  subscription: Subscription\n}\n", "", 1))
		if len(missing) > 0 || described < 300 {
			t.Errorf("%s: %d elements are described, and not %s", path, described, missing)
		}
	}
	missing, described := undescribed("\"\"\"A thing.\"\"\"\ntype Thing {\n  a: Int\n\n  \"\"\"The member `b`.\"\"\"\n" +
		"  b(\n    c: Int\n  ): Int\n}\n\nenum E {\n  \"\"\"\n  A value.\n  \"\"\"\n  x\n\n  y @deprecated\n}\n")
	if got := strings.Join(missing, " "); got != "Thing.a Thing.b Thing.c E E.y" || described != 2 {
		t.Errorf("of a small schema %d are described, and not %s", described, got)
	}
}

// schemaOf is a schema of OpenAPI.
type schemaOf struct {
	Description string
	Enum        []any
	Properties  map[string]*schemaOf
	Items       *schemaOf
}

// check reports schemas without a description, and enums that do not describe each value. Values of
// filters are described where the member is.
func (s *schemaOf) check(t *testing.T, name string, enums map[string]bool) {
	t.Helper()
	// The default profile describes comparisons by their names only, which keeps it small.
	if s.Description == "" && !strings.Contains(name, "Where.") {
		t.Errorf("%s has no description", name)
	}
	enum := s.Enum
	if s.Items != nil {
		enum = slices.Concat(enum, s.Items.Enum)
	}
	if !strings.Contains(name, "Filter.") {
		for _, v := range enum {
			enums[name] = true
			if text, _ := v.(string); !strings.Contains(s.Description, "`"+text+"`") {
				t.Errorf("%s does not describe %v: %q", name, v, s.Description)
			}
		}
	}
	inner := maps.Clone(s.Properties)
	if s.Items != nil {
		inner = maps.Clone(s.Items.Properties)
	}
	for member, p := range inner {
		p.check(t, name+"."+member, enums)
	}
}

func TestOpenAPIIsDescribed(t *testing.T) {
	t.Parallel()
	s := openDescribed(t)
	for _, contract := range []string{
		"1.0.0", "1.1.0", "2.0.0", "1.0.0?profile=full", "1.1.0?profile=full", "2.0.0?profile=full",
	} {
		var d struct {
			Components struct{ Schemas map[string]*schemaOf }
		}
		name, profile, _ := strings.Cut(contract, "?")
		body := ask(t, s, "GET", documentPath(name)+"?"+profile, "").Body.Bytes()
		if err := json.Unmarshal(body, &d); err != nil {
			t.Fatal(err)
		}
		enums := map[string]bool{}
		for name, schema := range d.Components.Schemas {
			schema.check(t, contract+" "+name, enums)
		}
		for _, name := range []string{"Order.status", "OrderPatch.status", "Job.state"} {
			if !enums[contract+" "+name] {
				t.Errorf("%s: %s is no enum", contract, name)
			}
		}
		if len(d.Components.Schemas) < 30 {
			t.Errorf("%s: %d schemas", contract, len(d.Components.Schemas))
		}
	}
}
