package oracle_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
	"github.com/graphql-go/graphql/language/parser"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// kitchen returns the kitchen sink for graphql-go.
func kitchen(t testing.TB) graphql.Schema {
	t.Helper()
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	converted, err := oracle.Schema(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

// TestCustomScalarsForGraphQLGo checks that graphql-go's coercion has the results of package coerce
// for custom scalars.
func TestCustomScalarsForGraphQLGo(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	for _, tt := range graphqltest.Scalars() {
		scalar, ok := s.Type(tt.Type).(*graphql.Scalar)
		if !ok || tt.Type != "Int64" && tt.Type != "DateTime" && tt.Type != "JSON" {
			continue
		}
		t.Run(tt.Type+" "+tt.Literal+tt.JSON, func(t *testing.T) {
			t.Parallel()
			// graphql-go's parser does not support it
			if tt.Literal != "" && !strings.Contains(tt.Literal, "null") {
				v, err := parser.ParseValue(parser.ParseParams{Source: tt.Literal})
				if err != nil {
					t.Fatal(err)
				}
				compareScalar(t, "ParseLiteral", tt.Want, scalar.ParseLiteral(v))
			}
			var value any
			if json.Unmarshal([]byte(tt.JSON), &value) != nil || strings.Contains(tt.JSON, "1234567890") ||
				strings.HasPrefix(tt.JSON, "{") {
				return // encoding/json loses large numbers and the order of members
			}
			if _, ok := value.(float64); ok && len(tt.JSON) > 15 {
				return
			}
			compareScalar(t, "ParseValue", tt.Want, scalar.ParseValue(value))
		})
	}
}

// compareScalar compares coerced values; the result is nil if the input is invalid.
func compareScalar(t *testing.T, way string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool {
		return a.Equal(b) && a.Format(time.RFC3339Nano) == b.Format(time.RFC3339Nano)
	})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", way, diff)
	}
}

// TestScalarsOut checks the values that graphql-go serializes.
func TestScalarsOut(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	tests := []struct {
		typ         string
		value, want any
	}{
		{"DateTime", time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", -3600)),
			"2026-01-02T03:04:05.0000006-01:00"},
		{"Int64", int64(math.MinInt64), int64(math.MinInt64)},
		{"Int64", uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{"JSON", jsontext.Value("[1]"), jsontext.Value("[1]")},
		{"Color", "navy", "NAVY"},
		{"Color", "NAVY", nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.typ, tt.value), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, s.Type(tt.typ).(graphql.Leaf).Serialize(tt.value)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused has models that graphql-go rejects.
func TestRefused(t *testing.T) {
	t.Parallel()
	text := &model.Type{Kind: model.Scalar, Name: "String"}
	field := func(name string, t *model.Type) *model.Field {
		return &model.Field{Name: name, Type: &model.Ref{Type: t}}
	}
	query := func(fields ...*model.Field) *model.Type {
		return &model.Type{Kind: model.Object, Name: "Query", Fields: fields}
	}
	odd, empty := &model.Type{Kind: model.Scalar, Name: "Odd"}, &model.Type{Kind: model.Object, Name: "Empty"}
	enum := &model.Type{Kind: model.Enum, Name: "Enum"}
	input := &model.Type{Kind: model.InputObject, Name: "Input"}
	tests := []struct {
		name  string
		query *model.Type
		types []*model.Type
		want  string
	}{
		{"unknown scalar", query(field("a", odd)), []*model.Type{odd}, "the scalar Odd"},
		{"object without fields", query(field("a", empty)), []*model.Type{empty}, "Empty fields must be"},
		{"enum without values", query(field("a", enum)), []*model.Type{enum}, "Enum"},
		{"input without fields", query(field("a", text)), []*model.Type{text, input}, "Input fields must be"},
		{"bad name", query(field("a-b", text)), []*model.Type{text}, `"a-b" does not`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := oracle.Schema(&model.Schema{Query: tt.query, Types: append(tt.types, tt.query)}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want something about %s", err, tt.want)
			}
		})
	}
}

// TestConcurrent reads a new schema concurrently, in every way in which graphql-go would write on
// first use. The race detector reports failures.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, named := range s.TypeMap() {
				switch named := named.(type) {
				case *graphql.Enum:
					named.Serialize("navy")
					named.ParseValue("NAVY")
					named.ParseLiteral(&ast.EnumValue{Value: "NAVY"})
				case *graphql.Object:
					named.Fields()
					named.Interfaces()
				case *graphql.InputObject:
					named.Fields()
				}
			}
		})
	}
	all.Wait()
}
