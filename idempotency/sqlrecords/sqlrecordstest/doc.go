// Package sqlrecordstest tests package sqlrecords on real databases: SQLite by two drivers, and PostgreSQL. It is a module of
// its own, as drivers do not enter the module that everybody requires.
//
// Its benchmark shows what a key costs where record and effect are one transaction, and what it costs where they are three.
// The figures are worth something if commits are on the disk; for PostgreSQL that takes a server of one's own, with fsync,
// and SQLite is opened that way. From this folder:
//
//	../../../.ci/postgres start              # prints a folder and a URL
//	TEST_PG_DSN=URL go test -run '^$' -bench KeyedPOST -benchtime 1x . -args -requests 2000 -rounds 5
//	../../../.ci/postgres stop FOLDER
package sqlrecordstest
