package socket_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query/graphql/internal/socket"
)

// read reads what comes to clients of which the first do nothing, until in ends, and says how long results took, from being told
// to being read.
func read(conns []net.Conn, stalled int, in io.Reader) error {
	took := make([][]time.Duration, len(conns))
	var all sync.WaitGroup
	for i := stalled; i < len(conns); i++ {
		all.Go(func() {
			p := &probe{conn: conns[i], r: bufio.NewReaderSize(conns[i], 8192)}
			for f, err := p.next(); err == nil; f, err = p.next() {
				_, text, _ := strings.Cut(string(f.payload), `"data":"`)
				text, _, _ = strings.Cut(text, " ")
				if told, err := strconv.ParseInt(text, 10, 64); err == nil {
					took[i] = append(took[i], time.Since(time.Unix(0, told)))
				}
			}
		})
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, in)
	for _, conn := range conns[stalled:] {
		conn.Close()
	}
	all.Wait()
	if together := slices.Concat(took...); len(together) > 0 {
		slices.Sort(together)
		n := len(together)
		fmt.Printf("%d %d %d\n", n, together[n/2].Microseconds(), together[n*99/100].Microseconds())
	}
	return err
}

// crowded tells so many sockets something again and again, and returns how many results were read and how long that took at
// the median and at the 99th percentile, and how much more memory the server had at its end.
func crowded(t *testing.T, n, stalled, rounds int, pause, write time.Duration) (results int, p50, p99 time.Duration, grown int64) {
	t.Helper()
	c := newCrowd()
	opts := patient()
	opts.Write = write
	s := socket.New(c, opts)
	address, _ := listen(t, s)
	said, end := someStalled(t, address, n, stalled)
	before := measure(t)
	// Until the stalled ones are closed at last: a slow machine does not tell everybody everything, so that it may take longer
	// until they take no more.
	for round := 0; round < rounds || s.Len() > n-stalled; round++ {
		c.tell(fmt.Appendf(nil, `{"data":"%d %s"}`, time.Now().UnixNano(), strings.Repeat("x", 4000)))
		time.Sleep(pause)
	}
	if s.Len() != n-stalled {
		t.Errorf("%d sockets, want %d", s.Len(), n-stalled)
	}
	after := measure(t)
	end()
	var us50, us99 int64
	if _, err := fmt.Fscan(said, &results, &us50, &us99); err != nil {
		t.Error(err)
	}
	return results, time.Duration(us50) * time.Microsecond, time.Duration(us99) * time.Microsecond,
		after.heap + after.stacks - before.heap - before.stacks
}

// TestOthersOfStalled: one socket in a hundred is never read from. They are closed, the others get what they had, and memory
// does not grow. How fast that is depends on the machine, and is only told.
func TestOthersOfStalled(t *testing.T) {
	n, rounds, pairs, pause, write := 200, 100, 1, 20*time.Millisecond, 5*time.Second
	if os.Getenv("SOCKET_TEST_FULL") != "" {
		n, rounds, pairs, pause, write = 1000, 60, 5, 200*time.Millisecond, 10*time.Second
	}
	var ratios []float64
	for range pairs {
		alone, p50, p99, _ := crowded(t, n, 0, rounds, pause, write)
		t.Logf("none stalled: %d results, p50 %v, p99 %v", alone, p50, p99)
		with, sp50, sp99, grown := crowded(t, n, n/100, rounds, pause, write)
		t.Logf("%d of %d stalled: %d results, p50 %v, p99 %v, %+d bytes", n/100, n, with, sp50, sp99, grown)
		ratios = append(ratios, float64(sp99)/float64(p99))
		if with == 0 || alone == 0 {
			t.Error("nobody has read anything")
		}
		if grown > 1<<20 && !raceDetector {
			t.Errorf("%d bytes more than before", grown)
		}
	}
	slices.Sort(ratios)
	t.Logf("p99 with stalled ones to p99 without: %.2f in the median", ratios[len(ratios)/2])
}
