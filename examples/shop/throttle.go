package main

import (
	"crypto/sha256"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// guesses is how many wrong passwords an account bears at once, and guessTime after how long it bears one more. It is the
// account that is counted, at every door: who guesses has many addresses, and a document of GraphQL can hold several
// guesses. A login that succeeds is no guess.
const (
	guesses   = 10
	guessTime = 30 * time.Second
)

// accounts is how many accounts are remembered, those that are guessed at and do not exist among them. At a tenth of a
// second for each guess it takes a quarter of an hour of the whole machine to have one forgotten.
const accounts = 10_000

// throttle counts wrong passwords, in this process. The zero value is ready.
type throttle struct {
	mu    sync.Mutex
	until map[[32]byte]time.Time // when all guesses at an account will be forgotten
}

// enter counts a guess, before it is known whether it is one, so that many at once cannot all pass. It returns a problem
// (429) if there were too many.
func (t *throttle) enter(email string, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	account := accountOf(email)
	until := t.until[account]
	if until.Before(now) {
		until = now
	}
	if until = until.Add(guessTime); until.Sub(now) > guesses*guessTime {
		return tooManyGuesses(until.Sub(now) - guesses*guessTime)
	}
	if len(t.until) >= accounts {
		t.forget(now)
	}
	if t.until == nil {
		t.until = map[[32]byte]time.Time{}
	}
	t.until[account] = until
	return nil
}

// succeeded takes back what enter has counted.
func (t *throttle) succeeded(email string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	account := accountOf(email)
	if until, ok := t.until[account]; ok {
		t.until[account] = until.Add(-guessTime)
	}
}

// forget makes room: what is over goes, or else any of them.
func (t *throttle) forget(now time.Time) {
	maps.DeleteFunc(t.until, func(_ [32]byte, until time.Time) bool { return !until.After(now) })
	for account := range t.until {
		if len(t.until) < accounts {
			return
		}
		delete(t.until, account)
	}
}

// accountOf names an account in a size that the client does not choose.
func accountOf(email string) [32]byte { return sha256.Sum256([]byte(strings.ToLower(email))) }

func tooManyGuesses(wait time.Duration) error {
	d := problem.New(problem.TooManyRequests, "There were too many wrong passwords for this address; try again later.")
	d.Header = http.Header{"Retry-After": {strconv.Itoa(int((wait + time.Second - 1) / time.Second))}}
	return d
}
