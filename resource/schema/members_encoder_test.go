package schema_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// Kinds has a field of each kind. An encoder copies it, because all fields are exported.
type Kinds struct {
	Text    string         `json:"text"`
	Status  status         `json:"status"`
	Ptr     *string        `json:"ptr"`
	Int     int            `json:"int"`
	Small   int8           `json:"small"`
	IntPtr  *int32         `json:"intPtr"`
	Told    int64          `json:"told,string"`
	Uint    uint64         `json:"uint"`
	Float   float64        `json:"float"`
	Single  float32        `json:"single"`
	Ok      bool           `json:"ok"`
	When    time.Time      `json:"when"`
	Until   *time.Time     `json:"until"`
	Data    []byte         `json:"data"`
	Tags    []string       `json:"tags"`
	Pair    [2]int16       `json:"pair"`
	Labels  map[string]int `json:"labels"`
	Line    line           `json:"line"`
	LinePtr *line          `json:"linePtr"`
	Any     any            `json:"any"`
	Raw     jsontext.Value `json:"raw"`
}

// hiddenKinds is not copied, because of an unexported field. Its fields are those of an embedded struct.
type hiddenKinds struct {
	Kinds
	Colour colour `json:"colour"`
	hidden int
}

// randomKinds returns a value, some of which cannot be encoded.
func randomKinds(r *rand.Rand) Kinds {
	text := func() string {
		parts := []string{"", "a", "paid", "o000042", "s000001-1", "é", "\"", "\\", "\n", "\u2028", "Nº", "𝄞"}
		if r.IntN(100) == 0 {
			return "\xff"
		}
		out := ""
		for range r.IntN(4) {
			out += parts[r.IntN(len(parts))]
		}
		return out
	}
	number := func() int64 { return int64(r.Uint64() >> r.IntN(64)) }
	when := func() time.Time {
		at := time.Unix(r.Int64N(4e9)-1e9, []int64{0, r.Int64N(1e9)}[r.IntN(2)])
		if r.IntN(100) == 0 {
			at = at.AddDate(9000, 0, 0)
		}
		return at.In([]*time.Location{time.UTC, time.FixedZone("", 5400)}[r.IntN(2)])
	}
	v := Kinds{
		Text: text(), Status: status(text()), Int: int(number()), Small: int8(number()), Told: number(),
		Uint: uint64(number()), Float: math.Float64frombits(r.Uint64()), Single: r.Float32(), Ok: r.IntN(2) == 0,
		When: when(), Pair: [2]int16{int16(number()), 1}, Line: line{SKU: text(), Price: number()},
	}
	if r.IntN(2) == 0 {
		v.Ptr, v.IntPtr, v.Until, v.LinePtr = ptr(text()), ptr(int32(number())), ptr(when()), &line{SKU: text()}
		v.Data, v.Tags, v.Labels = []byte(text()), []string{text(), text()}, map[string]int{text(): 1, "b": 2}
		v.Any, v.Raw = []any{text(), 1.5}, jsontext.Value(`{"z":1}`)
	}
	return v
}

// TestMembersEncoder compares the output for random values of all kinds with that of AppendField, for
// values that are copied and for others, in random selections.
func TestMembersEncoder(t *testing.T) {
	t.Parallel()
	t.Run("copied", func(t *testing.T) {
		t.Parallel()
		compareEncoder(t, func(r *rand.Rand) *Kinds { return ptr(randomKinds(r)) })
	})
	t.Run("read in place", func(t *testing.T) {
		t.Parallel()
		compareEncoder(t, func(r *rand.Rand) *hiddenKinds {
			return &hiddenKinds{Kinds: randomKinds(r), Colour: colour{"red"}, hidden: 1}
		})
	})
}

// TestMembersOfPointer encodes a value of a type that is known as a pointer only.
func TestMembersOfPointer(t *testing.T) {
	t.Parallel()
	type pointed struct {
		Name string `json:"name"`
	}
	typ := schema.For[*pointed]()
	m, err := typ.Members(schema.Labelled{Field: typ.Field("name"), Label: []byte(",")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if got, err := m.Append(nil, &pointed{name}); string(got) != `,"`+name+`"` || err != nil {
			t.Errorf("got %s, %v, want ,%q", got, err, name)
		}
	}
}

func compareEncoder[T any](t *testing.T, random func(r *rand.Rand) *T) {
	typ, r := schema.For[T](), rand.New(rand.NewPCG(3, 4))
	failed, encoded := 0, 0
	for range 300 {
		var list []schema.Labelled
		// One field in a large struct is not copied. Labels have sizes around that of arrays.
		for range 1 + r.IntN(12) {
			name := strconv.FormatUint(r.Uint64()>>r.IntN(64), 2)
			f := typ.Fields[r.IntN(len(typ.Fields))]
			list = append(list, schema.Labelled{Field: f, Label: []byte(`,"` + name[:min(len(name), 30)] + `":`)})
		}
		m, err := typ.Members(list...)
		if err != nil {
			t.Fatal(err)
		}
		e := m.Encoder()
		for range 100 {
			v := random(r)
			dst := append(make([]byte, 0, 6+r.IntN(300)), "before"...)
			want, wantErr := dst[:6:6], error(nil)
			for _, l := range list {
				if want, wantErr = typ.AppendField(append(want, l.Label...), l.Field, v); wantErr != nil {
					want = dst
					break
				}
			}
			got, err := e.Append(dst, v)
			if diff := cmp.Diff(string(want), string(got)); diff != "" || (err == nil) != (wantErr == nil) {
				t.Fatalf("error %v, want %v (-want +got):\n%s", err, wantErr, diff)
			}
			if err != nil {
				failed++
			} else {
				encoded++
			}
		}
		e.Release()
	}
	if failed < 100 || encoded < 1000 {
		t.Errorf("%d values failed and %d were encoded, want more of both", failed, encoded)
	}
}

// counted and visited have fields that are not part of their JSON. The copy of an encoder must not
// read them.
type counted struct {
	Name string `json:"name"`
	Hits int64  `json:"-"`
}

type visits int64

type visited struct {
	Name   string `json:"name"`
	visits `json:"-"`
}

// TestMembersBesideChanges encodes a value while another goroutine changes fields that are not part of
// its JSON. Only the race detector can find that they are read.
func TestMembersBesideChanges(t *testing.T) {
	t.Parallel()
	t.Run("hidden", func(t *testing.T) {
		t.Parallel()
		v := &counted{Name: "a"}
		encodeBeside(t, v, func() { atomic.AddInt64(&v.Hits, 1) })
	})
	t.Run("unexported and embedded", func(t *testing.T) {
		t.Parallel()
		v := &visited{Name: "a"}
		encodeBeside(t, v, func() { atomic.AddInt64((*int64)(&v.visits), 1) })
	})
}

// encodeBeside encodes the name of v while change is called.
func encodeBeside[T any](t *testing.T, v *T, change func()) {
	typ := schema.For[T]()
	m, err := typ.Members(schema.Labelled{Field: typ.Field("name"), Label: []byte(",")})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for range 1000 {
			change()
		}
	})
	defer group.Wait()
	for range 1000 {
		if got, err := m.Append(nil, v); string(got) != `,"a"` || err != nil {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}
