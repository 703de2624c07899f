package schema_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// amount is a decimal with text methods, in cents.
type amount int64

func (a amount) MarshalText() ([]byte, error) {
	if a < 0 {
		return nil, errColour
	}
	return fmt.Appendf(nil, "%d.%02d", int64(a)/100, int64(a)%100), nil
}

func (a *amount) UnmarshalText(text []byte) error {
	var whole, cents int64
	if _, err := fmt.Sscanf(string(text), "%d.%02d", &whole, &cents); err != nil {
		return err
	}
	*a = amount(100*whole + cents)
	return nil
}

// values has each kind of canonical values and lists of them.
type values struct {
	Price   string            `json:"price" format:"decimal" default:"0.00" example:"12.50"`
	Cost    *string           `json:"cost" format:"decimal"`
	Amount  amount            `json:"amount" format:"decimal"`
	Step    string            `json:"step" format:"decimal" enum:"0.50,1.00"`
	Length  string            `json:"length,omitempty" format:"duration"`
	Single  float32           `json:"single"`
	Level   float32           `json:"level" enum:"0.1,0.2"`
	Tags    []string          `json:"tags" enum:"new,old"`
	Numbers *[]*int8          `json:"numbers"`
	Prices  [2]string         `json:"prices" format:"decimal"`
	Times   []time.Time       `json:"times"`
	Colours []colour          `json:"colours"`
	Stages  []string          `json:"stages" format:"duration" enum:"P1D,P1M"`
	Matrix  [][]string        `json:"matrix"`
	Lines   []line            `json:"lines"`
	Bytes   []byte            `json:"bytes"`
	Any     any               `json:"any"`
	ByName  map[string]string `json:"byName" format:"decimal"`
}

func decimal(t *testing.T, text string) query.Decimal {
	t.Helper()
	d, err := query.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestGetOfFormatsAndLists(t *testing.T) {
	t.Parallel()
	one := int8(1)
	at := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	v := &values{
		Price: "12.50", Cost: ptr("1e2"), Amount: 1250, Length: "P1DT24H", Single: 0.1, Tags: []string{"new", "x"},
		Numbers: &[]*int8{&one, nil}, Prices: [2]string{"1.0", "x"}, Times: []time.Time{at},
		Colours: []colour{{"red"}}, Stages: []string{}, Lines: []line{{}}, Bytes: []byte("a"),
	}
	day, err := query.ParseDuration("P1DT24H")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"price": decimal(t, "12.5"), "cost": decimal(t, "100"), "amount": decimal(t, "12.5"), "step": nil,
		"length": day, "single": 0.1, "level": 0.0,
		"tags": []any{"new", "x"}, "numbers": []any{int64(1), nil}, "prices": []any{decimal(t, "1"), nil},
		"times": []any{at}, "colours": []any{"red"}, "stages": []any{}, "matrix": nil, "lines": nil, "bytes": nil,
		"any": nil, "byName": nil,
	}
	typ := schema.For[values]()
	got := map[string]any{}
	for _, f := range typ.Fields {
		got[f.Name] = f.Get(v)
		if canonical := query.Canonical(got[f.Name]); !cmp.Equal(canonical, got[f.Name]) {
			t.Errorf("Canonical of %s is %v, not %v", f.Name, canonical, got[f.Name])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	zero := map[string]any{"tags": []any{}, "numbers": nil, "times": []any{}, "length": nil, "cost": nil}
	for name, want := range zero {
		if got := typ.Field(name).Get(&values{}); !cmp.Equal(want, got) {
			t.Errorf("%s of the zero value is %#v, want %#v", name, got, want)
		}
	}
	if got := typ.Field("amount").Get(&values{Amount: -1}); got != nil {
		t.Errorf("amount is %v although its method fails", got)
	}
}

func TestParseOfFormatsAndLists(t *testing.T) {
	t.Parallel()
	const notDecimal = "must be a decimal number, such as 12.5"
	tests := []struct {
		field, text string
		want        any
		err         string
	}{
		{field: "price", text: "12.50", want: decimal(t, "12.5")},
		{field: "price", text: "1e3", want: decimal(t, "1000")},
		{field: "price", text: "", err: notDecimal},
		{field: "amount", text: "12.505", want: decimal(t, "12.505")}, // a limit need not be an amount
		{field: "step", text: "0.5", want: decimal(t, "0.5")},
		{field: "step", text: "0.6", err: "must be one of 0.50, 1.00"},
		{field: "length", text: "PT90M", want: mustDuration(t, "PT1H30M")},
		{field: "length", text: "90m", err: "must be a duration as in ISO 8601, such as P1DT2H30M or PT-1.5S"},
		{field: "single", text: "0.1", want: 0.1},
		{field: "level", text: "0.2", want: 0.2},
		{field: "level", text: "0.3", err: "must be one of 0.1, 0.2"},
		{field: "tags", text: "new", want: "new"},
		{field: "tags", text: "x", err: "must be one of new, old"},
		{field: "numbers", text: "-128", want: int64(-128)},
		{field: "numbers", text: "128", err: "is out of range"},
		{field: "prices", text: "1.0", want: decimal(t, "1")},
		{field: "stages", text: "P30D", err: "must be one of P1D, P1M"},
		{field: "matrix", text: "a", err: "has no text form"},
		{field: "lines", text: "a", err: "has no text form"},
		{field: "byName", text: "1", err: "has no text form"},
	}
	typ := schema.For[values]()
	for _, tt := range tests {
		t.Run(tt.field+" "+tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := typ.Field(tt.field).Parse(tt.text)
			if tt.err != "" {
				if err == nil || err.Error() != tt.err {
					t.Errorf("error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
		})
	}
}

func mustDuration(t *testing.T, text string) query.Duration {
	t.Helper()
	d, err := query.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestSetTextOfFormats(t *testing.T) {
	t.Parallel()
	typ := schema.For[values]()
	v := &values{}
	for field, text := range map[string]string{"price": "12.50", "cost": "1e3", "length": "PT90M", "single": "0.1"} {
		if err := typ.Field(field).SetText(v, text); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
	}
	want := values{Price: "12.50", Cost: ptr("1000"), Length: "PT90M", Single: 0.1} // no exponent in a document
	if diff := cmp.Diff(want, *v, cmp.AllowUnexported(colour{})); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if err := typ.Field("tags").SetText(v, "new"); err == nil || v.Tags != nil {
		t.Errorf("SetText of a list: %v, %v", v.Tags, err)
	}
}

func TestComparableElem(t *testing.T) {
	t.Parallel()
	var lists []string
	for _, f := range schema.For[values]().Fields {
		if f.ComparableElem() {
			lists = append(lists, f.Name)
		}
		if f.ComparableElem() && f.Comparable() {
			t.Errorf("%s is a scalar and a list", f.Name)
		}
	}
	if diff := cmp.Diff([]string{"tags", "numbers", "prices", "times", "colours", "stages"}, lists); diff != "" {
		t.Errorf("lists (-want +got):\n%s", diff)
	}
}

func TestTagsOfFormats(t *testing.T) {
	t.Parallel()
	price, step := schema.For[values]().Field("price"), schema.For[values]().Field("step")
	got := []any{price.Default, price.Example, step.Enum}
	if diff := cmp.Diff([]any{"0.00", "12.50", []any{"0.50", "1.00"}}, got); diff != "" {
		t.Errorf("tags are spelled differently (-want +got):\n%s", diff)
	}
	v := schema.For[values]().New().(*values)
	if v.Price != "0.00" {
		t.Errorf("default price %q", v.Price)
	}
	v.Amount, v.Step, v.Level = 1, "0.5", 0.1
	v.Prices = [2]string{"1", "2"}
	if got := codes(t, schema.For[values]().Validate(v)); got != nil {
		t.Errorf("violations %v", got)
	}
	v.Step, v.Level = "0.7", 0.11
	if diff := cmp.Diff([]string{"/step enum", "/level enum"}, codes(t, schema.For[values]().Validate(v))); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// TestCanonicalLocalTime: a local time with zeros at the end of its fraction has the canonical value of the
// other spelling, and documents keep theirs.
func TestCanonicalLocalTime(t *testing.T) {
	t.Parallel()
	type visit struct {
		At  string   `json:"at" format:"time-local"`
		All []string `json:"all" format:"time-local"`
	}
	typ := schema.For[visit]()
	v := &visit{"15:04:05.50", []string{"15:04:05.0"}}
	got := []any{typ.Field("at").Get(v), typ.Field("all").Get(v), typ.Field("at").Text(v)}
	if diff := cmp.Diff([]any{"15:04:05.5", []any{"15:04:05"}, "15:04:05.50"}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	tests := []struct{ text, want string }{
		{"15:04:05.000", "15:04:05"}, {"15:04:00", "15:04:00"}, {"15:04:05.120", "15:04:05.12"}, {"none.0", "none.0"},
	}
	for _, tt := range tests {
		if got, err := typ.Field("at").Parse(tt.text); err != nil || got != tt.want {
			t.Errorf("%q is %v, %v; want %s", tt.text, got, err, tt.want)
		}
	}
}
