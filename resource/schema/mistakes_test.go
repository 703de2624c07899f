package schema_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// fieldOf returns a struct with one field F of this type and tag.
func fieldOf(t reflect.Type, tag string) reflect.Type {
	return reflect.StructOf([]reflect.StructField{{Name: "F", Type: t, Tag: reflect.StructTag(tag)}})
}

func TestUnknownTags(t *testing.T) {
	t.Parallel()
	text, number, list := reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[[]string]()
	tests := []struct {
		typ  reflect.Type
		tag  string
		want string // after "schema: struct.F: "; empty means that the tag is ignored
	}{
		{text, `requried:"true"`, "unknown tag requried; use required"},
		{text, `require:"true"`, "unknown tag require; use required"},
		{text, `Required:"true"`, "unknown tag Required; use required"},
		{text, `readonly:"true"`, "unknown tag readonly; use readOnly"},
		{text, `read_only:"true"`, "unknown tag read_only; use readOnly"},
		{text, `writeOny:"true"`, "unknown tag writeOny; use writeOnly"},
		{text, `minlenght:"1"`, "unknown tag minlenght; use minLength"},
		{text, `maxlength:"1"`, "unknown tag maxlength; use maxLength"},
		{text, `maxLenght:"1"`, "unknown tag maxLenght; use maxLength"},
		{text, `patern:"^a$"`, "unknown tag patern; use pattern"},
		{text, `fromat:"email"`, "unknown tag fromat; use format"},
		{text, `enums:"a,b"`, "unknown tag enums; use enum"},
		{text, `defalt:"a"`, "unknown tag defalt; use default"},
		{text, `docs:"a"`, "unknown tag docs; use doc"},
		{text, `exmaple:"a"`, "unknown tag exmaple; use example"},
		{text, `depracated:"a"`, "unknown tag depracated; use deprecated"},
		{number, `maximun:"1"`, "unknown tag maximun; use maximum"},
		{number, `minium:"1"`, "unknown tag minium; use minimum"},
		{number, `min:"1"`, "unknown tag min; use minimum"},
		{text, `max:"1"`, "unknown tag max; use maxLength"},
		{list, `maxlen:"1"`, "unknown tag maxlen; use maxItems"},
		{text, `oneof:"a b"`, "unknown tag oneof; use enum"},
		{text, `regexp:"a"`, "unknown tag regexp; use pattern"},
		{list, `uniq:"true"`, "unknown tag uniq; use unique"},

		{text, `db:"f" env:"F" form:"f" gorm:"not null" yaml:"f" bson:"f" xml:"f" query:"f" description:"f"`, ""},
		{text, `validate:"-" binding:""`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.tag, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(fieldOf(tt.typ, tt.tag))
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "schema: struct.F: ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTagsOfValidators(t *testing.T) {
	t.Parallel()
	text, number, float := reflect.TypeFor[string](), reflect.TypeFor[uint8](), reflect.TypeFor[*float64]()
	list := reflect.TypeFor[[]*string]()
	tests := []struct {
		typ        reflect.Type
		rules      string
		want       string
		equivalent string // a tag that Of accepts, in place of the rules
	}{
		{text, "required", `use required:"true" minLength:"1"`, ""},
		{text, "required,email", `use required:"true" format:"email"`, ""},
		{text, "omitempty,min=1,max=200", `use minLength:"1" maxLength:"200"`, ""},
		{text, "len=3", `use minLength:"3" maxLength:"3"`, ""},
		{text, "oneof=open done", `use enum:"open,done"`, ""},
		{text, "e164", `use pattern:"^\\+[1-9]?[0-9]{7,14}$"`, ""},
		{text, "datetime=2006-01-02", `use format:"date"`, ""},
		{text, "datetime=15h", `check datetime=15h in Options.Before`, "-"},
		{number, "required,gte=1,lt=10", `use required:"true" minimum:"1" maximum:"9"`, ""},
		{float, "gt=0", `check gt=0 in Options.Before`, "-"},
		{float, "gte=0", `use minimum:"0"`, ""},
		{list, "required,min=1,unique,dive,max=9", `use required:"true" minItems:"1" unique:"true" maxLength:"9"`, ""},
		{text, "required,eqfield=Other",
			`use required:"true" minLength:"1", and check eqfield=Other in Options.Before`, "-"},
		{text, "omitempty", `remove it: members are optional by default`, "-"},
	}
	for _, tt := range tests {
		for _, key := range []string{"validate", "binding"} {
			t.Run(key+" "+tt.rules, func(t *testing.T) {
				t.Parallel()
				_, err := schema.Of(fieldOf(tt.typ, key+`:"`+tt.rules+`"`))
				if err == nil {
					t.Fatal("the tag is accepted")
				}
				want := "schema: struct.F: tag " + key + " is not enforced; " + tt.want
				if diff := cmp.Diff(want, err.Error()); diff != "" {
					t.Errorf("Of mismatch (-want +got):\n%s", diff)
				}
				if tt.equivalent == "-" {
					return
				}
				if _, err := schema.Of(fieldOf(tt.typ, strings.TrimPrefix(tt.want, "use "))); err != nil {
					t.Errorf("the equivalent tags are rejected: %v", err)
				}
			})
		}
	}
}

func TestTagsThatNoValueSatisfies(t *testing.T) {
	t.Parallel()
	text, number, list := reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[[]string]()
	three := reflect.TypeFor[[3]string]()
	tests := []struct {
		typ  reflect.Type
		tag  string
		want string // after "schema: struct.F: "; empty means that the tags are accepted
	}{
		{three, `minItems:"4"`, "tag minItems is more than the 3 elements of [3]string"},
		{three, `maxItems:"2"`, "tag maxItems is less than the 3 elements of [3]string"},
		{three, `minItems:"3" maxItems:"3"`, ""},

		{text, `enum:"open,done" maxLength:"3"`, `tag enum: "open" must be at most 3 characters long`},
		{text, `minLength:"4" enum:"open,new"`, `tag enum: "new" must be at least 4 characters long`},
		{text, `enum:"open,Done" pattern:"^[a-z]+$"`, `tag enum: "Done" must match the pattern ^[a-z]+$`},
		{text, `enum:"2026-02-30" format:"date"`, `tag enum: "2026-02-30" must be a date, like 2006-01-02`},
		{text, `enum:"1.00,2.5" format:"decimal" precision:"3,1"`,
			`tag enum: "1.00" must have at most 2 digits before the decimal point and at most 1 after it`},
		{number, `enum:"1,5" minimum:"2"`, `tag enum: "1" must be at least 2`},
		{number, `enum:"1,5" maximum:"4"`, `tag enum: "5" must be at most 4`},
		{list, `enum:"a,bcd" maxLength:"2"`, `tag enum: "bcd" must be at most 2 characters long`},
		{text, `enum:"a,bc" maxLength:"2" minLength:"1" pattern:"^[a-c]+$"`, ""},
		{text, `enum:"a, b"`, `tag enum: " b" begins or ends with a space; write no spaces around commas`},
		{text, `enum:"a ,b"`, `tag enum: "a " begins or ends with a space; write no spaces around commas`},
		{text, `enum:"New York,Rome"`, ""},
		{text, `enum:",a"`, ""},

		{text, `format:"decimal" precision:"3,1" minimum:"100"`, "tag precision: no decimal with at most 2 digits " +
			"before the decimal point and at most 1 after it is between minimum and maximum"},
		{text, `format:"decimal" precision:"3,1" maximum:"-99.95"`, "tag precision: no decimal with at most 2 digits " +
			"before the decimal point and at most 1 after it is between minimum and maximum"},
		{text, `format:"decimal" precision:"3" minimum:"0.2" maximum:"0.8"`, "tag precision: no decimal with at most " +
			"3 digits before the decimal point and none after it is between minimum and maximum"},
		{text, `format:"decimal" precision:"2,2" maximum:"-0.991"`, "tag precision: no decimal with no digits except 0 " +
			"before the decimal point and at most 2 after it is between minimum and maximum"},
		{text, `format:"decimal" precision:"3,1" minimum:"99.9" maximum:"1e300"`, ""},
		{text, `format:"decimal" precision:"2,2" maximum:"-0.99"`, ""},
		{text, `format:"decimal" precision:"3" minimum:"-0.2" maximum:"0.8"`, ""},

		{text, `pattern:"^[A-Z]{5}$" maxLength:"4"`, "tag pattern: no match has a length from minLength to maxLength"},
		{text, `pattern:"^[A-Z]?$" minLength:"2"`, "tag pattern: no match has a length from minLength to maxLength"},
		{text, `pattern:"^[A-Z]+$" minLength:"2" maxLength:"2"`, ""},
		{text, `format:"uuid" maxLength:"35"`, "tag format: no uuid has a length from minLength to maxLength"},
		{text, `format:"date" minLength:"11"`, "tag format: no date has a length from minLength to maxLength"},
		{text, `format:"uuid" minLength:"36" maxLength:"36"`, ""},
		{text, `format:"time-local" maxLength:"8"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.typ.String()+" "+tt.tag, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(fieldOf(tt.typ, tt.tag))
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "schema: struct.F: ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// Types that contain themselves.
type (
	menu   []menu
	tree   map[string]tree
	sparse []*sparse
	even   []odd
	odd    map[string]even
	course struct {
		Name  string
		Dish  []course
		Extra map[string]*course
	}
	courses []struct{ Sub courses }
)

func TestTypesThatContainThemselves(t *testing.T) {
	t.Parallel()
	const fix = " contains itself without a struct; use a struct with a field for the elements"
	tests := []struct {
		name string
		typ  reflect.Type
		want string // empty means that the type is accepted
	}{
		{"array", reflect.TypeFor[menu](), "schema: schema_test.menu" + fix},
		{"map", reflect.TypeFor[tree](), "schema: schema_test.tree" + fix},
		{"array of pointers", reflect.TypeFor[sparse](), "schema: schema_test.sparse" + fix},
		{"array and map", reflect.TypeFor[even](), "schema: schema_test.even" + fix},
		{"fields", reflect.TypeFor[struct {
			Even even
			Odd  []odd // a mistake of even
			Menu *menu
		}](), "schema: 2 mistakes:" +
			"\n\tstruct.Even: schema_test.even" + fix +
			"\n\tstruct.Menu: schema_test.menu" + fix},
		{"struct", reflect.TypeFor[course](), ""},
		{"array of structs", reflect.TypeFor[courses](), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(tt.typ)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNamesThatDifferInCase(t *testing.T) {
	t.Parallel()
	_, err := schema.Of(reflect.TypeOf(structOf(`json:"name"`, `json:"Name"`, `json:"other"`, `json:"NAME"`)).Elem())
	want := "schema: 2 mistakes:\n\tstruct.B: the JSON names \"Name\" and \"name\" differ only in case" +
		"\n\tstruct.D: the JSON names \"NAME\" and \"name\" differ only in case"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("Of mismatch (-want +got):\n%s", diff)
	}
}

func TestFormatsAreKnown(t *testing.T) {
	t.Parallel()
	text, number := reflect.TypeFor[string](), reflect.TypeFor[int64]()
	tests := []struct {
		typ    reflect.Type
		format string
		want   string // after "schema: struct.F: tag format: "; empty means that it is accepted
	}{
		{text, "emial", `unknown format "emial"; use email`},
		{text, "datetime", `unknown format "datetime"; use date-time`},
		{text, "UUID", `unknown format "UUID"; use uuid`},
		{text, "phone", `unknown format "phone"; use one of JSON Schema or OpenAPI, such as date-time, or x-phone`},
		{number, "email", `email applies to strings, and the field is a number`},
		{text, "x-phone", ""},
		{number, "x-cents", ""},
		{number, "unixtime", ""},
		{text, "int64", ""},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(fieldOf(tt.typ, `format:"`+tt.format+`"`))
			got := ""
			if err != nil {
				got = strings.TrimPrefix(err.Error(), "schema: struct.F: tag format: ")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Of mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFormatsAreDocumented compares the formats that Of accepts with those that doc.go lists, and
// those that doc.go lists as checked with those of which some value is invalid.
func TestFormatsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("format.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(string(doc), "//", " ")), " ")
	_, text, _ = strings.Cut(text, "# Formats")
	text, _, _ = strings.Cut(text, "# Go types")
	checkedText, otherText, _ := strings.Cut(text, "The other formats")
	format := regexp.MustCompile(`"([a-z0-9-]+)"`)
	lists, _, _ := strings.Cut(string(source), "// checkFormat")
	_, lists, _ = strings.Cut(lists, "var (")
	var all, checked []string
	for _, m := range format.FindAllStringSubmatch(lists, -1) {
		typ, err := schema.Of(fieldOf(reflect.TypeFor[string](), `format:"`+m[1]+`"`))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m[1])
		if v := newOf(typ); len(typ.Validate(v)) > 0 { // an empty string has none of the checked formats
			checked = append(checked, m[1])
		}
	}
	if len(all) < 40 {
		t.Fatalf("%d formats, want at least 40", len(all))
	}
	named := func(text, name string) bool {
		return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,.:", r) }), name)
	}
	for _, name := range all {
		if inChecked := slices.Contains(checked, name); named(checkedText, name) != inChecked ||
			named(otherText, name) == inChecked && name != "date-time" && name != "time" {
			t.Errorf("doc.go does not list %s correctly: checked is %v", name, inChecked)
		}
	}
}

// TestAllMistakesOfAType: one error has the mistakes of all fields, tags and nested types, each once.
func TestAllMistakesOfAType(t *testing.T) {
	t.Parallel()
	type line struct {
		Text string   `json:"text" minLength:"x" minlenght:"1"`
		C    chan int `json:"c"`
	}
	type order struct {
		ID    string `json:"id" requried:"true" format:"emial" maxLength:"-1"`
		Lines []line `json:"lines"`
		More  *line  `json:"more" minItems:"1"`
		C     chan int
		Bad   string `json:"a" validate:"required"`
	}
	_, err := schema.Of(reflect.TypeFor[order]())
	want := `schema: 9 mistakes:
	order.ID: unknown tag requried; use required
	order.ID: tag format: unknown format "emial"; use email
	order.ID: tag maxLength: write an integer of at least 0, not "-1"
	order.Lines: line.Text: unknown tag minlenght; use minLength
	order.Lines: line.Text: tag minLength: write an integer of at least 0, not "x"
	order.Lines: line.C: chan int cannot be encoded as JSON; hide the field with json:"-" or use another type
	order.More: tag minItems: it applies to arrays and maps, and the field is neither
	order.C: chan int cannot be encoded as JSON; hide the field with json:"-" or use another type
	order.Bad: tag validate is not enforced; use required:"true" minLength:"1"`
	if err == nil {
		t.Fatal("the type is accepted")
	}
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Of mismatch (-want +got):\n%s", diff)
	}
}
