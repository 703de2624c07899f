package redisrecords

// Effects: changes of other Redis keys in the same atomic script as the record.

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
)

// Effect is a Lua script that changes data in Redis once per operation. It stores its result in the
// same atomic step as the change, and a repeated call returns the stored result without running the
// script. It is safe for concurrent use.
//
// With an Effect an operation that did not finish can run again, as a Guard with AtLeastOnce does:
//
//	pay := store.Effect("pay", `redis.call('DECRBY', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[2])`)
//	...
//	// inside Guard.Do or Wrap:
//	number, err := pay.Run(ctx, []string{"{acme}:balance", "{acme}:payments"}, 100)
//
// A late attempt that has lost its claim receives the stored result of the other attempt.
type Effect struct {
	store  *Store
	name   string
	script *redis.Script
}

// Effect returns an Effect that runs a Lua script. The script uses KEYS and ARGV and returns a
// string or an integer. It should check its arguments before it writes, because Redis does not roll
// back the writes of a failed script. name distinguishes several effects of one operation. Effect
// panics if name or lua is empty.
func (s *Store) Effect(name, lua string) *Effect {
	if name == "" || lua == "" {
		panic("redisrecords: Effect needs a name and a script, and one of them is empty")
	}
	return &Effect{
		store:  s,
		name:   name,
		script: redis.NewScript("local function effect(KEYS, ARGV)\n" + lua + "\nend\n" + around),
	}
}

// around runs the effect unless its result is stored. Outside an operation life is 0 and the result
// is not stored.
const around = `
local kept, life, keys, args = KEYS[1], tonumber(ARGV[1]), {}, {}
if life > 0 then
	local result = redis.call('GET', kept)
	if result then return result end
end
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 2, #ARGV do args[i - 1] = ARGV[i] end
local result = effect(keys, args)
if type(result) == 'table' and result.err then return result end
if type(result) == 'number' then result = string.format('%.0f', result) end
if type(result) ~= 'string' then result = '' end
if life > 0 then redis.call('SET', kept, result, 'PX', life) end
return result
`

// Run runs the effect for the operation of ctx and returns its result as a string, which is empty
// if the result is neither a string nor an integer. keys are all keys that the script uses. Outside
// an operation the script runs each time.
//
// After an error it is unknown whether the script had an effect; running it again determines that.
// An exception is redis.error_reply before the first write: wrap that error with
// [idempotency.ErrNothingDone].
func (e *Effect) Run(ctx context.Context, keys []string, args ...any) (string, error) {
	life := int64(0)
	operation := idempotency.DeriveKey(ctx, e.name)
	if operation != "" {
		life = e.store.results.Milliseconds()
	}
	names := append([]string{e.store.prefix + "effect:" + operation}, keys...)
	result, err := e.script.Run(ctx, e.store.client, names, append([]any{life}, args...)...).Text()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fault("run effect "+e.name, err)
	}
	return result, nil
}
