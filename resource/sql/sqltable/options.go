package sqltable

import (
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// Options say how a table differs from what [New] expects. The zero value is right for a table that
// [Table.CreateTable] creates; nil is the zero value.
type Options struct {
	// ID is the JSON name of the id field, "id" if empty. Its column is the primary key, or unique.
	ID string
	// Columns say, by JSON name, where and how a table keeps a field that is kept otherwise than the field would say. The
	// entry stands for all of that, so NotNull has to be said again; a Path is not possible. An empty Name is the usual one.
	//
	// A column with an Expr is read and never written. That is for what the database computes or fills in: with
	// Expr: "created_at", say, its own DEFAULT counts. A column that is not NotNull though its field is no pointer gives the
	// field's zero value for NULL; a filter sees the difference.
	Columns map[string]sqlquery.Column
	// Rev is the column of the revision, "rev" if empty, [XMin] or [Content]. It holds text, or an integer if CountRev is
	// set. If it is that of a field, the field shows the revision, whatever clients send.
	Rev string
	// CountRev says that Rev holds an integer that counts writes: bigint in PostgreSQL. A new item begins with the time in
	// microseconds, so that an id which lives again has no revision of its first life.
	CountRev bool
	// Modified is a column for the time of the last write, which becomes Last-Modified. Empty means that there is none. If
	// it is that of a field, the field shows it, whatever clients send.
	Modified string
	// Tombstones is the table that remembers the ids of deleted items, for ever. Empty means that of the items with
	// "_deleted" behind its name. It has the columns id, like that of the items, and deleted_at. A row in it means nothing
	// while there is an item with that id.
	Tombstones string
	// Forget leaves out remembering: to ask for a deleted item is then 404 and not 410.
	Forget bool
	// Recreate lets an id that was deleted be inserted again. Otherwise it is gone for ever, except where Insert and Delete
	// of one id meet in the same moment.
	Recreate bool
	// NewID makes the id of an item that is created. Nil means a UUID of version 7, and, for integers, that the database
	// assigns ids: then there is no Insert. It is called by many goroutines at once.
	NewID func() string
	// ClientIDs says that whoever brings in an item chooses its id: there is no Create.
	ClientIDs bool
	// Index names fields, by JSON name, for which CreateTable makes an index, in front of the id: it serves filters and
	// sorts by the field. Fields tagged unique have one that is unique.
	Index []string
	// References name, by JSON name, the table whose primary key the field holds: CreateTable makes a foreign key of it. That
	// table has to be there first. SQLite looks at foreign keys only where PRAGMA foreign_keys is on.
	References map[string]string
	// Constraints give, by the name of a constraint, the JSON name of the field that it is about. It is needed for CHECKs,
	// of which databases tell only the name, and which are not called <table>_<column>_check.
	Constraints map[string]string
	// Now is the clock for Modified and for deletions. Nil means [time.Now].
	Now func() time.Time
	// ReadOnly is for views, and for tables that belong to somebody else: nothing writes. An empty Rev then means that
	// there is none.
	ReadOnly bool
}

// What [Options].Rev can be instead of the name of a column, for tables without one.
const (
	// XMin takes what PostgreSQL itself keeps of each row: which transaction wrote it, and where. It changes with every
	// write, whoever makes it. VACUUM FULL and CLUSTER change it too, which makes clients read again. Tables that are
	// partitioned have no such thing.
	XMin = "xmin"
	// Content takes a hash of all columns of fields, so that it needs nothing of the table. It comes back when the content
	// does: a client that read one state, and missed that there was another in between, is not told. With Modified the
	// time of the last write is part of the content, and that cannot happen.
	Content = "*"
)
