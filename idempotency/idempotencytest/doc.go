// Package idempotencytest has the conformance tests of idempotency stores. Every implementation of
// [idempotency.Store] should pass [Run]:
//
//	func TestStore(t *testing.T) {
//		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return newStore(t) }, nil)
//	}
//
// A failure reports the call, its result, and the part of the contract that the store violates. The
// tests use the times in the claims and do not wait.
//
// Each test case names a contract. The files group the cases: claim (states, tokens and leases),
// expiry (retention, purge and quota), record, race, and transaction. The tests of this package run
// the cases against faulty stores, and show which case detects which fault.
package idempotencytest
