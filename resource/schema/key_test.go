package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// orderLine has a composite id of a text and a number.
type orderLine struct {
	ID      string `json:"id" readOnly:"true" id:"orderId,lineNo"`
	OrderID string `json:"orderId"`
	LineNo  int16  `json:"lineNo"`
	Qty     int    `json:"qty" default:"1"`
}

func TestKeyText(t *testing.T) {
	t.Parallel()
	id := schema.For[orderLine]().Field("id")
	for _, tt := range []struct {
		order string
		line  int16
		want  string
	}{
		{"7", 2, "7,2"}, {"a,b", -1, "a~1b,-1"}, {"~", 0, "~0,0"}, {"~1", 3, "~01,3"}, {"é /", 3, "é /,3"},
		{"", 1, ""},
	} {
		v := &orderLine{ID: "other", OrderID: tt.order, LineNo: tt.line}
		if got := id.Text(v); got != tt.want {
			t.Errorf("Text of %+v is %q, want %q", v, got, tt.want)
		}
		if id.Compose(v); v.ID != tt.want {
			t.Errorf("Compose sets %q, want %q", v.ID, tt.want)
		}
		if tt.want == "" {
			continue
		}
		values, err := id.ParseKey(tt.want)
		if diff := cmp.Diff([]any{tt.order, int64(tt.line)}, values); diff != "" || err != nil {
			t.Errorf("ParseKey(%q): %v (-want +got):\n%s", tt.want, err, diff)
		}
		var set orderLine
		if err := id.SetText(&set, tt.want); err != nil || set != *v {
			t.Errorf("SetText(%q): %v, %+v, want %+v", tt.want, err, set, *v)
		}
	}
}

func TestKeyHasOneSpelling(t *testing.T) {
	t.Parallel()
	id := schema.For[orderLine]().Field("id")
	for _, text := range []string{"", ",", "7", "7,", ",2", "7,02", "7,+2", "7,2,", "7,2,3", "7,32768", "~,2",
		"~2,2", "7,~01", "7,2 ", "\xff,2"} {
		v := orderLine{ID: "1,1", OrderID: "1", LineNo: 1}
		if err := id.SetText(&v, text); err == nil || v.ID != "1,1" || v.OrderID != "1" {
			t.Errorf("SetText(%q): %v, %+v", text, err, v)
		}
		if got, err := id.Parse(text); err == nil {
			t.Errorf("Parse(%q) returns %q", text, got)
		}
	}
}

func TestKeyDecode(t *testing.T) {
	t.Parallel()
	base := &orderLine{ID: "7,2", OrderID: "7", LineNo: 2, Qty: 5}
	inPath := &schema.DecodeOptions{Key: base}
	replace := &schema.DecodeOptions{Mode: schema.Replace, Base: base}
	patched := &schema.DecodeOptions{Mode: schema.Patched, Base: base}
	for _, tt := range []struct {
		doc  string
		opts *schema.DecodeOptions
		want string // the JSON, or the violations
	}{
		{`{"orderId":"7","lineNo":2}`, nil, `{"id":"7,2","orderId":"7","lineNo":2,"qty":1}`},
		{`{"lineNo":2,"id":"7,2","orderId":"7"}`, nil, `{"id":"7,2","orderId":"7","lineNo":2,"qty":1}`},
		{`{"lineNo":2,"id":"7,3","orderId":"7"}`, nil, "/id mismatch"},
		{`{}`, nil, "/orderId required /lineNo required"},
		{`{"orderId":"","lineNo":2}`, nil, "/orderId minLength"},
		{`{"orderId":3,"lineNo":2}`, nil, "/orderId type"},
		{`{"qty":2}`, inPath, `{"id":"7,2","orderId":"7","lineNo":2,"qty":2}`},
		{`{"id":"7,2","lineNo":2.0}`, inPath, `{"id":"7,2","orderId":"7","lineNo":2,"qty":1}`},
		{`{"id":"7,3","lineNo":3}`, inPath, "/id mismatch /lineNo mismatch"},
		{`{}`, replace, `{"id":"7,2","orderId":"7","lineNo":2,"qty":1}`},
		{`{"id":"7,2","orderId":"7","lineNo":2}`, replace, `{"id":"7,2","orderId":"7","lineNo":2,"qty":1}`},
		{`{"id":"7,3","orderId":"8","lineNo":null}`, replace, "/id readOnly /orderId immutable /lineNo null"},
		{`{"id":"7,2","orderId":"7","lineNo":2,"qty":3}`, patched, `{"id":"7,2","orderId":"7","lineNo":2,"qty":3}`},
		{`{"id":"7,2","orderId":"7","qty":3}`, patched, "/lineNo immutable"},
		{`{"qty":3}`, patched, "/id readOnly /orderId immutable /lineNo immutable"},
		{`{"orderId":"9","lineNo":1,"id":"x"}`, &schema.DecodeOptions{Mode: schema.Stored},
			`{"id":"x","orderId":"9","lineNo":1,"qty":0}`},
	} {
		typ := schema.For[orderLine]()
		v, err := typ.Decode([]byte(tt.doc), tt.opts)
		got := ""
		if bad, ok := err.(schema.Violations); ok {
			var places []string
			for _, v := range bad {
				places = append(places, v.Pointer+" "+v.Code)
			}
			got = strings.Join(places, " ")
		} else if err == nil {
			doc, _ := typ.Append(nil, v)
			got = string(doc)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tt.doc, err, diff)
		}
	}
	if base.Qty != 5 || base.ID != "7,2" {
		t.Errorf("Decode has changed the base: %+v", base)
	}
}

func TestKeyFieldsAreRequired(t *testing.T) {
	t.Parallel()
	typ := schema.For[struct {
		ID  string `json:"id" readOnly:"true" id:"a,b"`
		One string `json:"a"`
		Two int    `json:"b" default:"1"`
	}]()
	if !typ.Field("a").Required || typ.Field("b").Required {
		t.Error("a field of the key is required unless it has a default")
	}
}

func TestKeyMistakes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		value any
		want  string
	}{
		{struct {
			ID string `json:"id" readOnly:"true" id:"a"`
			A  string `json:"a"`
		}{}, "at least two fields"},
		{struct {
			ID string `json:"id" readOnly:"true" id:"a,c"`
			A  string `json:"a"`
		}{}, `struct.ID: tag id: "c" is not the JSON name of a field`},
		{struct {
			ID string `json:"id" id:"a,b"`
			A  string `json:"a"`
			B  string `json:"b"`
		}{}, `add readOnly:"true"`},
		{struct {
			ID int    `json:"id" readOnly:"true" id:"a,b"`
			A  string `json:"a"`
			B  string `json:"b"`
		}{}, "it applies to a string"},
		{struct {
			ID string  `json:"id" readOnly:"true" id:"a,b"`
			A  *string `json:"a"`
			B  float64 `json:"b"`
		}{}, "field b is neither a string nor an integer"},
		{struct {
			ID string  `json:"id" readOnly:"true" id:"a,b"`
			A  *string `json:"a"`
			B  string  `json:"b" writeOnly:"true"`
		}{}, "field a is nullable"},
		{struct {
			ID string `json:"id" readOnly:"true" id:"a,a"`
			A  string `json:"a"`
		}{}, "field a occurs twice"},
		{struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  string `json:"a" readOnly:"true"`
			B  string `json:"b,omitzero"`
		}{}, "field b is omitzero"},
		{struct {
			ID  string `json:"id" readOnly:"true" id:"a,b"`
			Two string `json:"two" readOnly:"true" id:"a,b"`
			A   string `json:"a"`
			B   string `json:"b"`
		}{}, "field ID has this tag, too"},
		{struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  string `json:"a"`
			B  int    `json:"b" default:"db"`
		}{}, `field b has default:"db"`},
	} {
		_, err := schema.Of(reflect.TypeOf(tt.value))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want an error with %q", err, tt.want)
		}
	}
}

// FuzzKey parses texts as ids: one that is valid is the spelling of the values that it has.
func FuzzKey(f *testing.F) {
	for _, text := range []string{"7,2", "a~1b,1", "~0~1,-3", "~,1", ",", "1,2,3"} {
		f.Add(text)
	}
	id := schema.For[orderLine]().Field("id")
	f.Fuzz(func(t *testing.T, text string) {
		var v orderLine
		if err := id.SetText(&v, text); err != nil {
			return
		}
		if got := id.Text(&v); got != text || v.ID != text {
			t.Errorf("%q is spelled %q and %q", text, got, v.ID)
		}
	})
}
