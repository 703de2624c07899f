package main

import "context"

// scenario is one check. run returns an error if the promise in about does not hold.
type scenario struct {
	name, about string
	run         func(ctx context.Context, e *env) error
}

// scenarios are all scenarios, in the order of the gate.
var scenarios = []scenario{
	{"writes-postgres", "acknowledged writes to three nodes survive kill -9 and a crash of PostgreSQL", writes(postgres)},
	{"writes-sqlite", "acknowledged writes to a node on SQLite survive kill -9", writes(sqlite)},
	{"keys-postgres", "a write repeated with its key is done once, while nodes die and PostgreSQL crashes", keys(postgres)},
	{"keys-sqlite", "the same with one node on SQLite", keys(sqlite)},
	{"key-steps-postgres", "a write is done once if the node dies at any of its ten steps", keySteps(postgres)},
	{"key-steps-sqlite", "the same with three nodes on one file of SQLite", keySteps(sqlite)},
	{"key-storm-postgres", "64 copies of a write at once have one effect", keyStorm(postgres)},
	{"key-storm-sqlite", "the same with one node on SQLite", keyStorm(sqlite)},
	{"sync-standby", "no write is acknowledged that a synchronous standby does not have, and each is done once", syncStandby},
	{"redis-full", "while the memory of Redis is full, keyed writes are refused, and those in progress are finished", redisFull},
	{"go-client", "writes and a consumer of package resource/client have one effect each while the shop is killed", goClient},
	{"key-callers", "a key reveals nothing to other callers and requests", keyCallers},
	{"pgbouncer", "keys and events work over PgBouncer in transaction mode, and the default mode of pgx is explained", pgbouncer},
	{"write-skew", "if the hooks of two writes read each other's item, one write is refused, on PostgreSQL and SQLite", writeSkew},
	{"rolling", "while two releases run, subscribers of each with filters have what they would list", rolling},
	{"feed-postgres", "subscribers receive each event once and in order, while three nodes die and PostgreSQL crashes", feeds(postgres)},
	{"feed-sqlite", "the same with one node on SQLite", feeds(sqlite)},
	{"feed-slow-network", "the same on a network that is slow and resets connections", feedSlowNetwork},
	{"feed-partition", "the same while nodes are cut off from clients and from PostgreSQL", feedPartition},
	{"feed-outage", "the same while PostgreSQL is down", feedOutage},
	{"feed-scale", "the same with 100 subscribers, or 1,000 at full size", feedScale},
	{"cursors-postgres", "cursors that cannot be resumed are refused, never skipped", cursors(postgres)},
	{"cursors-sqlite", "the same on SQLite", cursors(sqlite)},
	{"sockets", "1,000 WebSockets, or 10,000 at full size: memory, leaks, and clients that never read", sockets},
	{"sse-memory", "100 streams of server-sent events, or 500 for an hour at full size: memory does not grow", sseMemory},
	{"slow-clients", "clients that send a byte now and then are disconnected, and others served", slowClients},
	{"malformed", "malformed content causes no panic, no 5xx, and bounded memory", malformedContent},
	{"disk-full", "writes to a full disk are refused with 503 and 507, and nothing is lost or half written", diskFull},
	{"proxies", "nginx, Apache httpd and HAProxy forward lists with filters of 200 ids", reverseProxies},
	{"caches", "nginx, Varnish and Squid keep versions of the API apart, and not without Vary", sharedCaches},
}
