package sqltable

import (
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// Options configures a Table. The zero value is right for a table that [Table.CreateTable] creates.
type Options struct {
	// ID is the JSON name of the id field. Default "id". Its column is the primary key or unique.
	ID string
	// Columns describes, by JSON name, fields that are stored differently from the default. An
	// entry replaces all defaults of the field except an empty Name, so NotNull must be repeated. A
	// Path is not supported.
	//
	// A column with an Expr is read and never written. Use it for values that the database
	// computes: with Expr: "created_at", its DEFAULT applies. If a column is nullable and its field
	// is not a pointer, NULL becomes the zero value of the field; filters still distinguish the
	// two.
	Columns map[string]sqlquery.Column
	// Rev is the column of the revision, [XMin] or [Content]. Default "rev". It is a text column,
	// or an integer column with CountRev. If it is the column of a field, the field has the
	// revision, and values of clients are ignored.
	Rev string
	// CountRev declares Rev as an integer that counts writes: bigint in PostgreSQL. A new item
	// starts with the time in microseconds, so that an id that is inserted again does not repeat
	// revisions.
	CountRev bool
	// Modified is a column for the time of the last write, which becomes Last-Modified. Empty means
	// that there is none. If it is the column of a field, the field has that time, and values of
	// clients are ignored.
	Modified string
	// Tombstones is the table of the ids of deleted items, which are kept forever. Default: the
	// name of the table with the suffix "_deleted". It has the columns id, of the same type as in
	// the table, and deleted_at. A row for an existing item is ignored.
	Tombstones string
	// Forget disables the recording of deletions. A request for a deleted item is then 404 instead
	// of 410.
	Forget bool
	// Recreate allows an id to be inserted again after its deletion. Otherwise that fails, except
	// if Insert and Delete of one id are concurrent.
	Recreate bool
	// NewID returns the id of a new item. Default: a UUID of version 7; for integers the database
	// assigns ids, and there is no Insert. It must be safe for concurrent use.
	NewID func() string
	// ClientIDs makes clients choose the ids of new items: there is no Create.
	ClientIDs bool
	// Index lists fields, by JSON name. For each, CreateTable creates an index that ends with the
	// id. It serves filters and sorts by the field. Fields with the tag unique have a unique index.
	Index []string
	// References maps a field, by JSON name, to the table that it refers to: CreateTable adds a
	// foreign key to its primary key. That table must exist before. SQLite enforces foreign keys
	// only with PRAGMA foreign_keys.
	References map[string]string
	// Constraints maps the name of a constraint to the JSON name of its field. It is needed for
	// CHECK constraints that are not named <table>_<column>_check, because databases report only
	// their name.
	Constraints map[string]string
	// Now returns the current time, for Modified and for deletions. Default [time.Now].
	Now func() time.Time
	// ReadOnly disables writes, for views and tables of other programs. An empty Rev then means
	// that there is no revision.
	ReadOnly bool
}

// Values of [Options].Rev for tables without a revision column.
const (
	// XMin derives the revision from the system columns xmin and ctid of PostgreSQL. It changes
	// with every write, including writes of other programs. VACUUM FULL and CLUSTER change it as
	// well, and clients then read again. Partitioned tables do not support it.
	XMin = "xmin"
	// Content uses a hash of the columns of all fields, and needs no column of its own. A revision
	// repeats if the content does: a client that missed the states in between does not notice them.
	// With Modified the time of the last write is part of the hash, which prevents that.
	Content = "*"
)
