package model_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// The methods of these types are like those that command describe writes.

type tint string

func (*tint) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[tint](), Doc: "A color.", Values: map[any]schema.Comment{
		tint("red"): {Doc: "Like fire."}, tint("blue"): {Doc: "Like water.", Deprecated: "use red"},
	}}
}

type frame struct {
	Width int `json:"width"`
}

func (*frame) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[frame](), Doc: "A frame:\n\n- of wood", Deprecated: "hang it without",
		Fields: map[string]schema.Comment{"Width": {Doc: "In cm.", Deprecated: "use area"}}}
}

type picture struct {
	ID    string `json:"id" readOnly:"true"`
	Title string `json:"title" doc:"By the tag."`
	Tint  tint   `json:"tint" enum:"red,blue,green"`
	Frame *frame `json:"frame"`
	Plain string `json:"plain" enum:"a,b"`
}

func (*picture) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[picture](), Doc: "A picture.",
		Fields: map[string]schema.Comment{
			"ID": {Doc: "The id of the picture."}, "Title": {Doc: "By the comment."}, "Tint": {Doc: "Its main color."},
		}}
}

// older is a view with a description of its own.
type older struct {
	ID    string `json:"id" readOnly:"true"`
	Title string `json:"title"`
}

func (*older) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[older](), Doc: "A picture without a frame.",
		Fields: map[string]schema.Comment{"Title": {Doc: "The title."}}}
}

type hang struct {
	Wall string `json:"wall"`
}

func (*hang) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[hang](), Doc: "Where to hang it.",
		Fields: map[string]schema.Comment{"Wall": {Doc: "The wall."}}}
}

func TestGoDescriptions(t *testing.T) {
	t.Parallel()
	pictures := resource.New("pictures", memory.New[picture](nil), &resource.Options[picture]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"tint": {query.Eq}}, Sort: []string{"tint"}}})
	s := reflected(t, resource.NewCatalog(nil, pictures,
		command.New("pictures/hang", func(context.Context, hang) (frame, error) { return frame{}, nil },
			&command.Options[hang]{Public: true})), nil)
	const framed = "A frame:\n\n- of wood\n\nDeprecated: hang it without."
	field := func(typ, name string) string {
		f := typeOf(s, typ).Field(name)
		return f.Doc + "!" + f.Deprecated
	}
	input := func(typ, name string) string {
		in := typeOf(s, typ).Input(name)
		return in.Doc + "!" + in.Deprecated
	}
	value := func(typ string, i int) string {
		v := typeOf(s, typ).Values[i]
		return v.Name + ": " + v.Doc + "!" + v.Deprecated
	}
	tests := []struct{ name, want, got string }{
		{"item", "A picture.", typeOf(s, "Picture").Doc},
		{"id", "The id of the picture.!", field("Picture", "id")},
		{"tag", "By the tag.!", field("Picture", "title")},
		{"field", "Its main color.!", field("Picture", "tint")},
		{"field without a comment", "The member `frame` of an item of `pictures`.!", field("Picture", "frame")},
		{"new item", "A new item of `pictures`.", typeOf(s, "CreatePictureInput").Doc},
		{"input field", "Its main color.!", input("CreatePictureInput", "tint")},
		{"patch field", "Its main color.!", input("PatchPictureInput", "tint")},
		{"filter field", "Its main color.!", input("PictureFilter", "tint")},
		{"sort field", "tint: Its main color.!", value("PictureSortField", 1)},
		{"nested object", framed, typeOf(s, "Frame").Doc},
		{"nested field", "In cm.!use area", field("Frame", "width")},
		{"nested input", framed, typeOf(s, "FrameInput").Doc},
		{"nested patch", "Changes to a nested object. Fields that are left out keep their values, and null removes " +
			"a value.", typeOf(s, "PatchFrameInput").Doc},
		{"enum", "A color.", typeOf(s, "Tint").Doc},
		{"enum value", "red: Like fire.!", value("Tint", 0)},
		{"deprecated enum value", "blue: Like water.!use red", value("Tint", 1)},
		{"enum value without a comment", "green: The value `green`.!", value("Tint", 2)},
		{"enum of a plain string", "The values of `plain`.", typeOf(s, "PicturePlain").Doc},
		{"input of a command", "Where to hang it.", typeOf(s, "PicturesHangInput").Doc},
		{"field of it", "The wall.!", input("PicturesHangInput", "wall")},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}

	view := resource.View(pictures,
		func(p picture) (older, error) { return older{p.ID, p.Title}, nil },
		func(v older, p picture) (picture, error) { p.Title = v.Title; return p, nil }, nil)
	s, err := model.Reflect(resource.NewCatalog(nil, view), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("A picture without a frame.", typeOf(s, "Picture").Doc); diff != "" {
		t.Errorf("item of a view (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("The title.!", field("Picture", "title")); diff != "" {
		t.Errorf("field of a view (-want +got):\n%s", diff)
	}
}
