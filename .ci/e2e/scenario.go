package main

import "context"

// scenario is one check.
type scenario struct {
	name string
	// beside reports that the scenario mostly waits, so that the gate runs it beside another one.
	beside bool
	// seeds is the number of seeds of .ci/run long chance: manySeeds for a scenario with a control, or
	// with a size or a limit that depends on speed, and fewSeeds for the others.
	seeds int
	// run returns an error if the promise in about does not hold.
	run   func(ctx context.Context, e *env) error
	about string
}

const (
	manySeeds = 20
	fewSeeds  = 3
)

// place returns where the gate runs a scenario, as -list prints it.
func (s scenario) place() string {
	if s.beside {
		return "beside"
	}
	return "alone"
}

// scenarios are all scenarios, in the order of the gate.
var scenarios = []scenario{
	{"writes-postgres", false, manySeeds, writes(postgres),
		"acknowledged writes to three nodes survive kill -9 and a crash of PostgreSQL"},
	{"writes-sqlite", false, manySeeds, writes(sqlite),
		"acknowledged writes to a node on SQLite survive kill -9"},
	{"keys-postgres", false, manySeeds, keys(postgres),
		"a write repeated with its key is done once, while nodes die and PostgreSQL crashes"},
	{"keys-sqlite", false, manySeeds, keys(sqlite),
		"the same with one node on SQLite"},
	{"key-steps-postgres", false, manySeeds, keySteps(postgres),
		"a write is done once if the node dies at any of its ten steps"},
	{"key-steps-sqlite", false, manySeeds, keySteps(sqlite),
		"the same with three nodes on one file of SQLite"},
	{"key-storm-postgres", false, fewSeeds, keyStorm(postgres),
		"64 copies of a write at once have one effect"},
	{"key-storm-sqlite", false, fewSeeds, keyStorm(sqlite),
		"the same with one node on SQLite"},
	{"sync-standby", true, manySeeds, syncStandby,
		"no write is acknowledged that a synchronous standby does not have, and each is done once"},
	{"redis-full", true, manySeeds, redisFull,
		"while the memory of Redis is full, keyed writes are refused, and those in progress are finished"},
	{"go-client", false, manySeeds, goClient,
		"writes and a consumer of package resource/client have one effect each while the shop is killed"},
	{"key-callers", false, fewSeeds, keyCallers,
		"a key reveals nothing to other callers and requests"},
	{"pgbouncer", false, manySeeds, pgbouncer,
		"keys and events work over PgBouncer in transaction mode, and the default mode of pgx is explained"},
	{"write-skew", false, manySeeds, writeSkew,
		"if the hooks of two writes read each other's item, one write is refused, on PostgreSQL and SQLite"},
	{"rolling", false, manySeeds, rolling,
		"while two releases run, subscribers of each with filters have what they would list"},
	{"feed-postgres", false, manySeeds, feeds(postgres),
		"subscribers receive each event once and in order, while three nodes die and PostgreSQL crashes"},
	{"feed-sqlite", false, manySeeds, feeds(sqlite),
		"the same with one node on SQLite"},
	{"feed-slow-network", false, fewSeeds, feedSlowNetwork,
		"the same on a network that is slow and resets connections"},
	{"feed-partition", true, fewSeeds, feedPartition,
		"the same while nodes are cut off from clients and from PostgreSQL"},
	{"feed-outage", false, fewSeeds, feedOutage,
		"the same while PostgreSQL is down"},
	{"feed-scale", false, fewSeeds, feedScale,
		"the same with 100 subscribers, or 1,000 at full size"},
	{"cursors-postgres", true, fewSeeds, cursors(postgres),
		"cursors that cannot be resumed are refused, never skipped"},
	{"cursors-sqlite", false, fewSeeds, cursors(sqlite),
		"the same on SQLite"},
	{"sockets", true, manySeeds, sockets,
		"1,000 WebSockets, or 10,000 at full size: memory, leaks, and clients that never read"},
	{"sse-memory", false, manySeeds, sseMemory,
		"100 streams of server-sent events, or 500 for an hour at full size: memory does not grow"},
	{"slow-clients", true, manySeeds, slowClients,
		"clients that send a byte now and then are disconnected, and others served"},
	{"malformed", false, fewSeeds, malformedContent,
		"malformed content causes no panic, no 5xx, and bounded memory"},
	{"disk-full", true, manySeeds, diskFull,
		"writes to a full disk are refused with 503 and 507, and nothing is lost or half written"},
	{"proxies", false, manySeeds, reverseProxies,
		"nginx, Apache httpd and HAProxy forward lists with filters of 200 ids"},
	{"shutdown", true, manySeeds, shutdown,
		"the recipe deploy loses no request to nginx when SIGTERM ends one of two servers"},
	{"caches", false, manySeeds, sharedCaches,
		"nginx, Varnish and Squid keep versions of the API apart, and not without Vary"},
}
