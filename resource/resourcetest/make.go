package resourcetest

import (
	"encoding"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/schema"
)

// style is the purpose of generated values.
type style int

const (
	distinct  style = iota // all fields set, and as different as the types permit
	clustered              // few different values, some null, so that filters match several and sort keys tie
	extreme                // the limits of every type, which every store should accept
	hard                   // values that a store may reject, but must not change
)

// deepest is the depth to which a recursive type is filled.
const deepest = 4

// builder generates one value. It depends only on the seed, so that the nth value is always the
// same.
type builder struct {
	rng    *rand.Rand
	style  style
	n      int
	turn   int    // index of the next limit value
	prefix string // of plain text
	depth  int
	unit   time.Duration // of times
}

// makeValue sets v, a pointer to the Go type of typ, to the nth value of a style. The id and fields
// tagged readOnly stay zero, except those tagged set.
func makeValue(v any, typ *schema.Type, id *schema.Field, st style, n int, seed uint64,
	unit time.Duration) error {
	rng := rand.New(rand.NewPCG(seed, uint64(n)<<2|uint64(st)))
	var violations []schema.Violation
	for try := range 20 { // repeats random choices that violate a tag
		value := reflect.ValueOf(v).Elem()
		value.SetZero()
		b := builder{rng: rng, style: st, n: n, turn: n + try, prefix: "text", unit: unit}
		b.object(value, typ, id)
		violations = slices.DeleteFunc(typ.Validate(v), func(bad schema.Violation) bool {
			return bad.Pointer == "/"+id.Name
		})
		if _, err := typ.AppendFull(nil, v); err != nil {
			return err
		}
		if len(violations) == 0 {
			return nil
		}
	}
	return schema.Violations(violations)
}

// object fills the fields of a struct, except one.
func (b *builder) object(v reflect.Value, t *schema.Type, except *schema.Field) {
	for _, f := range t.Fields {
		if f != except && (!f.ReadOnly || f.Set != "") {
			b.field(settable(v, f.Index), f)
		}
	}
}

// field fills one field, or leaves it null if the style calls for it.
func (b *builder) field(v reflect.Value, f *schema.Field) {
	if f.Nullable && v.Kind() == reflect.Pointer && b.wantsNull() {
		return
	}
	own := *b
	unique := (f.Unique || f.UniqueWith != nil) && f.Type.Kind != schema.Array
	if unique || f.Set != "" && b.style != clustered {
		// Any other style would repeat values of other items, or exceed the range of a clock.
		own.style = distinct
	}
	own.value(target(v), f, f.Type)
}

// wantsNull reports whether to leave a pointer nil.
func (b *builder) wantsNull() bool {
	return b.depth >= deepest || b.style != distinct && b.rng.IntN(4) == 0
}

// value fills v, which is not a pointer, with a value of t that satisfies the constraints of f.
func (b *builder) value(v reflect.Value, f *schema.Field, t *schema.Type) {
	switch t.Kind {
	case schema.Object:
		inner := *b
		inner.depth++
		inner.object(v, t, nil)
	case schema.Array:
		b.array(v, f, t)
	case schema.Map:
		b.dictionary(v, f, t)
	case schema.String:
		b.text(v, f, t)
	case schema.Integer:
		b.integer(v, f, t)
	case schema.Number:
		b.number(v, f, t)
	case schema.Boolean:
		v.SetBool(b.pick(2) == 1)
	case schema.Any:
		// The values that a type with its own JSON accepts are not known; it stays zero.
	}
}

// pick returns a number below n: in turn for distinct values, otherwise at random.
func (b *builder) pick(n int) int {
	if b.style == distinct {
		return b.n % n
	}
	return b.rng.IntN(n)
}

// edge returns the next limit value, so that a few values cover all.
func edge[E any](b *builder, edges []E) E { return edges[b.turn%len(edges)] }

// length returns the number of elements for an array or a map.
func (b *builder) length(f *schema.Field) int {
	n := 2 + b.n%2
	if b.style != distinct {
		n = b.rng.IntN(4)
	}
	if b.depth >= deepest {
		n = 0
	}
	if f.MaxItems != nil {
		n = min(n, *f.MaxItems)
	}
	if f.MinItems != nil {
		n = max(n, *f.MinItems)
	}
	return n
}

// array fills a slice or an array. Elements are numbered consecutively, so that they differ if they
// must.
func (b *builder) array(v reflect.Value, f *schema.Field, t *schema.Type) {
	if v.Kind() == reflect.Slice {
		n := b.length(f)
		if n == 0 && b.rng.IntN(2) == 0 {
			return // nil, which equals an empty list
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	}
	for i := range v.Len() {
		b.element(f, i).value(target(v.Index(i)), f, t.Elem)
	}
}

// dictionary fills a map if its keys are plain strings or integers.
func (b *builder) dictionary(v reflect.Value, f *schema.Field, t *schema.Type) {
	m := reflect.MakeMap(v.Type())
	v.Set(m)
	for i := range b.length(f) {
		key := reflect.New(v.Type().Key()).Elem()
		switch {
		case key.Kind() == reflect.String:
			key.SetString(fmt.Sprintf("key %d", i))
		case key.CanInt():
			key.SetInt(int64(i))
		case key.CanUint():
			key.SetUint(uint64(i))
		default:
			return
		}
		elem := reflect.New(v.Type().Elem()).Elem()
		b.element(f, i).value(target(elem), f, t.Elem)
		m.SetMapIndex(key, elem)
	}
}

// element returns the builder of the ith element of an array or a map.
func (b *builder) element(f *schema.Field, i int) *builder {
	inner := *b
	inner.depth++
	inner.n = b.n*7 + i
	if f.Unique {
		inner.style = distinct
	}
	return &inner
}

// moment returns a time in whole units and UTC, in the range of common databases.
func (b *builder) moment() time.Time { return b.exactMoment().Truncate(b.unit) }

func (b *builder) exactMoment() time.Time {
	start := time.Date(2024, 2, 29, 23, 59, 58, 0, time.UTC)
	switch b.style {
	case distinct:
		return start.Add(time.Duration(b.n) * (time.Hour + b.unit))
	case clustered:
		return start.Add(time.Duration(b.rng.IntN(4)) * b.unit)
	default:
		return edge(b, []time.Time{
			time.Unix(0, 0).UTC(),
			time.Unix(-1, 0).UTC(),
			time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2038, 1, 19, 3, 14, 8, 0, time.UTC),
			time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
		})
	}
}

// marshaled sets a type with text methods to the first text that it accepts.
func (b *builder) marshaled(v reflect.Value, f *schema.Field) {
	u, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return
	}
	candidates := []string{
		fmt.Sprint(b.n), b.uuid(), b.address(),
		b.moment().Format(time.RFC3339), b.moment().Format(time.DateOnly),
		b.word(12), fmt.Sprintf("https://example.com/%d", b.n),
	}
	if s, ok := b.formatted(f); ok {
		candidates = append([]string{s}, candidates...)
	}
	for _, text := range candidates {
		if u.UnmarshalText([]byte(text)) == nil {
			return
		}
		v.SetZero()
	}
}
