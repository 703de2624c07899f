package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
)

// During the creation of an order, a retry with its key is rejected as in progress, and another
// request with the key as a mismatch. One order exists at the end.
func TestKeyInFlight(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache", wait: -1})
			const order, other = `{"lines":[{"itemId":7,"qty":2}]}`, `{"lines":[{"itemId":7,"qty":3}]}`
			place := func(body string) (int, http.Header) {
				w := ask(t, s, "POST", "/orders", body, jsonType, `Idempotency-Key: "k"`)
				return w.Code, w.Header()
			}
			// The hook beforeOrder blocks in its clock until the retries have been answered.
			begun, done := make(chan struct{}), make(chan struct{})
			clock := s.collections.now
			s.collections.now = func() time.Time { close(begun); <-done; return clock() }
			first := make(chan int, 1)
			go func() {
				status, _ := place(order)
				first <- status
			}()
			<-begun
			s.collections.now = clock
			if status, header := place(order); status != http.StatusConflict ||
				header.Get("Retry-After") != "1" {
				t.Errorf("a copy in flight is %d, Retry-After %q", status, header.Get("Retry-After"))
			}
			if status, _ := place(other); status != http.StatusUnprocessableEntity {
				t.Errorf("another order under the key is %d", status)
			}
			close(done)
			if status := <-first; status != http.StatusCreated {
				t.Errorf("the first is %d", status)
			}
			if status, header := place(order); status != http.StatusCreated ||
				header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("a copy is %d, Idempotency-Replayed %q", status, header.Get("Idempotency-Replayed"))
			}
			if got, err := s.collections.orders.Count(t.Context(), query.Query{}); got != 4 || err != nil {
				t.Errorf("there are %d orders, %v; and should be 4", got, err)
			}
		})
	}
}

// Keys are scoped to the principal: with -auth, to the user.
func TestKeysOfUsers(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	place := func(who string) (string, string) {
		w := ask(t, s, "POST", "/orders", `{"lines":[{"itemId":7,"qty":2}]}`, jsonType, "Idempotency-Key: k",
			"Authorization: Bearer "+tokens[who])
		if w.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
		return w.Header().Get("Location"), w.Header().Get("Idempotency-Replayed")
	}
	bob, _ := place("bob")
	if cat, replayed := place("cat"); cat == bob || replayed != "" {
		t.Errorf("cat got %s of bob", cat)
	}
	if again, replayed := place("bob"); again != bob || replayed != "true" {
		t.Errorf("bob got %s and then %s, Idempotency-Replayed %q", bob, again, replayed)
	}
}

// Records are kept for a day, and purged when later ones are written.
func TestKeysArePurged(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		if name == "memory" {
			continue // purged by package idempotency, and tested there
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache"})
			records := func() (n int) {
				err := s.collections.db.pools[0].QueryRowContext(t.Context(), "SELECT count(*) FROM idempotency_records").
					Scan(&n)
				if err != nil {
					t.Error(err)
				}
				return n
			}
			place := func(key string) {
				w := ask(t, s, "POST", "/orders", `{"lines":[{"itemId":7,"qty":2}]}`, jsonType,
					"Idempotency-Key: "+key)
				if w.Code != http.StatusCreated {
					t.Errorf("%s: %d %s", key, w.Code, w.Body)
				}
			}
			for _, key := range []string{"a", "b", "c"} {
				place(key)
			}
			if n := records(); n != 3 {
				t.Errorf("there are %d records, want 3", n)
			}
			s.today = s.today.Add(25 * time.Hour)
			place("d")
			if n := records(); n != 1 {
				t.Errorf("after a day there are %d records, want 1", n)
			}
		})
	}
}

// The guarantee of each part in every contract: for creations, and for all other writes.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	const exactly, identity, most = idempotency.ExactlyOnce, idempotency.ByIdentity, idempotency.AtMostOnce
	want := map[string][2]idempotency.Level{
		"orders": {exactly, exactly}, "users": {exactly, exactly}, "places": {exactly, exactly},
		"orders/cancel-stale": {exactly, exactly}, "files": {identity, most},
		"places/import": {exactly, most}, // atomic or not atomic
	}
	for contract, catalog := range openShop(t).catalogsAgain(t) {
		got := map[string][2]idempotency.Level{}
		for _, g := range catalog.Guarantees() {
			got[g.Name] = [2]idempotency.Level{g.Create, g.Others}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", contract, diff)
		}
	}
}

// The content of files is outside the database. A file with an assigned name is still created once
// for a key.
func TestKeysOfFiles(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache"})
			for _, tt := range []struct{ method, target, key string }{{"POST", "/files", "k1"}, {"PUT", "/files/hymn", "k2"}} {
				say := func() http.Header {
					w := ask(t, s, tt.method, tt.target, "Sing, goddess", "Content-Type: text/plain",
						"Idempotency-Key: "+tt.key)
					if w.Code != http.StatusCreated {
						t.Errorf("%s is %d: %s", tt.method, w.Code, w.Body)
					}
					return w.Header()
				}
				first, again := say(), say()
				if first.Get("Location") != again.Get("Location") || first.Get("ETag") != again.Get("ETag") {
					t.Errorf("%s: first %v, again %v", tt.method, first, again)
				}
				if got := again.Get("Idempotency-Replayed"); got != "true" {
					t.Errorf("%s: Idempotency-Replayed is %q", tt.method, got)
				}
			}
		})
	}
}

// A command that runs as a job starts once for a key, even if the retry uses another contract.
func TestKeyOfAJob(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache"})
			cancel := func(target string) (job string, header http.Header) {
				w := ask(t, s, "POST", target, `{"olderThan":"0s"}`, jsonType, "Idempotency-Key: k")
				if w.Code != http.StatusAccepted {
					t.Errorf("%s is %d: %s", target, w.Code, w.Body)
				}
				at := w.Header().Get("Location")
				return at[strings.LastIndexByte(at, '/')+1:], w.Header()
			}
			first, _ := cancel("/orders/cancel-stale")
			again, header := cancel("/v1/orders/cancel-stale")
			if first == "" || again != first || header.Get("Idempotency-Replayed") != "true" {
				t.Errorf("first job %q, again %q: %v", first, again, header)
			}
			if err := s.collections.jobs.Drain(t.Context()); err != nil {
				t.Error(err)
			}
			w := ask(t, s, "GET", "/jobs?fields=command,state,result", "")
			if want := `{"items":[{"command":"orders/cancel-stale","state":"succeeded","result":{"cancelled":1}}]}`; w.Body.String() != want {
				t.Errorf("the jobs are %s, want %s", w.Body, want)
			}
		})
	}
}

// Responses of a login are not stored: a login with the same key returns another token, also
// without authentication, over REST and GraphQL.
func TestLoginKeepsNoTokens(t *testing.T) {
	t.Parallel()
	for name, source := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, settings{db: source(t), cache: "private, no-cache", auth: true})
			const graph = `{"query":"mutation { authLogin(input: {email: \"bob@example.com\", password: \"bob\"}) { token } }"}`
			for _, x := range [][2]string{{"/auth/login", `{"email":"bob@example.com","password":"bob"}`}, {"/graphql", graph}} {
				var tokens []string
				for range 2 {
					w := ask(t, s, "POST", x[0], x[1], jsonType, "Idempotency-Key: k")
					_, rest, _ := strings.Cut(w.Body.String(), `"token":"`)
					token, _, _ := strings.Cut(rest, `"`)
					if w.Code != http.StatusOK || token == "" ||
						w.Header().Get("Idempotency-Replayed") != "" {
						t.Errorf("%s: %d %s", x[0], w.Code, w.Body)
					}
					tokens = append(tokens, token)
				}
				if tokens[0] == tokens[1] {
					t.Errorf("%s: the token was kept", x[0])
				}
			}
			const both = `{"query":"mutation { authLogin(input: {email: \"bob@example.com\", password: \"bob\"}) { token } createPlace(input: {name: \"Utopia\", country: \"XX\"}) { id } }"}`
			w := ask(t, s, "POST", "/graphql", both, jsonType, "Idempotency-Key: k",
				"Authorization: Bearer "+signIn(t, s, "bob"))
			if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "request of its own") {
				t.Errorf("a login beside something else under a key: %d %s", w.Code, w.Body)
			}
		})
	}
}
