package cache_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/cache"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c := cache.New(1 << 20)
	a, b := cache.NewShape(), cache.NewShape()
	keys := []cache.Key{{a, "1", "1"}, {a, "1", "2"}, {a, "2", "1"}, {b, "1", "1"}, {a, "11", "1"}, {a, "1", "11"}}
	for i, k := range keys {
		if got := c.Get(k); got != nil {
			t.Errorf("%v: %s before it was put", k, got)
		}
		item := fmt.Appendf(nil, "%d", i)
		c.Put(k, item)
		item[0] = 'x' // the caller uses its memory again
	}
	c.Put(keys[0], []byte("another"))
	for i, k := range keys {
		if diff := cmp.Diff(fmt.Sprint(i), string(c.Get(k))); diff != "" {
			t.Errorf("%v (-want +got):\n%s", k, diff)
		}
	}
	got := c.Stats()
	if got.Bytes <= 0 {
		t.Errorf("%d bytes", got.Bytes)
	}
	got.Bytes = 0
	if diff := cmp.Diff(cache.Stats{Hits: 6, Misses: 6, Items: 6}, got); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

// TestText checks that a text finds what was put with its key, and nothing else. It is not parallel
// because of AllocsPerRun.
func TestText(t *testing.T) {
	c := cache.New(1 << 20)
	a, b := cache.NewShape(), cache.NewShape()
	text := []byte("1\x00a\x002\x00b\x00")
	c.PutText(a, text, []byte("page"), 3)
	for i := range 48 {
		got, touch := c.GetText(a, text)
		if string(got) != "page" || touch != (i%16 == 15) {
			t.Errorf("the text has %q, want page; touch is %t after %d uses", got, touch, i)
		}
	}
	if got, _ := c.GetText(b, text); got != nil {
		t.Errorf("the text in another shape has %q", got)
	}
	text[0] = '2'
	if got, _ := c.GetText(a, text); got != nil {
		t.Errorf("another text has %q", got)
	}
	if diff := cmp.Diff(cache.Stats{Hits: 3 * 48, Items: 1, Bytes: c.Stats().Bytes}, c.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if n := testing.AllocsPerRun(100, func() { c.GetText(a, text) }); n > 0 {
		t.Errorf("GetText allocates %v objects", n)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	c := cache.New(limit)
	s := cache.NewShape()
	c.Put(cache.Key{Shape: s, ID: "large", Rev: "1"}, make([]byte, limit/16))
	if c.Get(cache.Key{Shape: s, ID: "large", Rev: "1"}) != nil {
		t.Error("an item of more than a sixteenth of the limit is kept")
	}
	texts := cache.NewShape()
	for n := limit/16 - 300; n < limit/16; n++ {
		text := fmt.Appendf(nil, "text of %04d bytes", n)
		c.PutText(texts, text, make([]byte, n), 2)
		kept, _ := c.GetText(texts, text)
		if fits := c.Fits(len(text) + n); fits != (kept != nil) {
			t.Fatalf("Fits of %d bytes is %t, but it is kept: %t", n, fits, kept != nil)
		}
	}
	key := func(i int) cache.Key { return cache.Key{Shape: s, ID: fmt.Sprint(i), Rev: "1"} }
	c.Put(key(2), []byte("first"))
	for i := range 10_000 {
		c.Put(key(i), make([]byte, i%100))
		c.Get(key(0)) // it is used all the time
		c.Put(key(2), nil)
		if got := c.Stats().Bytes; got > limit {
			t.Fatalf("%d bytes after %d items, want at most %d", got, i, limit)
		}
	}
	if c.Get(key(0)) == nil || string(c.Get(key(2))) != "first" {
		t.Error("the item that is used most was discarded")
	}
	if c.Get(key(1)) != nil {
		t.Error("the oldest item is kept")
	}
	c.Put(cache.Key{Shape: s, ID: "1"}, []byte("without a revision"))
	if c.Get(cache.Key{Shape: s, ID: "1"}) != nil {
		t.Error("an item without a revision is kept")
	}
	if got := c.Stats(); got.Bytes < limit/2 || got.Items < 100 {
		t.Errorf("the cache keeps %+v of a limit of %d bytes", got, limit)
	}
}

// TestNewItems checks that items that are not used are discarded in about the order in which they were put.
func TestNewItems(t *testing.T) {
	t.Parallel()
	const items = 10_000
	c := cache.New(200_000)
	s := cache.NewShape()
	key := func(i int) cache.Key { return cache.Key{Shape: s, ID: fmt.Sprint(i), Rev: "1"} }
	for i := range items {
		c.Put(key(i), []byte("item"))
	}
	size := c.Stats().Items
	kept := func(from, to int) (n int) {
		for i := from; i < to; i++ {
			if c.Get(key(i)) != nil {
				n++
			}
		}
		return n
	}
	if got := kept(items-size/4, items); got < size/4*9/10 { // the shards do not have equal shares
		t.Errorf("%d of the newest %d items are kept", got, size/4)
	}
	if got := kept(0, items-4*size); got > 0 {
		t.Errorf("%d of the oldest %d items are kept, of %d in all", got, items-4*size, size)
	}
}

// TestWholeLimit checks that the items of similar keys use most of the limit.
func TestWholeLimit(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	keys := map[string]func(i int) (id, rev string){
		"decimal ids":         func(i int) (string, string) { return fmt.Sprint(i), "7" },
		"ids with one suffix": func(i int) (string, string) { return fmt.Sprintf("%d-eu", i), "1" },
		"system columns":      func(i int) (string, string) { return fmt.Sprint(i * 10), fmt.Sprintf("7(0,%d)", i) },
	}
	for name, key := range keys {
		c := cache.New(limit)
		s := cache.NewShape()
		for i := range 20_000 {
			id, rev := key(i)
			c.Put(cache.Key{Shape: s, ID: id, Rev: rev}, make([]byte, 100))
		}
		if got := c.Stats().Bytes; got < limit*9/10 || got > limit {
			t.Errorf("%s: %d bytes of %d", name, got, limit)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	c := cache.New(1 << 20)
	s := cache.NewShape()
	var all sync.WaitGroup
	for worker := range 8 {
		random := rand.New(rand.NewPCG(1, uint64(worker)))
		all.Go(func() {
			for range 5000 {
				text := fmt.Sprint(random.IntN(9000))
				k := cache.Key{Shape: s, ID: text, Rev: text}
				if got := c.Get(k); got != nil && string(got) != text {
					t.Errorf("%s has the item %s", text, got)
				}
				c.Put(k, []byte(text))
			}
		})
	}
	all.Wait()
}

func BenchmarkGet(b *testing.B) {
	c := cache.New(32 << 20)
	s := cache.NewShape()
	var keys []cache.Key
	for i := range 1000 {
		k := cache.Key{Shape: s, ID: fmt.Sprint(i), Rev: fmt.Sprint(i)}
		c.Put(k, make([]byte, 140))
		keys = append(keys, k)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Get(keys[i%1000])
	}
}
