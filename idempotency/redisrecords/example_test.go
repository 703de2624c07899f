package redisrecords_test

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/redisrecords"
	"github.com/stoa-go/stoa/resource/memory"
)

// Data elsewhere shares no transaction with Redis, whatever it is.
func ExampleNew() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"}) // which connects when it is needed
	defer client.Close()
	records := redisrecords.New(client, nil)
	// At the start: if err := records.Check(ctx); err != nil { ... }
	keeper := idempotency.New(records, nil)
	fmt.Println(keeper.LevelFor(memory.NewDB()))
	// Output: at most once
}

// The data is in Redis, and so is the record of what was done to it. A key is worth more then.
func ExampleStore_Effect() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer client.Close()
	records := redisrecords.New(client, nil)
	keeper := idempotency.New(records, &idempotency.Options{AtLeastOnce: true}) // what was not finished is done again
	pay := records.Effect("pay", `
		if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then return redis.error_reply('POOR') end
		redis.call('DECRBY', KEYS[1], ARGV[1])
		return redis.call('INCR', KEYS[2])`)
	_ = pay // in what keeper.Wrap serves: number, err := pay.Run(r.Context(), []string{"balance", "payments"}, 100)
	fmt.Println(keeper.Options().AtLeastOnce)
	// Output: true
}
