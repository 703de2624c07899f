package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// watched gives the shop a feed, which ends with the test.
func watched(t *testing.T, opts *feed.Options) func(*setup) {
	t.Helper()
	if opts == nil {
		opts = &feed.Options{}
	}
	opts.Logger = quiet
	f := feed.New(feed.NewMemory(nil), opts)
	t.Cleanup(func() { f.Close() })
	return func(s *setup) { s.catalog.Feed, s.opts.Socket.Ping = f, time.Hour }
}

// The documents of the tests.
const (
	changes = `subscription{orderChanged{kind id order{status}}}`
	places  = `subscription($after:String){orderChanged(after:$after){id order{cents} cursor}}`
	paying  = `mutation{patchOrder(id:1,input:{status:paid}){id}}`
	sending = `mutation{patchOrder(id:1,input:{status:sent}){id}}`
)

// price is a mutation that gives the first order a price.
func price(n int) string { return fmt.Sprintf(`mutation{patchOrder(id:1,input:{cents:%d}){id}}`, n) }

// do executes a mutation at a handler.
func do(t *testing.T, h http.Handler, document string) {
	t.Helper()
	res := send(t, h, "POST /graphql", jsonBody, "", body(t, document))
	if want(t, res, 200); strings.Contains(res.body, `"errors"`) {
		t.Errorf("%s: %s", document, res.body)
	}
}

const isPaid = `{"data":{"orderChanged":{"kind":"UPDATED","id":"1","order":{"status":"paid"}}}}`

// TestSubscription: all subscribers receive a write until they unsubscribe.
func TestSubscription(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, h, h)
		one, two := s.socket(t), s.socket(t)
		for _, c := range []*talker{one, two} {
			c.talk(initMessage, ackMessage, startMessage("s", changes), startMessage("q", "{__typename}"),
				next("q", typenameIs), completed("q"))
		}
		synctest.Wait()
		one.talk(startMessage("m", paying))
		// The response and the event may arrive in any order.
		got := map[string]bool{one.receive(): true, one.receive(): true, one.receive(): true}
		want := map[string]bool{next("m", `{"data":{"patchOrder":{"id":"1"}}}`): true, completed("m"): true,
			next("s", isPaid): true}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		two.talk(next("s", isPaid), `> {"id":"s","type":"complete"}`)
		synctest.Wait()
		do(t, h, sending)
		one.talk(next("s", strings.Replace(isPaid, "paid", "sent", 1)))
		two.talk(startMessage("q", "{__typename}"), next("q", typenameIs), completed("q")) // and nothing before that
	})
}

// placed is a message about an order, as resuming needs it.
type placed struct {
	Payload struct {
		Data struct {
			OrderChanged struct {
				ID     string
				Order  struct{ Cents int }
				Cursor string
			}
		}
	}
}

// cents reads the next message, and returns its price and cursor.
func (c *talker) cents() (int, string) {
	c.t.Helper()
	text, ok := strings.CutPrefix(c.receive(), "< ")
	var m placed
	if err := json.Unmarshal([]byte(text), &m); err != nil || !ok ||
		m.Payload.Data.OrderChanged.Cursor == "" {
		c.t.Fatalf("no change: %v: %s", err, text)
	}
	return m.Payload.Data.OrderChanged.Order.Cents, m.Payload.Data.OrderChanged.Cursor
}

// after are the variables of places.
func after(cursor string) string { return fmt.Sprintf(`"variables":{"after":%q}`, cursor) }

// TestResume: a client that resumes from the last cursor receives the rest without loss and
// repetition.
func TestResume(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, h, h)
		var seen []int
		cursor := ""
		for visit := range 4 {
			begin := startMessage("s", places)
			if cursor != "" {
				begin = startMessage("s", places, after(cursor))
			}
			c := s.socket(t)
			c.talk(initMessage, ackMessage, begin)
			synctest.Wait()
			do(t, h, price(10*visit+1))
			do(t, h, price(10*visit+2))
			if visit > 0 { // the changes since the previous connection
				n, _ := c.cents()
				seen = append(seen, n)
			}
			var n int
			n, cursor = c.cents()
			seen = append(seen, n)
			c.conn.CloseNow() // with one that it has not read
			synctest.Wait()
		}
		if diff := cmp.Diff([]int{1, 2, 11, 12, 21, 22, 31}, seen); diff != "" {
			t.Errorf("prices (-want +got):\n%s", diff)
		}
	})
}

// TestResumeRefused: a cursor that cannot be resumed is an error that names the remedy.
func TestResumeRefused(t *testing.T) {
	t.Parallel()
	foreign := feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}.String()
	tests := []struct{ name, cursor, code, more string }{
		{"of another log", foreign, "CURSOR_EXPIRED", `"path":["orderChanged"]`},
		{"no cursor", "yesterday", "BAD_USER_INPUT", `"argument":"after"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := open(t, watched(t, nil)).socket(t)
				c.talk(initMessage, ackMessage, startMessage("s", places, after(tt.cursor)))
				got := c.receive()
				for _, part := range []string{`< {"id":"s","type":"error","payload":[{`, tt.code, tt.more} {
					if !strings.Contains(got, part) {
						t.Errorf("without %s: %s", part, got)
					}
				}
				// the id is free, and no complete came
				c.talk(startMessage("s", "{__typename}"), next("s", typenameIs), completed("s"))
			})
		})
	}
}

// named is a Connect that sets a principal for an hour.
func named(ctx context.Context, _ []byte) (context.Context, time.Time, error) {
	return context.WithValue(ctx, callerKey{}, "a socket"), time.Now().Add(time.Hour), nil
}

// TestSubscriptionEnds: what ends a subscription, or the socket, in the middle of it.
func TestSubscriptionEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		end   func(t *testing.T, s *site, f *feed.Feed, h *graphql.Handler)
		lines []string
	}{
		{"the server is shut down", func(t *testing.T, s *site, _ *feed.Feed,
			_ *graphql.Handler) {
			s.Shutdown(t.Context())
		},
			[]string{"x 1001 Going away"}},
		{"the handler is", func(t *testing.T, _ *site, _ *feed.Feed,
			h *graphql.Handler) {
			h.Shutdown(t.Context())
		},
			[]string{"x 1001 Going away"}},
		{"the feed is closed", func(_ *testing.T, _ *site, f *feed.Feed, _ *graphql.Handler) { f.Close() },
			[]string{"x 1001 Going away"}},
		{"what was allowed expires", func(*testing.T, *site, *feed.Feed,
			*graphql.Handler) {
			time.Sleep(time.Hour)
		},
			[]string{"x 4403 Forbidden: the authorization has expired"}},
		{"the client has to authenticate", func(t *testing.T, _ *site, _ *feed.Feed,
			h *graphql.Handler) {
			do(t, h, sending)
		},
			[]string{`< {"id":"s","type":"error","payload":[{"message":*`, startMessage("q", "{__typename}"),
				next("q", typenameIs), completed("q")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f *feed.Feed
				var strange atomic.Bool
				h := newTestHandler(t, watched(t, nil), func(s *setup) {
					f = s.catalog.Feed
					s.opts.Socket.Connect = named
					s.orders.Public = false
					s.orders.Authorize = func(ctx context.Context, _ resource.Op, _, _ *order) error {
						if ctx.Value(callerKey{}) != nil && strange.Load() {
							return resource.ErrUnauthenticated
						}
						return nil
					}
				})
				s := serve(t, h, h)
				c := s.socket(t)
				c.talk(initMessage, ackMessage, startMessage("s", changes))
				synctest.Wait()
				do(t, h, paying)
				c.talk(next("s", isPaid))
				strange.Store(true)
				done := make(chan struct{})
				go func() {
					defer close(done)
					tt.end(t, s, f, h)
				}()
				c.talk(tt.lines...)
				<-done
			})
		})
	}
}

// TestFeedIsClosedFirst: where the feed ends before the server does, operations with one answer get it nevertheless.
func TestFeedIsClosedFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f *feed.Feed
		h := newTestHandler(t, watched(t, nil), func(s *setup) {
			f = s.catalog.Feed
			s.opts.Fields = append(s.opts.Fields,
				graphql.Query("soon", func(context.Context, struct{}) (string, error) {
					time.Sleep(2 * time.Second)
					return "now", nil
				}, nil))
		})
		c := serve(t, h, h).socket(t)
		c.talk(initMessage, ackMessage, startMessage("s", changes), startMessage("q", "{soon}"))
		synctest.Wait()
		f.Close()
		c.talk(next("q", `{"data":{"soon":"now"}}`), completed("q"), "x 1001 Going away")
	})
}

// TestPolicyOfChanges: rights are asked about each change, as they are by then.
func TestPolicyOfChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hidden atomic.Bool
		h := newTestHandler(t, watched(t, nil), func(s *setup) {
			s.orders.Public = false
			s.opts.Socket.Connect = named
			s.orders.Authorize = func(ctx context.Context, _ resource.Op, before, _ *order) error {
				if ctx.Value(callerKey{}) != nil && hidden.Load() && before.Status != "sent" {
					return resource.ErrForbidden
				}
				return nil
			}
		})
		c := serve(t, h, h).socket(t)
		c.talk(initMessage, ackMessage, startMessage("s", changes))
		synctest.Wait()
		do(t, h, paying)
		c.talk(next("s", isPaid))
		hidden.Store(true)
		do(t, h, sending)
		// it has come into sight
		c.talk(next("s", `{"data":{"orderChanged":{"kind":"CREATED","id":"1","order":{"status":"sent"}}}}`))
	})
}

// TestStalledSubscriber: one that does not read is dropped, and the others do not notice.
func TestStalledSubscriber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		s := serve(t, h, h)
		stalled, quick := s.socket(t), s.socket(t)
		stalled.talk(initMessage, ackMessage, startMessage("s", places))
		quick.talk(initMessage, ackMessage, startMessage("s", places))
		synctest.Wait()
		began := time.Now()
		for n := range 20 {
			do(t, h, price(n+1))
			if got, _ := quick.cents(); got != n+1 {
				t.Fatalf("price %d, want %d", got, n+1)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("the others waited for %v", waited)
		}
		time.Sleep(10*time.Second + 500*time.Millisecond)
		stalled.cents() // what was being written
		stalled.talk("x 1013 Too slow: messages were not read in time")
	})
}
