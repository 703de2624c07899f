package coerce

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Variable is a variable that an operation defines.
type Variable struct {
	Name    string
	Type    *model.Ref
	Default parser.Value     // nil for none
	Loc     *parser.Location // of its definition
}

// Definitions returns the variables of an operation, which is taken to be valid.
func Definitions(schema *model.Schema, op *parser.OperationDefinition) []Variable {
	var list []Variable
	for _, def := range op.VariableDefinitions {
		list = append(list, Variable{def.Variable.Name.Value, TypeOf(schema, def.Type), def.DefaultValue,
			def.Loc})
	}
	return list
}

// Variables returns the values of the variables of an operation (section 6.1.2), from the JSON that a client gave for
// each and from their defaults. What was neither given nor has a default is absent. JSON for variables that the operation
// does not define is ignored. Errors are at most 20.
func Variables(defs []Variable, given map[string]jsontext.Value) (map[string]any, []*Error) {
	values := make(map[string]any, len(defs))
	var errs []*Error
	for i := range defs {
		def := &defs[i]
		r := reader{variable: def.Name, left: 20 - len(errs)}
		raw, ok := given[def.Name]
		switch {
		case ok:
			if value, fits := r.whole(def.Type, raw); fits {
				values[def.Name] = value
			}
		case def.Default != nil:
			if value, fits := Value(def.Type, def.Default, nil); fits {
				values[def.Name] = value
			} else {
				r.complain(nil, "Its default value does not fit.")
			}
		case def.Type.NonNull:
			r.complain(nil, "A value of type %q is required, but none was provided.", def.Type)
		}
		errs = append(errs, r.errs...)
		if len(errs) >= 20 {
			break
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return values, nil
}

// TypeOf returns the type that a document names, or nil if the schema has none of the name.
func TypeOf(schema *model.Schema, t parser.Type) *model.Ref {
	switch t := t.(type) {
	case *parser.NamedType:
		if named := schema.Type(t.Name.Value); named != nil {
			return &model.Ref{Type: named}
		}
	case *parser.ListType:
		if elem := TypeOf(schema, t.Type); elem != nil {
			return &model.Ref{Elem: elem}
		}
	case *parser.NonNullType:
		if inner := TypeOf(schema, t.Type); inner != nil {
			inner.NonNull = true
			return inner
		}
	}
	return nil
}

// reader coerces the JSON of one variable, in one pass.
type reader struct {
	variable string
	dec      *jsontext.Decoder
	errs     []*Error
	left     int // errors that are still worth a word
	depth    int
	broken   bool
}

// maxNesting is how deep lists and objects may stand in each other. Types that contain themselves allow any depth.
const maxNesting = 100

// complain adds an error, unless there are enough.
func (r *reader) complain(at *path, format string, args ...any) {
	if len(r.errs) < r.left {
		r.errs = append(r.errs, &Error{Variable: r.variable, Path: at.String(),
			Message: fmt.Sprintf(format, args...)})
	}
}

// whole coerces a variable, and reports whether it fits.
func (r *reader) whole(t *model.Ref, raw jsontext.Value) (any, bool) {
	r.dec = jsontext.NewDecoder(bytes.NewReader(raw))
	value := r.readValue(t, nil)
	return value, len(r.errs) == 0
}

// fail is for what is no JSON. There is nothing to go on with then.
func (r *reader) fail(at *path) {
	if !r.broken {
		r.complain(at, "It is not valid JSON.")
	}
	r.broken = true
}

// take reads the next value as it is written.
func (r *reader) take(at *path) jsontext.Value {
	raw, err := r.dec.ReadValue()
	if err != nil {
		r.fail(at)
		return nil
	}
	return raw
}

// readValue reads the next value.
func (r *reader) readValue(t *model.Ref, at *path) any {
	if r.depth++; r.depth > maxNesting && !r.broken {
		r.complain(nil, "It nests deeper than %d levels.", maxNesting)
		r.broken = true
	}
	defer func() { r.depth-- }()
	if r.broken {
		return nil
	}
	if r.dec.PeekKind() == 'n' {
		r.take(at)
		if t.NonNull {
			r.complain(at, "Expected non-nullable type %q not to be null.", t)
		}
		return nil
	}
	switch {
	case t.Elem != nil:
		return r.readList(t, at)
	case t.Type.Kind == model.InputObject:
		return r.readObject(t.Type, at)
	}
	raw := r.take(at)
	if raw == nil {
		return nil
	}
	value, err := Leaf(t.Type, raw)
	if err != nil && err.Error() == "" {
		err = complain("Expected type %q.", t.Type.Name)
	}
	if err != nil {
		r.complain(at, "%s", err)
	}
	return value
}

// readList takes what is no list for a list of one (section 3.11).
func (r *reader) readList(t *model.Ref, at *path) any {
	if r.dec.PeekKind() != '[' {
		return []any{r.readValue(t.Elem, at)}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(at)
		return nil
	}
	values := []any{}
	for !r.broken && r.dec.PeekKind() != ']' {
		if r.dec.PeekKind() == 0 { // which would otherwise be asked for ever
			r.fail(at)
			return nil
		}
		values = append(values, r.readValue(t.Elem, &path{before: at, item: len(values)}))
	}
	r.end(at)
	return values
}

// end reads the end of a list or an object.
func (r *reader) end(at *path) {
	if r.broken {
		return
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(at)
	}
}

// readObject reads fields in the order in which they come. A name that comes twice is no JSON to the decoder.
func (r *reader) readObject(t *model.Type, at *path) any {
	if r.dec.PeekKind() != '{' {
		if r.take(at) != nil {
			r.complain(at, "Expected type %q to be an object.", t.Name)
		}
		return nil
	}
	r.end(at) // of nothing: it is the start
	values := map[string]any{}
	nulls := 0
	for !r.broken && r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			r.fail(at)
			return nil
		}
		field := name.String()
		def := t.Input(field)
		if def == nil {
			r.take(at) // its value, whatever it is
			r.complain(at, "Field %q is not defined by type %q.", shortened(field), t.Name)
			continue
		}
		if r.dec.PeekKind() == 'n' {
			nulls++
		}
		values[field] = r.readValue(def.Type, &path{before: at, name: field})
	}
	r.end(at)
	if r.broken {
		return nil
	}
	if t.OneOf {
		r.oneOf(t, values, nulls, at)
	}
	r.absent(t, values, at)
	return values
}

// oneOf is section 3.10.1, what it says of values.
func (r *reader) oneOf(t *model.Type, values map[string]any, nulls int, at *path) {
	if len(values) != 1 {
		r.complain(at, "Exactly one key must be specified for OneOf type %q.", t.Name)
		return
	}
	for name := range values {
		if nulls > 0 {
			r.complain(&path{before: at, name: name}, "Field %q must be non-null.", name)
		}
	}
}

// absent sees to the fields that were not given.
func (r *reader) absent(t *model.Type, values map[string]any, at *path) {
	var lacking []*model.Input
	for _, def := range t.Inputs {
		if _, ok := values[def.Name]; ok {
			continue
		}
		if def.Required() {
			lacking = append(lacking, def)
		} else if def.Default != nil {
			values[def.Name] = def.Default
		}
	}
	slices.SortFunc(lacking, func(a, b *model.Input) int { return strings.Compare(a.Name, b.Name) })
	for _, def := range lacking {
		r.complain(at, "Field %q of required type %q was not provided.", def.Name, def.Type)
	}
}
