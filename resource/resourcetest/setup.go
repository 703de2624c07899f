package resourcetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// seedVariable is the environment variable that sets the seed.
const seedVariable = "RESOURCETEST_SEED"

// patience is the timeout of one case, after which it counts as blocked. It is long enough for a
// slow, loaded machine.
const patience = 5 * time.Minute

// setup is Options with all defaults, and what is derived from the item type.
type setup struct {
	Options[any]
	typ      *schema.Type
	id       *schema.Field
	key      []*schema.Field // the id, or the fields of a composite id
	patience time.Duration   // the constant, except in tests of the kit
}

// newSetup completes opts. Its errors are mistakes of the caller.
func newSetup[T any](opts *Options[T]) (*setup, error) {
	s := &setup{patience: patience}
	if opts != nil {
		s.Options = eraseOptions(*opts)
	}
	typ, found := mistakes.TypeOf[T]()
	return s, s.complete(reflect.TypeFor[T](), typ, found)
}

// complete sets the defaults. found are the mistakes of the item type, without which typ describes it.
func (s *setup) complete(goType reflect.Type, typ *schema.Type, found []string) error {
	if err := s.useResource(goType); err != nil {
		return err
	}
	s.IDField = cmp.Or(s.IDField, "id")
	s.Writers = cmp.Or(s.Writers, 16)
	s.Items = cmp.Or(s.Items, 200)
	s.TimePrecision = cmp.Or(s.TimePrecision, time.Microsecond)
	if s.TimePrecision < 0 {
		return fmt.Errorf("Options.TimePrecision is %v, and must be positive", s.TimePrecision)
	}
	var err error
	if s.Seed, err = chosenSeed(s.Seed); err != nil {
		return err
	}
	if len(found) > 0 {
		return errors.New(strings.Join(found, "\n"))
	}
	s.typ, s.id = typ, typ.Field(s.IDField)
	if s.id == nil {
		return fmt.Errorf("%v has no field with the JSON name %q; set Options.IDField",
			typ.GoType, s.IDField)
	}
	if found := mistakes.OfSupport("Options.Support", s.Support, typ); len(found) > 0 {
		return errors.New(strings.Join(found, "\n"))
	}
	s.useKey()
	_, err = s.value(distinct, 0)
	return err
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

// useResource sets the defaults that Options.Resource determines, and returns how Support differs from
// its queries.
func (s *setup) useResource(goType reflect.Type) error {
	if s.Resource == nil {
		return nil
	}
	if got := s.Resource.Type().GoType; got != goType {
		return fmt.Errorf("Options.Resource has items of the type %v, want %v", got, goType)
	}
	served := s.Resource.Describe()
	s.IDField = cmp.Or(s.IDField, served.ID)
	if len(s.Support.Filter) == 0 && len(s.Support.Sort) == 0 && len(s.Support.Search) == 0 &&
		!s.Support.Natural && !s.Support.CanAggregate() {
		s.Support = served.Query
		return nil
	}
	var found []string
	differ := func(what string, tested, declared any) {
		found = append(found, fmt.Sprintf("Options.Support.%s is %v, but the resource %s declares %v",
			what, tested, s.Resource.Name(), declared))
	}
	fields := slices.Collect(maps.Keys(s.Support.Filter))
	fields = sortedSet(slices.AppendSeq(fields, maps.Keys(served.Query.Filter)))
	for _, field := range fields {
		tested, declared := sortedSet(s.Support.Filter[field]), sortedSet(served.Query.Filter[field])
		if !slices.Equal(tested, declared) {
			differ(fmt.Sprintf("Filter[%q]", field), tested, declared)
		}
	}
	tested, declared := sortedSet(s.Support.Sort), sortedSet(served.Query.Sort)
	if !slices.Equal(tested, declared) {
		differ("Sort", tested, declared)
	}
	groups, servedGroups := sortedSet(s.Support.Group), sortedSet(served.Query.Group)
	if !slices.Equal(groups, servedGroups) {
		differ("Group", groups, servedGroups)
	}
	fields = slices.Collect(maps.Keys(s.Support.Aggregate))
	for _, field := range sortedSet(slices.AppendSeq(fields, maps.Keys(served.Query.Aggregate))) {
		tested, declared := sortedSet(s.Support.Aggregate[field]), sortedSet(served.Query.Aggregate[field])
		if !slices.Equal(tested, declared) {
			differ(fmt.Sprintf("Aggregate[%q]", field), tested, declared)
		}
	}
	if !slices.Equal(s.Support.Search, served.Query.Search) {
		differ("Search", s.Support.Search, served.Query.Search)
	}
	if s.Support.Natural != served.Query.Natural {
		differ("Natural", s.Support.Natural, served.Query.Natural)
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%s\nuse the same query.Support for both, or leave Options.Support out",
		strings.Join(found, "\n"))
}

// sortedSet returns the distinct elements in order.
func sortedSet[S ~string](list []S) []S {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// value returns the nth value in a style, without an id.
func (s *setup) value(st style, n int) (any, error) {
	if s.New != nil {
		v := s.New(n)
		s.addStamps(v, n)
		return v, nil
	}
	v := s.zero()
	if err := makeValue(v, s.typ, s.id, st, n, s.Seed, s.TimePrecision); err != nil {
		return v, fmt.Errorf("no valid %v can be generated; set Options.New: %w", s.typ.GoType, err)
	}
	return v, nil
}

// idText returns the nth id for Insert.
func (s *setup) idText(n int) (string, error) {
	if s.ID != nil {
		return s.ID(n), nil
	}
	if s.id.Key != nil {
		text := s.keyText(n)
		if _, err := s.id.ParseKey(text); err != nil {
			return "", fmt.Errorf("no valid id can be generated; set Options.ID: got %q: %w", text, err)
		}
		return text, nil
	}
	v := s.zero()
	b := s.distinct("id", n)
	if s.id.Type.Kind == schema.Integer {
		b.n += min(1000, 1<<(s.id.Type.Bits-2)) // avoid ids that Create is likely to choose
	}
	b.field(settable(reflect.ValueOf(v).Elem(), s.id.Index), s.id)
	text := s.id.Text(v)
	if _, err := s.id.Parse(text); err != nil || text == "" {
		return "", fmt.Errorf("no valid id can be generated; set Options.ID: got %q: %w", text, err)
	}
	return text, nil
}

// distinct returns the builder of the nth distinct value.
func (s *setup) distinct(prefix string, n int) builder {
	return builder{rng: rand.New(rand.NewPCG(s.Seed, uint64(n))), style: distinct, n: n, prefix: prefix,
		unit: s.TimePrecision}
}

// zero returns a pointer to a new zero value.
func (s *setup) zero() any { return reflect.New(s.typ.GoType).Interface() }

// clone returns a copy of v, which shares its lists, maps and pointers.
func (s *setup) clone(v any) any {
	to := s.zero()
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(v).Elem())
	return to
}

// withID returns a copy of v with its id field set.
func (s *setup) withID(v any, id string) (any, error) {
	v = s.clone(v)
	err := s.id.SetText(v, id)
	return v, err
}

// same reports whether got equals sent except for ids.
func (s *setup) same(sent, got any) bool {
	if s.Equal != nil {
		return s.Equal(sent, got)
	}
	return s.typ.Equal(s.comparable(sent), s.comparable(got))
}

// comparable returns a copy of v without the fields that the store, the server or the kit sets.
func (s *setup) comparable(v any) any {
	v = s.clone(v)
	for _, f := range s.typ.Fields {
		if !s.isAssigned(f) {
			continue
		}
		// An embedded pointer would be shared with the original, so its struct is not changed.
		if field, ok := ownField(reflect.ValueOf(v).Elem(), f.Index); ok {
			field.SetZero()
		}
	}
	return v
}

// document returns v as its full JSON, for messages and comparisons.
func (s *setup) document(v any) string {
	text, err := s.typ.AppendFull(nil, v)
	if err != nil {
		return fmt.Sprintf("(%v)", err)
	}
	return string(text)
}

// fieldOf returns the canonical value of a field of an item, as in package query.
func (s *setup) fieldOf(it *resource.Item[any], name string) any {
	f := s.typ.Field(name)
	if f == nil {
		return nil
	}
	return query.Canonical(f.Get(it.Value)) // times in UTC
}
