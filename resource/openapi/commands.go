package openapi

// The operations of commands. document.go calls command for each of them. imports.go describes
// commands that import items, and invented.go makes the examples.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
)

// action describes a command. It shadows the methods empty and effect of builder, see below. group
// is the tag of the operation.
type action struct {
	*builder
	c                   *command.Command
	group               string // the part of its name before the slash
	hasInput, hasOutput bool   // whether it has an input and an output
	noContent           bool   // 204 if it has no output
}

// command describes the path of a command. The name of a command contains one slash, such as
// orders/cancel, and is its path.
func (b *builder) command(c *command.Command) {
	a := &action{builder: b, c: c, hasInput: c.Input() != nil, hasOutput: c.Output() != nil,
		noContent: c.Output() == nil && b.o.REST != nil && b.o.REST.CommandNoContent}
	a.group, _, _ = strings.Cut(c.Name(), "/")
	b.addTag(a.group, "The commands of /"+a.group+".")
	does := a.post
	if c.Into() != nil {
		does = a.importOperation
	}
	b.doc.Paths.add("/"+c.Name(), &pathItem{Parameters: b.versionParameters(), Post: does(),
		Options: b.options("options"+pascal(c.Name()), a.group, "the command", "Accept-Post")})
}

// post describes a command that is not an import. Commands have no preconditions. The command's
// name is the operation id, without a verb before it: it is a verb already.
func (a *action) post() *operation {
	op := a.newOperation(camel(a.c.Name()), a.group, a.c.Name(), command.OpInvoke, a.summary(), a.c.Doc(),
		a.endText(), a.commandKeyText())
	preferences := []string{"return=minimal", "handling=lenient"}
	if a.c.Jobs() != nil {
		// First in the list, because prefer derives the name of the component from the first value.
		preferences = append([]string{"respond-async", "wait=10"}, preferences...)
	}
	op.Parameters = append(op.Parameters, a.prefer(preferences...))
	if !a.c.Secret() {
		op.Parameters = append(op.Parameters, a.keyParameter()...)
	}
	if a.hasInput {
		op.RequestBody = a.newRequestBody()
	}
	op.Responses = a.answers(a.withErrors(a.c.Public(), a.problems()...), a.successes()...)
	return op
}

// summary returns the first sentence of the command's documentation if it is short enough. A
// summary is a heading in documentation pages; 100 bytes fit on one line.
func (a *action) summary() string {
	first, _, _ := strings.Cut(a.c.Doc(), ". ")
	if first = strings.TrimSuffix(first, "."); first == "" || len(first) > 100 ||
		strings.Contains(first, "\n") {
		return "The command " + a.c.Name()
	}
	return first
}

// endText describes when the command has ended.
func (a *action) endText() string {
	if a.c.Jobs() == nil {
		return "The response is sent when the command has ended"
	}
	return "The command may take longer than a client waits. Then the response is 202, and the job at " +
		"`Location` shows its " +
		"outcome. Closing the connection does not stop it"
}

// newRequestBody describes the input of the command. The input is not shared with other commands. m
// has no id field, so object adds no members that name the contract, and they are added here.
func (a *action) newRequestBody() *requestBody {
	name := a.names.unique(pascal(a.c.Name()) + "Input")
	m := model{typ: a.c.Input(), mode: created}
	s := a.object(m)
	s.Properties = append(s.Properties, a.bodyMembers()...)
	a.doc.Components.Schemas.add(name, s)
	return &requestBody{Required: true, Description: a.bodySizeText(),
		Content: a.contents(a.types(), schemaRef(name), a.inventExample(name, m))}
}

// types returns the media types of the command. Input and output have the same ones.
func (a *action) types() []string {
	return append([]string{mediaJSON}, a.vendorTypes(rest.CommandMedia(a.c))...)
}

// successes returns the responses of success. 204 is listed even if there is a body, because a
// client can decline it with return=minimal.
func (a *action) successes() []entry[*response] {
	headers := []string{"Cache-Control", "Vary"}
	out := []entry[*response]{a.empty(204, "The command succeeded and has no result.", headers[0])}
	if !a.noContent {
		out[0].value.Description = "The command succeeded; the body is omitted because of `Prefer: " +
			"return=minimal`."
		description := "The result of the command."
		s, example := &schemaObject{Type: typeNames{"object"}, Properties: a.contractMembers()}, ""
		if a.hasOutput {
			s, example = a.result()
		} else {
			description = "The command succeeded. It has no result, so the body is an empty object."
		}
		out = append(out, a.effect(200, description, headers, a.contents(a.types(), s, example)))
	}
	if a.c.Jobs() != nil {
		out = append(out, a.accepted(headers))
	}
	return out
}

// result describes the response body. A command that returns an item of the catalog uses the schema
// of that item.
func (a *action) result() (s *schemaObject, example string) {
	m := model{typ: a.c.Output(), mode: shown}
	// Generators then use one type for the item, whatever operation returns it.
	if a.isItem(m.typ) {
		s = a.component(m)
		return s, a.sampleOf(s)
	}
	name := a.names.unique(pascal(a.c.Name()) + "Result")
	s = a.object(m)
	if a.c.Into() == nil { // an import cannot name the contract in its body
		s.Properties = append(s.Properties, a.contractMembers()...)
	}
	a.doc.Components.Schemas.add(name, s)
	return schemaRef(name), a.inventExample(name, m)
}

// accepted describes 202: the job continues, and its item shows the outcome. The link leads to the
// operation that gets the job. If the jobs are not in the catalog of this contract, there is no
// such operation and no schema.
func (a *action) accepted(headers []string) entry[*response] {
	i := slices.IndexFunc(a.shown, func(d *described) bool { return d.name == a.c.Jobs().Name() })
	if i < 0 {
		return a.effect(202, "The command has started; its job is at `Location`.",
			append([]string{"Location", "Retry-After"}, headers...), nil)
	}
	jobs := a.shown[i]
	out := a.effect(202,
		"The command has started. The body is its job, which is at `Location`; poll it after `Retry-After` "+
			"seconds.",
		append([]string{"Location", "Content-Location", "Retry-After"}, headers...), jobs.itemContent())
	// The parameter is a runtime expression: a JSON Pointer into the body (OpenAPI 3.1, Link
	// Object).
	out.value.Links.add("job", &link{OperationID: jobs.getID, Description: "The outcome of the command.",
		Parameters: ordered[string]{{"id", "$response.body#/" + jobs.r.Describe().ID}}})
	return out
}

// A command with a secret output does not accept keys, so these methods omit everything about them.

// commandKeyText describes the guarantee of a key for the command.
func (a *action) commandKeyText() string {
	if a.c.Secret() {
		return ""
	}
	return a.keyText(a.c.Name(), false)
}

func (a *action) empty(status int, description string, headers ...string) entry[*response] {
	return a.effect(status, description, append(headers, "Vary"), nil)
}

func (a *action) effect(status int, description string, headers []string,
	content ordered[*mediaType]) entry[*response] {
	if a.c.Secret() {
		return a.answer(status, description, append(headers, "Preference-Applied"), content)
	}
	return a.builder.effect(status, description, headers, content)
}

// problems returns the error statuses of this command, in addition to those of every operation.
// Statuses may repeat; answers lists each once.
func (a *action) problems() []int {
	out := []int{400}
	if !a.noContent || a.c.Jobs() != nil {
		out = append(out, 406)
	}
	if a.hasInput {
		out = append(out, 413, 415, 422)
	}
	if !a.c.Secret() {
		out = a.withKeyErrors(out...)
	}
	if !a.c.Public() {
		out = append(out, 404) // Authorize may return it
	}
	for _, k := range a.c.Problems() {
		out = append(out, k.Status())
	}
	return out
}
