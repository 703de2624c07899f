package walk

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// value makes one that a schema permits, also where that excludes some. Integers are int64, and
// what is read-only is left out of objects.
func (w *walker) value(s *openapi3.Schema) any {
	for {
		v := w.any(s)
		if s == nil || s.Not == nil || !slices.Contains(s.Not.Value.Enum, v) {
			return v
		}
	}
}

func (w *walker) any(s *openapi3.Schema) any {
	switch {
	case s == nil:
		return "anything"
	case len(s.Enum) > 0:
		return pick(w.rand, s.Enum)
	case s.Const != nil:
		return s.Const
	case len(s.AllOf) > 0:
		return w.all(s)
	case len(s.AnyOf) > 0:
		return w.value(pick(w.rand, s.AnyOf).Value)
	case len(s.OneOf) > 0:
		return w.value(pick(w.rand, s.OneOf).Value)
	case s.Type == nil || len(*s.Type) == 0:
		if s.Properties != nil {
			return w.object(s)
		}
		return "anything"
	}
	switch pick(w.rand, *s.Type) {
	case "null":
		return nil
	case "boolean":
		return w.chance(0.5)
	case "integer":
		return w.integer(s)
	case "number":
		low, high := bounds(s, -1000, 1000)
		return math.Round((low+w.rand.Float64()*(high-low))*100) / 100
	case "array":
		return w.array(s)
	case "object":
		return w.object(s)
	}
	return w.str(s)
}

// all puts the members of all parts, and of the schema itself, into one object.
func (w *walker) all(s *openapi3.Schema) any {
	if len(s.AllOf) == 1 && s.Properties == nil {
		return w.value(s.AllOf[0].Value)
	}
	out := w.object(s)
	for _, part := range s.AllOf {
		if object, ok := w.value(part.Value).(map[string]any); ok {
			for name, v := range object {
				out[name] = v
			}
		}
	}
	return out
}

// object has fewer members at greater depth, because schemas may contain themselves.
func (w *walker) object(s *openapi3.Schema) map[string]any {
	w.depth++
	defer func() { w.depth-- }()
	often := min(0.5, 3/float64(len(s.Properties)+1)) / float64(w.depth)
	if w.depth > 4 {
		often = 0
	}
	out := map[string]any{}
	required := map[string]bool{}
	for _, name := range s.Required {
		required[name] = true
	}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name].Value
		if !p.ReadOnly && (required[name] || w.chance(often)) {
			out[name] = w.value(p)
		}
	}
	if extra := s.AdditionalProperties.Schema; extra != nil && len(out) == 0 {
		for range w.rand.IntN(3) {
			out[w.word(8)] = w.value(extra.Value)
		}
	}
	return out
}

func (w *walker) array(s *openapi3.Schema) []any {
	low, high := int(s.MinItems), int(s.MinItems)+3
	if s.MaxItems != nil {
		high = min(high, int(*s.MaxItems))
	}
	out := []any{}
	seen := map[string]bool{}
	for range low + w.rand.IntN(high-low+1) {
		v := w.value(s.Items.Value)
		if key := fmt.Sprint(v); !s.UniqueItems || !seen[key] {
			seen[key] = true
			out = append(out, v)
		}
	}
	return out
}

// integer likes the ends of the range.
func (w *walker) integer(s *openapi3.Schema) int64 {
	low, high := bounds(s, -3, 1<<40)
	switch {
	case w.chance(0.1):
		return int64(low)
	case w.chance(0.1):
		return int64(high)
	case w.chance(0.6):
		high = min(high, low+100)
	}
	return int64(low) + w.rand.Int64N(int64(high)-int64(low)+1)
}

// bounds are those of a number; the ones given are for a schema that has none.
func bounds(s *openapi3.Schema, low, high float64) (float64, float64) {
	if s.Min != nil {
		low = *s.Min
	}
	if b := s.ExclusiveMin.Value; b != nil {
		low = *b + 1
	}
	if s.Max != nil {
		high = *s.Max
	}
	if b := s.ExclusiveMax.Value; b != nil {
		high = *b - 1
	}
	return low, max(low, high)
}

func (w *walker) str(s *openapi3.Schema) string {
	switch s.Format {
	case "date-time":
		return time.Unix(w.rand.Int64N(4e9), 0).UTC().Format(time.RFC3339)
	case "date":
		return time.Unix(w.rand.Int64N(4e9), 0).UTC().Format(time.DateOnly)
	case "email":
		return fmt.Sprintf("walker%d@example.com", w.rand.IntN(1<<30))
	case "uri", "uri-reference":
		return "https://example.com/" + w.word(8)
	case "uuid":
		return fmt.Sprintf("%08x-0000-4000-8000-%012x", w.rand.Uint32(), w.rand.Int64N(1<<48))
	}
	if s.Pattern != "" {
		return w.matching(s.Pattern)
	}
	low, high := int(s.MinLength), max(12, int(s.MinLength))
	if s.MaxLength != nil {
		if w.chance(0.05) {
			low = int(*s.MaxLength)
		}
		high = int(*s.MaxLength)
		if !w.chance(0.05) {
			high = max(low, min(high, 12))
		}
	}
	return w.letters(low + w.rand.IntN(high-low+1))
}

// alphabet has what is written differently in JSON, in a URL or in UTF-8.
var alphabet = []rune(`abcdefghijABCDEFGHIJ0123456789 -_.~'"\/%+&=?#;:,<>é漢😀`)

func (w *walker) letters(n int) string {
	out := make([]rune, n)
	for i := range out {
		out[i] = pick(w.rand, alphabet)
	}
	return string(out)
}

func (w *walker) word(n int) string {
	out := make([]rune, n)
	for i := range out {
		out[i] = pick(w.rand, alphabet[:20])
	}
	return string(out)
}

// text returns a value in its form in a URL or a header field.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case []any:
		texts := make([]string, len(v))
		for i := range v {
			texts[i] = text(v[i])
		}
		return strings.Join(texts, ",")
	}
	b, _ := json.Marshal(v)
	return string(b)
}
