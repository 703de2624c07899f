package model_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

type point struct {
	Lat  float64 `json:"lat" required:"true" doc:"In degrees."`
	Unit string  `json:"unit" enum:"km,mi" default:"km"`
	Via  *Line   `json:"via"`
}

type summary struct {
	Mood  string `json:"mood" enum:"up,down"`
	Best  *note  `json:"best"`
	Inner struct {
		X int8 `json:"x"`
	} `json:"inner"`
}

// TestCustom checks the types of custom fields and their arguments, at a root and in items.
func TestCustom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		in, out  *schema.Type
		nullable bool
		args     string
		root     string // type at a root, which is always nullable
		item     string // type in items
	}{
		{"text", nil, schema.For[string](), false, "", "String", "String!"},
		{"text or null", nil, schema.For[string](), true, "", "String", "String"},
		{"number", nil, schema.For[int64](), false, "", "Int64", "Int64!"},
		{"list", nil, schema.For[[]*int8](), false, "", "[Int]", "[Int]!"},
		{"list or null", nil, schema.For[[]string](), true, "", "[String!]", "[String!]"},
		{"any", nil, schema.For[any](), false, "", "JSON", "JSON"},
		{"map", nil, schema.For[map[string]note](), false, "", "JSON", "JSON!"},
		{"struct", nil, schema.For[summary](), false, "", "Summary", "Summary!"},
		{"item", nil, schema.For[note](), false, "", "NoteValue", "NoteValue!"},
		{"items", nil, schema.For[[]note](), false, "", "[NoteValue!]", "[NoteValue!]!"},
		{"arguments", schema.For[point](), schema.For[bool](), false,
			"lat:Float! unit:XUnit=km via:LineInput", "Boolean", "Boolean!"},
		{"no arguments", schema.For[struct{}](), schema.For[bool](), false, "", "Boolean", "Boolean!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			field := func(on string, parent reflect.Type) *model.CustomField {
				return &model.CustomField{On: on, Name: "x", Doc: "An x.", Deprecated: "use y", In: tt.in,
					Out:      tt.out,
					Nullable: tt.nullable, Parent: parent}
			}
			query, mutation := field("Query", nil), field("Mutation", nil)
			computed := field("notes", reflect.TypeFor[note]())
			s := reflected(t, resource.NewCatalog(nil, noteOps().Resource("notes", nil)),
				&model.Options{Fields: []*model.CustomField{query, mutation, computed}})
			sound(t, s)
			type seen struct{ Type, Args, Doc, Deprecated string }
			see := func(f *model.Field) seen {
				return seen{f.Type.String(), short(&model.Type{Inputs: f.Args}), f.Doc, f.Deprecated}
			}
			want := seen{tt.root, tt.args, "An x.", "use y"}
			for of, f := range map[*model.CustomField]*model.Field{query: s.Query.Field("x"),
				mutation: s.Mutation.Field("x")} {
				if diff := cmp.Diff(want, see(f)); diff != "" || f.Source != model.Custom || f.Custom != of {
					t.Errorf("%s.x, source %d (-want +got):\n%s", of.On, f.Source, diff)
				}
			}
			want.Type = tt.item
			if tt.in == schema.For[point]() {
				want.Args = "lat:Float! unit:NoteXUnit=km via:LineInput"
			}
			f := typeOf(s, "Note").Field("x")
			if diff := cmp.Diff(want, see(f)); diff != "" || f.Source != model.Computed ||
				f.Custom != computed {
				t.Errorf("Note.x, source %d (-want +got):\n%s", f.Source, diff)
			}
		})
	}
}

// TestCustomTypes checks the types that custom fields add to the schema.
func TestCustomTypes(t *testing.T) {
	t.Parallel()
	s := reflected(t, resource.NewCatalog(nil, noteOps().Resource("notes", nil)), &model.Options{
		Doc: "All about notes.",
		Fields: []*model.CustomField{
			{On: "Query", Name: "summary", Out: schema.For[summary]()},
			{On: "Mutation", Name: "wipe"},
			{On: "Query", Name: "grid", Out: schema.For[[]struct {
				Cells []int8 `json:"cells"`
			}]()},
		}})
	sound(t, s)
	for typ, want := range map[string]string{
		"Summary": "mood:SummaryMood! best:NoteValue inner:SummaryInner!", "SummaryInner": "x:Int!",
		"SummaryMood": "up down",
		"NoteValue":   "id:ID! text:String!", "Grid": "cells:[Int!]!",
	} {
		if diff := cmp.Diff(want, short(typeOf(s, typ))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
	}
	if got := s.Mutation.Field("wipe").Type.String(); got != "Boolean" {
		t.Errorf("a field that returns nothing is of the type %s", got)
	}
	if s.Doc != "All about notes." {
		t.Errorf("the schema has the description %q", s.Doc)
	}
}

// TestCustomWithoutResources checks that a catalog without resources may have custom fields.
func TestCustomWithoutResources(t *testing.T) {
	t.Parallel()
	s := reflected(t, resource.NewCatalog(nil), &model.Options{
		Fields: []*model.CustomField{{On: "Query", Name: "now", Out: schema.For[string]()}}})
	sound(t, s)
	if s.Mutation != nil || s.Subscription != nil {
		t.Error("nothing can be changed or watched, and there are types for it")
	}
}

// TestOrderOfFields checks that members, the ETag, relations and computed fields follow in this
// order, each in the order of declaration.
func TestOrderOfFields(t *testing.T) {
	t.Parallel()
	keys := func(*note) []string { return nil }
	notes := resource.New("notes", memory.New[note](nil),
		&resource.Options[note]{Relations: []resource.Relation[note]{
			{Name: "z", Target: "notes", Keys: keys}, {Name: "a", Target: "notes", Keys: keys}}})
	field := func(name string) *model.CustomField {
		return &model.CustomField{On: "notes", Name: name, Out: schema.For[int](),
			Parent: reflect.TypeFor[note]()}
	}
	s := reflected(t, resource.NewCatalog(nil, notes),
		&model.Options{Fields: []*model.CustomField{field("y"), field("b")}})
	if diff := cmp.Diff("id text etag z a y b", fieldNames(typeOf(s, "Note"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
