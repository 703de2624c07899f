package resource_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
)

// A small shop for the tests of batches and imports. It chooses the ids of orders, and clients may
// choose those of users.

type order struct {
	ID       int64    `json:"id" readOnly:"true"`
	Customer string   `json:"customerId" required:"true" minLength:"1"`
	Status   string   `json:"status" enum:"open,paid,sent" default:"open"`
	Cents    int64    `json:"cents" minimum:"0"`
	Note     *string  `json:"note"`
	Tags     []string `json:"tags,omitempty" maxItems:"5"`
}

type user struct {
	ID    string `json:"id"`
	Name  string `json:"name" required:"true" maxLength:"200"`
	Email string `json:"email,omitempty" format:"email" unique:"true"`
	PIN   string `json:"pin,omitempty" writeOnly:"true"`
}

// setup is the configuration that a test may change. The Ops are those of stores in memory; a nil
// function is an absent capability.
type setup struct {
	orderOps resource.Ops[order]
	userOps  resource.Ops[user]
	users    resource.Options[user]
}

// shop has the resources of the shop.
type shop struct{ orders, users *resource.Resource }

// newShop returns the resources of a catalog that logs to the test. It has an import of users, which
// reserves the id of its path.
func newShop(t testing.TB, opts ...func(*setup)) *shop {
	t.Helper()
	now := func() time.Time { return modified }
	s := &setup{
		orderOps: resource.OpsOf(memory.New(&memory.Options[order]{Now: now})),
		userOps:  resource.OpsOf(memory.New(&memory.Options[user]{Now: now})),
	}
	s.orderOps.Insert = nil
	for _, opt := range opts {
		opt(s)
	}
	h := &shop{orders: s.orderOps.Resource("orders", nil), users: s.userOps.Resource("users", &s.users)}
	newCatalog(t, h.orders, h.users, command.NewImport("users/import", h.users))
	return h
}

// lineResult is the result of an import.
type lineResult struct {
	Created  int `json:"created"`
	Replaced int `json:"replaced"`
	Rejected []struct {
		Line    int `json:"line"`
		Problem struct {
			Status int `json:"status"`
			Errors []struct {
				Pointer string `json:"pointer"`
				Code    string `json:"code"`
			} `json:"errors"`
		} `json:"problem"`
	} `json:"rejected"`
	Total   int `json:"rejectedTotal"`
	Skipped int `json:"skipped"`
}

// importResult returns the result of an import, also of one that was refused.
func importResult(t testing.TB, a *answer) (s lineResult) {
	t.Helper()
	doc := []byte(a.doc)
	if a.err != nil {
		var err error
		if doc, err = json.Marshal(resource.Problem(a.err)); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(doc, &s); err != nil {
		t.Fatalf("%s: %v: %s", a.line, err, doc)
	}
	return s
}

// brief formats a result: created, replaced, and each line with its status and errors.
func (s lineResult) brief() string {
	out := fmt.Sprintf("%d created %d replaced", s.Created, s.Replaced)
	for _, r := range s.Rejected {
		out += fmt.Sprintf("; line %d: %d", r.Line, r.Problem.Status)
		for _, v := range r.Problem.Errors {
			out += " " + v.Pointer + " " + v.Code
		}
	}
	if s.Total > 0 {
		out += fmt.Sprintf("; %d in all", s.Total)
	}
	if s.Skipped > 0 {
		out += fmt.Sprintf("; %d skipped", s.Skipped)
	}
	return out
}

// stores are the ways to store an import. The result is the same.
var stores = []struct {
	name string
	opt  func(*setup)
}{
	{"many at once", func(*setup) {}},
	{"one by one", func(s *setup) { s.userOps.InsertMany, s.userOps.GetMany = nil, nil }},
	{"no transactions", func(s *setup) { s.userOps.Transactions = nil }},
}
