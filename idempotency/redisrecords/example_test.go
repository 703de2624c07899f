package redisrecords_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/redisrecords"
	"github.com/stoa-go/stoa/resource/memory"
)

// Data in other systems shares no transaction with Redis.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"}) // connects on first use
	defer client.Close()
	records := redisrecords.New(client, nil)
	// When the program starts: if err := records.Check(ctx); err != nil { ... }
	guard := idempotency.New(records, nil)
	fmt.Println(guard.LevelFor(memory.NewDB()))
	// Output: at most once
}

// The data and its records are in the same Redis, so the guarantee is stronger.
func ExampleStore_Effect() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	records := redisrecords.New(client, nil)
	// operations that did not finish run again
	guard := idempotency.New(records, &idempotency.Options{AtLeastOnce: true})
	pay := records.Effect("pay", `
		if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then return redis.error_reply('POOR') end
		redis.call('DECRBY', KEYS[1], ARGV[1])
		return redis.call('INCR', KEYS[2])`)
	// inside Wrap: number, err := pay.Run(r.Context(), []string{"balance",
	// "payments"}, 100)
	_ = pay
	fmt.Println(guard.Options().AtLeastOnce)
	// Output: true
}
