package oracle

// Scalars of the two sides. Called by declare in oracle.go. Custom scalars of graphql-go call
// package coerce, so a difference in results is one of execution, not of coercion. .ci/clients
// compares coercion with graphql-js.

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// scalar returns graphql-go's own type for a built-in scalar, because its introspection types use
// the same, and a new type for the others. Another instance with the same name would be a second
// type of that name. The coercion of these built-in scalars is lenient, and the features "variable:
// ..." name the results that differ.
func scalar(t *model.Type) (graphql.Type, error) {
	switch t.Name {
	case "Int":
		return graphql.Int, nil
	case "Float":
		return graphql.Float, nil
	case "String":
		return graphql.String, nil
	case "Boolean":
		return graphql.Boolean, nil
	case "ID":
		return graphql.ID, nil
	// Scalars of this library. A new instance for each schema holds its description.
	case "DateTime", "Decimal", "Int64", "JSON":
		return customScalar(t), nil
	}
	return nil, fmt.Errorf("graphql: unknown values of the scalar %s", t.Name)
}

// customScalar returns a scalar with values that package coerce parses. graphql-go calls ParseValue
// for variables, ParseLiteral for arguments and defaults, and Serialize for results.
func customScalar(t *model.Type) *graphql.Scalar {
	return graphql.NewScalar(graphql.ScalarConfig{Name: t.Name, Description: t.Doc,
		Serialize: func(v any) any {
			// A date and time keeps its offset and its fraction.
			if at, ok := v.(time.Time); ok {
				return at.Format(time.RFC3339Nano)
			}
			return v // JSON, and integers; the resolver has checked their range
		},
		ParseValue: func(v any) any {
			// Variables are Go values here, and package coerce reads JSON.
			raw, err := json.Marshal(v)
			if err != nil {
				return nil
			}
			return orNil(coerce.Leaf(t, raw))
		},
		ParseLiteral: func(v ast.Value) any { return orNil(coerce.Literal(t, literalOf(v))) },
	})
}

// orNil returns v, or nil if err is not nil. graphql-go takes nil for an invalid value. The error
// message is lost, so tests compare only that a value is rejected.
func orNil(v any, err error) any {
	if err != nil {
		return nil
	}
	return v
}

// literalOf converts a literal to that of package parser. graphql-go's parser does not support
// null. A node of an unknown kind becomes null.
func literalOf(v ast.Value) parser.Value {
	switch v := v.(type) {
	case *ast.IntValue:
		return &parser.IntValue{Value: v.Value}
	case *ast.FloatValue:
		return &parser.FloatValue{Value: v.Value}
	case *ast.StringValue:
		return &parser.StringValue{Value: v.Value}
	case *ast.BooleanValue:
		return &parser.BooleanValue{Value: v.Value}
	case *ast.EnumValue:
		return &parser.EnumValue{Value: v.Value}
	// A variable within a literal of the scalar JSON. graphql-go does not pass the values here.
	case *ast.Variable:
		return &parser.Variable{Name: &parser.Name{Value: v.Name.Value}}
	case *ast.ListValue:
		list := &parser.ListValue{}
		for _, item := range v.Values {
			list.Values = append(list.Values, literalOf(item))
		}
		return list
	case *ast.ObjectValue:
		object := &parser.ObjectValue{}
		for _, f := range v.Fields {
			object.Fields = append(object.Fields,
				&parser.ObjectField{Name: &parser.Name{Value: f.Name.Value}, Value: literalOf(f.Value)})
		}
		return object
	}
	return &parser.NullValue{}
}
