package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
)

// claims is places for which writers compete: several want to create the same one, and to delete it, and to create it
// again. What each of them is told goes into the history of that place, which has to be possible.
type claims struct {
	found *findings
	clock atomic.Int64

	mu     sync.Mutex
	places [][]event
	first  int // of those that still get events
	tokens int
}

const (
	claimWindow   = 4  // places that are competed for at once
	claimEvents   = 12 // of each place, and those on their way
	claimsCountry = "ZC"
)

func (k *claims) name() string { return "places created, deleted and created again" }

func (k *claims) prepare(context.Context, *client, *rand.Rand) error { return nil }

func (k *claims) step(ctx context.Context, c *client, _ int, rng *rand.Rand) error {
	place, token := k.choose(rng)
	path := "/places/claim-" + strconv.Itoa(place)
	var err error
	e := event{begin: k.clock.Add(1)}
	switch rng.IntN(5) {
	case 0, 1:
		e.do, e.token = put, token
		e.result, err = k.put(ctx, c, rng, path, token)
	case 2:
		e.do = remove
		e.result, err = k.remove(ctx, c, rng, path)
	default:
		e.do = get
		e.result, e.saw, err = k.get(ctx, c, rng, path)
	}
	e.end = k.clock.Add(1)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.places[place] = append(k.places[place], e)
	return nil
}

// choose returns one of the places of the moment, and something new to put there.
func (k *claims) choose(rng *rand.Rand) (place int, token string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.first < len(k.places) && len(k.places[k.first]) >= claimEvents {
		k.first++
	}
	for len(k.places) < k.first+claimWindow {
		k.places = append(k.places, nil)
	}
	k.tokens++
	place = k.first
	for {
		place = k.first + rng.IntN(claimWindow)
		if len(k.places[place]) < claimEvents {
			return place, "token " + strconv.Itoa(k.tokens)
		}
	}
}

func (k *claims) put(ctx context.Context, c *client, rng *rand.Rand, path, token string) (result, error) {
	body := encode(map[string]any{"name": token, "country": claimsCountry})
	a, err := c.write(ctx, rng, http.MethodPut, path, body, jsonType, "If-None-Match: *")
	if a.outcome == acknowledged && a.status != http.StatusCreated {
		k.found.tear("PUT %s with If-None-Match: *: %d %s", path, a.status, a.body)
	}
	return k.resultOf(a, http.MethodPut, path), err
}

func (k *claims) remove(ctx context.Context, c *client, rng *rand.Rand, path string) (result, error) {
	a, err := c.write(ctx, rng, http.MethodDelete, path, "")
	return k.resultOf(a, http.MethodDelete, path), err
}

func (k *claims) get(ctx context.Context, c *client, rng *rand.Rand, path string) (result, string, error) {
	a, err := c.read(ctx, rng, path)
	if err != nil || a.outcome != acknowledged {
		return k.resultOf(a, http.MethodGet, path), "", err
	}
	var p place
	if err := json.Unmarshal(a.body, &p); err != nil {
		return done, "", fmt.Errorf("GET %s: %w in %s", path, err, a.body)
	}
	return done, p.Name, nil
}

func (k *claims) resultOf(a answer, method, path string) result {
	switch {
	case a.outcome == unknown:
		return open
	case a.outcome == acknowledged:
		return done
	case a.status == http.StatusPreconditionFailed:
		return exists
	case a.status == http.StatusNotFound:
		return missing
	case a.status == http.StatusGone:
		return gone
	}
	k.found.wrong("%s %s: %d %s", method, path, a.status, a.body)
	return open
}

// verify looks at every place once more and judges its history. If the last look is what makes it impossible, then
// something that was acknowledged is not there; otherwise the writers were told what cannot be.
func (k *claims) verify(ctx context.Context, c *client, rng *rand.Rand) error {
	for i, events := range k.places {
		path := "/places/claim-" + strconv.Itoa(i)
		last := event{begin: k.clock.Add(1), do: get}
		var err error
		last.result, last.saw, err = k.get(ctx, c, rng, path)
		if err != nil {
			return err
		}
		last.end = k.clock.Add(1)
		switch events = append(events, last); {
		case possible(events):
		case possible(withoutLast(events)):
			k.found.lose(1, "%s: what is there now does not follow from %+v", path, events)
		default:
			k.found.tear("%s: no order explains %+v", path, events)
		}
	}
	return nil
}
