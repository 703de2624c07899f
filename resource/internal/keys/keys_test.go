package keys_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/schema"
)

type order struct {
	ID       int32     `json:"id"`
	Customer string    `json:"customer"`
	Parent   *int      `json:"parent"`
	Clerk    uint8     `json:"clerk,omitzero"`
	Friends  []string  `json:"friends"`
	Numbers  []int64   `json:"numbers"`
	Placed   time.Time `json:"placed"`
	Secret   string    `json:"secret" writeOnly:"true"`
	Inner    struct{}  `json:"inner"`
	Flags    []bool    `json:"flags"`
}

func field(name string) *schema.Field { return schema.For[order]().Field(name) }

func TestUnfit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		many bool
		fits bool
	}{
		{"customer", false, true}, {"parent", false, true}, {"placed", false, true}, {"friends", true, true},
		{"numbers", true, true}, {"friends", false, false}, {"secret", false, false}, {"inner", false, false},
		{"flags", true, false}, {"unknown", false, false},
	} {
		if why := keys.Unfit(field(tt.name), tt.many); (why == "") != tt.fits {
			t.Errorf("%s, many=%v: %q", tt.name, tt.many, why)
		}
	}
}

func TestReadKeys(t *testing.T) {
	t.Parallel()
	seven := 7
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	v := &order{
		ID:       1,
		Customer: "c",
		Parent:   &seven,
		Clerk:    9,
		Friends:  []string{"b", "a", "b"},
		Numbers:  []int64{-1, 5},
		Placed:   when,
	}
	for _, tt := range []struct {
		field string
		v     *order
		want  []string
	}{
		{"id", v, []string{"1"}},
		{"customer", v, []string{"c"}},
		{"customer", &order{}, []string{}},
		{"parent", v, []string{"7"}},
		{"parent", &order{}, []string{}},
		{"clerk", v, []string{"9"}},
		{"clerk", &order{}, []string{}}, // omitzero
		{"friends", v, []string{"b", "a"}},
		{"numbers", v, []string{"-1", "5"}},
		{"placed", v, []string{"2026-01-02T03:04:05Z"}},
	} {
		r, j := keys.NewReader(field(tt.field)), keys.NewJoin(1)
		r.Read(j, tt.v)
		j.EndItem()
		if diff := cmp.Diff(tt.want, j.Distinct(20, nil)); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", tt.field, diff)
		}
		for _, key := range tt.want {
			if _, ok := j.Find(key); !ok {
				t.Errorf("%s: %q is not found", tt.field, key)
			}
		}
		j.Release()
	}
}

// TestJoin compares joins with a plain loop over all items and rows.
func TestJoin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		limit int
		items [][]string
		rows  []string
	}{
		{"nothing", 20, nil, nil},
		{"one to one", 1, [][]string{{"a"}, {"b"}, {"c"}}, []string{"a", "b", "c"}},
		{"rows in other order", 1, [][]string{{"a"}, {"b"}, {"c"}}, []string{"b", "c", "a"}},
		{"unknown rows", 2, [][]string{{"a"}, {"c"}}, []string{"b", "c", "", "c", "d", "c"}},
		{"one to many", 2, [][]string{{"a"}, {"b"}, {"c"}}, []string{"a", "a", "c", "c", "c"}},
		{"one to many in other order", 2, [][]string{{"a"}, {"b"}, {"c"}}, []string{"a", "c", "c", "a", "b"}},
		{"other order", 1, [][]string{{"c"}, {"a"}, {"b"}}, []string{"b", "c", "a"}},
		{"shared and missing", 1, [][]string{{"a"}, {"b"}, {"a"}, {}}, []string{"a"}},
		{"many keys", 20, [][]string{{"b", "a", "b"}, {"a", "c"}}, []string{"c", "a", "b"}},
		{"many rows", 3, [][]string{{"a"}, {"b"}}, []string{"a", "b", "a", "a", "a", "b"}},
		{"limit of keys", 2, [][]string{{"a", "b", "c"}, {"c"}}, []string{"a", "b", "c"}},
	} {
		compareJoin(t, tt.name, tt.limit, tt.items, tt.rows)
	}
}

// TestJoinRandom compares joins of random items and rows with a plain loop, too.
func TestJoinRandom(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3000 {
		items, rows := make([][]string, r.IntN(6)), make([]string, r.IntN(12))
		for i := range items {
			items[i] = []string{string(rune('a' + i))}
			for n%2 == 1 && r.IntN(3) > 0 { // otherwise each has one key, and they ascend
				items[i] = append(items[i], string(rune('a'+r.IntN(7))))
			}
		}
		for i := range rows {
			rows[i] = string(rune('a' + r.IntN(7)))
		}
		if r.IntN(2) == 0 {
			slices.Sort(rows)
		}
		compareJoin(t, fmt.Sprint(items, rows), 1+r.IntN(3), items, rows)
	}
}

// compareJoin compares a join with a plain loop over all items and rows.
func compareJoin(t *testing.T, name string, limit int, items [][]string, rows []string) {
	t.Helper()
	j := keys.NewJoin(len(items))
	for _, item := range items {
		j.Add(item...)
		j.EndItem()
	}
	ask := j.Distinct(limit, func(key string) bool { return key != "x" })
	if len(ask) != len(slices.Compact(slices.Sorted(slices.Values(ask)))) {
		t.Errorf("%s: keys repeat: %q", name, ask)
	}
	kept := []string{}
	for _, row := range rows {
		if slot, ok := j.Find(row); ok && j.HasRoom(slot, limit) {
			j.Keep(slot)
			kept = append(kept, row)
		}
	}
	j.Assign()
	for i, item := range items {
		want := []int32{}
		for _, key := range firstDistinct(item, limit) {
			for row, of := range kept {
				if of == key && len(want) < limit {
					want = append(want, int32(row))
				}
			}
		}
		if diff := cmp.Diff(want, append([]int32{}, j.Ends(i)...)); diff != "" {
			t.Errorf("%s: rows of item %d (-want +got):\n%s", name, i, diff)
		}
	}
	j.Release()
}

func firstDistinct(all []string, n int) (first []string) {
	for _, key := range all {
		if len(first) < n && !slices.Contains(first, key) {
			first = append(first, key)
		}
	}
	return first
}

func TestDistinctLeavesOutInvalidKeys(t *testing.T) {
	t.Parallel()
	j := keys.NewJoin(1)
	defer j.Release()
	j.Add("1", "01", "2")
	j.EndItem()
	id := keys.NewID(field("id"))
	if diff := cmp.Diff([]string{"1", "2"}, j.Distinct(20, id.Canonical)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestReaderFind(t *testing.T) {
	t.Parallel()
	j := keys.NewJoin(3)
	defer j.Release()
	r := keys.NewReader(field("id"))
	for _, id := range []int32{3, 1, 2} {
		r.Read(j, &order{ID: id})
		j.EndItem()
	}
	j.Distinct(1, nil)
	for want, id := range []int32{3, 1, 2} {
		if slot, ok := r.Find(j, &order{ID: id}); !ok || slot != int32(want) {
			t.Errorf("%d: slot %d, %v", id, slot, ok)
		}
	}
	if _, ok := r.Find(j, &order{ID: 4}); ok {
		t.Error("4 is found")
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	type unsigned struct {
		ID uint64 `json:"id"`
	}
	type text struct {
		ID string `json:"id"`
	}
	signed := keys.NewID(field("id"))
	for _, n := range []int32{0, 1, 10, -5, math.MaxInt32, math.MinInt32} {
		v, want := &order{ID: n}, fmt.Sprint(n)
		if got := signed.Of(
			v,
		); got != want || !signed.Is(v, want) || signed.Is(v, "0"+want) ||
			signed.Is(v, want+"0") {
			t.Errorf("%d: Of is %q, Is is wrong", n, got)
		}
		if !signed.Canonical(want) {
			t.Errorf("%s is not canonical", want)
		}
	}
	for _, s := range []string{"", "-", "+1", "01", "-0", "1.0", "1e3", " 1", strconv.Itoa(math.MaxInt32 + 1)} {
		if signed.Canonical(s) {
			t.Errorf("%q is canonical", s)
		}
	}
	id := keys.NewID(schema.For[unsigned]().Field("id"))
	if v := (&unsigned{math.MaxUint64}); !id.Is(v, "18446744073709551615") || id.Is(v, "1") ||
		id.Canonical("-1") {
		t.Error("an unsigned id is wrong")
	}
	id = keys.NewID(schema.For[text]().Field("id"))
	if v := (&text{"a"}); id.Of(v) != "a" || !id.Is(v, "a") || id.Is(v, "b") || id.Canonical("") ||
		!id.Canonical("01") {
		t.Error("an id of text is wrong")
	}
}

// TestValidOnce checks that Distinct validates each key once, in any order of the keys.
func TestValidOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		keys []string // one for each item
		want []string // the keys that are validated
	}{
		{"ascending", []string{"a", "b", "c"}, []string{"a", "b", "c"}},
		{"descending at the end", []string{"a", "c", "b"}, []string{"a", "c", "b"}},
		{"repeated", []string{"a", "b", "b", "a"}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := keys.NewJoin(len(tt.keys))
			defer j.Release()
			for _, key := range tt.keys {
				j.Add(key)
				j.EndItem()
			}
			var got []string
			asked := j.Distinct(20, func(key string) bool {
				got = append(got, key)
				return key != "a"
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("validated (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want[1:], asked); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}
