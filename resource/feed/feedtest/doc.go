// Package feedtest has the conformance tests of event logs. Every implementation of [feed.Log]
// should pass [Run]:
//
//	func TestLog(t *testing.T) {
//		feedtest.Run(t, func(t *testing.T) feed.Log { return newLog(t) }, nil)
//	}
//
// A failure reports the call, its result, and the part of the contract that the log violates. The
// tests wait only for what a log may delay: the events of transactions that have just ended.
//
// Each test case names a contract. The files group the cases by method: append, tail (Head, Tail,
// Read and cursors), purge, transaction, race, and process (several processes and backups). The
// tests of this package run the cases against faulty logs, and show which case detects which fault.
package feedtest
