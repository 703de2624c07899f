package openapi

// Commands that import items. Called by command in commands.go.

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/schema"
)

// mediaNDJSON is the media type of newline-delimited JSON. It is not registered, but the one that
// most tools use.
const mediaNDJSON = "application/x-ndjson"

// csvDialect returns the form of CSV without parameters.
func (b *builder) csvDialect() (d csv.Dialect) {
	if b.o.REST != nil {
		d = b.o.REST.CSV
	}
	return d
}

// csvSchema returns the schema of CSV, which describes the form without parameters and the parameters
// of the media type. JSON Schema cannot describe rows, so it is a string.
func (b *builder) csvSchema() *schemaObject {
	if b.csvName == "" {
		d := b.csvDialect()
		b.csvName = b.names.unique("CSV")
		b.doc.Components.Schemas.add(b.csvName, textOf("One item per row (RFC 4180). An empty cell is null "+
			"or an absent member; in a column of text, \"\" is an empty text. Objects, arrays and values of "+
			"any type are JSON text. Without parameters the form is `"+d.MediaType()+"`. The parameters "+
			"are `header` (present or absent), `delimiter` (\",\", \";\", \"|\" or tab), `bom` (present or "+
			"absent) and `formulas` (escaped or plain)."))
	}
	return schemaRef(b.csvName)
}

// csvExample returns an item, given as JSON, as a header row and a row. There is no example without a
// header row, because such content has all columns.
func (b *builder) csvExample(t *schema.Type, doc jsontext.Value) string {
	d := b.csvDialect()
	if d.NoHeader {
		return ""
	}
	v, err := t.Decode(doc, &schema.DecodeOptions{Mode: schema.Stored})
	if err != nil {
		return ""
	}
	members := map[string]jsontext.Value{}
	if json.Unmarshal(doc, &members) != nil {
		return ""
	}
	var names []string
	for _, f := range t.Fields {
		if members[f.Name] != nil && !f.WriteOnly {
			names = append(names, f.Name)
		}
	}
	e, err := csv.NewEncoder(t, d, names...)
	if err != nil {
		return ""
	}
	row, err := e.Append(e.AppendHeader(nil), v)
	if err != nil {
		return ""
	}
	return string(row)
}

// importOperation describes an import command. Its body is newline-delimited JSON or CSV. An import
// has no vendor media types, because its body is not a single JSON value. It has no preconditions and no
// return preference: the result is small.
func (a *action) importOperation() *operation {
	op := a.newOperation(camel(a.c.Name()), a.group, a.c.Name(), command.OpInvoke, a.summary(), a.c.Doc(),
		"Each line is processed on its own: invalid lines are reported, and the others are stored. If the "+
			"request is interrupted, "+
			"stored lines remain, and it is safe to send all lines again", a.keyText(a.c.Name(), false),
		a.atomicOnce())
	statuses := []int{400, 406, 413, 415}
	if a.c.Into().Describe().Batches {
		statuses = append(statuses, 422)
		op.Parameters = append(op.Parameters,
			&parameter{Name: "atomic", In: "query", Schema: &schemaObject{Type: typeNames{"boolean"}},
				Description: "Stores all lines or none. An invalid line is then 422, with `rejected`."})
	}
	op.Parameters = append(op.Parameters, &parameter{Name: "mode", In: "query",
		Schema: &schemaObject{Type: typeNames{"string"}, Default: quote("replace"),
			Enum: []jsontext.Value{quote("replace"), quote("merge")}},
		Description: "With `merge`, an existing item keeps the members that its line does not have. " +
			"Otherwise they get their defaults, as with PUT."})
	op.Parameters = append(op.Parameters, &parameter{Name: "fields", In: "query", Schema: text(),
		Description: "The columns of CSV without a header row, separated by commas. Any other content must " +
			"not have the parameter."})
	op.Parameters = append(append(op.Parameters, a.prefer("handling=lenient")), a.keyParameter()...)
	op.RequestBody = a.linesBody()
	s, example := a.result()
	// 401 and 403 are possible if either the command or the collection has a policy.
	op.Responses = a.answers(a.withErrors(a.c.Public() && a.c.Into().Describe().Public,
		a.withKeyErrors(statuses...)...),
		a.effect(200, "The result of the import.", []string{"Cache-Control", "Vary"},
			a.contents(a.types(), s, example)))
	return op
}

// atomicOnce describes the guarantee of a key for an atomic import. Without atomic each line
// commits on its own, so a key cannot be exact for the whole request.
func (a *action) atomicOnce() string {
	if level, _ := a.builder.c.Guarantee(a.c.Name(), true); level != idempotency.ExactlyOnce {
		return ""
	}
	return "With `atomic=true` and a key, the import is executed exactly once"
}

// linesBody describes the body. JSON Schema cannot describe a sequence of values, so its schema is
// a string. The description names the component of a line, as a hint for readers: generators do not
// use it.
func (a *action) linesBody() *requestBody {
	into := a.c.Into()
	s := textOf("One item per line, each a JSON object as in a POST.")
	m, rows := &mediaType{Schema: s}, &mediaType{Schema: a.csvSchema()}
	// The collection may be outside this catalog, for example in an older contract. Then neither
	// its schema nor a sample is known.
	if i := slices.IndexFunc(a.shown, func(d *described) bool { return d.r == into }); i >= 0 {
		d := a.shown[i]
		s.Description = "One item per line, each a JSON object as in a POST of /" + d.name + ": `" +
			a.models[d.createModel] + "`."
		if d.samples.create != "" {
			line := string(a.exampleValue(d.samples.create)) + "\n"
			m.Examples.add("sample",
				&example{Ref: "#/components/examples/" + a.addExample(pascal(a.c.Name())+"Input",
					quote(line))})
			if text := a.csvExample(into.Type(), a.exampleValue(d.samples.create)); text != "" {
				rows.Examples.add("sample", &example{Ref: "#/components/examples/" +
					a.addExample(pascal(a.c.Name())+"CSV", quote(text))})
			}
		}
	}
	return &requestBody{Required: true,
		Content: ordered[*mediaType]{{mediaNDJSON, m}, {csv.MediaType, rows}},
		Description: "A line may be as long as the body of a single item, and there can be millions " +
			"of lines."}
}

// importExtensions are the extension members of import problems. The counts are those of the lines
// that were stored before the import failed.
func importExtensions() ordered[*schemaObject] {
	count := func(of string) *schemaObject {
		return &schemaObject{Type: typeNames{"integer"}, Minimum: jsontext.Value("0"), Description: of}
	}
	reason := schemaRef("Problem")
	reason.Description = "The problem of the line."
	rejected := array(&schemaObject{Type: typeNames{"object"}, Required: []string{"line", "problem"},
		Properties: ordered[*schemaObject]{{"line", count("Counted from 1.")}, {"problem", reason},
			{"skipped", count("The number of lines after it that are part of the same row of CSV.")}}})
	rejected.Description = "The first 100 lines that were rejected."
	return ordered[*schemaObject]{
		{"rejected", rejected},
		{"rejectedTotal", count("The number of rejected lines, if it is greater than 100.")},
		{"skipped", count("The number of lines inside of rejected rows of CSV, after their first lines.")},
		{"created", count("The number of items that the import created.")},
		{"replaced", count("The number of items that the import replaced.")},
	}
}
