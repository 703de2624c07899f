package graphqltest

// A second implementation of introspection, in 100 lines without a plan, a cache or limits. Tests
// of package introspect and of .ci/clients use it to read a schema that has no catalog.

import (
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Ask executes an introspection query and returns the member data. It supports one operation
// without variables or directives, and does no validation. The member order is that of the
// document, so callers can compare bytes.
func Ask(s *model.Schema, document string) ([]byte, error) {
	doc, err := parser.Parse(document)
	if err != nil {
		return nil, err
	}
	w := walker{schema: s, fragments: map[string]*parser.FragmentDefinition{}}
	var root *parser.SelectionSet
	for _, def := range doc.Definitions {
		switch def := def.(type) {
		case *parser.OperationDefinition:
			root = def.SelectionSet
		case *parser.FragmentDefinition:
			w.fragments[def.Name.Value] = def
		}
	}
	return w.object(nil, s.Query, nil, root)
}

// walker writes the response while it walks the document. It appends to one buffer, so an error
// leaves an incomplete object, which Ask returns with the error.
type walker struct {
	schema    *model.Schema
	fragments map[string]*parser.FragmentDefinition
}

// field returns the definition of a field, meta fields included, or nil. It accepts __schema and
// __type in any type, because the document is valid.
func (w *walker) field(t *model.Type, name string) *model.Field {
	switch name {
	case "__typename":
		return w.schema.TypeName
	case "__schema":
		return w.schema.MetaSchema
	case "__type":
		return w.schema.MetaType
	}
	return t.Field(name)
}

// object appends an object. parent is the Go value that Meta of its fields receives, and nil at the
// root. The type is known statically, because introspection has no interfaces and unions.
func (w *walker) object(dst []byte, t *model.Type, parent any, set *parser.SelectionSet) ([]byte, error) {
	dst, err := w.selections(append(dst, '{'), t, parent, set)
	return append(dst, '}'), err
}

// selections appends the fields of a selection set, with fragments expanded in place. It does not
// merge fields, so the documents of the tests select each response key once.
func (w *walker) selections(dst []byte, t *model.Type, parent any, set *parser.SelectionSet) ([]byte, error) {
	var err error
	for _, selection := range set.Selections {
		switch selection := selection.(type) {
		// Introspection has object types only, so type conditions always match.
		case *parser.InlineFragment:
			dst, err = w.selections(dst, t, parent, selection.SelectionSet)
		case *parser.FragmentSpread:
			dst, err = w.selections(dst, t, parent, w.fragments[selection.Name.Value].SelectionSet)
		case *parser.Field:
			dst, err = w.selected(dst, t, parent, selection)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// selected appends one field and its response key. An unknown field is an error of the test that
// wrote the document.
func (w *walker) selected(dst []byte, t *model.Type, parent any, node *parser.Field) ([]byte, error) {
	f := w.field(t, node.Name.Value)
	if f == nil {
		return dst, fmt.Errorf("there is no field %s.%s", t.Name, node.Name.Value)
	}
	// Arguments are coerced in two steps: defaults first, then those that are given (section
	// 6.4.1).
	args := map[string]any{}
	for _, in := range f.Args {
		if in.HasDefault {
			args[in.Name] = in.Default
		}
	}
	for _, arg := range node.Arguments {
		switch v := arg.Value.(type) { // introspection has arguments of type String and Boolean only
		case *parser.StringValue:
			args[arg.Name.Value] = v.Value
		case *parser.BooleanValue:
			args[arg.Name.Value] = v.Value
		}
	}
	key := node.Name.Value
	if node.Alias != nil {
		key = node.Alias.Value
	}
	// A comma precedes every member but the first, at any depth of fragments.
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, `"`+key+`":`...)
	// Only __typename has no Meta. Its value is the type itself.
	if f.Meta == nil {
		return append(dst, `"`+t.Name+`"`...), nil
	}
	return w.value(dst, f.Type, f.Meta(parent, args), node)
}

// value appends the value of a field (section 6.4.3). It returns an error in place of propagating
// null, because introspection never has errors. A list is a []any, and an object is the parent
// value for the fields below it.
func (w *walker) value(dst []byte, t *model.Ref, value any, node *parser.Field) ([]byte, error) {
	if value == nil {
		if t.NonNull {
			return dst, fmt.Errorf("%s is null, and must not be", node.Name.Value)
		}
		return append(dst, "null"...), nil
	}
	if t.Elem == nil {
		if t.Type.Kind == model.Object {
			return w.object(dst, t.Type, value, node.SelectionSet)
		}
		text, err := json.Marshal(value)
		return append(dst, text...), err
	}
	dst = append(dst, '[')
	for i, item := range value.([]any) {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, t.Elem, item, node); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}
