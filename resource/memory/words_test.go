package memory_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// page is an item with two searched fields, one of which can be null.
type page struct {
	ID    int64   `json:"id" readOnly:"true"`
	Title string  `json:"title"`
	Body  *string `json:"body"`
	Kind  string  `json:"kind"`
}

var (
	pageWords    = strings.Fields("tea teapot green Green GREENER leaf leaves ΟΔΟΣ οδός a ab abc 7 77")
	pageSearches = []string{"tea", "tea*", "green tea", `"green tea"`, "-tea leaf", "a* -abc", "tea OR leaf", "οδος",
		"absent", "absent OR 7*", "absent tea", "green* teapot OR leaves", "t*"}
)

func randomPage(rng *rand.Rand) page {
	text := func() string {
		words := make([]string, rng.IntN(4))
		for i := range words {
			words[i] = pageWords[rng.IntN(len(pageWords))]
		}
		return strings.Join(words, " ")
	}
	p := page{Title: text(), Kind: string('a' + rune(rng.IntN(3)))}
	if body := text(); rng.IntN(3) > 0 {
		p.Body = &body
	}
	return p
}

// TestWordIndex compares searches of two stores after the same random writes, some of which are undone. One
// has an index of words.
func TestWordIndex(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	newID := func() func() string { n := 0; return func() string { n++; return fmt.Sprint(n) } }
	plain := memory.New(&memory.Options[page]{NewID: newID()})
	indexed := memory.New(&memory.Options[page]{NewID: newID(), Index: []string{"kind"},
		Search: []string{"body", "title"}})
	stores := []*memory.Store[page]{plain, indexed}
	for round := range 400 {
		operation, id, value := rng.IntN(4), fmt.Sprint(1+rng.IntN(60)), randomPage(rng)
		undo := rng.IntN(5) == 0
		for _, s := range stores {
			err := s.Transactions().InTx(t.Context(), func(ctx context.Context) error {
				if err := change(ctx, s, operation, id, value); err != nil {
					return err
				}
				if undo {
					return errUndo
				}
				return nil
			})
			if err != nil && !errors.Is(err, errUndo) && !errors.Is(err, resource.ErrNotFound) &&
				!errors.Is(err, resource.ErrGone) {
				t.Fatal(err)
			}
		}
		for _, text := range pageSearches {
			search, err := query.ParseSearch(text)
			if err != nil {
				t.Fatal(err)
			}
			search.Fields = [][]string{{"title", "body"}, {"title"}, {"kind", "title"}}[rng.IntN(3)]
			q := query.Query{Search: search, Sort: []query.Order{{Field: query.Rank, Desc: true}, {Field: "id"}}}
			if rng.IntN(2) == 0 {
				q.Filter = query.Where("kind", query.Eq, "b")
			}
			want, got := searched(t, plain, q), searched(t, indexed, q)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("round %d, %s in %v (-want +got):\n%s", round, text, search.Fields, diff)
			}
		}
	}
}

func change(ctx context.Context, s *memory.Store[page], operation int, id string, v page) error {
	if operation < 2 {
		_, err := s.Create(ctx, v)
		return err
	}
	it, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if operation == 2 {
		return s.Delete(ctx, id, it.Rev)
	}
	v.ID = it.Value.ID
	_, err = s.Replace(ctx, id, it.Rev, v)
	return err
}

// searched returns the ids, ranks and titles that a store finds.
func searched(t *testing.T, s *memory.Store[page], q query.Query) (found []string) {
	t.Helper()
	for it, err := range s.Search(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, fmt.Sprint(it.ID, it.Keys[0], it.Value.Title))
	}
	return found
}

func TestUnknownSearchField(t *testing.T) {
	t.Parallel()
	defer func() {
		const want = "memory: memory_test.page has no field to search with the JSON name \"text\""
		if diff := cmp.Diff(any(want), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	memory.New(&memory.Options[page]{Search: []string{"text"}})
}

// BenchmarkSearch searches 100,000 items for a word of 100 and for a word of half of them.
func BenchmarkSearch(b *testing.B) {
	for _, fields := range [][]string{nil, {"title"}} {
		s := memory.New(&memory.Options[page]{Search: fields})
		for i := range 100_000 {
			title := fmt.Sprintf("page %d of the %s book %d", i, [...]string{"green", "red"}[i%2], i%1000)
			if _, err := s.Create(b.Context(), page{Title: title}); err != nil {
				b.Fatal(err)
			}
		}
		for _, text := range []string{"book 777", "green"} {
			search, err := query.ParseSearch(text)
			if err != nil {
				b.Fatal(err)
			}
			search.Fields = []string{"title"}
			q := query.Query{Search: search, Limit: 20,
				Sort: []query.Order{{Field: query.Rank, Desc: true}, {Field: "id"}}}
			b.Run(fmt.Sprintf("index=%t/%s", fields != nil, text), func(b *testing.B) {
				for b.Loop() {
					n := 0
					for _, err := range s.Search(b.Context(), q) {
						if err != nil {
							b.Fatal(err)
						}
						n++
					}
					if n != 20 {
						b.Fatalf("%d found", n)
					}
				}
			})
		}
	}
}
