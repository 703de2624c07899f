package openapi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// pairsFile receives schemas, values and what the decoder decided, which .ci/clients/run openapi compares
// with another validator.
var pairsFile = flag.String("pairs", "", "file for the schemas and values of TestDecoderAgrees")

// label has text methods that accept every text, and opaque has JSON methods.
type (
	label  struct{ s string }
	opaque struct{ raw jsontext.Value }
	named  string
	small  int8
	inside struct {
		Must string   `json:"must" required:"true" minLength:"1"`
		N    int8     `json:"n" minimum:"-5" maximum:"5"`
		Set  bool     `json:"set,omitzero"`
		L    []string `json:"l,omitempty" maxItems:"2"`
	}
	tree struct {
		Name  string          `json:"name" pattern:"^.{1,3}$"`
		Parts []tree          `json:"parts,omitempty"`
		Next  *tree           `json:"next,omitzero"`
		By    map[string]tree `json:"by,omitempty"`
	}
	Embedded struct {
		V int `json:"v"`
		W int `json:"w" default:"7"`
	}
)

func (l label) MarshalText() ([]byte, error)  { return []byte(l.s), nil }
func (l *label) UnmarshalText(b []byte) error { l.s = string(b); return nil }

func (o opaque) MarshalJSON() ([]byte, error) {
	if o.raw == nil {
		return []byte("null"), nil
	}
	return o.raw, nil
}
func (o *opaque) UnmarshalJSON(b []byte) error { o.raw = bytes.Clone(b); return nil }

// memberKind is the member v of an object: a Go type, the options of its json tag, and other tags.
type memberKind struct {
	typ           reflect.Type
	options, tags string
}

func k[T any](options, tags string) memberKind {
	return memberKind{reflect.TypeFor[T](), options, tags}
}

// kinds has a member of each kind that package schema knows.
var kinds = []memberKind{
	k[bool]("", ""), k[*bool]("", ""), k[int]("", ""), k[int8]("", ""), k[int16]("", ""), k[int32]("", ""),
	k[int64]("", ""),
	k[small]("", ""), k[uint]("", ""), k[uint8]("", ""), k[uint16]("", ""), k[uint32]("", ""),
	k[uint64]("", ""),
	k[uintptr]("", ""), k[*int64]("", ""), k[float32]("", ""), k[float64]("", ""), k[*float64]("", ""),
	k[int8](",string", ""), k[int16](",string", ""), k[int32](",string", ""), k[int64](",string", ""),
	k[*int64](",string", ""),
	k[uint8](",string", ""), k[uint32](",string", ""), k[uint64](",string", ""), k[float32](",string", ""),
	k[float64](",string", ""), k[int8](",string", `minimum:"-5" maximum:"100"`),
	k[uint16](",string", `minimum:"1"`),
	k[int64](",string", `enum:"0,12,-1"`), k[float64](",string", `enum:"0,1.5"`),
	k[float64](",string", `maximum:"1"`),
	k[string]("", ""), k[*string]("", ""), k[named]("", ""), k[string](",omitempty", `minLength:"1"`),
	k[string]("", `minLength:"2"`),
	k[string]("", `maxLength:"3"`), k[string]("", `enum:"a,b,"`), k[*string]("", `enum:"a,b"`),
	k[string]("", `required:"true"`),
	k[string]("", `default:"x"`), k[string]("", `readOnly:"true"`), k[string]("", `writeOnly:"true"`),
	k[string]("", `pattern:"^[\\w-.]*$"`), k[string]("", `pattern:"^{.*}$"`),
	k[string]("", `pattern:"^a{,3}$"`),
	k[string]("", `pattern:"^[]a]+$"`), k[string]("", `pattern:"^\\s.$"`),
	k[string]("", `pattern:"(?i)^k+$"`),
	k[string]("", `pattern:"^\\p{L}+$"`), k[string]("", `pattern:"(?m)^a$"`),
	k[string]("", `pattern:"[^a]"`),
	k[string]("", `format:"date"`), k[string]("", `format:"date-time"`), k[string]("", `format:"time"`),
	k[string]("", `format:"time-local"`), k[string]("", `format:"time-local" enum:"10:00:00"`),
	k[string]("", `format:"duration"`),
	k[string]("", `format:"duration" enum:"P1D,PT2H"`), k[string]("", `format:"decimal"`),
	k[string]("", `format:"decimal" precision:"4,2" minimum:"-1" maximum:"12.5"`),
	k[string]("", `format:"decimal" enum:"1.5,12"`),
	k[string]("", `format:"email"`), k[string]("", `format:"uuid"`), k[string]("", `format:"uri"`),
	k[string]("", `format:"hostname"`),
	k[string]("", `format:"ipv4"`), k[string]("", `format:"ipv6"`), k[string]("", `format:"x-own"`),
	k[time.Time]("", ""),
	k[*time.Time]("", ""), k[[]byte]("", ""), k[[16]byte]("", ""), k[[3]byte]("", ""), k[[4]byte]("", ""),
	k[*[2]byte]("", ""),
	k[label]("", ""), k[*label]("", ""), k[label]("", `maxLength:"2"`), k[label]("", `enum:"a,b"`),
	k[any]("", ""), k[jsontext.Value]("", ""), k[opaque]("", ""),
	k[int]("", `enum:"1,2,100"`), k[float64]("", `enum:"0,1.5"`),
	k[int64]("", `minimum:"-9007199254740993" maximum:"100"`),
	k[uint64]("", `maximum:"18446744073709551614"`), k[float32]("", `minimum:"-1.5"`),
	k[int](",omitempty", `minimum:"1"`),
	k[int](",omitzero", `minimum:"1"`), k[*int]("", `required:"true"`),
	k[inside]("", ""), k[*inside]("", ""), k[inside](",omitzero", ""), k[tree]("", ""), k[*tree]("", ""),
	k[struct{ A, B int8 }]("", ""),
	k[[]string]("", ""), k[[]*string]("", ""), k[[]string]("", `minItems:"1" maxItems:"2" minLength:"1"`),
	k[[]int8]("", `unique:"true"`),
	k[[]float64]("", `unique:"true"`), k[[]float32]("", `unique:"true" maximum:"1"`),
	k[[]*float64]("", `unique:"true"`),
	k[[]any]("", `unique:"true"`), k[[]jsontext.Value]("", `unique:"true"`),
	k[[][]float64]("", `unique:"true"`), k[[]bool]("", ""),
	k[[]inside]("", ""), k[[]*inside]("", ""), k[[]small]("", ""), k[[3]int]("", ""),
	k[[2][2]uint8]("", ""), k[[2]*string]("", ""),
	k[[][]int]("", ""), k[[]map[string]int]("", ""), k[[]time.Time]("", ""), k[[][]byte]("", ""),
	k[[][2]byte]("", ""),
	k[[]string]("", `format:"decimal" precision:"3,1"`), k[[]string]("", `enum:"a,b"`),
	k[[]string]("", `pattern:"^[a-c]$" unique:"true"`),
	k[map[string]string]("", ""), k[map[string]*int]("", ""), k[map[named]int]("", ""),
	k[map[label]int]("", ""), k[map[int8]int]("", ""),
	k[map[int16]int]("", ""), k[map[int64]any]("", ""), k[map[uint8]int]("", ""), k[map[uint64]any]("", ""),
	k[map[string]inside]("", ""),
	k[map[string][]int]("", ""), k[map[string]any]("", `minItems:"1" maxItems:"2"`),
	k[map[string]string]("", `maxLength:"2"`),
	k[map[int32]map[uint16]bool]("", ""), k[[]map[int]bool]("", ""), k[*map[string]int]("", ""),
	k[*[]int]("", ""),
}

// values are JSON texts of the member v; "" is an absent one.
var values = strings.Fields(`null true false 0 -0 0.0 -0.0 1 -1 1.0 1e0 1e2 1.5 -1.5 0.1 2 5 6 -5 -6 12 13
	99 100 101 127 128 -128 -129 255 256
	32767 32768 -32768 -32769 65535 65536 2147483647 2147483648 -2147483648 -2147483649 4294967295
	4294967296 9007199254740991
	9007199254740993 -9007199254740993 -9007199254740994 9223372036854775807 9223372036854775808
	-9223372036854775808
	-9223372036854775809 18446744073709551614 18446744073709551615 18446744073709551616 1e19 1e38 3.5e38
	1e308
	"" "a" "b" "c" "k" "K" "\u212a" "ab" "abc" "abcd" "é" "\ud83d\ude00" "\ud83d\ude00\ud83d\ude00" "a\nb"
	"\r" "\u2028" "\u00a0a" "\u0020a" "{a}" "{\u2028}" "a{,3}" "]" "]a" "a-.b" "-"
	"0" "-0" "00" "01" "1" "-1" "+1" "1.0" "1.5" "1.50" "12" "12.0" "12.5" "12.51" "100" "101" "127" "128"
	"-128" "-129" "255" "256" "-5" "-6"
	"1e2" "1E2" "1e400" ".5" "1." "0x1" "\u0031" "32768" "65536" "4294967296" "9223372036854775807"
	"9223372036854775808" "-9223372036854775808"
	"18446744073709551615" "18446744073709551616" "99999999999999999999" "NaN" "true" "null" "123.4" "-1.00"
	"-1.01" "12.345"
	"AAAA" "AAAAAA==" "AAA=" "AA==" "AAAAAAAAAAAAAAAAAAAAAA==" "AAAAAAAAAAAAAAAAAAAAAAA="
	"AAAAAAAAAAAAAAAAAAAAAAAA" "AAA-" "AAA" "AAA=\n"
	"2024-02-29" "2023-02-29" "10:00:00" "10:00:00.0" "10:00:00Z" "2026-11-21T06:00:00Z"
	"2026-11-21T06:00:00+01:00" "2026-11-21" "P1D" "PT24H" "P1" "a@b.co"
	"019ab3a1-7c00-7b3e-8a5e-3d1f0c2b4a69" "https://example.com/" "example.com" "192.0.2.1" "2001:db8::1"
	[] [0] [1] [0,0] [0,-0] [-0,0.0] [1,1.0] [1,2] [1,2,3] [1,2,3,4] [null] [null,null] [true] [true,1]
	["a"] ["a","a"] ["a","b"] ["a","b","c"] [""] ["1.5"] ["123.4"]
	[[]] [[0],[-0]] [[1],[2]] [[1,2],[3,4]] [[1,2],[3]] [{}] [{"a":1}] [{"a":0},{"a":-0}]
	[{"a":1,"b":2},{"b":2,"a":1}] [{"must":"x"}] [{"must":""}] [null,{"must":"x"}]
	["AAAA"] ["AAA="] ["2026-11-21T06:00:00Z"] [1e2,100] [9007199254740992,9007199254740994] [128]
	[-129,1.5]
	{} {"a":1} {"a":null} {"a":"x"} {"a":"xyz"} {"a":{}} {"a":[1]} {"a":[null]} {"1":1} {"01":1} {"-0":1}
	{"-1":1} {"127":1} {"128":1} {"-129":1} {"256":1} {"99999":1} {"+1":1} {"1e0":1} {"":1} {"é":1}
	{"9223372036854775807":1} {"9223372036854775808":1} {"18446744073709551615":1}
	{"18446744073709551616":1} {"1":{"2":true}} {"1":{"-2":true}} {"1":true}
	{"a":1,"b":2} {"a":1,"b":2,"c":3} {"A":1,"B":127} {"A":1,"C":1} {"must":"x"} {"must":"x","n":5}
	{"must":"x","n":6} {"must":"x","n":1.0} {"must":"x","l":["a","b","c"]} {"must":"x","set":null}
	{"must":null} {"must":"","n":-6} {"name":"a"} {"name":""} {"name":"\r\u2028\ud83d\ude00"}
	{"name":"abcd"} {"name":"a","parts":[{"name":"b","next":null}]}
	{"name":"a","next":{"name":"b","by":{"x":{"name":"c"}}}}
	{"name":"a","by":{"x":{"name":""}}} {"name":"a","other":1} {"x":{"must":"x"}} {"x":{"must":1}}`)

// random returns a kind with random tags, which package schema may refuse. Some are left out: a format in
// place of that of a float has no range, a text that is not a decimal has no value, and a Go array has one
// length.
func random(rnd *rand.Rand) memberKind {
	one := kinds[rnd.IntN(len(kinds))]
	options := []string{"", "", "", ",omitzero", ",omitempty", ",string"}
	tags := []string{`minLength:"0"`, `minLength:"1"`, `minLength:"2"`, `maxLength:"0"`, `maxLength:"2"`,
		`maxLength:"4"`, `minItems:"1"`, `minItems:"2"`,
		`maxItems:"0"`, `maxItems:"2"`, `minimum:"0"`, `minimum:"-5"`, `minimum:"1e2"`, `minimum:"1.0"`,
		`maximum:"100"`, `maximum:"5"`, `maximum:"1.5"`,
		`unique:"true"`, `required:"true"`, `readOnly:"true"`, `writeOnly:"true"`, `default:"1"`,
		`default:"a"`, `enum:"1,2,100"`, `enum:"a,b"`, `enum:"1.5"`,
		`format:"decimal"`, `format:"date"`, `format:"duration"`, `format:"x-own"`, `format:"unixtime"`,
		`precision:"3,1"`, `pattern:"^[\\w-.]*$"`,
		`pattern:"^.{2}$"`, `pattern:"\\s"`, `pattern:"^[^\\s]*$"`, `pattern:"^a{,3}$"`, `pattern:"(?i)k"`,
		`pattern:"^\\p{L}$"`}
	out := memberKind{one.typ, options[rnd.IntN(len(options))], ""}
	if rnd.IntN(3) == 0 {
		out.options, out.tags = one.options, one.tags
	}
	for range 1 + rnd.IntN(3) {
		out.tags += " " + tags[rnd.IntN(len(tags))]
	}
	return out
}

// TestDecoderAgrees decodes each value as a member of each kind and with random tags, in a new item, in its
// replacement and in a merge patch, and asks the document. A value that the document cannot rule out is
// described: by a format or in words. The JSON of each value that is accepted is a valid response.
func TestDecoderAgrees(t *testing.T) {
	t.Parallel()
	all, rnd := slices.Clone(kinds), rand.New(rand.NewPCG(50, 8))
	tagged := 500
	if *pairsFile != "" {
		tagged = 2000
	}
	for len(all) < len(kinds)+tagged {
		one := random(rnd)
		typ, err := one.schema()
		if err != nil {
			continue
		}
		f := typ.Fields[0]
		if f.Type.Kind == schema.Number && f.Format != "" || f.Type.Len >= 0 && strings.Contains(one.tags, "Items") ||
			one.typ == reflect.TypeFor[label]() && f.IsDecimal() {
			continue
		}
		all = append(all, one)
	}
	var out *json.Encoder
	if *pairsFile != "" {
		f, err := os.Create(*pairsFile)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		out = json.NewEncoder(f)
		docs := []string{}
		for _, value := range append([]string{""}, values...) {
			docs = append(docs, document(value))
		}
		if err := out.Encode(docs); err != nil {
			t.Fatal(err)
		}
	}
	c := agreement{T: t, out: out}
	for _, one := range all {
		c.check(one)
	}
	t.Logf("%d kinds, %d values: %d accepted, %d rejected by the schema, %d by a format or words, %d without effect",
		len(all), len(values)+1, c.accepted, c.rejected, c.described, c.absent)
	if c.accepted < len(all) || c.rejected < len(all) {
		t.Error("too few values are accepted or rejected")
	}
}

func (one memberKind) String() string { return fmt.Sprintf("%v %q %s", one.typ, one.options, one.tags) }

func (one memberKind) schema() (*schema.Type, error) {
	return schema.Of(reflect.StructOf([]reflect.StructField{{Name: "V", Type: one.typ,
		Tag: reflect.StructTag(`json:"v` + one.options + `"` + " " + one.tags)}}))
}

// decode decodes a document, which is a merge patch of the base in the mode Patched.
func decode(typ *schema.Type, doc []byte, opts *schema.DecodeOptions) (any, error) {
	if opts.Mode == schema.Patched {
		full, err := typ.AppendFull(nil, opts.Base)
		if err != nil {
			return nil, err
		}
		p, err := patch.ParseMergePatch(doc, patch.Limits{})
		if err != nil {
			return nil, err
		}
		if doc, err = p.ApplyTo(typ, full); err != nil {
			return nil, err
		}
	}
	return typ.Decode(doc, opts)
}

// document returns an object with the member v, or without it if the value is "".
func document(value string) string {
	if value == "" {
		return "{}"
	}
	return `{"v":` + value + `}`
}

type agreement struct {
	*testing.T
	out                                   *json.Encoder
	accepted, rejected, described, absent int
}

func (c *agreement) check(one memberKind) {
	typ, err := one.schema()
	if err != nil {
		c.Fatalf("%s: %v", one, err)
	}
	docs, err := openapi.SchemasOf(typ)
	if err != nil {
		c.Fatal(err)
	}
	answers, base := newValidator(c.T, docs.Response), any(nil)
	for mode, text := range [][]byte{schema.Create: docs.Create, schema.Replace: docs.Replace,
		schema.Patched: docs.Patch} {
		documents, opts := newValidator(c.T, text), &schema.DecodeOptions{Mode: schema.Mode(mode), Base: base}
		verdicts := []any{}
		for _, value := range append([]string{""}, values...) {
			doc := document(value)
			v, err := decode(typ, []byte(doc), opts)
			verdict := any(err == nil)
			switch bad := documents.problem(doc); {
			case err == nil && bad == "":
				c.accepted++
			case err != nil && bad != "":
				c.rejected++
			case err == nil && (isAbsent(typ.Fields[0], v) || mode == int(schema.Patched) && typ.Equal(v, base)):
				c.absent++
				verdict = nil
			case err != nil && isDescribed(typ, opts.Mode, string(text), err):
				c.described++
				verdict = nil
			default:
				c.Errorf("%s, mode %d, %s: the decoder returns %v, the schema %q\n%s", one, mode, doc, err, bad, text)
			}
			verdicts = append(verdicts, verdict)
			if err != nil {
				continue
			}
			if mode == int(schema.Create) && value != "" {
				base = v // of the replacement
			}
			if typ.Fields[0].ReadOnly || isAbsent(typ.Fields[0], v) {
				continue // the server sets it, or the constraints do not apply
			}
			shown, err := typ.Append(nil, v)
			if err != nil {
				c.Fatal(err)
			}
			if bad := answers.problem(string(shown)); bad != "" {
				c.Errorf("%s: the response %s to %s: %s\n%s", one, shown, doc, bad, docs.Response)
			}
		}
		if base == nil {
			return // no value is valid, so there is none to replace
		}
		if c.out != nil {
			pair := map[string]any{"schema": json.RawMessage(text), "valid": verdicts}
			if err := c.out.Encode(pair); err != nil {
				c.Fatal(err)
			}
		}
	}
}

// TestMembers checks the schema of one member of a new item.
func TestMembers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		of   memberKind
		want string
	}{
		{"a hyphen after a class", k[string]("", `pattern:"^[\\w-.]*$"`),
			`{"type":"string","pattern":"^[\\-.0-9A-Z_a-z]*$"}`},
		{"braces", k[string]("", `pattern:"^{.*}$"`), `{"type":"string","pattern":"^\\{[^\\n]*\\}$"}`},
		{"a maximum alone", k[string]("", `pattern:"^a{,3}$"`), `{"type":"string","pattern":"^a\\{,3\\}$"}`},
		{"a bracket first", k[string]("", `pattern:"^[]a]+$"`), `{"type":"string","pattern":"^[\\]a]+$"}`},
		{"spaces", k[string]("", `pattern:"^\\s.$"`), `{"type":"string","pattern":"^[\\t\\n\\f\\r ][^\\n]$"}`},
		{"lines", k[string]("", `pattern:"(?m)^a$"`),
			"{\"type\":\"string\",\"description\":\"It must match the RE2 pattern `(?m)^a$`.\"}"},
		{"a number in a string", k[int64](",string", ""),
			`{"type":"string","format":"int64","pattern":"^(0|-?[1-9][0-9]{0,18})$"}`},
		{"without a sign", k[uint8](",string", `maximum:"9"`),
			`{"type":"string","format":"uint8","pattern":"^(0|[1-9][0-9]{0,2})$","description":"The number is at most 9."}`},
		{"with a fraction", k[float32](",string", `minimum:"0" maximum:"1"`),
			`{"type":"string","format":"float","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$","description":"The number is from 0 to 1."}`},
		{"in another format", k[int16](",string", `format:"unixtime"`),
			`{"type":"string","format":"unixtime","pattern":"^(0|-?[1-9][0-9]{0,4})$","description":"The number is from -32768 to 32767."}`},
		{"an integer in another format", k[int32]("", `format:"unixtime"`),
			`{"type":"integer","format":"unixtime","minimum":-2147483648,"maximum":2147483647}`},
		{"integer keys", k[map[uint16]bool]("", ""),
			`{"type":"object","propertyNames":{"type":"string","format":"uint16","pattern":"^(0|[1-9][0-9]{0,4})$"},"additionalProperties":{"type":"boolean"}}`},
		{"text keys", k[map[label]bool]("", ""),
			"{\"type\":\"object\",\"propertyNames\":{\"type\":\"string\",\"description\":\"The text form of `label`.\"},\"additionalProperties\":{\"type\":\"boolean\"}}"},
		{"string keys", k[map[named]bool]("", ""), `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{"bytes of one length", k[[16]byte]("", ""),
			`{"type":"string","format":"byte","contentEncoding":"base64","pattern":"^[A-Za-z0-9+/]{22}==$"}`},
		{"an enum of decimals", k[string](",omitzero", `format:"decimal" enum:"1.5,2"`),
			"{\"type\":\"string\",\"format\":\"decimal\",\"pattern\":\"^-?(0|[1-9][0-9]*)(\\\\.[0-9]+)?$\",\"description\":\"The value equals one of `1.5`, `2`.\"}"},
		{"a pattern of decimals", k[string](",omitzero", `format:"decimal" precision:"3,1" pattern:"5$"`),
			`{"type":"string","format":"decimal","pattern":"5$","description":"The number has at most 2 digits before the point and 1 after it."}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			typ, err := tt.of.schema()
			if err != nil {
				t.Fatal(err)
			}
			docs, err := openapi.SchemasOf(typ)
			if err != nil {
				t.Fatal(err)
			}
			got := exact(t, string(docs.Create)).(object)["properties"].(object)["v"]
			if diff := cmp.Diff(exact(t, tt.want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// isAbsent reports whether an optional member has the zero value, which has the meaning of an absent one and
// is not checked. The document has the constraints of the others.
func isAbsent(f *schema.Field, v any) bool {
	value := reflect.ValueOf(v).Elem().FieldByIndex(f.Index)
	hasLen := value.Kind() == reflect.Slice || value.Kind() == reflect.Map
	return (f.OmitZero || f.OmitEmpty) && (value.IsZero() || hasLen && value.Len() == 0)
}

// isDescribed reports whether the document has another description of each violation: the format of a text,
// which is an annotation, or a sentence. The members of a map in a merge patch depend on those that it has.
func isDescribed(typ *schema.Type, mode schema.Mode, doc string, err error) bool {
	var bad schema.Violations
	return errors.As(err, &bad) && !slices.ContainsFunc(bad, func(v schema.Violation) bool {
		f, inWords := typ.Fields[0], false
		switch v.Code {
		case "format":
			inWords = f.Format != "" || f.Type.Elem != nil && f.Type.Elem.Format != ""
		case "range", "minimum", "maximum":
			inWords = (f.Quoted || f.IsDecimal()) && strings.Contains(doc, "The number is ")
		case "enum":
			inWords = strings.Contains(doc, "The value equals one of ")
		case "pattern":
			inWords = strings.Contains(doc, "It must match the RE2 pattern ")
		case "minItems", "maxItems", "required":
			inWords = mode == schema.Patched && f.Type.Kind == schema.Map
		case "precision":
			inWords = strings.Contains(doc, "The number has at most ")
		case "readOnly":
			inWords = strings.Contains(doc, "It cannot be changed")
		}
		return !inWords
	})
}

// validator applies the keywords of JSON Schema that this package writes. Numbers are exact.
type validator struct {
	testing.TB
	root     object
	patterns map[string]*regexp.Regexp
}

func newValidator(t testing.TB, doc []byte) *validator {
	t.Helper()
	root, _ := exact(t, string(doc)).(object)
	return &validator{t, root, map[string]*regexp.Regexp{}}
}

// exact decodes JSON without rounding numbers.
func exact(t testing.TB, doc string) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return v
}

// problem returns the first keyword that a document violates, or "".
func (c *validator) problem(doc string) string { return c.check(c.root, exact(c, doc)) }

func (c *validator) check(s object, v any) string {
	for key, want := range s {
		if !c.holds(key, s, want, v) {
			return fmt.Sprintf("%s of %v", key, v)
		}
	}
	return ""
}

func (c *validator) holds(key string, s object, want, v any) bool {
	text, isText := v.(string)
	list, isList := v.([]any)
	members, isObject := v.(object)
	number := rational(v)
	all := func(elems []any, s any) bool {
		return !slices.ContainsFunc(elems, func(elem any) bool { return c.check(s.(object), elem) != "" })
	}
	switch key {
	case "components", "description", "default", "contentEncoding", "readOnly", "writeOnly", "deprecated":
		return true
	case "$ref":
		return c.check(reader{c.root}.follow(s).(object), v) == ""
	case "type":
		return slices.ContainsFunc(typesOf(s), func(name string) bool { return c.isType(name, v, number) })
	case "anyOf":
		return slices.ContainsFunc(want.([]any), func(one any) bool { return c.check(one.(object), v) == "" })
	case "enum":
		return slices.ContainsFunc(want.([]any), func(one any) bool { return identity(one) == identity(v) })
	case "minLength", "maxLength":
		return !isText || within(key, utf8.RuneCountInString(text), want)
	case "minItems", "maxItems":
		return !isList || within(key, len(list), want)
	case "minProperties", "maxProperties":
		return !isObject || within(key, len(members), want)
	case "minimum":
		return number == nil || number.Cmp(rational(want)) >= 0
	case "maximum":
		return number == nil || number.Cmp(rational(want)) <= 0
	case "pattern":
		return !isText || c.pattern(want.(string)).MatchString(text)
	case "format":
		if isText && number == nil {
			number, _ = new(big.Rat).SetString(text)
		}
		return c.inFormat(want.(string), number, text, isText)
	case "items":
		return !isList || all(list, want)
	case "uniqueItems":
		seen := map[string]bool{}
		for _, elem := range list {
			seen[identity(elem)] = true
		}
		return len(seen) == len(list) || want != true
	case "required":
		return !isObject || !slices.ContainsFunc(want.([]any), func(name any) bool {
			_, ok := members[name.(string)]
			return !ok
		})
	case "propertyNames":
		for name := range members {
			if c.check(want.(object), name) != "" {
				return false
			}
		}
		return true
	case "properties":
		for name, elem := range members {
			if p, ok := want.(object)[name].(object); ok && c.check(p, elem) != "" {
				return false
			}
		}
		return true
	case "additionalProperties":
		for name, elem := range members {
			p, _ := s["properties"].(object)
			more, isSchema := want.(object)
			if p[name] == nil && (!isSchema || c.check(more, elem) != "") {
				return false
			}
		}
		return true
	}
	c.Fatalf("the validator of this test does not know the keyword %s", key)
	return false
}

func (c *validator) isType(name string, v any, number *big.Rat) bool {
	if number != nil {
		return name == "number" || name == "integer" && number.IsInt()
	}
	return isType(name, v)
}

// pattern compiles a pattern, in which package regexp knows all but one escape of ECMA-262.
func (c *validator) pattern(p string) *regexp.Regexp {
	if c.patterns[p] == nil {
		c.patterns[p] = regexp.MustCompile(strings.ReplaceAll(p, `\u{`, `\x{`))
	}
	return c.patterns[p]
}

// inFormat checks the formats of numbers and bytes, which the types of generated clients have. Those of texts
// are annotations.
func (c *validator) inFormat(format string, number *big.Rat, text string, isText bool) bool {
	bits, low, high := 0, new(big.Int), big.NewInt(1)
	switch {
	case format == "byte":
		return !isText || c.pattern(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`).MatchString(text)
	case number == nil:
		return true
	case format == "float":
		f, _ := number.Float32()
		return f-f == 0
	case format == "double":
		f, _ := number.Float64()
		return f-f == 0
	}
	if n, _ := fmt.Sscanf(format, "int%d", &bits); n == 1 {
		high.Lsh(high, uint(bits-1))
		low.Neg(high)
	} else if n, _ := fmt.Sscanf(format, "uint%d", &bits); n == 1 {
		high.Lsh(high, uint(bits))
	} else {
		return true
	}
	return number.Cmp(new(big.Rat).SetInt(low)) >= 0 && number.Cmp(new(big.Rat).SetInt(high)) < 0
}

func within(key string, n int, want any) bool {
	limit := int(rational(want).Num().Int64())
	return strings.HasPrefix(key, "min") && n >= limit || strings.HasPrefix(key, "max") && n <= limit
}

func rational(v any) *big.Rat {
	number, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, _ := new(big.Rat).SetString(string(number))
	return r
}

// identity returns a text that equal JSON values have in common.
func identity(v any) string {
	switch v := v.(type) {
	case json.Number:
		return rational(v).RatString()
	case []any:
		texts := []string{}
		for _, elem := range v {
			texts = append(texts, identity(elem))
		}
		return "[" + strings.Join(texts, ",") + "]"
	case object:
		texts := []string{}
		for name, elem := range v {
			texts = append(texts, fmt.Sprintf("%q:%s", name, identity(elem)))
		}
		slices.Sort(texts)
		return "{" + strings.Join(texts, ",") + "}"
	}
	return fmt.Sprintf("%#v", v)
}
