package transportws_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// TestShutdown checks which messages clients receive during a shutdown.
func TestShutdown(t *testing.T) {
	t.Parallel()
	const goingAway = "x 1001 Going away"
	next := func(id, data string) string {
		return `< {"id":"` + id + `","type":"next","payload":{"data":` + data + `}}`
	}
	tests := []struct {
		name          string
		before, after []string
		said          []string
	}{
		{"nothing is asked", []string{"="}, []string{goingAway}, nil},
		{"before the connection", nil, []string{goingAway}, nil},
		{"a stream is not completed", []string{startMessage("1", "stream next 1; wait"), next("1", "1")},
			[]string{goingAway},
			[]string{"wait: transportws: the server is shutting down"}},
		{"a stream has a last word", []string{startMessage("1", "stream wait; next 2")},
			[]string{next("1", "2"), goingAway},
			[]string{"wait: transportws: the server is shutting down"}},
		{"a stream is refused at last", []string{startMessage("1", "stream wait; refuse no")},
			[]string{`< {"id":"1","type":"error","payload":[{"message":"no"}]}`, goingAway},
			[]string{"wait: transportws: the server is shutting down"}},
		{"a stream that yields a result after its context was canceled", []string{startMessage("1", "stream wait!")},
			[]string{goingAway},
			nil},
		{"a stream that has just begun", []string{startMessage("1", "stream sleep 1h"), "="}, []string{goingAway},
			nil},
		{"a stream that is not yet known to be one", []string{startMessage("1", "1s plan stream wait"), "="},
			[]string{goingAway, "@ 1s"},
			[]string{"wait: transportws: the server is shutting down"}},
		{"a query is answered", []string{startMessage("1", "sleep 3s; next 1")},
			[]string{"= ", ". 2999ms", "=", ". 1ms", next("1", "1"), `< {"id":"1","type":"complete"}`,
				goingAway}, nil},
		{"a query that takes too long", []string{startMessage("1", "sleep 1h; next 1")},
			[]string{". 4999ms", "=", ". 1ms", goingAway, "@ 5s"}, nil},
		{"no operation begins any more", []string{startMessage("1", "sleep 3s")},
			[]string{startMessage("2", "next 2"), "=", ". 3s",
				`< {"id":"1","type":"complete"}`, goingAway}, nil},
		{"pings are answered", []string{startMessage("1", "sleep 3s")},
			[]string{`> {"type":"ping"}`, `< {"type":"pong"}`, ". 3s",
				`< {"id":"1","type":"complete"}`, goingAway}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				p := s.dial(t)
				if tt.before != nil {
					p.talk(initMessage, ackMessage)
				}
				p.talk(tt.before...)
				synctest.Wait()
				if err := s.HTTP.Shutdown(t.Context()); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // Shutdown of an HTTP server does not wait for sockets
				p.talk(tt.after...)
				p.write(fin|closing, nil)
				p.ended()
				if diff := cmp.Diff(tt.said, s.Script.recorded()); diff != "" {
					t.Errorf("what the operation saw (-want +got):\n%s", diff)
				}
				if s.Len() != 0 {
					t.Errorf("%d sockets are left", s.Len())
				}
			})
		})
	}
}

// TestShutdownOfOneServer checks that the shutdown of one of two HTTP servers closes its own sockets
// only.
func TestShutdownOfOneServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		first := s.HTTP
		one := s.connect(t)
		s.listen(t)
		other := s.connect(t)
		if err := first.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		one.talk("x 1001 Going away")
		other.talk("=", `> {"type":"ping"}`, `< {"type":"pong"}`)
		s.connect(t)
	})
}

// TestShutdownWaits checks that Shutdown returns when all sockets are closed or its context is
// done.
func TestShutdownWaits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		query string
		may   time.Duration
		want  time.Duration
		err   error
		left  int
	}{
		{"a query", "sleep 2s", 10 * time.Second, 2 * time.Second, nil, 0},
		{"one that takes too long", "sleep 1h", 10 * time.Second, 5 * time.Second, nil, 0},
		{"it may not wait", "sleep 1h", time.Second, time.Second, context.DeadlineExceeded, 0},
		{"an operation that does not notice", "stream deaf 20s", 10 * time.Second, 10 * time.Second,
			context.DeadlineExceeded, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite(t, nil)
				p := s.connect(t)
				p.talk(startMessage("1", tt.query), "=")
				go func() {
					for f := range p.frames {
						if f.head == fin|closing {
							p.write(fin|closing, nil)
						}
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), tt.may)
				defer cancel()
				began := time.Now()
				if err := s.Shutdown(ctx); !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
				if got := time.Since(began); got != tt.want {
					t.Errorf("it took %v, want %v", got, tt.want)
				}
				synctest.Wait()
				if s.Len() != tt.left {
					t.Errorf("%d sockets are left, want %d", s.Len(), tt.left)
				}
				if p := s.ask(t, upgrade(speaks)); p.Answer.StatusCode != 503 ||
					p.Answer.Header.Get("Retry-After") == "" {
					t.Errorf("a new socket is answered with %s", p.Answer.Status)
				}
			})
		})
	}
}

// TestShutdownDuringUpgrade checks that an upgrade in progress during the shutdown is rejected.
func TestShutdownDuringUpgrade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		gate := make(chan struct{})
		s.HTTP.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Wait") != "" {
				<-gate
			}
			s.ServeHTTP(w, r)
		})
		s.connect(t)
		done := make(chan error)
		go func() {
			time.Sleep(time.Second)
			go func() { done <- s.HTTP.Shutdown(context.Background()) }()
			time.Sleep(time.Second)
			close(gate)
		}()
		if p := s.ask(t,
			upgrade(speaks, "X-Wait: yes")); p.Answer.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("the upgrade is answered with %s", p.Answer.Status)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestShutdownWithoutSockets checks Shutdown without sockets, and a second call.
func TestShutdownWithoutSockets(t *testing.T) {
	t.Parallel()
	s := transportws.New(&script{}, nil)
	for range 2 {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
