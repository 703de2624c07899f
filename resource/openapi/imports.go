package openapi

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
)

// mediaNDJSON is the media type of newline-delimited JSON.
const mediaNDJSON = "application/x-ndjson"

// importOperation describes an import command, whose body is newline-delimited JSON.
func (a *action) importOperation() *operation {
	op := a.newOperation(camel(a.c.Name()), a.group, a.c.Name(), resource.OpInvoke, a.summary(), a.c.Doc(),
		"Each line stands for itself: those that are refused are told, and the others are stored. If it is cut short, what has "+
			"been stored stays, and to send all of it again does no harm", a.keyText(a.c.Name(), false),
		a.atomicOnce())
	statuses := []int{400, 406, 413, 415}
	if a.c.Into().Batches() {
		statuses = append(statuses, 422)
		op.Parameters = append(op.Parameters,
			&parameter{Name: "atomic", In: "query", Schema: &schemaObject{Type: typeNames{"boolean"}},
				Description: "All lines are stored, or none: then a line that is refused is 422, with `rejected`."})
	}
	op.Parameters = append(append(op.Parameters, a.prefer("handling=lenient")), a.keyParameter()...)
	op.RequestBody = a.linesBody()
	s, example := a.result()
	op.Responses = a.answers(a.withErrors(a.c.Public() && a.c.Into().Policy().Public, a.withKeyErrors(statuses...)...),
		a.effect(200, "What has become of the lines.", []string{"Cache-Control", "Vary"},
			a.contents(a.types(), s, example)))
	return op
}

// atomicOnce describes the guarantee of a key for an atomic import.
func (a *action) atomicOnce() string {
	if level, _ := a.builder.c.Guarantee(a.c.Name(), true); level != idempotency.ExactlyOnce {
		return ""
	}
	return "With `atomic=true` and a key it is done exactly once"
}

// linesBody describes the body. JSON Schema cannot describe a sequence of values, so its schema is
// a string.
func (a *action) linesBody() *requestBody {
	into := a.c.Into()
	s := textOf("One item a line, each a JSON object as it is sent with POST.")
	m := &mediaType{Schema: s}
	if i := slices.IndexFunc(a.shown, func(d *described) bool { return d.r == into }); i >= 0 {
		d := a.shown[i]
		s.Description = "One item a line, each a JSON object as POST of /" + d.name + " takes it: `" +
			a.models[d.createModel] + "`."
		if d.samples.create != "" {
			line := string(a.exampleValue(d.samples.create)) + "\n"
			m.Examples.add("sample",
				&example{Ref: "#/components/examples/" + a.addExample(pascal(a.c.Name())+"Input",
					quote(line))})
		}
	}
	return &requestBody{Required: true, Content: ordered[*mediaType]{{mediaNDJSON, m}},
		Description: "Of any length, in lines of the length of a single item at most."}
}

// importExtensions are the extension members of import problems.
func importExtensions() ordered[*schemaObject] {
	count := func(of string) *schemaObject {
		return &schemaObject{Type: typeNames{"integer"}, Minimum: jsontext.Value("0"), Description: of}
	}
	rejected := array(&schemaObject{Type: typeNames{"object"}, Required: []string{"line", "problem"},
		Properties: ordered[*schemaObject]{{"line", count("Counted from 1.")},
			{"problem", schemaRef("Problem")}}})
	rejected.Description = "The lines for which nothing of an import was stored, the first hundred of them."
	return ordered[*schemaObject]{
		{"rejected", rejected},
		{"rejectedTotal", count("How many there are, if that is more.")},
		{"created", count("How many items an import had created when it ended.")},
		{"replaced", count("How many it had replaced.")},
	}
}
