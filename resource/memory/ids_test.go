package memory_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestIntegerIDsGoOn(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	ctx := t.Context()
	insert := func(id string) {
		item, err := s.Insert(ctx, id, user{Email: "inserted " + id})
		if err != nil || item.ID != id || strconv.FormatInt(item.Value.ID, 10) != id {
			t.Fatalf("Insert(%q): %+v, %v", id, item, err)
		}
	}
	var got []string
	next := func() resource.Item[user] {
		item := create(t, s, user{Email: "created " + strconv.Itoa(len(got))})
		got = append(got, item.ID)
		return item
	}
	next()
	insert("10")
	next()
	insert("-5")
	insert("0")
	insert("3")
	last := next()
	wantErr(t, "Delete", s.Delete(ctx, last.ID, last.Rev), nil)
	next()
	for i, want := range []string{"1", "11", "12", "13"} {
		if got[i] != want {
			t.Errorf("created id %d is %s, want %s", i, got[i], want)
		}
	}
	if got := ids(t, s.List(ctx, query.Query{})); got != "-5 0 1 3 10 11 13" {
		t.Errorf("by id the store has %s", got)
	}
	for _, id := range []string{"01", "+1", " 1", "1.0", "x", "", "9223372036854775808"} {
		_, err := s.Insert(ctx, id, user{Email: "refused"})
		if errText(err) != "the value of id is not valid: format" {
			t.Errorf("Insert(%q): %v", id, err)
		}
	}
}

// TestChosenIDsLeaveNumbers: a chosen id does not move new ids out of the reach of the type, or of exact
// numbers in JavaScript, and new ids skip those that were chosen.
func TestChosenIDsLeaveNumbers(t *testing.T) {
	t.Parallel()
	type tiny struct {
		ID int8 `json:"id"`
	}
	type small struct {
		ID int32 `json:"id"`
	}
	type large struct {
		ID int64 `json:"id"`
	}
	type unsigned struct {
		ID uint64 `json:"id"`
	}
	tests := []struct {
		name   string
		create func(*testing.T, ...string) string
		chosen []string
		want   string
	}{
		{"int8, largest", createdAfter[tiny], []string{"127"}, "1"},
		{"int8, half", createdAfter[tiny], []string{"64"}, "65"},
		{"int8, taken", createdAfter[tiny], []string{"65", "66", "64"}, "67"},
		{"int32, largest", createdAfter[small], []string{"7", "2147483647"}, "8"},
		{"int64, largest", createdAfter[large], []string{"9223372036854775807"}, "1"},
		{"int64, not exact in JavaScript", createdAfter[large], []string{"9007199254740991"}, "1"},
		{"int64, exact", createdAfter[large], []string{"4503599627370496"}, "4503599627370497"},
		{"uint64, largest", createdAfter[unsigned], []string{"2", "18446744073709551615"}, "3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.create(t, tt.chosen...)); diff != "" {
				t.Errorf("created id (-want +got):\n%s", diff)
			}
		})
	}
}

// createdAfter returns the id of an item that is created after others with chosen ids.
func createdAfter[T any](t *testing.T, chosen ...string) string {
	s := memory.New[T](nil)
	var zero T
	for _, id := range chosen {
		_, err := s.Insert(t.Context(), id, zero)
		wantErr(t, "Insert "+id, err, nil)
	}
	return create(t, s, zero).ID
}

func TestIntegerIDsUsedUp(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID int8 `json:"id"`
	}
	s := memory.New[thing](nil)
	for range 127 {
		create(t, s, thing{})
	}
	if _, err := s.Create(t.Context(), thing{}); err == nil {
		t.Error("Create has found an id where there is none")
	}
}

func TestStringIDs(t *testing.T) {
	t.Parallel()
	s := memory.New[note](nil)
	version7 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	last := ""
	synctest.Test(t, func(t *testing.T) { // the clock does not advance while a goroutine runs
		s := memory.New[note](nil)
		for i := range 10_000 {
			id := create(t, s, note{}).ID
			if !version7.MatchString(id) {
				t.Fatalf("%s is no UUID of version 7", id)
			}
			if id <= last {
				t.Fatalf("%s was made after %s", id, last)
			}
			if last = id; i%1_000 == 0 {
				time.Sleep(time.Microsecond)
			}
		}
		// synctest begins in 2000, 0xdc6acfac00 milliseconds after 1970
		if !strings.HasPrefix(last, "00dc6acf-ac0") {
			t.Errorf("%s does not begin with the time", last)
		}
	})
	for _, id := range []string{"é", "z", "Z", "10", "9"} {
		_, err := s.Insert(t.Context(), id, note{})
		wantErr(t, "Insert "+id, err, nil)
	}
	got := ids(t, s.List(t.Context(), query.Query{After: []any{"1"}, Sort: []query.Order{{Field: "id"}}}))
	if got != "10 9 Z z é" {
		t.Errorf("by id the store has %s, want the order of code points", got)
	}
}

// TestNewIDOptions covers ids which the program chooses, and the one mistake that can be made about them.
func TestNewIDOptions(t *testing.T) {
	t.Parallel()
	next := 40
	s := memory.New(&memory.Options[user]{NewID: func() string { next++; return strconv.Itoa(next) }})
	_, err := s.Insert(t.Context(), "41", user{})
	wantErr(t, "Insert", err, nil)
	if got := create(t, s, user{Email: "ann"}).ID; got != "42" {
		t.Errorf("the id is %s, want the first one that is free, 42", got)
	}

	stuck := memory.New(&memory.Options[note]{NewID: func() string { return "same" }})
	create(t, stuck, note{})
	if _, err := stuck.Create(t.Context(), note{}); err == nil {
		t.Error("Create has stored two items under one id")
	}
	unfit := memory.New(&memory.Options[user]{NewID: func() string { return "x" }})
	if _, err := unfit.Create(t.Context(), user{}); err == nil {
		t.Error("Create has stored an item under an id that its field cannot hold")
	}
}

func TestIDFieldOption(t *testing.T) {
	t.Parallel()
	type country struct {
		Code string `json:"code"`
		ID   []byte `json:"id"` // not the id field, and not fit to be
	}
	s := memory.New(&memory.Options[country]{ID: "code"})
	item, err := s.Insert(t.Context(), "GR", country{})
	if err != nil || item.Value.Code != "GR" {
		t.Errorf("Insert: %+v, %v", item, err)
	}
}

// TestCreateAmongInserts takes the ids that Create was about to use.
func TestCreateAmongInserts(t *testing.T) {
	t.Parallel()
	s := memory.New[struct {
		ID int `json:"id"`
	}](nil)
	var creators sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for range 2 {
		creators.Go(func() {
			for range 500 {
				if _, err := s.Create(t.Context(), struct {
					ID int `json:"id"`
				}{}); err != nil {
					t.Errorf("Create: %v", err)
				}
			}
		})
	}
	var inserter sync.WaitGroup
	inserter.Go(func() {
		for n := 1; ctx.Err() == nil && n < 100_000; n++ {
			s.Insert(ctx, strconv.Itoa(n), struct {
				ID int `json:"id"`
			}{}) // whether or not it is free
		}
	})
	creators.Wait()
	stop()
	inserter.Wait()
	all, err := collect(s.List(t.Context(), query.Query{}))
	if err != nil || len(all) < 1_000 {
		t.Errorf("%d items, %v; want those of every Create", len(all), err)
	}
}
