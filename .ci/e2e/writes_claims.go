package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// claims is places that several writers create, delete and create again. The operations on each place have to be linearizable.
type claims struct {
	clock atomic.Int64

	mu     sync.Mutex
	places [][]history.Operation
	first  int // of the places that still get operations
	tokens int
}

const (
	claimWindow     = 4  // places that get operations at a time
	claimOperations = 12 // of each place, and those in progress
	claimsCountry   = "ZC"
)

func (k *claims) name() string { return "places created, deleted and created again" }

func (k *claims) prepare(context.Context, *target, *rand.Rand) error { return nil }

func (k *claims) step(ctx context.Context, t *target, _ int, rng *rand.Rand) error {
	place, token := k.choose(rng)
	path := "/places/claim-" + strconv.Itoa(place)
	o := history.Operation{Begin: k.clock.Add(1), Do: history.Get}
	switch rng.IntN(5) {
	case 0, 1:
		o.Do, o.Token = history.Put, token
	case 2:
		o.Do = history.Delete
	}
	if err := k.send(ctx, t, rng, path, &o); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.places[place] = append(k.places[place], o)
	return nil
}

// choose returns one of the present places, and a new value for it.
func (k *claims) choose(rng *rand.Rand) (place int, token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.first < len(k.places) && len(k.places[k.first]) >= claimOperations {
		k.first++
	}
	for len(k.places) < k.first+claimWindow {
		k.places = append(k.places, nil)
	}
	k.tokens++
	for {
		place = k.first + rng.IntN(claimWindow)
		if len(k.places[place]) < claimOperations {
			return place, "token " + strconv.Itoa(k.tokens)
		}
	}
}

// send does an operation and records its result.
func (k *claims) send(ctx context.Context, t *target, rng *rand.Rand, path string, o *history.Operation) (err error) {
	var a client.Answer
	method := http.MethodGet
	switch o.Do {
	case history.Put:
		method = http.MethodPut
		body := encode(map[string]any{"name": o.Token, "country": claimsCountry})
		a, err = t.write(ctx, rng, method, path, body, client.JSON, "If-None-Match: *")
		if a.Acknowledged() && a.Status != http.StatusCreated {
			t.torn("PUT %s with If-None-Match: *: %d %s", path, a.Status, a.Body)
		}
	case history.Delete:
		method = http.MethodDelete
		a, err = t.write(ctx, rng, method, path, "")
	default:
		a, err = t.read(ctx, rng, path)
		if err == nil && a.Acknowledged() {
			var p place
			err = a.Decode("GET "+path, &p)
			o.Saw = p.Name
		}
	}
	o.End = k.clock.Add(1)
	switch {
	case err != nil:
		return err
	case a.Acknowledged():
		o.Result = history.Done
	case a.Unknown():
		o.Result = history.Open
	case a.Status == http.StatusPreconditionFailed:
		o.Result = history.Exists
	case a.Status == http.StatusNotFound:
		o.Result = history.Missing
	case a.Status == http.StatusGone:
		o.Result = history.Gone
	default:
		t.unexpected("%s %s: %d %s", method, path, a.Status, a.Body)
		o.Result = history.Open
	}
	return nil
}

// verify reads each place once more and checks its operations. If only the last read makes them impossible, an acknowledged write
// was lost. Otherwise the responses contradict each other.
func (k *claims) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	for i, operations := range k.places {
		path := "/places/claim-" + strconv.Itoa(i)
		last := history.Operation{Begin: k.clock.Add(1), Do: history.Get}
		if err := k.send(ctx, t, rng, path, &last); err != nil {
			return err
		}
		switch all := append(operations, last); {
		case history.Linearizable(all):
		case history.Linearizable(operations):
			t.lost("%s: the present state does not follow from %+v", path, all)
		default:
			t.torn("%s: no order explains %+v", path, all)
		}
	}
	return nil
}
