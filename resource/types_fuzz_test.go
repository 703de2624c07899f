package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// Types that contain themselves. Package reflect cannot make them.
type (
	selfArray   []selfArray
	selfMap     map[string]selfMap
	selfPointer *selfPointer
	selfNulls   []*selfNulls
	twoArrays   []twoMaps
	twoMaps     map[int]twoArrays
	node        struct {
		Name  string           `json:"name" maxLength:"3"`
		Next  *node            `json:"next"`
		Kids  []node           `json:"kids,omitzero"`
		Names map[string]*node `json:"names"`
	}
	chain struct {
		Next *chain           `json:"next" required:"true"`
		Kids []chain          `json:"kids" required:"true" minItems:"1"`
		Map  map[string]chain `json:"map" minItems:"1" readOnly:"true"`
	}
	husband struct {
		Wife  *wife    `json:"wife,omitempty"`
		Wives [2]*wife `json:"wives" writeOnly:"true"`
	}
	wife struct {
		Husband husbands `json:"husband" key:"age"`
		Age     int8     `json:"age" default:"7"`
	}
	husbands []struct {
		Of  husband
		Age int
	}
	box[T any] struct {
		Value T        `json:"value"`
		Boxes []box[T] `json:"boxes"`
	}
	outer struct {
		node
		Own map[string]outer `json:"own"`
	}
	level string
)

// typeSource makes types of the bytes of a fuzz test. Without bytes left, all choices are the first.
type typeSource struct {
	data []byte
	left int // types that may follow
}

func (s *typeSource) choose(n int) int {
	if len(s.data) == 0 {
		return 0
	}
	b := int(s.data[0])
	s.data = s.data[1:]
	return b % n
}

var leafTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[float32](),
	reflect.TypeFor[uint64](), reflect.TypeFor[int8](), reflect.TypeFor[time.Time](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[[16]byte](), reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](),
	reflect.TypeFor[netip.Addr](), reflect.TypeFor[level](), reflect.TypeFor[struct{}](),
	reflect.TypeFor[error](), reflect.TypeFor[time.Duration](), reflect.TypeFor[func()](),
	reflect.TypeFor[selfArray](), reflect.TypeFor[selfMap](), reflect.TypeFor[selfPointer](),
	reflect.TypeFor[selfNulls](), reflect.TypeFor[twoArrays](), reflect.TypeFor[twoMaps](),
	reflect.TypeFor[node](), reflect.TypeFor[chain](), reflect.TypeFor[husband](), reflect.TypeFor[wife](),
	reflect.TypeFor[outer](), reflect.TypeFor[box[string]](), reflect.TypeFor[box[node]](),
	reflect.TypeFor[box[*husband]](), reflect.TypeFor[box[selfMap]](), reflect.TypeFor[box[box[any]]](),
}

// typeTags are struct tags, of which a field has up to three.
var typeTags = []string{
	`required:"true"`, `readOnly:"true"`, `writeOnly:"true"`, `unique:"true"`, `default:"1"`, `default:"db"`,
	`minLength:"2"`, `maxLength:"3"`, `minItems:"1"`, `maxItems:"2"`, `minimum:"1"`, `maximum:"9"`, `enum:"1,2"`,
	`enum:"ab,cd"`, `pattern:"^[a-d]{2}$"`, `pattern:"^(a+)+$"`, `format:"date"`, `format:"uuid"`,
	`format:"decimal" precision:"4,2"`, `format:"duration"`, `format:"x-any"`, `example:"1"`, `doc:"a"`, `key:"age"`,
	`deprecated:"no"`, `set:"created"`, `set:"modifiedBy"`, `unique:"f0"`, `id:"f0,f1"`, `unknown:"x"`,
}

// next returns a type.
func (s *typeSource) next() reflect.Type {
	if s.left--; s.left < 0 {
		return leafTypes[0]
	}
	switch s.choose(8) {
	case 0, 1, 2:
		return leafTypes[s.choose(len(leafTypes))]
	case 3:
		return reflect.PointerTo(s.next())
	case 4:
		return reflect.SliceOf(s.next())
	case 5:
		return reflect.ArrayOf(s.choose(4), s.next())
	case 6:
		keys := []reflect.Type{leafTypes[0], leafTypes[1], leafTypes[2], reflect.TypeFor[netip.Addr]()}
		return reflect.MapOf(keys[s.choose(len(keys))], s.next())
	}
	return s.object()
}

// object returns a struct.
func (s *typeSource) object(first ...reflect.StructField) reflect.Type {
	fields := first
	for i := range s.choose(5) {
		name := fmt.Sprintf("f%d", i)
		if s.choose(16) == 15 {
			name = "F0"
		}
		tag := `json:"` + name + []string{"", ",omitzero", ",omitempty", ",string"}[s.choose(8)%4] + `"`
		for range s.choose(4) {
			tag += " " + typeTags[s.choose(len(typeTags))]
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: s.next(), Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

// fuzzItem is the type parameter of the resources of FuzzTypes.
type fuzzItem struct {
	ID string `json:"id"`
}

// refused calls fn, and reports whether it panics with a text of the package.
func refused(t *testing.T, typ reflect.Type, name string, fn func()) (was bool) {
	t.Helper()
	defer func() {
		if v := recover(); v != nil {
			was = true
			text, _ := v.(string)
			if !strings.HasPrefix(text, name+": ") {
				t.Fatalf("%v\npanic: %v\n%s", typ, v, debug.Stack())
			}
		}
	}()
	fn()
	return false
}

// FuzzTypes registers and describes items of two random Go types. Each step ends: it serves a type or refuses
// it with a text. The fuzz engine ends a call that takes 10 seconds.
func FuzzTypes(f *testing.F) {
	for i := range leafTypes {
		f.Add([]byte{1, 0, 0, 0, 0, byte(i)})
		f.Add([]byte{2, 0, 0, 0, 4, 0, byte(i), 0, 0, 2, 0, 8, 6, 0, 3, 0, byte(i)})
		f.Add([]byte{1, 4, 0, byte(i), 0, 0, 1, 0, byte(i), 1, 0}) // a list of a type, then the type
	}
	f.Add([]byte{4, 1, 0, 3, 0, 6, 13, 7, 3, 0, 1, 1, 9, 4, 7, 2, 1, 1, 4, 5, 2, 0, 23, 0, 0, 1, 2, 25})
	f.Fuzz(func(t *testing.T, data []byte) {
		source := &typeSource{data: data, left: 12}
		var served []*compat.Snapshot
		for range 2 {
			source.left = 12
			goType := source.object(
				reflect.StructField{Name: "ID", Type: reflect.TypeFor[string](), Tag: `json:"id"`})
			s := serveFuzzType(t, goType)
			if s == nil {
				continue
			}
			if diff := cmp.Diff([]version.Change{}, compat.Compare(s, s)); diff != "" {
				t.Fatalf("%v: changes without a change (-want +got):\n%s", goType, diff)
			}
			served = append(served, s)
		}
		if len(served) == 2 {
			compat.Compare(served[0], served[1])
			compat.Compare(served[1], served[0])
		}
	})
}

// serveFuzzType returns the documents of a Go type; nil if the type is refused.
func serveFuzzType(t *testing.T, goType reflect.Type) *compat.Snapshot {
	t.Helper()
	typ, err := schema.Of(goType)
	if err != nil {
		if !strings.HasPrefix(err.Error(), "schema: ") {
			t.Fatalf("%v: %v", goType, err)
		}
		return nil
	}
	v := typ.New()
	typ.Validate(v)
	if document, err := typ.AppendFull(nil, v); err == nil {
		if _, err := typ.Decode(document, &schema.DecodeOptions{Mode: schema.Stored}); err != nil {
			t.Fatalf("%v: decode %s: %v", goType, document, err)
		}
	}
	// A resource has a type parameter, and package schema one Type for each Go type. fuzzItem gets the
	// content of that of the random type.
	reflect.ValueOf(schema.For[fuzzItem]()).Elem().Set(reflect.ValueOf(typ).Elem())
	var items *resource.Resource
	if refused(t, goType, "resource", func() { items = newFuzzItems(typ) }) {
		return nil
	}
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal: func(context.Context) string { return "" }}, items)
	served := &compat.Snapshot{OpenAPI: openapi.New(catalog, nil).JSON()}
	if !json.Valid(served.OpenAPI) {
		t.Fatalf("%v: %s", goType, served.OpenAPI)
	}
	refused(t, goType, "graphql", func() { served.SDL = graphql.New(catalog, nil).SDL() })
	return served
}

// newFuzzItems returns a resource with all operations, and with filters and orders by all scalars.
func newFuzzItems(typ *schema.Type) *resource.Resource {
	type item = resource.Item[fuzzItem]
	ops := resource.Ops[fuzzItem]{ // never called
		Get:     func(context.Context, string) (item, error) { return item{}, nil },
		List:    func(context.Context, query.Query) iter.Seq2[item, error] { return nil },
		Create:  func(context.Context, fuzzItem) (item, error) { return item{}, nil },
		Insert:  func(context.Context, string, fuzzItem) (item, error) { return item{}, nil },
		Replace: func(context.Context, string, resource.Rev, fuzzItem) (item, error) { return item{}, nil },
		Delete:  func(context.Context, string, resource.Rev) error { return nil },
	}
	q := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range typ.Fields {
		switch {
		case f.WriteOnly || f.Key != nil:
		case f.Comparable():
			q.Filter[f.Name], q.Sort = []query.Op{query.Eq, query.In, query.IsNull}, append(q.Sort, f.Name)
		case f.ComparableElem():
			q.Filter[f.Name] = []query.Op{query.Contains}
		}
	}
	return ops.Resource("items", &resource.Options[fuzzItem]{Query: q, Public: true})
}
