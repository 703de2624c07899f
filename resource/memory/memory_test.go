package memory_test

import (
	"fmt"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// amount has a field that reflection cannot copy, and its own JSON methods.
type amount struct{ cents *big.Int }

func (a amount) MarshalText() ([]byte, error) { return a.cents.MarshalText() }

func (a *amount) UnmarshalText(text []byte) error {
	a.cents = new(big.Int)
	return a.cents.UnmarshalText(text)
}

type account struct {
	ID      int    `json:"id"`
	Balance amount `json:"balance"`
}

func TestNewNamesTheMistake(t *testing.T) {
	t.Parallel()
	type noID struct {
		Name string `json:"name"`
	}
	type listID struct {
		ID []string `json:"id"`
	}
	type boolID struct {
		ID bool `json:"id"`
	}
	type timeID struct {
		ID time.Time `json:"id"`
	}
	type nullID struct {
		ID *string `json:"id"`
	}
	tests := []struct {
		name string
		call func()
		want []string
	}{
		{"no id field", func() { memory.New[noID](nil) }, []string{"noID", `"id"`}},
		{"other id field", func() { memory.New(&memory.Options[user]{ID: "key"}) },
			[]string{"user", `"key"`}},
		{"natural order", func() {
			resource.New("users", memory.New[user](nil),
				&resource.Options[user]{Query: query.Support{Natural: true}})
		}, []string{"Options.Query.Natural is true", "has no natural order"}},
		{"id is a list", func() { memory.New[listID](nil) }, []string{"listID", `"id"`, "array"}},
		{"id is a bool", func() { memory.New[boolID](nil) },
			[]string{"boolID", `"id"`, "integer or a string"}},
		{"id is a time", func() { memory.New[timeID](nil) },
			[]string{"timeID", `"id"`, "integer or a string"}},
		{"id may be null", func() { memory.New[nullID](nil) },
			[]string{"nullID", `"id"`, "integer or a string"}},
		{"unknown index", func() { memory.New(&memory.Options[user]{Index: []string{"nam"}}) },
			[]string{"user", `"nam"`}},
		{"index without order", func() { memory.New(&memory.Options[note]{Index: []string{"tags"}}) },
			[]string{"note", `"tags"`, "array"}},
		{"no copy", func() { memory.New[account](nil) }, []string{"account", "cents", "Options.Clone"}},
		{"no struct", func() { memory.New[string](nil) }, []string{"string"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				text := fmt.Sprint(recover())
				for _, part := range tt.want {
					if !strings.Contains(text, part) {
						t.Errorf("the panic does not name %s: %s", part, text)
					}
				}
			}()
			tt.call()
		})
	}
}

func TestCloneOption(t *testing.T) {
	t.Parallel()
	s := memory.New(&memory.Options[account]{Clone: func(a account) account {
		a.Balance.cents = new(big.Int).Set(a.Balance.cents)
		return a
	}})
	in := account{Balance: amount{big.NewInt(500)}}
	out := create(t, s, in).Value
	in.Balance.cents.SetInt64(1)
	out.Balance.cents.SetInt64(2)
	got, err := s.Get(t.Context(), "1")
	if err != nil || got.Value.Balance.cents.Int64() != 500 {
		t.Errorf("the balance is %v, %v", got.Value.Balance.cents, err)
	}
}

// embedded is unexported, and its fields are in the JSON all the same.
type embedded struct {
	Labels []string `json:"labels"`
}

// odd has whatever else a deep copy meets.
type odd struct {
	embedded
	ID      int                  `json:"id"`
	At      time.Time            `json:"at"`
	Host    netip.Addr           `json:"host"`
	Pair    [2][]int             `json:"pair"`
	Fixed   [2]int               `json:"fixed"`
	Ages    map[string]int       `json:"ages"`
	Number  *int                 `json:"number"`
	Tree    map[string]*odd      `json:"tree"`
	Empty   []string             `json:"empty"`
	Nil     map[string]*embedded `json:"nil"`
	Any     any                  `json:"any"`
	Dynamic any                  `json:"dynamic"`
	Cannot  any                  `json:"-"`
	hidden  int
}

func TestCopiesAreCompleteAndApart(t *testing.T) {
	t.Parallel()
	fresh := func() odd {
		n := 5
		return odd{embedded: embedded{[]string{"l"}}, ID: 1, At: time.Unix(1, 2),
			Host: netip.MustParseAddr("fe80::1%eth0"),
			Pair: [2][]int{{1}, {2}}, Fixed: [2]int{1, 2}, Ages: map[string]int{"a": 1}, Number: &n,
			Tree: map[string]*odd{"x": {Pair: [2][]int{{3}, nil}}, "nil": nil}, Empty: []string{},
			Dynamic: &[]string{"d"},
			Cannot:  amount{big.NewInt(1)}, hidden: 7}
	}
	spoil := func(o odd) {
		o.Labels[0], o.Pair[0][0], o.Ages["a"], *o.Number = "spoilt", 9, 9, 9
		o.Tree["x"].Pair[0][0], o.Tree["y"] = 9, nil
		(*o.Dynamic.(*[]string))[0] = "spoilt"
	}
	s := memory.New[odd](nil)
	in := fresh()
	out := create(t, s, in).Value
	spoil(in)
	spoil(out)
	got, err := s.Get(t.Context(), "1")
	wantErr(t, "Get", err, nil)
	same := cmp.Options{cmp.AllowUnexported(odd{}),
		cmp.Comparer(func(a, b amount) bool { return a.cents.Cmp(b.cents) == 0 }),
		cmp.Comparer(func(a, b netip.Addr) bool { return a == b })}
	if diff := cmp.Diff(fresh(), got.Value, same); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
}

func TestAllocations(t *testing.T) {
	type flat struct {
		ID   int64     `json:"id"`
		Name string    `json:"name"`
		At   time.Time `json:"at"`
	}
	s := memory.New[flat](nil)
	for range 300 {
		create(t, s, flat{Name: "x"})
	}
	ctx := t.Context()
	for name, tt := range map[string]struct {
		max float64
		run func()
	}{
		"Get":    {0, func() { s.Get(ctx, "7") }},
		"Count":  {0, func() { s.Count(ctx, query.Query{}) }},
		"Create": {8, func() { s.Create(ctx, flat{Name: "y"}) }},
		"List of 100": {12, func() {
			for range s.List(ctx, query.Query{Limit: 100, After: []any{int64(100)},
				Sort: []query.Order{{Field: "id"}}}) {
			}
		}},
	} {
		if got := testing.AllocsPerRun(200, tt.run); got > tt.max {
			t.Errorf("%s allocates %v times, want at most %v", name, got, tt.max)
		}
	}
}
