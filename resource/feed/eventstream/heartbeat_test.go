package eventstream_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// diary is a ResponseWriter that records the time of each write, or calls a function instead.
type diary struct {
	http.ResponseWriter
	began time.Time
	lines []string
	then  atomic.Pointer[func() error] // nil: data is written
}

func (d *diary) Write(p []byte) (int, error) {
	if then := d.then.Load(); then != nil {
		return 0, (*then)()
	}
	d.lines = append(d.lines, time.Since(d.began).String()+" "+string(p))
	return len(p), nil
}

func (d *diary) FlushError() error { return nil }

// beating opens a stream with a heartbeat. gone counts the calls of Options.Gone.
func beating(t *testing.T) (d *diary, s *eventstream.Writer, gone *int) {
	t.Helper()
	d, gone = &diary{ResponseWriter: httptest.NewRecorder(), began: time.Now()}, new(int)
	s, err := eventstream.Open(d, &eventstream.Options{Heartbeat: 15 * time.Second, Gone: func() { *gone++ }})
	if err != nil {
		t.Fatal(err)
	}
	return d, s, gone
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, s, gone := beating(t)
		time.Sleep(40 * time.Second)
		if err := s.Event(eventstream.Event{Data: []byte("x")}); err != nil {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		if s.Close() {
			t.Error("a reader that is there was cut off")
		}
		time.Sleep(time.Minute)
		if err := s.Comment(""); err == nil {
			t.Error("something can be sent after the end")
		}
		if diff := cmp.Diff(
			[]string{"15s : \n\n", "30s : \n\n", "40s data: x\n\n", "55s : \n\n"},
			d.lines,
		); diff != "" {
			t.Errorf("what was sent (-want +got):\n%s", diff)
		}
		if *gone != 0 {
			t.Errorf("Gone was called %d times", *gone)
		}
	})
}

// TestHeartbeatDetectsDisconnect: Gone is called once, and Close reports the reason.
func TestHeartbeatDetectsDisconnect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		then func() error
		cut  bool
	}{
		{"disconnected", func() error { return errors.New("broken pipe") }, false},
		{"it has stopped reading", func() error { return os.ErrDeadlineExceeded }, true},
		{"a writer panics", func() error { panic("panic of a middleware") }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d, s, gone := beating(t)
				d.then.Store(&tt.then)
				time.Sleep(time.Minute)
				synctest.Wait()
				if *gone != 1 {
					t.Errorf("Gone was called %d times, want once", *gone)
				}
				if s.Comment("") == nil {
					t.Error("something can still be sent")
				}
				for range 2 {
					if cut := s.Close(); cut != tt.cut {
						t.Errorf("cut off %v, want %v", cut, tt.cut)
					}
				}
			})
		})
	}
}

// TestHeartbeatAfterFailedSend: if a send of the handler fails, Gone is not called.
func TestHeartbeatAfterFailedSend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, s, gone := beating(t)
		stopped := func() error { return os.ErrDeadlineExceeded }
		d.then.Store(&stopped)
		if err := s.Comment(""); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Comment: %v", err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if *gone != 0 || !s.Close() {
			t.Errorf("Gone was called %d times, want never, and Close to report true", *gone)
		}
	})
}
