package main

// A limit of wrong passwords for each account, in memory. login.go asks before it hashes a
// password.

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

// guesses is the number of wrong passwords that an account allows in a row. After that it allows
// one more every guessTime. The limit is per account and not per address of the client, because an
// attacker has many addresses and a GraphQL document can hold several attempts. A successful login
// does not count.
const (
	guesses   = 10
	guessTime = 30 * time.Second
)

// accounts limits the number of accounts in memory, including addresses that do not exist. At 100ms
// for each attempt, an attacker needs a quarter of an hour of the whole machine to displace one.
const accounts = 10_000

// throttle counts wrong passwords in this process. The zero value is ready to use. Other processes
// count separately, so n shops allow n times as many attempts. A service with many servers keeps
// the counts in a shared store.
type throttle struct {
	mu    sync.Mutex
	until map[[32]byte]time.Time // when the count of the account is zero again
}

// enter counts an attempt before its outcome is known, so that concurrent attempts cannot exceed
// the limit. It returns a problem (429) if there were too many.
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

// succeeded reverts the count of enter.
func (t *throttle) succeeded(email string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	account := accountOf(email)
	if until, ok := t.until[account]; ok {
		t.until[account] = until.Add(-guessTime)
	}
}

// forget removes expired accounts, and arbitrary others if that is not enough.
func (t *throttle) forget(now time.Time) {
	maps.DeleteFunc(t.until, func(_ [32]byte, until time.Time) bool { return !until.After(now) })
	for account := range t.until {
		if len(t.until) < accounts {
			return
		}
		delete(t.until, account)
	}
}

// accountOf returns a key of constant size for an account.
func accountOf(email string) [32]byte { return sha256.Sum256([]byte(strings.ToLower(email))) }

// tooManyGuesses returns a problem with Retry-After in whole seconds, rounded up.
func tooManyGuesses(wait time.Duration) error {
	d := problem.New(problem.TooManyRequests,
		"Too many wrong passwords were sent for this address. Retry later.")
	d.Header = http.Header{"Retry-After": {strconv.Itoa(int((wait + time.Second - 1) / time.Second))}}
	return d
}
