package idempotency_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/memory"
)

// A handler without support for keys charges a card once, however often the request is sent.
func ExampleGuard_Wrap() {
	guard := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{
		Principal: func(ctx context.Context) string { return "ann" }, // the authenticated caller
	})
	charges := 0
	handler := guard.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		charges++
		w.Header().Set("Location", "/charges/1")
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "charged")
	}))
	for _, body := range []string{`{"amount": 5}`, `{ "amount" : 5 }`, `{"amount": 6}`} {
		r := httptest.NewRequest("POST", "/charges", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("Idempotency-Replayed"))
	}
	fmt.Println("charges:", charges)
	// Output:
	// 201 ""
	// 201 "true"
	// 422 ""
	// charges: 1
}

// If the effect shares its transactions with the records, both commit or neither does.
func ExampleGuard_Do() {
	db := memory.NewDB()
	type order struct {
		ID string `json:"id"`
	}
	orders := memory.New(&memory.Options[order]{DB: db})
	guard := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil)
	fmt.Println(guard.LevelFor(orders.Transactions()))

	op := idempotency.Operation{Principal: "ann", Method: "POST", Target: "/orders", Key: "8e03978e",
		Fingerprint: idempotency.Fingerprint([]byte("POST /orders"), []byte("{}"))}
	for range 2 {
		rec, replayed, err := guard.Do(context.Background(), op, idempotency.ExactlyOnce, db,
			func(ctx context.Context) (idempotency.Record, error) {
				item, err := orders.Create(ctx, order{})
				return idempotency.Record{Status: http.StatusCreated, Collection: "orders", ID: item.ID}, err
			})
		fmt.Println(rec.Status, rec.Collection, replayed, err)
	}
	// Output:
	// exactly once
	// 201 orders false <nil>
	// 201 orders true <nil>
}

func ExampleNew() {
	guard := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Strict: true})
	_, err := guard.Key(http.Header{"Idempotency-Key": {"without quotation marks"}})
	fmt.Println(err)
	key, err := guard.Key(http.Header{"Idempotency-Key": {`"8e03978e"`}})
	fmt.Println(key, err)
	// Output:
	// invalid-header: must be a string such as "abc"
	// 8e03978e <nil>
}

func ExampleNewMemory() {
	store := idempotency.NewMemory(&idempotency.MemoryOptions{Entries: 10_000, Bytes: 16 << 20})
	guard := idempotency.New(store, nil)
	fmt.Println(guard.LevelFor(nil))
	// Output: at most once
}

// The bank recognizes a repeated charge by a key that is derived from the client's key.
func ExampleDeriveKey() {
	guard := idempotency.New(idempotency.NewMemory(nil), nil)
	op := idempotency.Operation{Principal: "ann", Method: "POST", Target: "/orders", Key: "8e03978e"}
	_, _, err := guard.Do(context.Background(), op, idempotency.AtMostOnce, nil,
		func(ctx context.Context) (idempotency.Record, error) {
			key := idempotency.DeriveKey(ctx, "charge") // sent as Idempotency-Key to the bank
			fmt.Println(len(key), key == idempotency.DeriveKey(ctx, "charge"),
				key == idempotency.DeriveKey(ctx, "mail"))
			return idempotency.Record{Status: http.StatusCreated}, nil
		})
	fmt.Println(err)
	// Output:
	// 43 true false
	// <nil>
}
