// Command client makes payments, and repeats each until the server has confirmed it. Stop and start
// the server while it runs: every payment is made once.
//
//	go run -C examples ./retries/client -n 2000
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/client"
)

// Payment is a payment as the server has it.
type Payment struct {
	ID      int64  `json:"id,omitempty"`
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
}

// pay makes a payment, and reports whether the response was a replay. The key is the number of the
// invoice, which the caller has stored before: a caller that crashes pays the invoice again with the
// same key, and the effect is one payment.
func pay(ctx context.Context, payments *client.Resource[Payment], invoice, account string) (bool, error) {
	ctx = client.WithKey(ctx, invoice)
	made, err := payments.Create(ctx, &Payment{Account: account, Cents: 100})
	if err != nil {
		return false, fmt.Errorf("invoice %s: %w", invoice, err)
	}
	return made.Replayed, nil
}

// payAll makes n payments by 8 goroutines, and returns how many responses were replays of a request
// that had been carried out before its connection broke.
func payAll(ctx context.Context, payments *client.Resource[Payment], account string, n int) (int64, error) {
	var next, replayed atomic.Int64
	var failed error
	var once sync.Once
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				again, err := pay(ctx, payments, fmt.Sprintf("%s-%d", account, i), account)
				if err != nil {
					once.Do(func() { failed = err })
					return
				}
				if again {
					replayed.Add(1)
				}
			}
		})
	}
	all.Wait()
	return replayed.Load(), failed
}

func main() {
	at := flag.String("api", "http://localhost:8080", "`URL` of the payments")
	n := flag.Int("n", 1000, "number of payments")
	account := flag.String("account", fmt.Sprint("account-", time.Now().Unix()), "account that pays")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Attempts: -1 repeats until the server responds. A service sets a deadline instead.
	api, err := client.New(*at, &client.Options{Attempts: -1, MaxWait: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	payments := client.NewResource[Payment](api, "payments")
	replays, err := payAll(ctx, payments, *account, *n)
	if err != nil {
		log.Fatal(err)
	}
	stored := 0
	for _, err := range payments.List(ctx, query.Query{Filter: query.Where("account", query.Eq, *account)}) {
		if err != nil {
			log.Fatal(err)
		}
		stored++
	}
	log.Printf("%d replays", replays)
	fmt.Printf("%d payments confirmed, %d stored\n", *n, stored)
}
