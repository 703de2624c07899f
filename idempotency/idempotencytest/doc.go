// Package idempotencytest tests stores of idempotency records: [Run] is for everybody who writes one.
//
//	func TestStore(t *testing.T) {
//		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return newStore(t) }, nil)
//	}
//
// Every failure says what the store was asked, what it answered, and what the contract is. The cases go by the times in the
// claims and wait for nothing.
package idempotencytest
