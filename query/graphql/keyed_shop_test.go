package graphql_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

// The shop for the tests of keys. Orders and users are in one database with the records. Notes,
// files and mail are elsewhere.

type note struct {
	ID   string `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true"`
}

// slot has an id that clients may choose.
type slot struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

type mailed struct {
	Text string `json:"text"`
}

// keyedShop is the shop, and what a test may change about it before it opens, or count.
type keyedShop struct {
	db      tx.Runner
	store   idempotency.Store
	keys    idempotency.Options
	opts    graphql.Options
	ordered resource.Options[order]
	orders  resource.Ops[order]
	users   resource.Options[user]
	notes   resource.Ops[note]
	catalog *resource.Catalog
	feed    *feed.Feed

	// users do not want to be seen, if they are asked
	shy bool
	// result of the authorization of orders
	hidden error
	mails  atomic.Int64                                             // that were sent
	permit func(ctx context.Context) error                          // asked before mail is sent
	send   func(ctx context.Context, in mailed) (mailed, error)     // instead of just counting
	ship   func(ctx context.Context, in greeting) (greeting, error) // a command in the database
}

type callerKey struct{}

// openKeyed opens the shop. X-User names the principal; default ada.
func openKeyed(t testing.TB, change ...func(*keyedShop)) (*keyedShop, http.Handler) {
	t.Helper()
	s := newKeyed(t, change...)
	return s, known(graphql.New(s.catalog, &s.opts))
}

func newKeyed(t testing.TB, change ...func(*keyedShop)) *keyedShop {
	t.Helper()
	db := memory.NewDB()
	orders := memory.New(&memory.Options[order]{DB: db})
	users := memory.New(&memory.Options[user]{DB: db})
	if _, err := users.Insert(t.Context(), "ada", user{"ada", "Ada"}); err != nil {
		t.Fatal(err)
	}
	s := &keyedShop{db: db, orders: resource.OpsOf(orders), notes: resource.OpsOf(memory.New[note](nil)),
		ordered: resource.Options[order]{Public: true, Query: query.Support{Sort: []string{"cents"}},
			Relations: []resource.Relation[order]{{Name: "customer", Target: "users", Field: "customerId"}}}}
	s.orders.Insert, s.notes.Transactions = nil, nil
	s.ship = func(_ context.Context, in greeting) (greeting, error) { return in, nil }
	s.users.Public = true
	s.keys.TransactionTimeout = time.Hour // however slow the machine is
	s.permit = func(context.Context) error { return nil }
	for _, c := range change {
		c(s)
	}
	if s.store == nil {
		s.store = idempotency.NewMemory(&idempotency.MemoryOptions{Runner: s.db})
	}
	s.orders.Transactions = func() tx.Runner { return s.db }
	once := idempotency.New(s.store, &s.keys)
	mail := func(ctx context.Context, in mailed) (mailed, error) {
		s.mails.Add(1)
		if s.send != nil {
			return s.send(ctx, in)
		}
		return in, nil
	}
	caller := func(ctx context.Context) string {
		name, _ := ctx.Value(callerKey{}).(string)
		return name
	}
	s.catalog = resource.NewCatalog(&resource.CatalogOptions{Idempotency: once, Principal: caller,
		Feed: s.feed},
		s.orders.Resource("orders", &s.ordered),
		resource.New("users", users, &s.users),
		s.notes.Resource("notes", &resource.Options[note]{Public: true}),
		resource.New("slots", memory.New[slot](nil), &resource.Options[slot]{Public: true}),
		command.New("mail/send", mail, &command.Options[mailed]{
			Authorize: func(ctx context.Context, _ *mailed) error { return s.permit(ctx) }}),
		command.New("orders/ship", func(ctx context.Context, in greeting) (greeting,
			error) {
			return s.ship(ctx, in)
		},
			&command.Options[greeting]{Public: true, Transactions: s.db}))
	return s
}

// known sets the principal.
func known(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "ada"
		if lines := r.Header["X-User"]; lines != nil {
			name = lines[0]
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, name)))
	})
}

// count returns how many orders there are.
func (s *keyedShop) count(t testing.TB) int {
	t.Helper()
	n := 0
	for _, err := range s.orders.List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// key is the header line of a key.
func key(k string) string { return `Idempotency-Key: "` + k + `"` }

const (
	postGraphQL = "POST /graphql"
	replayed    = "Idempotency-Replayed: true"
	fresh       = "Idempotency-Replayed:"
)

// order1 creates an order.
const order1 = `{"query":"mutation($c:Int){createOrder(input:{customerId:\"ada\",cents:$c}){id cents ` +
	`customer{name}}}","variables":{"c":7}}`

const isOrder1 = `{"data":{"createOrder":{"id":"1","cents":7,"customer":{"name":"Ada"}}}}`

// twice is a database that runs everything a second time, as if the first had met a conflict.
type twice struct {
	tx.Runner
	runs atomic.Int64
}

func (d *twice) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if tx.ActiveFor(ctx, d) {
		return fn(ctx)
	}
	_ = d.try(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		return errors.New("a conflict, which nobody gets to see")
	})
	return d.try(ctx, fn)
}

func (d *twice) try(ctx context.Context, fn func(ctx context.Context) error) error {
	d.runs.Add(1)
	inner, scope := tx.Begin(ctx, d)
	err := d.Runner.InTx(inner, fn)
	if err != nil {
		scope.Rollback()
	} else {
		scope.Commit()
	}
	return err
}

// forgetful is a store that fails to note the ends of some claims, as if the process had died.
type forgetful struct {
	idempotency.Store
	deaths atomic.Int64 // that are still to come
}

func (f *forgetful) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record,
	expires time.Time) error {
	if f.deaths.Add(-1) >= 0 {
		return idempotency.ErrLost
	}
	return f.Store.Finish(ctx, id, token, r, expires)
}

// statuses are those of answers, sorted.
func statuses(answers []*answer) []string {
	var out []string
	for _, a := range answers {
		out = append(out, strconv.Itoa(a.status))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// recorded sends a request that is there, and does not wait for the test.
func recorded(h http.Handler, r *http.Request) *answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return received(r.Method, w.Result())
}

// first returns the id of an order.
func (s *keyedShop) first(t testing.TB) string {
	t.Helper()
	for it, err := range s.orders.List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		return strconv.FormatInt(it.Value.ID, 10)
	}
	t.Fatal("there is no order")
	return ""
}

var noQuery query.Query

var quiet = slog.New(slog.DiscardHandler)

// failing is a database with errors before or in a transaction.
type failing struct {
	tx.Runner
	err    error
	before bool
}

func (d *failing) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if tx.ActiveFor(ctx, d) {
		return fn(ctx)
	}
	if d.err != nil && d.before {
		return d.err
	}
	inner, scope := tx.Begin(ctx, d)
	err := d.Runner.InTx(inner, func(ctx context.Context) error {
		if err := fn(ctx); err != nil || d.err == nil || errors.Is(d.err, tx.ErrOutcomeUnknown) {
			return err
		}
		return d.err
	})
	if err != nil {
		scope.Rollback()
	} else {
		scope.Commit()
	}
	return errors.Join(err, d.err)
}
