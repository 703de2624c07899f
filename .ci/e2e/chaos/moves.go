package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
)

// place is one of the shop's. Here it is an account, or the receipt of a move between two of them.
type place struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Country    string `json:"country"`
	Population int64  `json:"population"`
}

// moves is batches that each move an amount from one account to another and leave a receipt: all three or none.
type moves struct {
	found *findings
	naive bool // three writes instead

	mu       sync.Mutex
	last     int             // number of the last move
	promised map[string]bool // receipts
	tried    map[string]bool
}

const (
	accounts       = 6
	openingBalance = 1_000_000
	accountCountry = "ZZ"
	receiptCountry = "ZR"
	batchType      = "Content-Type: application/vnd.stoa.batch+json"
)

func newMoves(found *findings, naive bool) *moves {
	return &moves{found: found, naive: naive, promised: map[string]bool{}, tried: map[string]bool{}}
}

func (m *moves) name() string { return "batches that move an amount" }

func (m *moves) prepare(ctx context.Context, c *client, rng *rand.Rand) error {
	for i := range accounts {
		p := place{ID: "account-" + strconv.Itoa(i), Name: "Account", Country: accountCountry, Population: openingBalance}
		a, err := c.write(ctx, rng, http.MethodPut, "/places/"+p.ID, encode(p), jsonType)
		if err != nil {
			return err
		}
		if a.outcome != acknowledged {
			return fmt.Errorf("PUT /places/%s: %d %s", p.ID, a.status, a.body)
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

func (m *moves) step(ctx context.Context, c *client, _ int, rng *rand.Rand) error {
	balances, err := m.balances(ctx, c, rng)
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
	// Each balance is written as a number and not as a difference: without the test, one of two moves would be lost.
	operations := []batchOperation{
		setBalance(from, balances[from], balances[from]-amount),
		setBalance(to, balances[to], balances[to]+amount),
		{Op: "create", Value: place{ID: id, Name: fmt.Sprintf("%d > %d", from, to), Country: receiptCountry, Population: amount}},
	}
	if m.naive {
		return m.oneByOne(ctx, c, rng, operations)
	}
	a, err := c.write(ctx, rng, http.MethodPost, "/places", encode(map[string]any{"operations": operations}), batchType)
	if err != nil {
		return err
	}
	switch {
	case a.outcome == acknowledged:
		m.mu.Lock()
		m.promised[id] = true
		m.mu.Unlock()
	case a.outcome == refused && a.status != http.StatusConflict:
		m.found.wrong("batch: %d %s", a.status, a.body)
	}
	return nil
}

// setBalance is refused if the balance is another one by now.
func setBalance(account int, was, is int64) batchOperation {
	return batchOperation{Op: "patch", ID: "account-" + strconv.Itoa(account),
		Patch: []operation{{"test", "/population", was}, {"replace", "/population", is}}}
}

// oneByOne is what a client does without batches.
func (m *moves) oneByOne(ctx context.Context, c *client, rng *rand.Rand, operations []batchOperation) error {
	for _, op := range operations[:2] {
		a, err := c.write(ctx, rng, http.MethodPatch, "/places/"+op.ID, encode(op.Patch), jsonPatch)
		if err != nil || a.outcome != acknowledged {
			return err
		}
	}
	_, err := c.write(ctx, rng, http.MethodPost, "/places", encode(operations[2].Value), jsonType)
	return err
}

// balances reads all accounts by one request. Moves neither make nor take anything, so the sum is always the same.
func (m *moves) balances(ctx context.Context, c *client, rng *rand.Rand) ([]int64, error) {
	a, err := c.read(ctx, rng, "/places?limit=200&country="+accountCountry)
	if err != nil {
		return nil, err
	}
	var list struct{ Items []place }
	if err := json.Unmarshal(a.body, &list); err != nil || len(list.Items) != accounts {
		return nil, fmt.Errorf("GET /places: %d %s", a.status, a.body)
	}
	var total int64
	balances := make([]int64, accounts)
	for i, p := range list.Items { // in the order of their ids
		balances[i] = p.Population
		total += p.Population
	}
	if total != accounts*openingBalance {
		m.found.tear("the accounts have %d together, and not %d", total, accounts*openingBalance)
	}
	return balances, nil
}

// verify compares the balances with the receipts, and these with what was promised.
func (m *moves) verify(ctx context.Context, c *client, rng *rand.Rand) error {
	balances, err := m.balances(ctx, c, rng)
	if err != nil {
		return err
	}
	a, err := c.read(ctx, rng, "/places?country="+receiptCountry, "Accept: application/x-ndjson")
	if err != nil {
		return err
	}
	want := make([]int64, accounts)
	for i := range want {
		want[i] = openingBalance
	}
	for text := range bytes.Lines(a.body) {
		var from, to int
		var p place
		if err := json.Unmarshal(text, &p); err != nil {
			return fmt.Errorf("GET /places: %d %s", a.status, text)
		}
		if _, err := fmt.Sscanf(p.Name, "%d > %d", &from, &to); err != nil || !m.tried[p.ID] || max(from, to) >= accounts {
			m.found.tear("a receipt that nobody wrote: %s", text)
			continue
		}
		want[from] -= p.Population
		want[to] += p.Population
		delete(m.promised, p.ID)
	}
	m.compare(want, balances)
	return nil
}

func (m *moves) compare(want, balances []int64) {
	for id := range m.promised {
		m.found.lose(1, "batch: %s was acknowledged and is not there", id)
	}
	for i := range want {
		if want[i] != balances[i] {
			m.found.tear("account %d has %d, and by the receipts %d", i, balances[i], want[i])
		}
	}
}
