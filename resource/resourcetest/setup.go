package resourcetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// seedVariable is the environment variable that sets the seed.
const seedVariable = "RESOURCETEST_SEED"

// patience is the timeout of one case, after which it counts as blocked. It is long enough for a
// slow, loaded machine.
const patience = 5 * time.Minute

// setup is Options with all defaults, and what is derived from T.
type setup[T any] struct {
	Options[T]
	typ      *schema.Type
	id       *schema.Field
	patience time.Duration // the constant, except in tests of the kit
}

// newSetup completes opts. Its errors are mistakes of the caller.
func newSetup[T any](opts *Options[T]) (*setup[T], error) {
	s := &setup[T]{patience: patience}
	if opts != nil {
		s.Options = *opts
	}
	s.IDField = cmp.Or(s.IDField, "id")
	s.Writers = cmp.Or(s.Writers, 16)
	s.Items = cmp.Or(s.Items, 200)
	var err error
	if s.Seed, err = chosenSeed(s.Seed); err != nil {
		return nil, err
	}
	typ, err := schema.Of(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	s.typ, s.id = typ, typ.Field(s.IDField)
	if s.id == nil {
		return nil, fmt.Errorf("%v has no field with the JSON name %q; set Options.IDField",
			typ.GoType, s.IDField)
	}
	if err := s.checkSupport(); err != nil {
		return nil, err
	}
	if _, err := s.value(distinct, 0); err != nil {
		return nil, err
	}
	return s, nil
}

// chosenSeed returns the seed of the environment or of the options, or a random one.
func chosenSeed(seed uint64) (uint64, error) {
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return 0, fmt.Errorf("%s: %w", seedVariable, err)
		}
	}
	for seed == 0 {
		seed = rand.Uint64() >> 11 // short enough to type
	}
	return seed, nil
}

// checkSupport rejects fields that no case can test.
func (s *setup[T]) checkSupport() error {
	names := slices.Concat(slices.Sorted(maps.Keys(s.Support.Filter)), s.Support.Sort)
	for _, name := range names {
		if f := s.typ.Field(name); f == nil || !f.Comparable() {
			return fmt.Errorf("Options.Support has %q, which is not a sortable field of %v",
				name, s.typ.GoType)
		}
	}
	if s.Support.Natural && len(s.Support.Sort) > 0 {
		return fmt.Errorf("Options.Support has Natural and sort keys; use one of them")
	}
	return nil
}

// value returns the nth value in a style, without an id.
func (s *setup[T]) value(st style, n int) (T, error) {
	if s.New != nil {
		return s.New(n), nil
	}
	var v T
	if err := makeValue(&v, s.typ, s.id, st, n, s.Seed); err != nil {
		return v, fmt.Errorf("no valid %v can be generated; set Options.New: %w", s.typ.GoType, err)
	}
	return v, nil
}

// idText returns the nth id for Insert.
func (s *setup[T]) idText(n int) (string, error) {
	if s.ID != nil {
		return s.ID(n), nil
	}
	var v T
	b := builder{rng: rand.New(rand.NewPCG(s.Seed, uint64(n))), style: distinct, n: n, prefix: "id"}
	if s.id.Type.Kind == schema.Integer {
		b.n += min(1000, 1<<(s.id.Type.Bits-2)) // avoid ids that Create is likely to choose
	}
	b.field(settable(reflect.ValueOf(&v).Elem(), s.id.Index), s.id)
	text := s.id.Text(&v)
	if _, err := s.id.Parse(text); err != nil || text == "" {
		return "", fmt.Errorf("no valid id can be generated; set Options.ID: got %q: %w", text, err)
	}
	return text, nil
}

// withID returns v with its id field set.
func (s *setup[T]) withID(v T, id string) (T, error) {
	err := s.id.SetText(&v, id)
	return v, err
}

// same reports whether got equals sent except for ids.
func (s *setup[T]) same(sent, got T) bool {
	if s.Equal != nil {
		return s.Equal(sent, got)
	}
	a, b := s.comparable(sent), s.comparable(got)
	return s.typ.Equal(&a, &b)
}

// comparable returns v without the fields that the store sets: the id and fields tagged readOnly.
func (s *setup[T]) comparable(v T) T {
	for _, f := range s.typ.Fields {
		if f != s.id && !f.ReadOnly {
			continue
		}
		// An embedded pointer would be shared with the original, so its struct is not changed.
		if field, ok := ownField(reflect.ValueOf(&v).Elem(), f.Index); ok {
			field.SetZero()
		}
	}
	return v
}

// document returns v as its full JSON, for messages and comparisons.
func (s *setup[T]) document(v *T) string {
	text, err := s.typ.AppendFull(nil, v)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return string(text)
}

// fieldOf returns the canonical value of a field of an item, as in package query.
func (s *setup[T]) fieldOf(it *resource.Item[T], name string) any {
	f := s.typ.Field(name)
	if f == nil {
		return nil
	}
	return f.Get(&it.Value)
}
