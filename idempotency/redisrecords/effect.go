package redisrecords

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
)

// Effect is a script that changes data in Redis once for each operation, however often it is run: it keeps its result in
// the step that has the effect, and when it is run again it returns that and does nothing. It is safe for concurrent use.
//
// With it, what was begun and not finished is done again without harm, which a Guard does that has AtLeastOnce:
//
//	pay := store.Effect("pay", `redis.call('DECRBY', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[2])`)
//	...
//	number, err := pay.Run(ctx, []string{"{acme}:balance", "{acme}:payments"}, 100) // within what Guard.Do or Wrap run
//
// The effect is fenced by that, too: an attempt that comes late, when another has taken over, gets the other's result.
type Effect struct {
	store  *Store
	name   string
	script *redis.Script
}

// Effect returns an Effect of a script in Lua, which finds KEYS and ARGV as always and returns a string or an integer. It
// should look before it writes: what a script has written when it fails is not taken back. The name tells several effects of
// one operation apart. Effect panics if name or lua is empty.
func (s *Store) Effect(name, lua string) *Effect {
	if name == "" || lua == "" {
		panic("redisrecords: Effect without a name or a script")
	}
	return &Effect{store: s, name: name, script: redis.NewScript("local function effect(KEYS, ARGV)\n" + lua + "\nend\n" + around)}
}

// around runs the effect unless its result is there. Without an operation it has no time to keep it.
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

// Run runs it for the operation of ctx, with the names of all keys that it uses, and returns the result as a string, which is
// empty for whatever is neither string nor integer. Outside of an operation it is an ordinary script.
//
// An error leaves it open whether there was an effect, except for what the script itself refuses (redis.error_reply) before
// it writes; wrap that in [idempotency.ErrNothingDone]. To run it again tells.
func (e *Effect) Run(ctx context.Context, keys []string, args ...any) (string, error) {
	life := int64(0)
	operation := idempotency.DeriveKey(ctx, e.name)
	if operation != "" {
		life = e.store.results.Milliseconds()
	}
	names := append([]string{e.store.prefix + "effect:" + operation}, keys...)
	result, err := e.script.Run(ctx, e.store.client, names, append([]any{life}, args...)...).Text()
	if err != nil && !errors.Is(err, redis.Nil) {
		return "", fault("running the effect "+e.name, err)
	}
	return result, nil
}
