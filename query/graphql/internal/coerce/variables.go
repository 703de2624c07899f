package coerce

// Coercion of the JSON of variables, in one pass over its tokens. Package exec calls Definitions
// when it plans an operation, and Variables for each request. Leaves are coerced in leaf.go.

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Variable is a variable definition of an operation.
type Variable struct {
	Name    string // without the dollar sign
	Type    *model.Ref
	Default parser.Value     // nil if there is no default
	Loc     *parser.Location // location of the definition
}

// Definitions returns the variable definitions of an operation in a valid document. The result is
// part of a cached plan and is not modified, so concurrent requests may use it.
func Definitions(schema *model.Schema, op *parser.OperationDefinition) []Variable {
	var list []Variable
	for _, def := range op.VariableDefinitions {
		list = append(list, Variable{def.Variable.Name.Value, TypeOf(schema, def.Type), def.DefaultValue,
			def.Loc})
	}
	return list
}

// Variables implements CoerceVariableValues (section 6.1.2). given has the JSON of each variable. A
// variable that is neither given nor has a default is absent from the result. JSON for variables
// that the operation does not define is ignored. There are at most 20 errors. All variables are
// read even if one is not valid, so that a client sees all errors at once. The limit applies to all
// variables together. The result is values, which must be empty, or nil after an error.
func Variables(
	defs []Variable, given map[string]jsontext.Value, values map[string]any,
) (map[string]any, []*Error) {
	var errs []*Error
	for i := range defs {
		def := &defs[i]
		// Each variable gets a reader of its own, because each begins a JSON text.
		r := reader{variable: def.Name, left: 20 - len(errs)}
		raw, ok := given[def.Name]
		switch {
		case ok:
			if value, fits := r.read(def.Type, raw); fits {
				values[def.Name] = value
			}
		// A default value contains no variables.
		case def.Default != nil:
			if value, fits := Value(def.Type, def.Default, nil); fits {
				values[def.Name] = value
			} else {
				r.errorf(nil, "Its default value does not match its type.")
			}
		case def.Type.NonNull:
			r.errorf(nil, "A value of type %q is required, but none was provided.", def.Type)
		}
		errs = append(errs, r.errs...)
		// Reading further variables could add no error.
		if len(errs) >= 20 {
			break
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return values, nil
}

// TypeOf returns the type of a type reference, or nil if the schema does not have it. Each call
// returns a new Ref, so references must not be compared as pointers. validate reports unknown
// types, so in a valid document there is one.
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
			// inner is a new Ref, so the schema is not modified.
			inner.NonNull = true
			return inner
		}
	}
	return nil
}

// reader coerces the JSON of one variable in one pass. After an error in a value it continues with
// the next one, to report several.
type reader struct {
	variable string            // name, for errors
	dec      *jsontext.Decoder // reads the JSON of this variable
	errs     []*Error          // of this variable only
	left     int               // number of errors that may still be added
	depth    int               // number of values being read, each inside the previous one
	broken   bool              // the JSON is invalid or nests too deep; reading stops
}

// maxNesting is the maximum depth of lists and objects. It is needed because input types may be
// recursive. Literals in documents have the limit of lexer.Guard.
const maxNesting = 100

// errorf adds an error, unless the maximum is reached. Errors keep the order of the JSON.
func (r *reader) errorf(at *path, format string, args ...any) {
	if len(r.errs) < r.left {
		r.errs = append(r.errs, &Error{Variable: r.variable, Path: at.String(),
			Message: fmt.Sprintf(format, args...)})
	}
}

// read coerces the value of a variable and reports whether it conforms to its type. It decodes only
// what the type requires, and builds no intermediate maps.
func (r *reader) read(t *model.Ref, raw jsontext.Value) (any, bool) {
	d := decoders.Get().(*decoder)
	d.in = *bytes.NewBuffer(raw) // the decoder reads the memory of a bytes.Buffer without copying
	d.dec.Reset(&d.in)
	r.dec = &d.dec
	value := r.readValue(t, nil)
	// An empty text, so that the pool does not retain the request.
	d.in = bytes.Buffer{}
	d.dec.Reset(&d.in)
	decoders.Put(d)
	return value, len(r.errs) == 0
}

// decoder is a decoder with its input.
type decoder struct {
	dec jsontext.Decoder
	in  bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// fail reports invalid JSON and stops reading. Only the first error of syntax is reported, because
// the rest of the text has no defined meaning.
func (r *reader) fail(at *path) {
	if !r.broken {
		r.errorf(at, "It is not valid JSON.")
	}
	r.broken = true
}

// readRaw reads the next JSON value. The result is part of the buffer of the decoder and valid
// until the next read.
func (r *reader) readRaw(at *path) jsontext.Value {
	raw, err := r.dec.ReadValue()
	if err != nil {
		r.fail(at)
		return nil
	}
	return raw
}

// readValue reads the next JSON value and coerces it to t. It returns nil after an error. The
// caller continues, because read discards the value if there was any error.
func (r *reader) readValue(t *model.Ref, at *path) any {
	if r.depth++; r.depth > maxNesting && !r.broken {
		r.errorf(nil, "It nests deeper than %d levels.", maxNesting)
		r.broken = true
	}
	defer func() { r.depth-- }()
	if r.broken {
		return nil
	}
	// Whether null is accepted does not depend on the kind of t.
	if r.dec.PeekKind() == 'n' {
		r.readRaw(at)
		if t.NonNull {
			r.errorf(at, "Expected non-nullable type %q not to be null.", t)
		}
		return nil
	}
	switch {
	case t.Elem != nil:
		return r.readList(t, at)
	case t.Type.Kind == model.InputObject:
		return r.readObject(t.Type, at)
	}
	raw := r.readRaw(at)
	if raw == nil {
		return nil
	}
	value, err := Leaf(t.Type, raw)
	if err != nil && err.Error() == "" {
		err = errorf("Expected type %q.", t.Type.Name)
	}
	if err != nil {
		r.errorf(at, "%s", err)
	}
	return value
}

// readList reads a list. A value that is not a list becomes a list of one item (section 3.11). Only
// the items of a list have an index in the path of an error.
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
		// Without this check the loop would not advance.
		if r.dec.PeekKind() == 0 { // invalid JSON
			r.fail(at)
			return nil
		}
		values = append(values, r.readValue(t.Elem, &path{parent: at, item: len(values)}))
	}
	r.readDelimiter(at)
	return values
}

// readDelimiter reads the next token, which delimits a list or an object. PeekKind has returned its
// kind, so an error means that the JSON ends early or is not valid.
func (r *reader) readDelimiter(at *path) {
	if r.broken {
		return
	}
	if _, err := r.dec.ReadToken(); err != nil {
		r.fail(at)
	}
}

// readObject reads an input object. The decoder rejects duplicate names. Fields are coerced in the
// order of the JSON, which is the order of the errors.
func (r *reader) readObject(t *model.Type, at *path) any {
	if r.dec.PeekKind() != '{' {
		if r.readRaw(at) != nil {
			r.errorf(at, "Expected type %q to be an object.", t.Name)
		}
		return nil
	}
	r.readDelimiter(at) // the opening brace
	values := map[string]any{}
	nulls := 0
	for !r.broken && r.dec.PeekKind() != '}' {
		name, err := r.dec.ReadToken()
		if err != nil {
			r.fail(at)
			return nil
		}
		// The token is part of the buffer of the decoder, so the name is copied before the next
		// read.
		field := name.String()
		// The search is linear, and input objects have few fields.
		def := t.Input(field)
		if def == nil {
			r.readRaw(at) // skip its value
			r.errorf(at, "Field %q is not defined by type %q.", shortened(field), t.Name)
			continue
		}
		// oneOf distinguishes a null that was given from an error, for which readValue returns nil,
		// too.
		if r.dec.PeekKind() == 'n' {
			nulls++
		}
		// There is an entry even after an error, so that addDefaults adds nothing.
		values[field] = r.readValue(def.Type, &path{parent: at, name: field})
	}
	r.readDelimiter(at)
	if r.broken {
		return nil
	}
	if t.OneOf {
		r.oneOf(t, values, nulls, at)
	}
	r.addDefaults(t, values, at)
	return values
}

// oneOf implements section 3.10.1 for values: exactly one field is present, and it is not null.
// nulls is the number of fields that are null in the JSON.
func (r *reader) oneOf(t *model.Type, values map[string]any, nulls int, at *path) {
	if len(values) != 1 {
		r.errorf(at, "Exactly one key must be specified for OneOf type %q.", t.Name)
		return
	}
	for name := range values {
		if nulls > 0 {
			r.errorf(&path{parent: at, name: name}, "Field %q must be non-null.", name)
		}
	}
}

// addDefaults adds the default values of absent fields and reports those that are required.
// Defaults are values of the schema and not copied. A field with an error has an entry in values,
// so it is not reported again as absent.
func (r *reader) addDefaults(t *model.Type, values map[string]any, at *path) {
	var required []*model.Input
	for _, def := range t.Inputs {
		if _, ok := values[def.Name]; ok {
			continue
		}
		if def.Required() {
			required = append(required, def)
		} else if def.Default != nil {
			values[def.Name] = def.Default
		}
	}
	// Sorted as in package validate, so that errors of literals and variables have the same order.
	slices.SortFunc(required, func(a, b *model.Input) int { return strings.Compare(a.Name, b.Name) })
	for _, def := range required {
		r.errorf(at, "Field %q of required type %q was not provided.", def.Name, def.Type)
	}
}
