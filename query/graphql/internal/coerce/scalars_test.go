package coerce_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

func TestDateTime(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{ // an empty want expects an error
		{"2026-11-21T06:00:00Z", "2026-11-21T06:00:00Z"},
		{"2026-11-21T06:00:00.000000001-23:59", "2026-11-21T06:00:00.000000001-23:59"},
		{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"},
		{"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		{"2026-11-21 06:00:00Z", ""}, {"2026-11-21T6:00:00Z", ""}, {"2026-11-21T06:00Z", ""}, {"", ""},
		{"now", ""},
		{"2026-11-21T06:00:00+24:00", ""}, {"2026-13-01T00:00:00Z", ""}, {"2026-11-21T25:00:00Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := coerce.DateTime(tt.text)
			if (err == nil) != (tt.want != "") {
				t.Fatalf("got %v, %v", got, err)
			}
			if err == nil && got.Format(time.RFC3339Nano) != tt.want {
				t.Errorf("got %v, want %s", got, tt.want)
			}
			if want := `DateTime cannot represent value: "` + tt.text + `"`; err != nil &&
				err.Error() != want {
				t.Errorf("the error is %q, want %q", err, want)
			}
		})
	}
}

// FuzzJSON checks that each literal converts to valid JSON, and to the same JSON after it is
// printed and parsed.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"1", "-1.50e+3", `"a\u{1F600}\n"`, `"""block"""`, "null", "true", "NAME",
		"[1, [null], {}]",
		"{a: {b: [$x], c: $y}, d: $y}", "$x"} {
		f.Add(seed)
	}
	variables := map[string]any{"x": map[string]any{"k": []any{nil, int64(1), "s"}}}
	f.Fuzz(func(t *testing.T, text string) {
		document := "{a(b: " + text + ")}"
		if lexer.Guard(document, lexer.Limits{}) != nil {
			return
		}
		doc, err := parser.Parse(document)
		if err != nil {
			return
		}
		op, ok := doc.Definitions[0].(*parser.OperationDefinition)
		if !ok {
			return
		}
		field, ok := op.SelectionSet.Selections[0].(*parser.Field)
		if !ok || len(field.Arguments) == 0 {
			return
		}
		got, err := coerce.JSON(field.Arguments[0].Value, variables)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		// A literal may have duplicate members, which validation rejects.
		if !got.IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("%s is %s, which is no JSON", text, got)
		}
		again, err := parser.Parse(parser.Print(doc))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		value := again.Definitions[0].(*parser.OperationDefinition).SelectionSet.Selections[0].(*parser.Field).Arguments[0].Value
		if same, err := coerce.JSON(value, variables); err != nil || string(same) != string(got) {
			t.Errorf("%s is %s, and as it prints %s (%v)", text, got, same, err)
		}
	})
}
