package redisrecords

// The Lua scripts. Redis runs each of them atomically, which is what makes a claim exclusive.

import "github.com/redis/go-redis/v9"

// A record is a hash:
//
//	fingerprint, members, owner   from the claim; owner is the key of the owner's list
//	token, call          the attempt that holds the claim, and the number of its call
//	from, lease, gone    the time of the claim, the end of its lease, and when the record expires
//	record, done         the encoded record, and the number of the call that stored it; absent until then
//
// The list of an owner is a sorted set of its records, ordered by gone.
//
// Times come from the claims and so from the clocks of the processes. They are compared as numbers
// and stored as text, because Lua would round them. The clock of the server only removes expired
// keys.
//
// When the memory of Redis is full, only the first write of a script decides: Redis refuses it if it
// needs memory, and otherwise allows all later writes. A claim must then be refused, before its
// effect. A claim that was made must be finished or released, or its key stays in flight. The flag
// allow-oom of Redis 7 is not used, because Redis 6.2 does not have it.

// claimScript returns the number of the state and, if it is Finished, the record.
var claimScript = redis.NewScript(`
local record, owner = KEYS[1], KEYS[2]
local fingerprint, token, call = ARGV[1], ARGV[2], ARGV[3]
local now, lease, gone = ARGV[4], ARGV[5], ARGV[6]
local quota, takeOver, life, members = tonumber(ARGV[7]), ARGV[8] == '1', tonumber(ARGV[9]), ARGV[10]
local FRESH, FINISHED, IN_FLIGHT, ABANDONED, MISMATCH, OVER_QUOTA = 0, 1, 2, 3, 4, 5

local known = redis.call('HMGET', record, 'fingerprint', 'gone', 'lease', 'token', 'call', 'record',
	'members')
if known[1] and tonumber(known[2]) > tonumber(now) then
	if known[1] ~= fingerprint then return {MISMATCH, known[1], known[7]} end
	if known[6] then return {FINISHED, known[6]} end
	if known[4] == token and known[5] == call then return {FRESH} end -- repeated: the response was lost
	if tonumber(known[3]) > tonumber(now) then return {IN_FLIGHT} end
	if not takeOver then return {ABANDONED} end
elseif quota > 0 and redis.call('ZCOUNT', owner, '(' .. now, '+inf') >= quota then
	return {OVER_QUOTA}
end
redis.call('ZADD', owner, gone, record) -- the first write: refused if the memory is full
redis.call('ZREMRANGEBYSCORE', owner, '-inf', now)
redis.call('DEL', record)
redis.call('HSET', record, 'fingerprint', fingerprint, 'members', members, 'owner', owner,
	'token', token, 'call', call, 'from', now, 'lease', lease, 'gone', gone)
redis.call('PEXPIRE', record, life)
if redis.call('PTTL', owner) < life then redis.call('PEXPIRE', owner, life) end
return {FRESH}
`)

// held is the beginning of scripts that need the claim.
const held = `
local record, owner, token = KEYS[1], KEYS[2], ARGV[1]
local known = redis.call('HMGET', record, 'owner', 'token', 'record', 'done', 'from')
if known[1] ~= owner or known[2] ~= token then return 0 end
`

// finishScript returns whether the claim was held.
var finishScript = redis.NewScript(held + `
local call, gone = ARGV[2], ARGV[3]
if known[3] then return known[4] == call and 1 or 0 end -- 1 if repeated by the client: the response was lost
local life = math.max(math.ceil((tonumber(gone) - tonumber(known[5])) / 1000), 1)
redis.call('PEXPIRE', record, life) -- the first write: allowed if the memory is full
redis.call('HSET', record, 'record', ARGV[4], 'done', call, 'gone', gone)
redis.call('ZADD', owner, gone, record)
if redis.call('PTTL', owner) < life then redis.call('PEXPIRE', owner, life) end
return 1
`)

// releaseScript returns whether the claim was held.
var releaseScript = redis.NewScript(held + `
if known[3] then return 0 end
redis.call('DEL', record) -- the first write: allowed if the memory is full
redis.call('ZREM', owner, record)
return 1
`)
