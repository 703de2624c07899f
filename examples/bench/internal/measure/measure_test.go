package measure_test

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		all  []int
		want int
	}{
		{"one", []int{4}, 4},
		{"odd", []int{3, 9, 1}, 3},
		{"even", []int{4, 1, 3, 2}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(tt.all)
			if got := measure.Median(tt.all, cmp.Compare[int]); got != tt.want {
				t.Errorf("Median = %d, want %d", got, tt.want)
			}
			if diff := gocmp.Diff(before, tt.all); diff != "" {
				t.Errorf("argument (-before +after):\n%s", diff)
			}
		})
	}
}

func TestInTurn(t *testing.T) {
	t.Parallel()
	calls := 0
	next := func() (int, error) { calls++; return calls, nil }
	got, err := measure.InTurn(3, next, next)
	if diff := gocmp.Diff([][]int{{1, 3, 5}, {2, 4, 6}}, got); diff != "" || err != nil {
		t.Errorf("%v, results (-want +got):\n%s", err, diff)
	}
	broken := errors.New("broken")
	if _, err := measure.InTurn(3, next, func() (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("InTurn = %v, want the error of the function", err)
	}
}

// TestClient sends two bodies in turn, and checks that the client itself does not allocate.
func TestClient(t *testing.T) {
	var got []string
	c := measure.Client{
		Request: httptest.NewRequest("POST", "/", nil),
		Bodies:  [][]byte{[]byte("a"), []byte("bb")},
	}
	c.Response.Keep = true
	c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength {
			t.Errorf("%d bytes of %d, %v", len(body), r.ContentLength, err)
		}
		w.Header().Set("X", "y")
		w.WriteHeader(http.StatusCreated)
		w.Write(body)
	})
	for range 3 {
		c.Send()
		got = append(got, string(c.Response.Body))
	}
	if diff := gocmp.Diff([]string{"a", "bb", "a"}, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
	if c.Response.Status != http.StatusCreated || c.Response.Bytes != 1 ||
		c.Response.Header().Get("X") != "y" {
		t.Errorf("response = %+v", c.Response)
	}
	fixed := []byte("fixed")
	c.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(fixed) })
	if n := testing.AllocsPerRun(100, c.Send); n > 0 {
		t.Errorf("%v allocations per request", n)
	}
	if c.Response.Status != http.StatusOK || c.Response.Header().Get("X") != "" {
		t.Errorf("the response before is still there: %+v", c.Response)
	}
}

func TestHeapReader(t *testing.T) {
	t.Parallel()
	read := measure.HeapReader()
	if got := read(); got <= 0 {
		t.Errorf("heap of %d bytes", got)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	got, err := measure.Sizes("10,100,1000")
	if diff := gocmp.Diff([]int{10, 100, 1000}, got); diff != "" || err != nil {
		t.Errorf("%v, sizes (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "x", "0", "-1", "10,5", "10,10", "1,,2"} {
		if got, err := measure.Sizes(text); err == nil {
			t.Errorf("Sizes(%q) = %v", text, got)
		}
	}
}

func TestProcessor(t *testing.T) {
	if err := measure.SetBenchTime(time.Millisecond); err != nil {
		t.Fatal(err)
	}
	var kept []byte
	s, err := measure.Processor(func() error { kept = make([]byte, 1000); return nil })
	if err != nil || s.Nanoseconds <= 0 || s.Bytes < int64(len(kept)) {
		t.Errorf("Processor = %+v, %v", s, err)
	}
	broken := errors.New("broken")
	if _, err := measure.Processor(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Processor = %v, want the error of the function", err)
	}
	n, err := measure.Allocs(func() error { kept = make([]byte, 1000); return nil })
	if n != 1 || err != nil {
		t.Errorf("Allocs = %d, %v", n, err)
	}
	if _, err := measure.Allocs(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Allocs = %v, want the error of the function", err)
	}
}
