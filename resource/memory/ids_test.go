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

func TestUnsignedIDs(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID uint64 `json:"id"`
	}
	s := memory.New[thing](nil)
	ctx := t.Context()
	for _, id := range []string{"18446744073709551614", "9223372036854775807", "2"} {
		_, err := s.Insert(ctx, id, thing{})
		wantErr(t, "Insert "+id, err, nil)
	}
	if got := create(t, s, thing{}).ID; got != "18446744073709551615" {
		t.Errorf("the next id is %s", got)
	}
	want := "2 9223372036854775807 18446744073709551614 18446744073709551615"
	if got := ids(t, s.List(ctx, query.Query{})); got != want {
		t.Errorf("by id the store has %s, want %s", got, want)
	}
}

func TestIntegerIDsUsedUp(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID int8 `json:"id"`
	}
	s := memory.New[thing](nil)
	_, err := s.Insert(t.Context(), "127", thing{})
	wantErr(t, "Insert", err, nil)
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
