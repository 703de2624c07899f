package resourcetest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// blobRaceCases test concurrent calls.
func blobRaceCases() []blobCase {
	return []blobCase{
		{
			name: "blob-create-race",
			contract: "If several callers create one id concurrently, exactly one Put succeeds and " +
				"its content is stored. The others return ErrExists.",
			run: blobCreateRace,
		},
		{
			name: "blob-count-race",
			contract: "Concurrent writers that read a blob, change it and put it lose no update. A " +
				"counter ends at the number of successful Puts.",
			run: blobCountRace,
		},
		{
			name: "blob-delete-race",
			contract: "If several callers delete one revision concurrently, exactly one Delete " +
				"succeeds.",
			run: blobDeleteRace,
		},
		{
			name: "blob-content-race",
			contract: "Content, size, media type and digest of an Open are those of one revision, " +
				"also while other callers replace the blob.",
			run: blobContentRace,
		},
		{
			name: "blob-old-content",
			contract: "Opened content remains that of its revision, also after Seek, while the blob " +
				"is replaced or deleted. A download that takes an hour must not mix two files.",
			run: blobOldContent,
		},
	}
}

// race runs fn in k.Writers goroutines, which start together, and waits for them.
func (k *blobKit) race(fn func(writer int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for w := range k.Writers {
		wg.Go(func() {
			defer k.rec.catch()
			<-start
			fn(w)
		})
	}
	close(start)
	wg.Wait()
}

// blobCreateRace checks that one of several concurrent creations succeeds.
func blobCreateRace(k *blobKit) {
	for range 20 {
		id := string(rune('a'+k.rng.IntN(26))) + string(resource.NewRev())
		var winners, arrived atomic.Int64
		var winner atomic.Int64
		var stored atomic.Pointer[blob.Blob]
		k.race(func(w int) {
			// ends when all writers have read this far or have failed with ErrExists
			together := readerFunc(func([]byte) (int, error) {
				arrived.Add(1)
				soon(func() bool { return arrived.Load() >= int64(k.Writers) })
				return 0, io.EOF
			})
			b, err := k.store.Put(k.ctx, id, "", "text/plain",
				io.MultiReader(bytes.NewReader([]byte{byte(w)}), together))
			if err != nil {
				arrived.Add(1)
				k.wantError(err, "a concurrent Put that did not create the id", resource.ErrExists)
				return
			}
			winners.Add(1)
			winner.Store(int64(w))
			stored.Store(b)
		})
		if n := winners.Load(); n != 1 {
			k.fatalf("%d of %d concurrent Puts created %q, want 1", n, k.Writers, id)
		}
		k.holds(id, stored.Load(), []byte{byte(winner.Load())})
	}
}

// blobCountRace checks that concurrent conditional writes lose no update.
func blobCountRace(k *blobKit) {
	const rounds = 10
	k.put("count", "", make([]byte, 8))
	var arrived atomic.Int64
	// ends when another Put has read this far, or after 1,000 turns
	together := readerFunc(func([]byte) (int, error) {
		mine := arrived.Add(1)
		for turn := 0; arrived.Load() == mine && turn < 1000; turn++ {
			runtime.Gosched()
		}
		return 0, io.EOF
	})
	k.race(func(int) {
		for done := 0; done < rounds && k.ctx.Err() == nil; {
			b := k.open("count")
			text, err := io.ReadAll(b.Content)
			b.Content.Close()
			if err != nil && k.Volatile {
				continue
			}
			if err != nil || len(text) != 8 {
				k.fatalf("reading the counter returned %d bytes and error %v, want 8 bytes", len(text), err)
			}
			next := binary.BigEndian.AppendUint64(nil, binary.BigEndian.Uint64(text)+1)
			switch _, err := k.store.Put(k.ctx, "count", b.Rev, "text/plain",
				io.MultiReader(bytes.NewReader(next), together)); {
			case err == nil:
				done++
			case !errors.Is(err, resource.ErrStale):
				k.fatalf("Put of the counter returned %v, want nil or ErrStale", err)
			}
		}
	})
	b := k.open("count")
	defer b.Content.Close()
	text, err := io.ReadAll(b.Content)
	if want := uint64(rounds * k.Writers); err != nil || binary.BigEndian.Uint64(text) != want {
		k.errorf("the counter is %x (error %v), want %d, the number of successful Puts", text, err, want)
	}
}

// blobDeleteRace checks that one of several concurrent deletions succeeds.
func blobDeleteRace(k *blobKit) {
	for range 20 {
		id := string(resource.NewRev())
		b := k.put(id, "", []byte("x"))
		var winners atomic.Int64
		k.race(func(int) {
			err := k.store.Delete(k.ctx, id, b.Rev)
			if err == nil {
				winners.Add(1)
				return
			}
			k.wantError(err, "a concurrent Delete after the successful one", k.gone())
		})
		if n := winners.Load(); n != 1 {
			k.errorf("%d of %d concurrent Deletes of %q succeeded, want 1", n, k.Writers, id)
		}
		k.absent(id, k.gone())
	}
}

// blobContentRace stores contents with a first byte that determines their length and media type, so
// a reader detects a mixture. The writer waits for an Open between two Puts. Otherwise it might
// finish before the first reader starts.
func blobContentRace(k *blobKit) {
	kind := func(n byte) string { return fmt.Sprintf("text/x-%d", n) }
	content := func(n byte) []byte { return bytes.Repeat([]byte{n}, 10_000*(int(n)%4+1)+int(n)) }
	put := func(rev resource.Rev, n byte) resource.Rev {
		b, err := k.store.Put(k.ctx, "thing", rev, kind(n), bytes.NewReader(content(n)))
		if err != nil {
			k.fatalf("Put failed: %v", err)
		}
		return b.Rev
	}
	first := put("", 0)
	var done atomic.Bool
	var opens atomic.Int64
	var wg sync.WaitGroup
	wg.Go(func() {
		defer k.rec.catch()
		defer done.Store(true)
		rev := first
		for n := byte(1); n <= 20; n++ {
			before := opens.Load()
			soon(func() bool { return opens.Load() > before })
			rev = put(rev, n)
		}
	})
	k.race(func(int) {
		for ; !done.Load(); linger() { // a busy loop could starve the writer
			opens.Add(1)
			b := k.open("thing")
			text, err := io.ReadAll(b.Content)
			b.Content.Close()
			if err != nil {
				if !k.Volatile {
					k.fatalf("reading the content failed: %v", err)
				}
				continue
			}
			k.sameSum(b, text, "Open")
			if len(text) == 0 || !bytes.Equal(text, content(text[0])) || b.MediaType != kind(text[0]) ||
				b.Size != int64(len(text)) {
				k.fatalf("Open mixed revisions: media type %q, size %d, content %s",
					b.MediaType, b.Size, excerpt(text))
			}
		}
	})
	wg.Wait()
}

// soon waits until happened returns true, for at most about 200 turns, because with some stores it
// never does. The later turns sleep: a loop that only yields keeps a processor, and the awaited
// goroutine may be queued on another processor that the operating system has preempted.
func soon(happened func() bool) {
	for turn := 0; turn < 200 && !happened(); turn++ {
		if turn < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// blobOldContent checks that opened content does not change after a write.
func blobOldContent(k *blobKit) {
	old := k.random(300_000)
	b := k.put("thing", "", old)
	read, unread := k.open("thing"), k.open("thing")
	defer read.Content.Close()
	defer unread.Content.Close()
	head := make([]byte, 1000)
	if _, err := io.ReadFull(read.Content, head); err != nil {
		k.fatalf("reading the content failed: %v", err)
	}
	check := func(when string, o *blob.Blob, from int64) {
		if _, err := o.Content.Seek(from, io.SeekStart); err != nil {
			if !k.Volatile {
				k.errorf("Seek in opened content failed after the blob %s: %v", when, err)
			}
			return
		}
		rest, err := io.ReadAll(o.Content)
		switch {
		case !bytes.HasPrefix(old[from:], rest):
			k.errorf("opened content changed after the blob %s: %s, want %s",
				when, excerpt(rest), excerpt(old[from:]))
		case err == nil && len(rest) != len(old[from:]):
			k.errorf("opened content was cut after the blob %s: %d bytes, want %d",
				when, len(rest), len(old[from:]))
		case err != nil && !k.Volatile:
			k.errorf("reading opened content failed after the blob %s: %v", when, err)
		}
	}
	next := k.put("thing", b.Rev, k.random(300_000))
	check("was replaced", read, 200_000)
	check("was replaced", unread, 1)
	if err := k.store.Delete(k.ctx, "thing", next.Rev); err != nil {
		k.fatalf("Delete failed: %v", err)
	}
	check("was deleted", read, 1000)
}
