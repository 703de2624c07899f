package middleware_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

var errWrong = errors.New("wrong password")

func wrong(context.Context) error   { return errWrong }
func correct(context.Context) error { return nil }

// outcome returns "ok", the text of an error, or the status and Retry-After of a problem.
func outcome(err error) string {
	var d *problem.Details
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &d):
		return fmt.Sprintf("%d after %s", d.StatusCode(), d.Header.Get("Retry-After"))
	}
	return err.Error()
}

// TestAttemptsFail: an account may fail ten times, and then once every 30 seconds.
func TestAttemptsFail(t *testing.T) {
	t.Parallel()
	steps := []struct {
		name    string
		pause   time.Duration
		account string
		verify  func(context.Context) error
		want    string
	}{
		{"the tenth failure", 0, "ann", wrong, "wrong password"},
		{"one more", 0, "ann", wrong, "429 after 30"},
		{"with the right password", 0, "ann", correct, "429 after 30"},
		{"another account", 0, "bob", wrong, "wrong password"},
		{"no account", 0, "", wrong, "wrong password"},
		{"a little later", 29 * time.Second, "ann", wrong, "429 after 1"},
		{"half a minute later", time.Second, "ann", correct, "ok"},
		{"success does not count", 0, "ann", wrong, "wrong password"},
		{"but failure does", 0, "ann", wrong, "429 after 30"},
		{"five minutes later", 5 * time.Minute, "ann", wrong, "wrong password"},
	}
	synctest.Test(t, func(t *testing.T) {
		a := middleware.NewAttempts(nil)
		for range 9 {
			if err := a.Do(t.Context(), "ann", wrong); err != errWrong {
				t.Fatal(err)
			}
		}
		for _, tt := range steps {
			time.Sleep(tt.pause)
			if got := outcome(a.Do(t.Context(), tt.account, tt.verify)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
	})
}

// TestAttemptsAtOnce: of 64 concurrent attempts, two are verified at a time and four wait. The others
// are refused, and do not count as failures.
func TestAttemptsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := middleware.NewAttempts(&middleware.AttemptsOptions{Concurrent: 2, Queue: 4})
		results := make(chan string, 64)
		var running, most atomic.Int64
		for range 64 {
			go func() {
				results <- outcome(a.Do(t.Context(), "ann", func(context.Context) error {
					if n := running.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(400 * time.Millisecond)
					running.Add(-1)
					return errWrong
				}))
			}()
			synctest.Wait()
		}
		counts := map[string]int{}
		for range 64 {
			counts[<-results]++
		}
		// 2 run, 4 wait.
		if diff := cmp.Diff(map[string]int{"wrong password": 6, "429 after 1": 58}, counts); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if n := most.Load(); n != 2 {
			t.Errorf("%d attempts were verified at a time, want 2", n)
		}
		for range 4 {
			if err := a.Do(t.Context(), "ann", wrong); err != errWrong {
				t.Errorf("refused attempts were counted: %v", err)
			}
		}
	})
}

// TestAttemptsWait: an attempt in the queue ends with its context or after Wait, and is not verified.
func TestAttemptsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := middleware.NewAttempts(&middleware.AttemptsOptions{Concurrent: 1})
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go a.Do(ctx, "", func(ctx context.Context) error { <-ctx.Done(); return nil })
		synctest.Wait()
		never := func(context.Context) error { t.Error("verify was called"); return nil }
		began := time.Now()
		if got := outcome(a.Do(t.Context(), "ann", never)); got != "429 after 1" {
			t.Errorf("after Wait: %s", got)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("the attempt waited %v, want 1s", took)
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := a.Do(gone, "ann", never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the context: %v", err)
		}
		end()
		synctest.Wait()
		if err := a.Do(gone, "ann", never); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a free slot: %v", err)
		}
	})
}

// TestAttemptsPanic: a panic counts as a failure and frees the slot.
func TestAttemptsPanic(t *testing.T) {
	t.Parallel()
	a := middleware.NewAttempts(&middleware.AttemptsOptions{Concurrent: 1, Queue: -1,
		Failures: middleware.Rate{Quota: 1, Window: time.Hour}})
	func() {
		defer func() { recover() }()
		a.Do(t.Context(), "ann", func(context.Context) error { panic("broken") })
	}()
	if got := outcome(a.Do(t.Context(), "ann", correct)); got != "429 after 3600" {
		t.Errorf("the account: %s", got)
	}
	if got := outcome(a.Do(t.Context(), "bob", correct)); got != "ok" {
		t.Errorf("another account: %s", got)
	}
}

func TestAttemptsInvalidRate(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an invalid rate was accepted")
		}
	}()
	middleware.NewAttempts(&middleware.AttemptsOptions{Failures: middleware.Rate{Quota: -1}})
}

func ExampleNewAttempts() {
	logins := middleware.NewAttempts(&middleware.AttemptsOptions{
		Failures: middleware.Rate{Quota: 2, Window: time.Hour},
	})
	verify := func(context.Context) error { return errors.New("wrong password") } // hashes, compares
	for range 3 {
		fmt.Println(logins.Do(context.Background(), "ann@example.com", verify))
	}
	// Output:
	// wrong password
	// wrong password
	// quota-exceeded: Too many attempts for this account have failed; retry after 1800 seconds.
}
