package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// moves is batches that move an amount from one account to another and create a receipt: all three or none.
type moves struct {
	naive bool // three writes instead

	mu           sync.Mutex
	last         int             // number of the last move
	acknowledged map[string]bool // receipts
	tried        map[string]bool
}

const (
	accounts       = 6
	openingBalance = 1_000_000
	accountCountry = "ZZ"
	receiptCountry = "ZR"
	batchType      = "Content-Type: application/vnd.stoa.batch+json"
)

func newMoves(naive bool) *moves {
	return &moves{naive: naive, acknowledged: map[string]bool{}, tried: map[string]bool{}}
}

func (m *moves) name() string { return "batches that move an amount" }

func (m *moves) prepare(ctx context.Context, t *target, rng *rand.Rand) error {
	for i := range accounts {
		p := place{ID: "account-" + strconv.Itoa(i), Name: "Account", Country: accountCountry, Population: openingBalance}
		a, err := t.write(ctx, rng, http.MethodPut, "/places/"+p.ID, encode(p), client.JSON)
		if err != nil {
			return err
		}
		if !a.OK() {
			return a.Unexpected("PUT /places/" + p.ID)
		}
	}
	return nil
}

// batchOperation is one of a batch.
type batchOperation struct {
	Op    string      `json:"op"`
	ID    string      `json:"id,omitempty"`
	Patch []operation `json:"patch,omitempty"`
	Value any         `json:"value,omitempty"`
}

func (m *moves) step(ctx context.Context, t *target, _ int, rng *rand.Rand) error {
	balances, err := m.balances(ctx, t, rng)
	if err != nil {
		return err
	}
	from := rng.IntN(accounts)
	to := (from + 1 + rng.IntN(accounts-1)) % accounts
	amount := 1 + rng.Int64N(100)
	m.mu.Lock()
	m.last++
	id := "move-" + strconv.Itoa(m.last)
	m.tried[id] = true
	m.mu.Unlock()
	// Each balance is written as a number, not as a difference: without the test, one of two moves would be lost.
	operations := []batchOperation{
		setBalance(from, balances[from], balances[from]-amount),
		setBalance(to, balances[to], balances[to]+amount),
		{Op: "create", Value: place{ID: id, Name: fmt.Sprintf("%d > %d", from, to), Country: receiptCountry, Population: amount}},
	}
	if m.naive {
		return m.oneByOne(ctx, t, rng, operations)
	}
	a, err := t.write(ctx, rng, http.MethodPost, "/places", encode(map[string]any{"operations": operations}), batchType)
	if err != nil {
		return err
	}
	switch {
	case a.Acknowledged():
		m.mu.Lock()
		m.acknowledged[id] = true
		m.mu.Unlock()
	case !a.Unknown() && a.Status != http.StatusConflict:
		t.unexpected("batch: %d %s", a.Status, a.Body)
	}
	return nil
}

// setBalance fails if the balance has changed.
func setBalance(account int, before, after int64) batchOperation {
	return batchOperation{Op: "patch", ID: "account-" + strconv.Itoa(account),
		Patch: []operation{{"test", "/population", before}, {"replace", "/population", after}}}
}

// oneByOne sends the operations as a client without batches does.
func (m *moves) oneByOne(ctx context.Context, t *target, rng *rand.Rand, operations []batchOperation) error {
	for _, op := range operations[:2] {
		a, err := t.write(ctx, rng, http.MethodPatch, "/places/"+op.ID, encode(op.Patch), client.JSONPatch)
		if err != nil || !a.Acknowledged() {
			return err
		}
	}
	_, err := t.write(ctx, rng, http.MethodPost, "/places", encode(operations[2].Value), client.JSON)
	return err
}

// balances reads all accounts by one request. Their sum never changes.
func (m *moves) balances(ctx context.Context, t *target, rng *rand.Rand) ([]int64, error) {
	a, err := t.read(ctx, rng, "/places?limit=200&country="+accountCountry)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []place }
	if err := a.Decode("GET /places", &list); err != nil || len(list.Items) != accounts {
		return nil, a.Unexpected("GET /places")
	}
	var total int64
	balances := make([]int64, accounts)
	for i, p := range list.Items { // sorted by id
		balances[i] = p.Population
		total += p.Population
	}
	if total != accounts*openingBalance {
		t.torn("the sum of the accounts is %d, and not %d", total, accounts*openingBalance)
	}
	return balances, nil
}

// verify compares the balances with the receipts, and these with the acknowledged moves.
func (m *moves) verify(ctx context.Context, t *target, rng *rand.Rand) error {
	balances, err := m.balances(ctx, t, rng)
	if err != nil {
		return err
	}
	a, err := t.read(ctx, rng, "/places?country="+receiptCountry, client.NDJSON)
	if err != nil {
		return err
	}
	receipts, err := client.Lines[place]("GET /places", a)
	if err != nil {
		return err
	}
	want := make([]int64, accounts)
	for i := range want {
		want[i] = openingBalance
	}
	for _, p := range receipts {
		var from, to int
		if _, err := fmt.Sscanf(p.Name, "%d > %d", &from, &to); err != nil || !m.tried[p.ID] || max(from, to) >= accounts {
			t.torn("a receipt without a move: %s", encode(p))
			continue
		}
		want[from] -= p.Population
		want[to] += p.Population
		delete(m.acknowledged, p.ID)
	}
	for id := range m.acknowledged {
		t.lost("batch: %s was acknowledged and does not exist", id)
	}
	for i := range want {
		if want[i] != balances[i] {
			t.torn("account %d has %d, and by the receipts %d", i, balances[i], want[i])
		}
	}
	return nil
}
