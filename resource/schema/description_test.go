package schema_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// The types of this file have methods as command describe writes them.

type describedBase struct {
	ID string `json:"id"`
}

func (*describedBase) SchemaDescription() schema.Description {
	return schema.Description{
		Type: reflect.TypeFor[describedBase](), Doc: "The base.",
		Fields: map[string]schema.Comment{"ID": {Doc: "The id."}},
	}
}

// inherits has the method of its embedded struct.
type inherits struct {
	describedBase
	Own string `json:"own"`
}

// inheritsNil has the method of a nil pointer.
type inheritsNil struct {
	*describedBase `json:"-"`
	Own            string `json:"own"`
}

type overrides struct {
	describedBase
	Own    string `json:"own" doc:"By the tag."`
	Old    string `json:"old" deprecated:"by the tag"`
	Silent string `json:"silent"`
	Boxes  map[string][]*struct {
		Size  int `json:"size" doc:"By its tag."`
		Label *struct {
			Text string `json:"text"`
		} `json:"label"`
	} `json:"boxes"`
	Inner struct {
		Text string `json:"text"`
	} `json:",embed"`
}

func (*overrides) SchemaDescription() schema.Description {
	return schema.Description{
		Type: reflect.TypeFor[overrides](), Doc: "Overrides.", Deprecated: "gone soon",
		Fields: map[string]schema.Comment{
			"Own":              {Doc: "By the comment.", Deprecated: "by the comment"},
			"Old":              {Doc: "Old.", Deprecated: "by the comment"},
			"ID":               {Doc: "Not that of the embedded struct."},
			"Boxes":            {Doc: "The boxes."},
			"Boxes.Size":       {Doc: "By the comment."},
			"Boxes.Label":      {Doc: "The label."},
			"Boxes.Label.Text": {Doc: "The text of the label."},
			"Inner.Text":       {Doc: "The text."},
			"Nope":             {Doc: "No field."},
		},
	}
}

type generic[T any] struct {
	Item T `json:"item"`
}

func (*generic[T]) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[generic[T]](),
		Fields: map[string]schema.Comment{"Item": {Doc: "An item."}}}
}

type color string

const (
	red  color = "red"
	blue color = "blue"
)

func (*color) SchemaDescription() schema.Description {
	return schema.Description{
		Type: reflect.TypeFor[color](), Doc: "A color.",
		Values: map[any]schema.Comment{
			red:  {Doc: "Like fire.", Deprecated: "use blue"},
			blue: {Doc: "Like water."},
			// Of other types.
			"red": {Doc: "A string."}, nil: {Doc: "Nil."},
		},
	}
}

type level uint8

func (*level) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[level](),
		Values: map[any]schema.Comment{level(1): {Doc: "Low."}, level(2): {Doc: "High."}}}
}

// mode is an integer in Go and text in JSON.
type mode int

func (m mode) MarshalText() ([]byte, error) { return []byte([]string{"off", "on"}[m]), nil }

func (m *mode) UnmarshalText(b []byte) error {
	switch string(b) {
	case "off":
		*m = 0
	case "on":
		*m = 1
	default:
		return fmt.Errorf("no mode")
	}
	return nil
}

func (*mode) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[mode](),
		Values: map[any]schema.Comment{mode(1): {Doc: "It runs."}}}
}

type enums struct {
	Color  color   `json:"color" enum:"red,blue"`
	Colors []color `json:"colors" enum:"blue"`
	Level  *level  `json:"level" enum:"1,2,3"`
	Mode   mode    `json:"mode" enum:"off,on"`
	Plain  string  `json:"plain" enum:"a"`
}

// lines returns the descriptions of the fields, and of the type first.
func lines(t *schema.Type) []string {
	out := []string{t.Doc + "!" + t.Deprecated}
	for _, f := range t.Fields {
		out = append(out, f.Name+": "+f.Doc+"!"+f.Deprecated)
		for _, v := range f.Enum {
			out = append(out, fmt.Sprintf("%s=%v: %s!%s", f.Name, v, f.EnumComment(v).Doc, f.EnumComment(v).Deprecated))
		}
	}
	return out
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	overridden := schema.For[overrides]()
	box := overridden.Field("boxes").Type.Elem.Elem
	tests := []struct {
		name string
		typ  *schema.Type
		want []string
	}{
		{"of its own", schema.For[describedBase](), []string{"The base.!", "id: The id.!"}},
		{"only that of an embedded struct", schema.For[inherits](), []string{"!", "id: The id.!", "own: !"}},
		{"that of a nil pointer", schema.For[inheritsNil](), []string{"!", "own: !"}},
		{"tags have precedence", overridden, []string{
			"Overrides.!gone soon", "id: The id.!", "own: By the tag.!by the comment", "old: Old.!by the tag",
			"silent: !", "boxes: The boxes.!", "text: The text.!",
		}},
		{"unnamed struct", box, []string{"!", "size: By its tag.!", "label: The label.!"}},
		{"unnamed struct in another", box.Field("label").Type, []string{"!", "text: The text of the label.!"}},
		{"generic", schema.For[generic[int]](), []string{"!", "item: An item.!"}},
		{"unnamed struct as a type argument", schema.For[generic[struct{ A string }]]().Field("item").Type,
			[]string{"!", "A: !"}},
		{"enums", schema.For[enums](), []string{
			"!", "color: !", "color=red: Like fire.!use blue", "color=blue: Like water.!",
			"colors: !", "colors=blue: Like water.!", "level: !", "level=1: Low.!", "level=2: High.!", "level=3: !",
			"mode: !", "mode=off: !", "mode=on: It runs.!", "plain: !", "plain=a: !",
		}},
		{"type of an enum", schema.For[color](), []string{"A color.!"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, lines(tt.typ)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Descriptions do not change what events and stored requests contain, so they do not change the
// fingerprint either.
func TestDescriptionsKeepTheFingerprint(t *testing.T) {
	t.Parallel()
	type plainBase struct {
		ID string `json:"id"`
	}
	type plainColor string
	type plainEnums struct {
		Color  plainColor   `json:"color" enum:"red,blue"`
		Colors []plainColor `json:"colors" enum:"blue"`
	}
	type describedEnums struct {
		Color  color   `json:"color" enum:"red,blue"`
		Colors []color `json:"colors" enum:"blue"`
	}
	tests := []struct {
		name             string
		plain, described *schema.Type
	}{
		{"object", schema.For[plainBase](), schema.For[describedBase]()},
		{"embedded", schema.For[struct {
			plainBase
			Own string `json:"own"`
		}](), schema.For[inherits]()},
		{"enum", schema.For[plainEnums](), schema.For[describedEnums]()},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.plain.Fingerprint(), tt.described.Fingerprint()); diff != "" {
			t.Errorf("%s (-plain +described):\n%s", tt.name, diff)
		}
	}
}
