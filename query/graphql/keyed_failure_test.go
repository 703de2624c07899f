package graphql_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestPanicUnderKey: nothing of it has happened, and the key is free.
func TestPanicUnderKey(t *testing.T) {
	t.Parallel()
	broken := true
	s, h := openKeyed(t, func(s *keyedShop) {
		s.opts.Logger = quiet
		s.ship = func(_ context.Context, in greeting) (greeting, error) {
			if broken {
				panic("broken")
			}
			return in, nil
		}
	})
	const document = `{"query":"mutation{createOrder(input:{customerId:\"ada\"}){id} ` +
		`ordersShip(input:{text:\"x\"}){text}}"}`
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
	wantType(t, res, problem.Internal)
	if n := s.count(t); n != 0 {
		t.Errorf("there are %d orders", n)
	}
	broken = false
	want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, fresh)
	if diff := cmp.Diff(1, s.count(t)); diff != "" {
		t.Errorf("orders (-want +got):\n%s", diff)
	}
}

// TestKeyOfOneTenant: a caller of two tenants, which Scope compares with one value, sends one key in both.
func TestKeyOfOneTenant(t *testing.T) {
	t.Parallel()
	tenant := "ada"
	s, h := openKeyed(t, func(s *keyedShop) {
		s.ordered.Public = false
		s.ordered.Scope = func(context.Context) (query.Filter, error) {
			return query.Where("customerId", query.Eq, tenant), nil
		}
	})
	const document = `{"query":"mutation{createOrder(input:{customerId:\"ada\"}){id}}"}`
	want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, fresh)
	tenant = "bob"
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
	wantType(t, res, problem.KeyReused)
	if !strings.Contains(res.body, "the idempotency key was used for a different request") || s.count(t) != 1 {
		t.Errorf("%d orders, and the answer %s", s.count(t), res.body)
	}
}

// TestReportOfKeys checks the lines of the start-up report about keys.
func TestReportOfKeys(t *testing.T) {
	t.Parallel()
	s := newKeyed(t)
	const want = "    keys: exactly once, several in one transaction: orders users orders/ship\n" +
		"    keys: one per request, because it cannot be rolled back: notes slots mail/send poke\n"
	poke := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	report := graphql.New(s.catalog, &graphql.Options{Fields: []graphql.Field{graphql.Mutation("poke", poke,
		nil)}}).Report()
	if !strings.Contains(report, want) {
		t.Errorf("without\n%s: %s", want, report)
	}
	stored := graphql.Mutation("poke", poke, &graphql.FieldOptions{Transactions: s.db})
	if report := graphql.New(s.catalog,
		&graphql.Options{Fields: []graphql.Field{stored}}).Report(); !strings.Contains(report,
		"orders/ship poke\n") {
		t.Errorf("a mutation in the database is not among those: %s", report)
	}
	if report := newTestHandler(t).Report(); strings.Contains(report, "keys") {
		t.Errorf("there are no keys: %s", report)
	}
}

// TestSchemaDescribesKeys: clients learn from the schema that there are keys.
func TestSchemaDescribesKeys(t *testing.T) {
	t.Parallel()
	s := newKeyed(t, func(s *keyedShop) { s.keys.TTL, s.keys.Required = 48*time.Hour, true })
	sdl := graphql.New(s.catalog, nil).SDL()
	for _, part := range []string{"`Idempotency-Key`", "for 48 hours", "A key is required."} {
		if !strings.Contains(sdl, part) {
			t.Errorf("without %q:\n%s", part, sdl)
		}
	}
	if sdl := newTestHandler(t).SDL(); strings.Contains(sdl, "Idempotency") {
		t.Errorf("there are no keys:\n%s", sdl)
	}
}

// TestClientGoneWithKey: after a disconnect an operation that cannot be rolled back completes and
// is recorded. Others are rolled back.
func TestClientGoneWithKey(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document string
		mails          int64 // after the first
		again          string
	}{
		{"at most once", sendMail, 1, replayed},
		{"exactly once",
			`{"query":"mutation{createOrder(input:{customerId:\"ada\"}){id} ` +
				`ordersShip(input:{text:\"hi\"}){text}}"}`, 0, fresh},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			s, h := openKeyed(t, func(s *keyedShop) {
				s.send = func(ctx context.Context, in mailed) (mailed, error) {
					leave()
					return in,
						ctx.Err()
				}
				s.ship = func(ctx context.Context, in greeting) (greeting, error) {
					leave()
					return in,
						ctx.Err()
				}
			})
			func() {
				defer func() {
					if v := recover(); v != http.ErrAbortHandler {
						t.Errorf("the handler ended with %v", v)
					}
				}()
				recorded(h, request(t, postGraphQL, jsonBody, key("k"), "", tt.document).WithContext(ctx))
			}()
			if n, orders := s.mails.Load(), s.count(t); n != tt.mails || orders != 0 {
				t.Errorf("%d mails and %d orders", n, orders)
			}
			res := send(t, h, postGraphQL, jsonBody, key("k"), "", tt.document)
			want(t, res, 200, tt.again)
			if len(read(t, res).Errors) > 0 {
				t.Errorf("again: %s", res.body)
			}
		})
	}
}

// TestDatabaseFails: errors of a transaction are reported as in REST, with the time for a retry.
func TestDatabaseFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		err    error
		before bool // it is not even begun
		kind   problem.Kind
		again  string
	}{
		{"it is not there", tx.ErrUnavailable, true, problem.Unavailable, fresh},
		{"it gives up", tx.ErrUnavailable, false, problem.Unavailable, fresh},
		{"the commit is lost", tx.ErrOutcomeUnknown, false, problem.OutcomeUnknown, replayed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var db *failing
			s, h := openKeyed(t, func(s *keyedShop) {
				db = &failing{Runner: s.db, err: tt.err, before: tt.before}
				s.db, s.keys.Logger = db, quiet
			})
			res := send(t, h, postGraphQL, jsonBody, key("k"), "", order1)
			wantCode(t, res, 503, "UNAVAILABLE", "Retry-After: 1", fresh)
			wantType(t, res, tt.kind)
			db.err = nil
			want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, tt.again)
			if n := s.count(t); n != 1 {
				t.Errorf("there are %d orders", n)
			}
		})
	}
}

// TestChosenID: an id that the client chooses does not follow from the key, so the outcome of the
// creation is unknown.
func TestChosenID(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	_, h := openKeyed(t, func(s *keyedShop) {
		dying := &forgetful{Store: idempotency.NewMemory(nil)}
		dying.deaths.Store(1)
		s.store, s.keys.Now, s.keys.Logger = dying, func() time.Time { return now }, quiet
	})
	const document = `{"query":"mutation{createSlot(input:{id:\"a\",text:\"hi\"}){id}}"}`
	want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, fresh)
	now = now.Add(time.Hour) // the lease has ended
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
	wantCode(t, res, 409, "CONFLICT", fresh)
	wantType(t, res, problem.OutcomeUnknown)
}

// TestKeyUnusedIfNotBegun: an operation with invalid arguments has no effect, so its key remains
// unused.
func TestKeyUnusedIfNotBegun(t *testing.T) {
	t.Parallel()
	_, h := openKeyed(t)
	const document = `{"query":"mutation($id:ID=\"1\"){deleteNote(id:$id){id}}","variables":{"id":null}}`
	for range 2 {
		res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
		want(t, res, 200, fresh)
		if g := read(t, res); len(g.Errors) != 1 || g.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
			t.Errorf("the answer is %s", res.body)
		}
	}
}

// TestKeyedFieldErrorsRecorded: the response to an operation that cannot be rolled back is recorded
// with its errors.
func TestKeyedFieldErrorsRecorded(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, []*note, struct{}) ([]*string, error) {
		return nil,
			resource.ErrForbidden
	}
	_, h := openKeyed(t, func(s *keyedShop) {
		s.opts.Fields = []graphql.Field{graphql.Computed("notes", "weather", failing, nil)}
	})
	const document = `{"query":"mutation{createNote(input:{text:\"hi\"}){text weather}}"}`
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
	want(t, res, 200, fresh)
	if !strings.HasSuffix(res.body, `"data":{"createNote":{"text":"hi","weather":null}}}`) {
		t.Errorf("the answer is %s", res.body)
	}
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, res.body, replayed)
}
