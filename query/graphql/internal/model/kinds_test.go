package model_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// Thing has a member for each kind of value and each struct tag that affects a schema.
type Thing struct {
	ID string `json:"id"`

	Text   string    `json:"text"`
	Word   word      `json:"word"`
	Dotted dotted    `json:"dotted"`
	Bytes  []byte    `json:"bytes"`
	Moment time.Time `json:"moment"`
	Yes    bool      `json:"yes"`

	Int    int    `json:"int"`
	Int8   int8   `json:"int8"`
	Int16  int16  `json:"int16"`
	Int32  int32  `json:"int32"`
	Int64  int64  `json:"int64"`
	Uint   uint   `json:"uint"`
	Uint8  uint8  `json:"uint8"`
	Uint16 uint16 `json:"uint16"`
	Uint32 uint32 `json:"uint32"`
	Uint64 uint64 `json:"uint64"`

	Bounded  int64    `json:"bounded" minimum:"-2147483648" maximum:"2147483647"`
	Above    int64    `json:"above" minimum:"0" maximum:"2147483648"`
	Below    int64    `json:"below" minimum:"-2147483649" maximum:"0"`
	Floor    int64    `json:"floor" minimum:"0"`
	Ceiling  int64    `json:"ceiling" maximum:"9"`
	UBounded uint32   `json:"uBounded" maximum:"10"`
	Quoted   int64    `json:"quoted,string" default:"12"`
	QuotedF  *float64 `json:"quotedF,string" default:"0.25"`

	Float32 float32 `json:"float32"`
	Float64 float64 `json:"float64"`

	Enum      string   `json:"enum" enum:"a,b_2,C" default:"C"`
	EnumOmit  string   `json:"enumOmit,omitzero" enum:"a,b"`
	EnumEmpty string   `json:"enumEmpty,omitempty" enum:"a,b"`
	EnumNull  *string  `json:"enumNull,omitzero" enum:"a,b"`
	EnumWord  word     `json:"enumWord" enum:"x,y"`
	Enums     []string `json:"enums" enum:"a,b"`
	NoEnum    string   `json:"noEnum" enum:"in-stock,sold"`
	Truth     string   `json:"truth" enum:"true,maybe"`
	Secret__  string   `json:"secret" enum:"__a,b"`
	EnumInt   int      `json:"enumInt" enum:"1,2" default:"2"`

	Maybe    *string           `json:"maybe"`
	MaybeInt *int64            `json:"maybeInt" required:"true"`
	Any      any               `json:"any"`
	Raw      jsontext.Value    `json:"raw" required:"true"`
	Names    map[string]string `json:"names"`
	MaybeMap *map[string]int   `json:"maybeMap"`

	Tags      []string   `json:"tags" required:"true"`
	Pointers  []*string  `json:"pointers"`
	Anys      []any      `json:"anys"`
	Grid      [][]int64  `json:"grid"`
	Pair      [2]float32 `json:"pair"`
	Small     []int64    `json:"small" minimum:"0" maximum:"9"`
	MaybeList *[]bool    `json:"maybeList"`

	Part      Part            `json:"part"`
	MaybePart *Part           `json:"maybePart,omitzero" required:"false"`
	Parts     []Part          `json:"parts"`
	MapOf     map[string]Part `json:"mapOf"`
	Self      *Thing          `json:"self,omitzero"`
	Inline    struct {
		Mode string `json:"mode" enum:"on,off"`
		More struct {
			X int `json:"x"`
		} `json:"more"`
	} `json:"inline"`
	Hollow struct{} `json:"hollow"`
	Unseen unseen   `json:"unseen"`
	Fixed  fixed    `json:"fixed"`
	Embedded

	Asked    string    `json:"asked" required:"true"`
	Given    string    `json:"given" default:"x"`
	GivenInt int16     `json:"givenInt" default:"-7"`
	Given64  int64     `json:"given64" default:"8"`
	GivenBig uint64    `json:"givenBig" default:"18446744073709551615"`
	GivenF   float32   `json:"givenF" default:"0.5"`
	GivenYes bool      `json:"givenYes" default:"true"`
	GivenAt  time.Time `json:"givenAt" default:"2026-11-21T06:00:00Z"`
	Once     string    `json:"once" readOnly:"true"`
	Password string    `json:"password" writeOnly:"true" required:"true"`
	Pin      string    `json:"pin" writeOnly:"true" default:"0000"`
	Old      string    `json:"old" deprecated:"use text" doc:"What it was"`
	OldAsked string    `json:"oldAsked" required:"true" deprecated:"use text" doc:"What it was"`

	Dashed string `json:"dashed-name"`
	Snake  string `json:"snake_name"`
	Spaced string `json:"Spaced name"`
	Caps   string `json:"CAPS"`
}

type word string

// dotted implements encoding.TextMarshaler.
type dotted struct{ a, b string }

func (d dotted) MarshalText() ([]byte, error) { return []byte(d.a + "." + d.b), nil }

// Part is recursive.
func (d *dotted) UnmarshalText(b []byte) error { d.a = string(b); return nil }

// Part is recursive.
type Part struct {
	Name   string `json:"name" required:"true"`
	Kind   string `json:"kind" enum:"big,small" default:"big"`
	Hidden string `json:"hidden" writeOnly:"true" required:"true"`
	Parts  []Part `json:"parts"`
	Of     *Part  `json:"of"`
	Made   string `json:"made" readOnly:"true"`
}

type unseen struct {
	Key string `json:"key" writeOnly:"true"`
}

type fixed struct {
	At int `json:"at" readOnly:"true"`
}

type Embedded struct {
	Inner string `json:"inner"`
}

func things() *resource.Catalog {
	return resource.NewCatalog(nil, resource.New("things", memory.New[Thing](nil),
		&resource.Options[Thing]{Query: everything[Thing]()}))
}

// shown is the representation of a member in each type that contains it.
type shown struct {
	Out, Create, Replace, Patch, Filter string
}

// look returns the representation of a member. It is empty for types without the member.
func look(s *model.Schema, item, field string) shown {
	var out shown
	if f := typeOf(s, item).Field(field); f != nil {
		out.Out = f.Type.String()
		if f.ZeroNull {
			out.Out += " zero"
		}
	}
	input := func(name string) string {
		t := typeOf(s, name)
		if t == nil || t.Input(field) == nil {
			return ""
		}
		in := t.Input(field)
		if in.HasDefault {
			return fmt.Sprintf("%s = %T(%v)", in.Type, in.Default, in.Default)
		}
		return in.Type.String()
	}
	out.Create, out.Replace, out.Patch = input("Create"+item+"Input"), input("Replace"+item+"Input"),
		input("Patch"+item+"Input")
	out.Filter = input(item + "Filter")
	return out
}

func typeOf(s *model.Schema, name string) *model.Type {
	for _, t := range s.Types {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// plain returns the representation of a member that differs by nullability only.
func plain(typ, filter string) shown { return shown{typ + "!", typ, typ, typ, filter} }

// TestSharedEnum checks that members, lists and arguments share an enum if its Go type has a name.
func TestSharedEnum(t *testing.T) {
	t.Parallel()
	type episode string
	type film struct {
		ID     string    `json:"id"`
		First  episode   `json:"first" enum:"IV,V"`
		Others []episode `json:"others" enum:"IV,V"`
		Then   *episode  `json:"then" enum:"IV,V"`
	}
	type asked struct {
		Episode *episode `json:"episode" enum:"IV,V"`
	}
	films := resource.New("films", memory.New[film](nil), nil)
	hero := resource.NewLookup("hero", "films",
		func(context.Context, asked) (string, error) { return "", nil })
	s, err := model.Reflect(resource.NewCatalog(nil, films, hero), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{s.Query.Field("hero").Arg("episode").Type.String()}
	for _, name := range []string{"first", "others", "then"} {
		got = append(got, s.Query.Field("film").Type.Type.Field(name).Type.String())
	}
	if diff := cmp.Diff([]string{"Episode", "Episode!", "[Episode!]!", "Episode"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestEnumNames checks that only one enum has the name of a Go type.
func TestEnumNames(t *testing.T) {
	t.Parallel()
	type colour string
	type note string // the name of the items' type
	type flag struct {
		ID     string   `json:"id"`
		Left   colour   `json:"left" enum:"red,green"`
		Right  colour   `json:"right" enum:"red,white"`
		Again  []colour `json:"again" enum:"red,green"`
		Text   note     `json:"text" enum:"a,b"`
		Plain  string   `json:"plain" enum:"red,green"`
		Scalar dateTime `json:"scalar" enum:"x"`
	}
	flags := resource.New("flags", memory.New[flag](nil), nil)
	notes := noteOps().Resource("notes", nil)
	s := reflected(t, resource.NewCatalog(nil, flags, notes), nil)
	sound(t, s)
	want := "id:ID! left:Colour! right:FlagRight! again:[Colour!]! text:FlagText! plain:FlagPlain! " +
		"scalar:FlagScalar! etag:String!"
	if diff := cmp.Diff(want, short(typeOf(s, "Flag"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("red white", short(typeOf(s, "FlagRight"))); diff != "" {
		t.Errorf("FlagRight (-want +got):\n%s", diff)
	}
}

type dateTime string

func TestKinds(t *testing.T) {
	t.Parallel()
	s := reflected(t, things(), nil)
	nullable := func(typ, filter string) shown { return shown{typ, typ, typ, typ, filter} }
	input := func(out, in, def, filter string) shown {
		return shown{out + "!", in + def, in + def, in,
			filter}
	}
	tests := map[string]shown{
		"id":     {"ID!", "ID", "", "", "StringIDFilter"},
		"text":   plain("String", "StringFilter"),
		"word":   plain("String", "StringFilter"),
		"dotted": plain("String", "StringFilter"),
		"bytes":  plain("String", ""),
		"moment": plain("DateTime", "DateTimeFilter"),
		"yes":    plain("Boolean", "BooleanFilter"),

		"int": plain("Int64", "Int64Filter"), "int8": plain("Int", "IntFilter"),
		"int16": plain("Int", "IntFilter"),
		"int32": plain("Int", "IntFilter"), "int64": plain("Int64", "Int64Filter"),
		"uint":  plain("Int64", "Int64Filter"),
		"uint8": plain("Int", "IntFilter"), "uint16": plain("Int", "IntFilter"),
		"uint32": plain("Int64", "Int64Filter"),
		"uint64": plain("Int64", "Int64Filter"),

		"bounded": plain("Int", "IntFilter"), "above": plain("Int64", "Int64Filter"),
		"below": plain("Int64", "Int64Filter"),
		"floor": plain("Int64", "Int64Filter"), "ceiling": plain("Int64", "Int64Filter"),
		"uBounded": plain("Int", "IntFilter"),
		"quoted":   input("String", "String", ` = string(12)`, "ThingQuotedFilter"),
		"quotedF": {"String", "String = string(0.25)", "String = string(0.25)", "String",
			"ThingQuotedFFilter"},
		"float32": plain("Float", "FloatFilter"), "float64": plain("Float", "FloatFilter"),

		"enum": input("ThingEnum", "ThingEnum", " = string(C)", "ThingEnumFilter"),
		"enumOmit": {"ThingEnumOmit zero", "ThingEnumOmit", "ThingEnumOmit", "ThingEnumOmit",
			"ThingEnumOmitFilter"},
		"enumEmpty": {"ThingEnumEmpty zero", "ThingEnumEmpty", "ThingEnumEmpty", "ThingEnumEmpty",
			"ThingEnumEmptyFilter"},
		"enumNull": nullable("ThingEnumNull", "ThingEnumNullFilter"),
		"enumWord": input("Word", "Word", "!", "ThingEnumWordFilter"),
		"enums":    plain("[ThingEnums!]", ""),
		"noEnum":   input("String", "String", "!", "StringFilter"),
		"truth":    input("String", "String", "!", "StringFilter"),
		"secret":   input("String", "String", "!", "StringFilter"),
		"enumInt":  input("Int64", "Int64", " = int64(2)", "Int64Filter"),

		"maybe":    nullable("String", "NullableStringFilter"),
		"maybeInt": nullable("Int64", "NullableInt64Filter"),
		"any":      nullable("JSON", ""),
		"raw":      nullable("JSON", ""),
		"names":    plain("JSON", ""),
		"maybeMap": nullable("JSON", ""),

		"tags":      {"[String!]!", "[String!]!", "[String!]!", "[String!]", ""},
		"pointers":  plain("[String]", ""),
		"anys":      plain("[JSON]", ""),
		"grid":      plain("[[Int64!]!]", ""),
		"pair":      plain("[Float!]", ""),
		"small":     plain("[Int!]", ""),
		"maybeList": nullable("[Boolean!]", ""),

		"part":      {"Part!", "PartInput", "PartInput", "PatchPartInput", ""},
		"maybePart": {"Part", "PartInput", "PartInput", "PatchPartInput", ""},
		"parts":     {"[Part!]!", "[PartInput!]", "[PartInput!]", "[PartInput!]", ""},
		"mapOf":     plain("JSON", ""),
		"self":      {"ThingValue", "ThingValueInput", "ThingValueInput", "PatchThingValueInput", ""},
		"inline":    {"ThingInline!", "ThingInlineInput!", "ThingInlineInput!", "PatchThingInlineInput", ""},
		"hollow":    plain("JSON", ""),
		"unseen":    {"JSON!", "unseenInput", "unseenInput", "PatchunseenInput", ""},
		"fixed":     {"Fixed!", "JSON", "JSON", "JSON", ""},
		"inner":     plain("String", "StringFilter"),

		"asked":    {"String!", "String!", "String!", "String", "StringFilter"},
		"given":    input("String", "String", " = string(x)", "StringFilter"),
		"givenInt": input("Int", "Int", " = int(-7)", "IntFilter"),
		"given64":  input("Int64", "Int64", " = int64(8)", "Int64Filter"),
		"givenBig": plain("Int64", "Int64Filter"),
		"givenF":   input("Float", "Float", " = float64(0.5)", "FloatFilter"),
		"givenYes": input("Boolean", "Boolean", " = bool(true)", "BooleanFilter"),
		"givenAt": input("DateTime", "DateTime", " = time.Time(2026-11-21 06:00:00 +0000 UTC)",
			"DateTimeFilter"),
		"once":     {Out: "String!", Filter: "StringFilter"},
		"password": {"", "String!", "String", "String", ""},
		"pin":      {"", "String = string(0000)", "String", "String", ""},
		"old":      plain("String", "StringFilter"),
		"oldAsked": {"String!", "String!", "String!", "String", "StringFilter"},

		"dashedName": plain("String", "StringFilter"),
		"snake_name": plain("String", "StringFilter"),
		"spacedName": plain("String", "StringFilter"),
		"CAPS":       plain("String", "StringFilter"),
	}
	tests["unseen"] = shown{"JSON!", "UnseenInput", "UnseenInput", "PatchUnseenInput", ""}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(want, look(s, "Thing", name)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if want, got := len(schema.For[Thing]().Fields), len(tests); got != want {
		t.Errorf("%d members are tested, and there are %d", got, want)
	}
}

// TestParts checks the types of structs within others.
func TestParts(t *testing.T) {
	t.Parallel()
	s := reflected(t, things(), nil)
	tests := []struct {
		typ  string
		want string
	}{
		{"Part", "name:String! kind:PartKind! parts:[Part!]! of:Part made:String!"},
		{"PartInput", "name:String! kind:PartKind=big hidden:String parts:[PartInput!] of:PartInput"},
		{"PatchPartInput", "name:String kind:PartKind hidden:String parts:[PartInput!] of:PatchPartInput"},
		{"ThingInline", "mode:ThingInlineMode! more:ThingInlineMore!"},
		{"ThingInlineInput", "mode:ThingInlineMode! more:ThingInlineMoreInput"},
		{"PatchThingInlineMoreInput", "x:Int64"},
		{"Fixed", "at:Int64!"},
		{"UnseenInput", "key:String"},
	}
	for _, tt := range tests {
		t.Run(tt.typ, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, short(typeOf(s, tt.typ))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// short returns a type on one line.
func short(t *model.Type) string {
	if t == nil {
		return "there is none"
	}
	var out string
	for _, f := range t.Fields {
		out += " " + f.Name + ":" + f.Type.String()
	}
	for _, in := range t.Inputs {
		out += " " + in.Name + ":" + in.Type.String()
		if in.HasDefault {
			out += fmt.Sprintf("=%v", in.Default)
		}
	}
	for _, v := range t.Values {
		out += " " + v.Name
	}
	return out[min(1, len(out)):]
}

// TestValueOfItem checks that a struct that is the item type of a resource has a type of its own if
// it is part of another item.
func TestValueOfItem(t *testing.T) {
	t.Parallel()
	s := reflected(t, things(), nil)
	value := typeOf(s, "ThingValue")
	if value.Field("etag") != nil || value.Resource != nil {
		t.Errorf("ThingValue is an item: %s", short(value))
	}
	if value.Field("id").Type.String() != "ID!" ||
		typeOf(s, "ThingValueInput").Input("id").Type.String() != "ID" {
		t.Errorf("its id is none: %s", short(value))
	}
	// The types share the enums of the members.
	if got, want := value.Field("enum").Type.Type, typeOf(s, "Thing").Field("enum").Type.Type; got != want {
		t.Errorf("its enum is %s, and that of the item %s", got.Name, want.Name)
	}
}

// TestDescriptions checks descriptions and deprecations from struct tags.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	s := reflected(t, things(), nil)
	old := typeOf(s, "Thing").Field("old")
	if old.Doc != "What it was" || old.Deprecated != "use text" {
		t.Errorf("the field has the description %q, deprecated %q", old.Doc, old.Deprecated)
	}
	for _, typ := range []string{"CreateThingInput", "PatchThingInput", "ThingFilter"} {
		in := typeOf(s, typ).Input("old")
		if in.Doc != "What it was" || in.Deprecated != "use text" {
			t.Errorf("%s.old has the description %q, deprecated %q", typ, in.Doc, in.Deprecated)
		}
	}
	// A required field cannot be deprecated (section 3.13.3), so its description contains the
	// reason.
	in := typeOf(s, "CreateThingInput").Input("oldAsked")
	if in.Doc != "What it was. Deprecated: use text." || in.Deprecated != "" {
		t.Errorf("CreateThingInput.oldAsked has the description %q, deprecated %q", in.Doc, in.Deprecated)
	}
	if in := typeOf(s, "PatchThingInput").Input("oldAsked"); in.Deprecated != "use text" {
		t.Errorf("PatchThingInput.oldAsked is not deprecated")
	}
}

// TestReplaceDescription checks that the description of a replacement names members that keep their
// value.
func TestReplaceDescription(t *testing.T) {
	t.Parallel()
	want := "An item of `things`, complete. A field that is left out gets the value that it has in a new " +
		"item. Write-only fields that are left out keep their values."
	if diff := cmp.Diff(want, typeOf(reflected(t, things(), nil), "ReplaceThingInput").Doc); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
