package schema_test

import (
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

func TestPrecision(t *testing.T) {
	t.Parallel()
	type order struct {
		Total  string   `json:"total" format:"decimal" precision:"5,2"`
		Count  *string  `json:"count" format:"decimal" precision:"3"`
		Share  string   `json:"share,omitempty" format:"decimal" precision:"2,2"`
		Prices []string `json:"prices" format:"decimal" precision:"2,1" minimum:"-0.50" maximum:"9.9"`
	}
	tests := []struct {
		doc  string
		want []string
	}{
		{`{"total":"999.99","count":"-999","share":"0.99","prices":["9.9","-0.5"]}`, nil},
		{`{"total":"-0.0","share":"-0.1"}`, nil},
		{`{"total":"1000"}`, []string{
			"total must have at most 3 digits before the decimal point and at most 2 after it"}},
		{`{"total":"1.000"}`, []string{
			"total must have at most 3 digits before the decimal point and at most 2 after it"}},
		{`{"total":"0","count":"1.0"}`, []string{
			"count must have at most 3 digits before the decimal point and none after it"}},
		{`{"total":"0","share":"1"}`, []string{
			"share must have no digits except 0 before the decimal point and at most 2 after it"}},
		{`{"total":"0","prices":["10","-0.51"]}`, []string{
			"prices[0] must have at most 1 digit before the decimal point and at most 1 after it",
			"prices[0] must be at most 9.9",
			"prices[1] must have at most 1 digit before the decimal point and at most 1 after it",
			"prices[1] must be at least -0.50"}},
		{`{"total":"1e1"}`, []string{"total must be a decimal number in a string, like 12.50"}},
		{`{"total":12.5}`, []string{"total must be a string"}},
	}
	typ := schema.For[order]()
	for _, tt := range tests {
		t.Run(tt.doc, func(t *testing.T) {
			t.Parallel()
			_, err := typ.Decode([]byte(tt.doc), nil)
			var found schema.Violations
			if err != nil && !errors.As(err, &found) {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, v.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	if f := typ.Field("total"); f.Precision != 5 || f.Scale != 2 {
		t.Errorf("precision %d, scale %d", f.Precision, f.Scale)
	}
}

func TestTagsOfDecimals(t *testing.T) {
	t.Parallel()
	text, number := reflect.TypeFor[string](), reflect.TypeFor[float64]()
	const digits = "write the number of digits, up to 1000, and how many of them are after the point, such as 12,2, not "
	tests := []struct {
		typ  reflect.Type
		tags string
		want string // after "schema: struct.F: "
	}{
		{text, `precision:"12,2"`, `tag precision: it applies to strings with format:"decimal"`},
		{number, `format:"decimal" precision:"12,2"`, `tag precision: it applies to strings with format:"decimal"`},
		{text, `format:"decimal" precision:"0"`, "tag precision: " + digits + `"0"`},
		{text, `format:"decimal" precision:"2,3"`, "tag precision: " + digits + `"2,3"`},
		{text, `format:"decimal" precision:"1001,2"`, "tag precision: " + digits + `"1001,2"`},
		{text, `format:"decimal" precision:"5,"`, "tag precision: " + digits + `"5,"`},
		{text, `format:"decimal" precison:"5"`, "unknown tag precison; use precision"},
		{text, `format:"decimal" minimum:"x"`, `tag minimum: "x" is not a JSON number`},
		{text, `format:"decimal" minimum:"2" maximum:"1.5"`, "tag minimum is more than maximum"},
		{text, `format:"decimal" default:"1,5"`, `tag default: "1,5" must be a decimal number, such as 12.5`},
		{text, `format:"decimal" default:"1e3"`,
			`tag default: "1e3" must be a decimal number in a string, like 12.50`},
		{text, `format:"decimal" precision:"2" default:"100"`,
			`tag default: "100" must have at most 2 digits before the decimal point and none after it`},
		{text, `format:"decimal" minimum:"0" default:"-1"`, `tag default: "-1" must be at least 0`},
		{text, `format:"decimal" enum:"1,1.0"`, `tag enum: "1.0" occurs twice`},
		{text, `format:"duration" enum:"P1D,1d"`,
			`tag enum: "1d" must be a duration as in ISO 8601, such as P1DT2H30M or PT-1.5S`},
		{text, `format:"duration" minimum:"1"`,
			"tag minimum: it applies to numbers, and the field is a string"},
		{text, `required:"true" default:"db"`,
			"tags required and default exclude each other; remove one of them"},
		{text, `enum:"db,memory" default:"db"`,
			`tag default: "db" leaves the value to the store, and yet it is in the enum; rename the value`},
		{reflect.TypeFor[bool](), `default:"db"`, "tag default: a client could not set the value false, " +
			"which would be left to the store; use a pointer, such as *bool"},
		{reflect.TypeFor[int](), `default:"db" minimum:"1"`, "tag default: a client could not set the value 0, " +
			"which would be left to the store; use a pointer, such as *int"},
		{number, `default:"db"`, "tag default: a client could not set the value 0, " +
			"which would be left to the store; use a pointer, such as *float64"},
	}
	for _, tt := range tests {
		t.Run(tt.tags, func(t *testing.T) {
			t.Parallel()
			_, err := schema.Of(fieldOf(tt.typ, tt.tags))
			if err == nil {
				t.Fatal("the tags are accepted")
			}
			if diff := cmp.Diff("schema: struct.F: "+tt.want, err.Error()); diff != "" {
				t.Errorf("mistake (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStoreDefault: a field that the store sets has no default, and may be absent although an empty
// value is not valid.
func TestStoreDefault(t *testing.T) {
	t.Parallel()
	type order struct {
		Ref   string   `json:"ref" format:"uuid" default:"db"`
		State string   `json:"state" enum:"new,paid" default:"db"`
		Tags  []string `json:"tags" default:"db" minItems:"1"`
		Total string   `json:"total" format:"decimal" default:"0"`
	}
	typ := schema.For[order]()
	got, err := typ.Decode([]byte(`{}`), &schema.DecodeOptions{Mode: schema.Create})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&order{Total: "0"}, got); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	for _, f := range typ.Fields {
		if f.StoreDefault != (f.Name != "total") || f.StoreDefault && f.Default != nil {
			t.Errorf("%s: StoreDefault %v, Default %v", f.Name, f.StoreDefault, f.Default)
		}
	}
	_, err = typ.Decode([]byte(`{"ref":"x","state":"open"}`), nil)
	if err == nil || !strings.Contains(err.Error(), "ref must be a UUID; state must be one of new, paid") {
		t.Errorf("error %v", err)
	}
}

// TestStoreDefaultZero: in an item that exists, an empty value that a client sends is checked.
func TestStoreDefaultZero(t *testing.T) {
	t.Parallel()
	type order struct {
		State  string   `json:"state" enum:"new,paid" default:"db"`
		Ref    string   `json:"ref" minLength:"2" default:"db"`
		Total  string   `json:"total" format:"decimal" default:"db"`
		Note   string   `json:"note" default:"db"`
		Tags   []string `json:"tags" default:"db" minItems:"1"`
		Qty    *int     `json:"qty" minimum:"1" default:"db"`
		Number int      `json:"number,omitzero" default:"db" readOnly:"true"`
	}
	full := &order{State: "paid", Ref: "ab", Total: "1", Tags: []string{"x"}}
	const enum = "state must be one of new, paid"
	const tags = "tags must have at least 1 element"
	tests := []struct {
		name string
		doc  string
		mode schema.Mode
		base *order
		want []string
	}{
		{"new", `{"state":"","ref":"","total":"","note":""}`, schema.Create, nil, nil},
		{"new with an empty array", `{"tags":[]}`, schema.Create, nil, []string{tags}},
		{"new with a null", `{"qty":null}`, schema.Create, nil, nil},
		{"replaced", `{"state":"","tags":[]}`, schema.Replace, full, []string{enum, tags}},
		{"replaced without the members", `{}`, schema.Replace, full, nil},
		{"patched", `{"state":"","ref":"","total":"","note":"","tags":["x"]}`, schema.Patched, full, []string{enum,
			"ref must be at least 2 characters long", "total must be a decimal number in a string, like 12.50"}},
		{"patched to null", `{"qty":null}`, schema.Patched, full, nil},
		{"patched to zero", `{"qty":0}`, schema.Patched, full, []string{"qty must be at least 1"}},
		{"not changed", `{"state":"","tags":[]}`, schema.Patched, &order{}, nil},
		{"of the wrong type", `{"state":5}`, schema.Patched, full, []string{"state must be a string"}},
		{"stored", `{"state":"","tags":[]}`, schema.Stored, nil, nil},
	}
	typ := schema.For[order]()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := &schema.DecodeOptions{Mode: tt.mode}
			if tt.base != nil {
				opts.Base = tt.base
			}
			_, err := typ.Decode([]byte(tt.doc), opts)
			var found schema.Violations
			if err != nil && !errors.As(err, &found) {
				t.Fatal(err)
			}
			var got []string
			for _, v := range found {
				got = append(got, v.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
	valid := map[string]bool{}
	for _, f := range typ.Fields {
		valid[f.Name] = f.ValidZero()
	}
	want := map[string]bool{"state": false, "ref": false, "total": false, "note": true, "tags": false, "qty": true,
		"number": true}
	if diff := cmp.Diff(want, valid); diff != "" {
		t.Errorf("valid zeros (-want +got):\n%s", diff)
	}
}

// The types both* have JSON and text methods, as decimals of other libraries have.
type (
	both        struct{ text string } // the JSON is the quoted text
	bothNumber  struct{ text string } // the JSON is a number
	bothNull    struct{ _ *string }
	bothPanic   struct{ text *string }
	bothFailing struct{}
)

func (b both) MarshalText() ([]byte, error)     { return []byte(b.text), nil }
func (b *both) UnmarshalText(text []byte) error { b.text = string(text); return nil }
func (b both) MarshalJSON() ([]byte, error)     { return []byte(`"` + b.text + `"`), nil }
func (b *both) UnmarshalJSON([]byte) error      { return errors.New("not called") }

func (b bothNumber) MarshalText() ([]byte, error)     { return []byte("0" + b.text), nil }
func (b *bothNumber) UnmarshalText(text []byte) error { b.text = string(text); return nil }
func (b bothNumber) MarshalJSON() ([]byte, error)     { return []byte("0"), nil }

func (b bothNull) MarshalText() ([]byte, error)     { return nil, nil }
func (b *bothNull) UnmarshalText(text []byte) error { return nil }
func (b bothNull) MarshalJSON() ([]byte, error)     { return []byte("null"), nil }

func (b bothPanic) MarshalText() ([]byte, error)     { return []byte(*b.text), nil }
func (b *bothPanic) UnmarshalText(text []byte) error { return nil }
func (b bothPanic) MarshalJSON() ([]byte, error)     { return []byte(`"` + *b.text + `"`), nil }

func (b bothFailing) MarshalText() ([]byte, error)     { return nil, errColour }
func (b *bothFailing) UnmarshalText(text []byte) error { return nil }
func (b bothFailing) MarshalJSON() ([]byte, error)     { return nil, errColour }

// TestJSONAndTextMethods: a type with both is a string if its JSON is the quoted text.
func TestJSONAndTextMethods(t *testing.T) {
	t.Parallel()
	type order struct {
		Both    both        `json:"both" format:"decimal"`
		Pointer *both       `json:"pointer"`
		Number  bothNumber  `json:"number"`
		Null    bothNull    `json:"null"`
		Panic   bothPanic   `json:"panic"`
		Failing bothFailing `json:"failing"`
		Big     *big.Int    `json:"big"`
	}
	typ := schema.For[order]()
	got := map[string]string{}
	for _, f := range typ.Fields {
		got[f.Name] = f.Type.Kind.String()
	}
	want := map[string]string{"both": "string", "pointer": "string", "number": "any", "null": "any",
		"panic": "any", "failing": "any", "big": "any"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	v, err := typ.Decode([]byte(`{"both":"12.50"}`), &schema.DecodeOptions{Mode: schema.Patched})
	if err != nil {
		t.Fatal(err)
	}
	if got := typ.Field("both").Get(v); got != decimal(t, "12.5") {
		t.Errorf("both is %v", got)
	}
}

// scientific is a decimal of another library that writes an exponent.
type scientific struct{ text string }

func (s scientific) MarshalText() ([]byte, error)     { return []byte(s.text), nil }
func (s *scientific) UnmarshalText(text []byte) error { s.text = string(text); return nil }

// TestExponentOfTextMethod: a type with text methods may write an exponent. The text for stores has none.
func TestExponentOfTextMethod(t *testing.T) {
	t.Parallel()
	type order struct {
		Rate scientific `json:"rate" format:"decimal" precision:"8,7" maximum:"1"`
	}
	typ := schema.For[order]()
	v := &order{scientific{"1E-7"}}
	if found := typ.Validate(v); found != nil {
		t.Errorf("violations %v", found)
	}
	if text := typ.Field("rate").Text(v); text != "0.0000001" {
		t.Errorf("text %s", text)
	}
	if got := typ.Field("rate").Get(v); got != decimal(t, "0.0000001") {
		t.Errorf("value %v", got)
	}
	if found := typ.Validate(&order{scientific{"1E-8"}}); len(found) != 1 || found[0].Code != "precision" {
		t.Errorf("violations of too many digits: %v", found)
	}
}
