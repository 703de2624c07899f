package schema_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// decode decodes into a T and fails the test on an error.
func decode[T any](t *testing.T, data string, opts *schema.DecodeOptions) *T {
	t.Helper()
	v, err := schema.For[T]().Decode([]byte(data), opts)
	if err != nil {
		t.Fatalf("Decode(%s): %v", data, err)
	}
	return v.(*T)
}

// found returns "pointer code" for each violation of an invalid document.
func found[T any](t *testing.T, data string, opts *schema.DecodeOptions) []string {
	t.Helper()
	v, err := schema.For[T]().Decode([]byte(data), opts)
	violations, ok := errors.AsType[schema.Violations](err)
	if !ok {
		t.Fatalf("Decode(%s) = %+v, %v, want Violations", data, v, err)
	}
	if v != nil {
		t.Errorf("Decode(%s) gives a value along with its violations", data)
	}
	return codes(t, violations)
}

func codes(t *testing.T, violations []schema.Violation) []string {
	t.Helper()
	var all []string
	for _, v := range violations {
		all = append(all, v.Pointer+" "+v.Code)
		if v.Detail == "" || strings.Contains(v.Detail, "schema_test") || strings.Contains(v.Detail, "pq:") {
			t.Errorf("the detail of %s is not for clients: %q", v.Pointer, v.Detail)
		}
	}
	return all
}

func TestDecodeRoundTrip(t *testing.T) {
	t.Parallel()
	all := schema.For[everything]()
	want := newEverything()
	// Members that clients cannot set, and values that are not valid.
	want.stamped, want.Lines, want.Pointers, want.Hidden, want.secret = stamped{}, []line{}, nil, "", ""
	want.Next = nil
	data, err := all.Append(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.NewReplacer(`,"created":"0001-01-01T00:00:00Z","version":0`,
		"").Replace(string(data)))
	got := decode[everything](t, string(data), nil)
	if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if !all.Equal(want, got) {
		t.Error("what was decoded is not Equal")
	}
}

func TestDecodeNumbers(t *testing.T) {
	t.Parallel()
	type numbers struct {
		I  int64   `json:"i"`
		I8 int8    `json:"i8"`
		U  uint64  `json:"u"`
		U8 uint8   `json:"u8"`
		Q  int64   `json:"q,string"`
		F  float64 `json:"f"`
		G  float32 `json:"g"`
	}
	good := []struct {
		data string
		want numbers
	}{
		{`{"i":9007199254740993}`, numbers{I: 9007199254740993}},
		{`{"i":-9223372036854775808}`, numbers{I: -9223372036854775808}},
		{`{"i":1.0}`, numbers{I: 1}},
		{`{"i":1e2}`, numbers{I: 100}},
		{`{"i":1.5e1}`, numbers{I: 15}},
		{`{"i":12300e-2}`, numbers{I: 123}},
		{`{"i":-0}`, numbers{}},
		{`{"i":0e999999999999}`, numbers{}},
		{`{"i":0.000e-5}`, numbers{}},
		{`{"i":9007199254740993.000}`, numbers{I: 9007199254740993}},
		{`{"i8":-128}`, numbers{I8: -128}},
		{`{"u":18446744073709551615}`, numbers{U: 18446744073709551615}},
		{`{"u":1.8446744073709551615e19}`, numbers{U: 18446744073709551615}},
		{`{"u8":2.55E+2}`, numbers{U8: 255}},
		{`{"q":"9007199254740993"}`, numbers{Q: 9007199254740993}},
		{`{"f":1e308}`, numbers{F: 1e308}},
		{`{"f":1e-400}`, numbers{}},
		{`{"g":3.4e38}`, numbers{G: 3.4e38}},
	}
	for _, tt := range good {
		if diff := cmp.Diff(&tt.want, decode[numbers](t, tt.data, nil)); diff != "" {
			t.Errorf("Decode(%s) mismatch (-want +got):\n%s", tt.data, diff)
		}
	}
	bad := []struct{ data, want string }{
		{`{"i":1.5}`, "/i type"},
		{`{"i":1e-1}`, "/i type"},
		{`{"i":1e-999999999999}`, "/i type"},
		{`{"i":"1"}`, "/i type"},
		{`{"i":9223372036854775808}`, "/i range"},
		{`{"i":1e999999999999}`, "/i range"},
		{`{"i8":128}`, "/i8 range"},
		{`{"i8":-129}`, "/i8 range"},
		{`{"u":-1}`, "/u range"},
		{`{"u":18446744073709551616}`, "/u range"},
		{`{"u8":256}`, "/u8 range"},
		{`{"q":1}`, "/q type"},
		{`{"q":"x"}`, "/q type"},
		{`{"q":" 1"}`, "/q type"},
		{`{"q":""}`, "/q type"},
		{`{"q":"1e2"}`, "/q type"},
		{`{"q":"1.0"}`, "/q type"},
		{`{"q":"-0"}`, "/q type"},
		{`{"q":"9223372036854775808"}`, "/q range"},
		{`{"q":"0x1"}`, "/q type"},
		{`{"q":null}`, "/q null"},
		{`{"q":[1]}`, "/q type"},
		{`{"f":1e309}`, "/f range"},
		{`{"g":3.5e38}`, "/g range"},
		{`{"f":true}`, "/f type"},
	}
	for _, tt := range bad {
		if diff := cmp.Diff([]string{tt.want}, found[numbers](t, tt.data, nil)); diff != "" {
			t.Errorf("Decode(%s) mismatch (-want +got):\n%s", tt.data, diff)
		}
	}
}

func TestDecodeViolations(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, data string
		want       []string
	}{
		{"shapes",
			`{"id":"1","name":1,"ok":"true","when":5,"data":[],"tags":{},"labels":[],"address":"x",` +
				`"lines":{}}`,
			[]string{"/id type", "/name type", "/ok type", "/when type", "/data type", "/tags type",
				"/labels type", "/address type",
				"/lines type"}},
		{"nulls",
			`{"name":null,"address":null,"tags":[null],"when":null,"maybe":null,"any":null,` +
				`"labels":{"a":null},"pointers":[null]}`,
			[]string{"/name null", "/when null", "/tags/0 null", "/labels/a null", "/address null"}},
		{"formats",
			`{"name":"n","when":"yesterday","colour":"green","data":"!","hash":"AAA=",` +
				`"opaque":"bad","byNumber":{"01":null},` +
				`"colours":{"x":true},"address":{"street":"s"}}`,
			[]string{"/when format", "/colour format", "/data format", "/hash format", "/byNumber/01 format",
				"/colours/x format",
				"/opaque format"}},
		{"schema order, whatever the order of the document",
			`{"nope":1,"address":{"zip":1,"geo":{"lat":91}},"lines":[{"sku":"a"},{"count":0}],` +
				`"name":"","a/b~<é>":1,"tags":["","b","b"]}`,
			[]string{"/name minLength", "/tags unique", "/tags/0 minLength", "/address/street required",
				"/address/geo/lat maximum",
				"/address/zip unknown", "/lines/0/sku pattern", "/lines/1/sku required",
				"/lines/1/count minimum", "/a~1b~0<é> type",
				"/nope unknown"}},
		{"line breaks in base64", `{"name":"n","data":"AA\nE=","address":{"street":"s"}}`,
			[]string{"/data format"}},
		{"length of Go arrays", `{"name":"n","pair":[1],"address":{"street":"s"}}`, []string{"/pair type"}},
		{"length of Go arrays, above", `{"name":"n","pair":[1,2,{}],"address":{"street":"s"}}`,
			[]string{"/pair type"}},
		{"an element of the wrong shape counts", `{"name":"n","tags":[1,2,3,4,5,6],"address":{"street":"s"}}`,
			[]string{"/tags maxItems", "/tags/0 type", "/tags/1 type", "/tags/2 type", "/tags/3 type",
				"/tags/4 type",
				"/tags/5 type"}},
		{"absent, and nothing inside of what may be absent", `{}`, []string{"/name required"}},
		{"enum and maximum of elements",
			`{"name":"n","status":"x","counts":[1,101],"address":{"street":"s"}}`,
			[]string{"/status enum", "/counts/1 maximum"}},
		{"root", `[]`, []string{" type"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, found[everything](t, tt.data, nil)); diff != "" {
				t.Errorf("Decode mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeOtherRoots(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(&[]int{1, 2}, decode[[]int](t, "[1,2]", nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if got := *decode[string](t, `"s"`, nil); got != "s" {
		t.Errorf("Decode = %q", got)
	}
	if diff := cmp.Diff([]string{" null"}, found[[]int](t, "null", nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/0/lat minimum"}, found[[]geo](t, `[{"lat":-91}]`, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

// TestDecodeHugeExponent checks that a few bytes of JSON do not expand into gigabytes of digits. It
// is not parallel, because it measures the memory of the whole process.
func TestDecodeHugeExponent(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if diff := cmp.Diff([]string{"/id range"},
		found[flat](t, `{"id":1e2000000000,"name":"n","country":"DE","language":"de"}`,
			nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("Decode needed %d bytes", used)
	}
}

// TestDecodeLeavesBaseAlone checks a field that Replace keeps and go-json-experiment/json decodes,
// which adds members to an existing map.
func TestDecodeLeavesBaseAlone(t *testing.T) {
	t.Parallel()
	type holder struct {
		Secret written `json:"secret" writeOnly:"true"`
	}
	base := &holder{written{map[string]int{"a": 1}}}
	got := decode[holder](t, `{"secret":{"M":{"b":2}}}`,
		&schema.DecodeOptions{Mode: schema.Replace, Base: base})
	if diff := cmp.Diff(&holder{written{map[string]int{"b": 2}}}, got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&holder{written{map[string]int{"a": 1}}}, base); diff != "" {
		t.Errorf("Decode changed the base (-want +got):\n%s", diff)
	}
}

// written has only the JSON method for encoding.
type written struct{ M map[string]int }

func (w written) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func TestDecodeDefaults(t *testing.T) {
	t.Parallel()
	type deep struct {
		Theme string  `json:"theme" default:"light"`
		Size  *int    `json:"size" default:"7"`
		Zone  colour  `json:"zone" default:"blue"`
		Ratio float32 `json:"ratio" default:"0.5"`
		On    bool    `json:"on" default:"true"`
	}
	type settings struct {
		In   deep   `json:"in"`
		Ptr  *deep  `json:"ptr"`
		List []deep `json:"list"`
		Own  uint64 `json:"own" readOnly:"true" default:"3"`
	}
	filled := deep{"light", ptr(7), colour{"blue"}, 0.5, true}
	tests := []struct {
		name, data string
		want       settings
	}{
		{"absent, and nothing inside of what may be absent", `{}`, settings{In: filled, Own: 3}},
		{"present and empty", `{"in":{},"ptr":{},"list":[{}]}`,
			settings{In: filled, Ptr: &filled, List: []deep{filled}, Own: 3}},
		{"zero is not absent", `{"in":{"theme":"","size":null,"zone":"","ratio":0,"on":false}}`,
			settings{Own: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := decode[settings](t, tt.data, nil)
			if diff := cmp.Diff(&tt.want, got, cmp.AllowUnexported(colour{})); diff != "" {
				t.Errorf("Decode mismatch (-want +got):\n%s", diff)
			}
		})
	}
	patched := decode[settings](t, `{"in":{},"own":0}`,
		&schema.DecodeOptions{Mode: schema.Patched, Base: &settings{}})
	if diff := cmp.Diff(&settings{}, patched, cmp.AllowUnexported(colour{})); diff != "" {
		t.Errorf("a patched document gets defaults (-want +got):\n%s", diff)
	}
}

func TestDecodeReplace(t *testing.T) {
	t.Parallel()
	opts := func(base *account) *schema.DecodeOptions {
		return &schema.DecodeOptions{Mode: schema.Replace, Base: base, ReadOnly: []string{"id", "nonsense"}}
	}
	base := newAccount()
	got := decode[account](t, `{"email":"b@example.com"}`, opts(base))
	want := newAccount()
	want.Email, want.Plan, want.Note = "b@example.com", "free", nil
	want.Profile.Bio, want.Profile.Theme = "", "light"
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(account{})); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(newAccount(), base, cmp.AllowUnexported(account{})); diff != "" {
		t.Errorf("Decode changed the base (-want +got):\n%s", diff)
	}

	written, err := schema.For[account]().Append(nil, base)
	if err != nil {
		t.Fatal(err)
	}
	same := decode[account](t, string(written), opts(base))
	if !schema.For[account]().Equal(base, same) {
		t.Error("a value that is put back as it was written is not what it was")
	}
	if same.Note == base.Note {
		t.Error("the new value shares a pointer with the base")
	}

	changed := `{"id":"other","email":"a@example.com","balance":13,` +
		`"created":"2026-01-01T13:00:00+01:00","profile":{"rank":"x"},` +
		`"password":"short"}`
	if diff := cmp.Diff([]string{"/id readOnly", "/password minLength", "/balance readOnly",
		"/profile/rank readOnly"},
		found[account](t, changed, opts(base))); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if _, err := schema.For[account]().Decode([]byte("{}"), &schema.DecodeOptions{Mode: schema.Replace,
		Base: &flat{}}); err == nil {
		t.Error("a base of another type is accepted")
	}
}

func TestDecodeReplaceWithoutBase(t *testing.T) {
	t.Parallel()
	opts := &schema.DecodeOptions{Mode: schema.Replace}
	if diff := cmp.Diff([]string{"/email required", "/password required", "/balance readOnly"},
		found[account](t, `{"balance":1,"profile":{"rank":0}}`, opts)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodePatched(t *testing.T) {
	t.Parallel()
	base := newAccount()
	opts := &schema.DecodeOptions{Mode: schema.Patched, Base: base, ReadOnly: []string{"id"}}
	accounts := schema.For[account]()
	full, err := accounts.AppendFull(nil, base)
	if err != nil {
		t.Fatal(err)
	}
	if got := decode[account](t, string(full), opts); !accounts.Equal(base, got) || got.Hash != "#" ||
		got.Profile.Hidden != 9 {
		t.Errorf("an empty patch changed the value: %+v", got)
	}
	without := func(cut string) string {
		t.Helper()
		if !strings.Contains(string(full), cut) {
			t.Fatalf("%s does not contain %s", full, cut)
		}
		return strings.Replace(string(full), cut, "", 1)
	}
	if got := decode[account](t, without(`"note":"hello",`), opts); got.Note != nil {
		t.Errorf("a removed member is still %q", *got.Note)
	}
	tests := []struct{ name, data, want string }{
		{"required", without(`"email":"a@example.com",`), "/email required"},
		{"writeOnly and required", without(`"password":"long enough",`), "/password required"},
		{"removed and no default", without(`"plan":"paid",`), "/plan enum"},
		{"readOnly removed", without(`"balance":12,`), "/balance readOnly"},
		{"readOnly removed in a member", without(`"rank":3,`), "/profile/rank readOnly"},
		{"id removed", without(`"id":"a1",`), "/id readOnly"},
		{"object removed", without(`"profile":{"bio":"b","rank":3,"theme":"dark"},`), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				got := decode[account](t, tt.data, opts)
				if diff := cmp.Diff(profile{Rank: 3, Hidden: 9}, got.Profile); diff != "" {
					t.Errorf("what a client cannot remove mismatch (-want +got):\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff([]string{tt.want}, found[account](t, tt.data, opts)); diff != "" {
				t.Errorf("Decode mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodePatchedOmitted(t *testing.T) {
	t.Parallel()
	type item struct {
		Paid  time.Time `json:"paid,omitzero" readOnly:"true"`
		Notes []string  `json:"notes,omitempty" readOnly:"true"`
	}
	for _, base := range []*item{{}, {Notes: []string{}}} {
		decode[item](t, `{}`, &schema.DecodeOptions{Mode: schema.Patched, Base: base})
	}
	base := &item{Paid: time.Unix(1, 0), Notes: []string{"a"}}
	got := found[item](t, `{}`, &schema.DecodeOptions{Mode: schema.Patched, Base: base})
	if diff := cmp.Diff([]string{"/paid readOnly", "/notes readOnly"}, got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeKeepsHidden(t *testing.T) {
	t.Parallel()
	type part struct {
		Name   string `json:"name"`
		Key    string `json:"key" writeOnly:"true"`
		Serial int    `json:"serial" readOnly:"true"`
		Hidden int    `json:"-"`
	}
	type whole struct {
		Ptr   *part           `json:"ptr"`
		Map   map[string]part `json:"map"`
		Slice []part          `json:"slice"`
	}
	p := part{"n", "k", 5, 6}
	base := &whole{&p, map[string]part{"a": p}, []part{p}}
	data := `{"ptr":{"name":"new"},"map":{"a":{"name":"new"},"b":{"name":"new"}},"slice":[{"name":"new"}]}`
	got := decode[whole](t, data, &schema.DecodeOptions{Mode: schema.Replace, Base: base})
	kept := part{"new", "k", 5, 6}
	want := &whole{&kept, map[string]part{"a": kept, "b": {Name: "new"}}, []part{{Name: "new"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&whole{&part{"n", "k", 5, 6}, map[string]part{"a": p}, []part{p}}, base); diff != "" {
		t.Errorf("Decode changed the base (-want +got):\n%s", diff)
	}
	got = decode[whole](t, `{"ptr":null}`, &schema.DecodeOptions{Mode: schema.Replace, Base: base})
	if diff := cmp.Diff(&whole{}, got); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeReadOnlyInElements(t *testing.T) {
	t.Parallel()
	type order struct {
		Lines []line          `json:"lines"`
		Ptrs  []*line         `json:"ptrs"`
		Grid  [][]line        `json:"grid"`
		ByKey map[string]line `json:"byKey"`
		Fixed []line          `json:"fixed" readOnly:"true"`
	}
	base := &order{
		Lines: []line{{"A", 1, 10}, {"B", 2, 20}, {"C", 3, 30}}, Ptrs: []*line{nil, {"D", 4, 40}},
		Grid: [][]line{{{"G", 1, 70}}}, ByKey: map[string]line{"e": {"E", 5, 50}},
		Fixed: []line{{"F", 6, 60}},
	}
	for _, mode := range []schema.Mode{schema.Replace, schema.Patched} {
		opts := &schema.DecodeOptions{Mode: mode, Base: base}
		fixed := `"fixed":[{"sku":"F","count":6,"price":60}]`
		good := []string{
			// The first element removed, new elements inserted, and the elements reordered.
			`"lines":[{"sku":"B","count":2,"price":20},{"sku":"C","count":3,"price":30}]`,
			`"lines":[{"sku":"X","count":1},{"sku":"A","count":1,"price":10},{"sku":"Y","count":1}]`,
			`"lines":[{"sku":"C","count":9,"price":30},{"sku":"A","count":1,"price":10}]`,
			`"lines":[{"sku":"N","count":1,"price":0}]`,
			`"ptrs":[{"sku":"D","count":4,"price":40},null]`,
			`"byKey":{"e":{"sku":"E","count":1,"price":50}}`,
			`"grid":[[{"sku":"G","count":1,"price":0}]]`,
		}
		for _, data := range good {
			decode[order](t, `{`+data+`,`+fixed+`}`, opts)
		}
		bad := []struct{ data, want string }{
			{`"lines":[{"sku":"A","count":1,"price":10},{"sku":"B","count":1,"price":11}]`,
				"/lines/1 readOnly"},
			{`"ptrs":[{"sku":"D","count":4,"price":10}]`, "/ptrs/0 readOnly"},
			{`"grid":[[{"sku":"G","count":1,"price":70}]]`, "/grid/0/0 readOnly"},
			{`"byKey":{"e":{"sku":"E","count":1,"price":51}}`, "/byKey/e/price readOnly"},
			{`"byKey":{"new":{"sku":"E","count":1,"price":50}}`, "/byKey/new/price readOnly"},
		}
		for _, tt := range bad {
			if diff := cmp.Diff([]string{tt.want},
				found[order](t, `{`+tt.data+`,`+fixed+`}`, opts)); diff != "" {
				t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, tt.data, diff)
			}
		}
		moved := `{"fixed":[{"sku":"F","count":6,"price":61}]}`
		if diff := cmp.Diff([]string{"/fixed readOnly"}, found[order](t, moved, opts)); diff != "" {
			t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, moved, diff)
		}
	}
	if diff := cmp.Diff([]string{"/lines/0/price readOnly", "/fixed readOnly"},
		found[order](t, `{"lines":[{"sku":"A","price":0}],"fixed":[]}`, nil)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

// TestDecodeReadOnlyOfOptions checks that names in the options apply to the outermost object only,
// even if objects inside it have the same type.
func TestDecodeReadOnlyOfOptions(t *testing.T) {
	t.Parallel()
	type node struct {
		ID   string `json:"id" pattern:"^x"`
		Next *node  `json:"next,omitempty"`
	}
	opts := &schema.DecodeOptions{ReadOnly: []string{"id"}}
	if got := decode[node](t, `{"next":{"id":"x"}}`, opts); got.Next.ID != "x" {
		t.Errorf("the inner id is %q", got.Next.ID)
	}
	if diff := cmp.Diff([]string{"/id readOnly", "/next/id pattern"},
		found[node](t, `{"id":"x","next":{"id":"y"}}`,
			opts)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeSharesNothing(t *testing.T) {
	t.Parallel()
	type holder struct {
		S string          `json:"s"`
		C colour          `json:"c"`
		A any             `json:"a"`
		O opaque          `json:"o"`
		B []byte          `json:"b"`
		M map[string]bool `json:"m"`
	}
	data := []byte(`{"s":"text","c":"red","a":["x",12345678901234567890],"o":[1],"b":"AAAA",` +
		`"m":{"key":true}}`)
	v, err := schema.For[holder]().Decode(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := marshal(t, v)
	for i := range data {
		data[i] = '#'
	}
	if diff := cmp.Diff(before, marshal(t, v)); diff != "" {
		t.Errorf("the value changes with the data (-want +got):\n%s", diff)
	}
}

func TestDecodeManyFields(t *testing.T) {
	t.Parallel()
	// More fields than a machine word has bits.
	many := manyFields(130)
	names := make([]string, 130)
	for i := range names {
		names[i] = `"` + fieldName(i) + `":"v"`
	}
	if _, err := many.Decode([]byte("{"+strings.Join(names, ",")+"}"), nil); err != nil {
		t.Error(err)
	}
	names[129] = `"` + fieldName(0) + `x":"v"`
	_, err := many.Decode([]byte("{"+strings.Join(names, ",")+"}"), nil)
	violations, _ := errors.AsType[schema.Violations](err)
	want := []string{"/" + fieldName(129) + " required", "/" + fieldName(0) + "x unknown"}
	if diff := cmp.Diff(want, codes(t, violations)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

func TestDecodeListsAThousand(t *testing.T) {
	t.Parallel()
	data := "[" + strings.Repeat("null,", 100_000) + "null]"
	if got := len(found[[]int](t, data, nil)); got != 1000 {
		t.Errorf("%d violations are listed, want 1000", got)
	}
}

// TestDecodeFilled checks that a field of DecodeOptions.Filled is neither required nor checked if
// it is absent, and is checked like others if it is present.
func TestDecodeFilled(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID   string `json:"id" required:"true" minLength:"2"`
		Name string `json:"name" required:"true"`
	}
	opts := &schema.DecodeOptions{Filled: []string{"id", "nonsense"}}
	tests := []struct {
		name, doc string
		want      []string
	}{
		{"absent", `{"name":"x"}`, nil},
		{"there and wrong", `{"id":"x","name":"x"}`, []string{"/id minLength"}},
		{"others are still required", `{}`, []string{"/name required"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := schema.For[thing]().Decode([]byte(tt.doc), opts)
			var bad schema.Violations
			errors.As(err, &bad)
			var got []string
			for _, v := range bad {
				got = append(got, v.Pointer+" "+v.Code)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}
