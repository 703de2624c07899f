// Package feedtest tests logs of events: [Run] is for everybody who writes one.
//
//	func TestLog(t *testing.T) {
//		feedtest.Run(t, func(t *testing.T) feed.Log { return newLog(t) }, nil)
//	}
//
// Every failure says what the log was asked, what it answered, and what the contract is. The cases wait for nothing but what
// a log may take time for: events of transactions that have ended.
package feedtest
