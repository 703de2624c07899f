package oracle

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// scalar returns graphql-go's own scalars for those of the specification, since its types of introspection are made of
// them, and makes the others.
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
	case "DateTime", "Int64", "JSON":
		return customScalar(t), nil
	}
	return nil, fmt.Errorf("graphql: nobody knows what values the scalar %s has", t.Name)
}

// customScalar makes a scalar that package coerce knows by its name, and reads as that does.
func customScalar(t *model.Type) *graphql.Scalar {
	return graphql.NewScalar(graphql.ScalarConfig{Name: t.Name, Description: t.Doc,
		Serialize: func(v any) any {
			if at, ok := v.(time.Time); ok {
				return at.Format(time.RFC3339Nano)
			}
			return v // JSON, and integers whose range the resolver knows
		},
		ParseValue: func(v any) any {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil
			}
			return orNil(coerce.Leaf(t, raw))
		},
		ParseLiteral: func(v ast.Value) any { return orNil(coerce.Literal(t, v)) },
	})
}

// orNil gives what graphql-go takes for a value that does not fit.
func orNil(v any, err error) any {
	if err != nil {
		return nil
	}
	return v
}
