package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// TestStepResult checks which results of a run pass. The control is right or wrong at each step.
func TestStepResult(t *testing.T) {
	t.Parallel()
	once := func(step string) *history.Effects { return &history.Effects{Keys: 1, Acknowledged: 1, Effects: 1} }
	twice := func(at string) func(step string) *history.Effects {
		return func(step string) *history.Effects {
			e := once(step)
			if at == "" || at == step {
				e.Effects++
				e.Add(history.Duplicate, 1, "a write")
			}
			return e
		}
	}
	for _, tt := range []struct {
		name           string
		found, control func(step string) *history.Effects
		survivors      []string
		pass           bool
	}{
		{name: "each effect once", found: once, control: twice(""), pass: true},
		{name: "an effect twice", found: twice(server.AfterClaim), control: twice("")},
		{name: "a control without duplicates", found: once, control: once},
		{name: "a control without a duplicate after the effect", found: once, control: twice(server.BeforeFinish)},
		{name: "a control without a duplicate before the finish", found: once, control: twice(server.AfterEffect)},
		{name: "a node that does not die", found: once, control: twice(""), survivors: []string{server.AfterClaim}},
	} {
		var found, control [len(server.Steps)]*history.Effects
		for i, step := range server.Steps {
			found[i], control[i] = tt.found(step), tt.control(step)
		}
		s := newStepKills(sqlite, server.Together, 1)
		s.found, s.survivors = found, tt.survivors
		s.judge(control)
		if err := s.failure(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

// TestPersist: a client repeats a write with the same key until it is answered.
func TestPersist(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	keys := make(chan string, 10)
	nodes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key") + r.Header.Get(server.DieField)
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"type":"x/request-in-flight"}`)
		default:
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"id":"a"}`)
		}
	}))
	t.Cleanup(nodes.Close)
	k := &keyed{trial: newTestTrial(nodes.URL)}
	w := newKeyedWrite(history.Create, "k", 1)
	if err := k.persist(t.Context(), (&env{seed: 1}).random(0), w, 1, server.BeforeClaim); err != nil {
		t.Fatal(err)
	}
	close(keys)
	var got []string
	for key := range keys {
		got = append(got, key)
	}
	if diff := cmp.Diff([]string{"k" + server.BeforeClaim, "k", "k", "k"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if !w.Settled() || w.ID() != "a" {
		t.Errorf("not settled, or with the id %q", w.ID())
	}
	c := k.Client
	if c.Requests() != 4 || c.Writes(0, 0) != 1 || c.Writes(503, 503) != 1 || c.Writes(409, 409) != 1 {
		t.Errorf("counted %d, %d, %d and %d", c.Requests(), c.Writes(0, 0), c.Writes(503, 503), c.Writes(409, 409))
	}
	if c.Check() == nil { // the 409 has no Retry-After
		t.Error("a response without Retry-After passes")
	}
}

// TestPairChecks tries each check with responses of a server that confuses requests.
func TestPairChecks(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string, header ...string) client.Answer {
		a := client.Answer{Status: status, Body: []byte(body), Header: http.Header{}}
		for _, line := range header {
			name, value, _ := strings.Cut(line, ": ")
			a.Header.Set(name, value)
		}
		return a
	}
	const body, again = `{"id":1,"itemId":7,"qty":2,"note":"secret 1"}`, "Idempotency-Replayed: true"
	first := answer(201, body, "Location: /v1.1/orders/1")
	replay := answer(201, body, "Location: /v1.1/orders/1", again)
	fresh := answer(201, strings.Replace(body, `"id":1`, `"id":2`, 1), "Location: /v1.1/orders/2")
	refused := answer(422, `{"type":"x/idempotency-key-reused"}`)
	typed := answer(201, body, again, "Content-Type: application/vnd.shop.1.1.0.order+json")
	tests := []struct {
		name   string
		check  func(first, second client.Answer) error
		second client.Answer
		good   bool
	}{
		{"independent", independent, fresh, true},
		{"independent, replayed", independent, replay, false},
		{"independent, the same order", independent, first, false},
		{"independent, refused", independent, refused, false},
		{"independent, refused by GraphQL", independent, answer(200, `{"errors":[]}`), false},
		{"unauthorized", unauthorized, answer(401, `{"status":401}`), true},
		{"unauthorized, replayed", unauthorized, replay, false},
		{"unauthorized, done", unauthorized, fresh, false},
		{"replayed", replayed, replay, true},
		{"replayed, done again", replayed, fresh, false},
		{"other shape", replayedInOtherShape, answer(201, `{"id":1,"lines":[{"itemId":7,"qty":2}],"note":"secret 1"}`, again), true},
		{"other shape, the first one", replayedInOtherShape, replay, false},
		{"other type", replayedInOtherType, typed, true},
		{"other type, the first one", replayedInOtherType, replay, false},
		{"key reused", keyReused, refused, true},
		{"key reused, replayed", keyReused, replay, false},
		{"key reused, revealing", keyReused, answer(422, `{"type":"x/idempotency-key-reused","was":"secret 1"}`), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.check(first, tt.second); (err == nil) != tt.good {
				t.Errorf("check = %v", err)
			}
		})
	}
}
