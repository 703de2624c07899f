package openapi_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/schema"
)

// The methods of these types are like those that command describe writes.

type tint string

func (*tint) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[tint](), Doc: "A color.", Values: map[any]schema.Comment{
		tint("red"): {Doc: "Like fire."}, tint("blue"): {Doc: "Like:\n\n- water\n- air", Deprecated: "use red"},
	}}
}

type grade int

func (*grade) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[grade](), Values: map[any]schema.Comment{grade(1): {Doc: "Good."}}}
}

type frame struct {
	Width int `json:"width"`
}

func (*frame) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[frame](), Doc: "A frame.", Deprecated: "hang it without",
		Fields: map[string]schema.Comment{"Width": {Doc: "In cm."}}}
}

type picture struct {
	ID     string `json:"id" readOnly:"true"`
	Title  string `json:"title" doc:"By the tag." unique:"true"`
	Tint   tint   `json:"tint" enum:"red,blue"`
	Tints  []tint `json:"tints" enum:"red,blue"`
	Ground tint   `json:"ground"`
	Grade  grade  `json:"grade" enum:"1,2"`
	Frame  *frame `json:"frame"`
	Plain  string `json:"plain" enum:"a,b"`
}

func (*picture) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[picture](), Doc: "A picture:\n\n    code",
		Fields: map[string]schema.Comment{
			"ID": {Doc: "The id."}, "Title": {Doc: "By the comment."},
			"Tint": {Doc: "Its main color.", Deprecated: "use tints"}, "Frame": {Doc: "Its frame."},
		}}
}

type hang struct {
	Wall string `json:"wall"`
}

func (*hang) SchemaDescription() schema.Description {
	return schema.Description{Type: reflect.TypeFor[hang](), Doc: "Where to hang it.",
		Fields: map[string]schema.Comment{"Wall": {Doc: "The wall."}}}
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	pictures := memory.New[picture](nil)
	catalog := resource.NewCatalog(nil,
		resource.New("pictures", pictures, &resource.Options[picture]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"tint": {query.Eq, query.In}}}}),
		command.New("pictures/hang", func(context.Context, hang) (frame, error) { return frame{}, nil },
			&command.Options[hang]{Public: true}))
	d := described(t, openapi.New(catalog, nil))
	const list = "- `red`: Like fire.\n- `blue`: Like:\n\n  - water\n  - air\n\n  Deprecated: use red."
	tests := []struct {
		path []string
		want string
	}{
		{[]string{"Picture"}, "A picture:\n\n    code"},
		{[]string{"PictureCreate"}, "A picture:\n\n    code"},
		{[]string{"PicturePatch"}, "A picture:\n\n    code\n\n" +
			"All members are optional: an absent one keeps its value, and null removes one."},
		{[]string{"Picture", "properties", "id"}, "The id."},
		{[]string{"Picture", "properties", "title"}, "By the tag. It is unique among all items."},
		{[]string{"Picture", "properties", "tint"}, "Its main color. Deprecated: use tints.\n\n" + list},
		{[]string{"Picture", "properties", "tints"}, list},
		{[]string{"Picture", "properties", "ground"}, "A color."},
		{[]string{"Picture", "properties", "grade"}, "- `1`: Good.\n- `2`"},
		{[]string{"Picture", "properties", "frame"}, "Its frame."},
		{[]string{"Picture", "properties", "plain"}, ""},
		{[]string{"Frame"}, "A frame. Deprecated: hang it without."},
		{[]string{"Frame", "properties", "width"}, "In cm."},
		{[]string{"PicturesHangInput"}, "Where to hang it."},
		{[]string{"PicturesHangInput", "properties", "wall"}, "The wall."},
		{[]string{"PicturesHangResult"}, "A frame. Deprecated: hang it without."},
		{[]string{"PicturesPage"}, "A page of `pictures`."},
		{[]string{"PicturesFilter", "properties", "tint"}, "The conditions on `tint`. All of them must be true."},
		{[]string{"PicturesFilter", "properties", "tint", "properties", "in"}, "The member is one of the values."},
	}
	for _, tt := range tests {
		at := d.at(d.root, append([]string{"components", "schemas"}, tt.path...)...).(object)
		got, _ := at["description"].(string)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.path, diff)
		}
	}
	frameSchema := d.at(d.root, "components", "schemas", "Frame").(object)
	if frameSchema["deprecated"] != true {
		b, _ := json.Marshal(frameSchema)
		t.Errorf("a deprecated type is %s", b)
	}
}
