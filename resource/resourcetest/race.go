package resourcetest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource"
)

// race runs fn in n goroutines that start together, and waits for them.
func (k *kit) race(n int, fn func(i int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer k.rec.catch()
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

// duels has all writers do the same n writes, synchronized before each, so that every write is a
// race. It returns the successful writer of each write, and checks that the others received one of
// the expected errors.
func (k *kit) duels(n int, write func(writer, i int) error, second ...error) (winners [][]int) {
	winners = make([][]int, n)
	var mu sync.Mutex
	var arrived atomic.Int64
	k.race(k.Writers, func(w int) {
		defer arrived.Add(1 << 40) // releases the others if this one panics
		for i := range n {
			k.meet(&arrived, int64(k.Writers*(i+1)))
			err := k.persist(func() error { return write(w, i) })
			if err != nil {
				k.wantError(err, "a concurrent write after the successful one", second...)
				continue
			}
			mu.Lock()
			winners[i] = append(winners[i], w)
			mu.Unlock()
		}
	})
	return winners
}

// meet waits until want goroutines have arrived. It spins first, because woken goroutines start one
// after the other. Spinning ones start within nanoseconds, which is needed to hit short race
// windows.
func (k *kit) meet(arrived *atomic.Int64, want int64) {
	arrived.Add(1)
	for turn := 0; arrived.Load() < want && k.ctx.Err() == nil; turn++ {
		switch {
		case turn > 2000: // the others wait for a slow store
			time.Sleep(20 * time.Microsecond)
		case turn%64 == 63:
			runtime.Gosched()
		}
	}
}

// persist repeats a call that fails because the store is busy, as databases are under load.
func (k *kit) persist(call func() error) error {
	const tries = 1000
	err := call()
	for range tries {
		if !errors.Is(err, resource.ErrUnavailable) {
			break
		}
		err = call()
	}
	return err
}
