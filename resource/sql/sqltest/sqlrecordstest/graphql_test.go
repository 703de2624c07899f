package sqlrecordstest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// bill is of an order, and no order has two.
type bill struct {
	ID      int64  `json:"id"`
	OrderID string `json:"orderId" unique:"true"`
}

// shop is served in GraphQL, with its records in the database of its data.
type shop struct {
	http.Handler
	orders *sqltable.Table[order]
	bills  *sqltable.Table[bill]
}

// open creates the tables and a handler. In debug mode the database reports statements outside the
// transaction.
func open(t *testing.T, e sqltest.Engine) *shop {
	t.Helper()
	db := e.Open(t, &sqltx.Options{Debug: true, Attempts: 1 << 30}) // none is to give up, however many others there are
	s := &shop{bills: sqltable.New[bill](db, "bills", nil)}
	var err error
	if s.orders, err = orders(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := s.bills.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(records(t, db), nil), Principal: func(context.Context) string { return "ann" },
	}, s.orders.Ops().Resource("orders", &resource.Options[order]{Public: true}),
		s.bills.Ops().Resource("bills", &resource.Options[bill]{Public: true,
			Relations: []resource.Relation[bill]{{Name: "order", Target: "orders", Field: "orderId"}}}))
	s.Handler = graphql.New(c, nil)
	return s
}

// post sends a mutation under a key.
func (s *shop) post(key, document string) *httptest.ResponseRecorder {
	content := `{"query":"mutation {` + strings.ReplaceAll(document, `"`, `\"`) + `}"}`
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(content))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// both creates an order and its bill, and reads the one through the other.
const both = `createOrder(input: {id: "a", what: "tea"}) { what } createBill(input: {orderId: "a"}) { order { what } }`

const isBoth = `{"data":{"createOrder":{"what":"tea"},"createBill":{"order":{"what":"tea"}}}}`

// TestRule142GraphQL: the mutations of one request are one transaction, with the record of their key.
func TestRule142GraphQL(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		s := open(t, e)
		there := func(when string, want int) {
			t.Helper()
			if diff := cmp.Diff([]int{want, want}, []int{count(t, s.orders), count(t, s.bills)}); diff != "" {
				t.Errorf("%s, orders and bills (-want +got):\n%s", when, diff)
			}
		}
		// The second bill breaks a rule of the database, which takes no more statements then.
		w := s.post("k", both+` again: createBill(input: {orderId: "a"}) { id } more: createOrder(input: {what: "x"}) { id }`)
		if body := w.Body.String(); !strings.Contains(body, `"path":["again"]`) || !strings.Contains(body, `"code":"CONFLICT"`) ||
			!strings.HasSuffix(body, `,"data":null}`) || strings.Count(body, `"message"`) != 1 {
			t.Errorf("%d %s", w.Code, body)
		}
		there("after an error", 0)

		var copies [64]*httptest.ResponseRecorder
		var all sync.WaitGroup
		for i := range copies {
			all.Go(func() { copies[i] = s.post("k", both) })
		}
		all.Wait()
		first := 0
		for _, w := range copies {
			switch body := w.Body.String(); {
			case w.Code == http.StatusConflict && strings.Contains(body, "request-in-flight"):
			case w.Code != http.StatusOK || body != isBoth:
				t.Errorf("a copy is answered %d %s", w.Code, body)
			case w.Header().Get("Idempotency-Replayed") == "":
				first++
			}
		}
		if first != 1 {
			t.Errorf("%d of the copies are not a replay", first)
		}
		there("after 64 copies", 1)
		if w := s.post("k", "  "+both); w.Body.String() != isBoth || w.Header().Get("Idempotency-Replayed") != "true" {
			t.Errorf("a repetition is answered %d %s", w.Code, w.Body)
		}
		if w := s.post("k", `deleteOrder(id: "a") { id }`); w.Code != http.StatusUnprocessableEntity {
			t.Errorf("another request under the key is answered %d %s", w.Code, w.Body)
		}
		there("after all", 1)
	})
}
