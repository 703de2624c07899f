// Command e2e runs the scenarios that need real processes: nodes that are killed, databases that crash, networks that fail,
// clients that misbehave, and caches in between.
//
//	go run -C .ci/e2e . -list                          the scenarios
//	go run -C .ci/e2e . -run NAME,NAME                 some of them at the size of the gate, about 20 seconds each
//	go run -C .ci/e2e . -run NAME -size full -seed 7   the long form, with other random values
//	go run -C .ci/e2e . -run NAME -seed 7 -times 20    with the seeds 7 to 26; it prints all seeds that fail
//
// Each line of -list has the name of a scenario, "beside" if it mostly waits and can run beside another one
// or "alone", the number of seeds of .ci/run long chance, and what the scenario proves.
//
// Each scenario starts what it needs: the shop of examples, built as a binary, or a server under test, which is this program
// too ("e2e server KIND"); PostgreSQL and Redis by the scripts .ci/postgres and .ci/redis, or a file of SQLite. It lets clients write and subscribe
// while it injects faults, and then compares the responses and events that they got with what is stored. Most scenarios have a
// control: the same load on a server or a client without the mechanism under test. A control without violations fails the
// scenario, because then the check cannot fail. What a control needs for its violation is injected, or the run waits for it:
// it does not depend on chance. Elapsed time decides nothing: limits of five minutes only end what hangs.
//
//	fleet      starts, kills and restarts nodes
//	network    TCP proxies that delay, cut and block
//	database   starts, crashes, copies and opens databases
//	client     the HTTP, server-sent events and WebSocket client
//	history    decides whether responses and events can follow from the writes, and counts the violations
//	server     the servers under test
//
// In this package, scenario.go lists the scenarios, and env.go is what each gets. A scenario makes a trial
// for each of its runs and controls: what is started, the steps, and the faults with their numbers. trial.go
// starts and reports trials, load.go runs writers while the faults are injected, request.go sends and repeats
// requests. Each scenario is a family of files:
//
//	writes_*.go      acknowledged writes survive kills and crashes, on the shop
//	keys_*.go        writes with idempotency keys are done once, also if the node dies at any step
//	redis.go         keyed writes while the memory of Redis is full
//	skew.go          writes with hooks that read other items
//	standby.go       a synchronous standby of PostgreSQL has all that was acknowledged
//	pooler.go        keys and events through PgBouncer
//	feed_*.go        subscribers receive each event once and in order, also through a failing network
//	cursors.go       cursors that cannot be resumed are refused
//	rolling_*.go     subscribers while two releases of a program run
//	sockets.go       memory and isolation of many WebSockets
//	sse.go           memory of many streams of server-sent events
//	slow.go          slow clients are disconnected, others served
//	malformed_*.go   malformed content causes no panic, no 5xx, and bounded memory
//	disk.go          writes to a full disk are refused, and nothing is lost
//	proxies.go       reverse proxies forward responses to long filters
//	caches_*.go      shared caches keep API versions apart
//	fronts.go        the proxies and caches as programs
//
// The tests check the checks: against servers with planted faults, and with mutated histories. They do not repeat the scenarios.
package main
