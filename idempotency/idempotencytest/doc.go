// Package idempotencytest has the conformance tests of idempotency stores. Every implementation of
// [idempotency.Store] should pass [Run]:
//
//	func TestStore(t *testing.T) {
//		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return newStore(t) }, nil)
//	}
//
// A failure reports the call, its result, and the part of the contract that the store violates. The
// tests use the times in the claims and do not wait.
package idempotencytest
