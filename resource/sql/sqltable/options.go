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
	// computes: with Expr: "created_at", its DEFAULT applies. If a column has no NotNull and its field is
	// not a pointer, it is as with the option null of the tag sql; see the package documentation.
	Columns map[string]sqlquery.Column
	// Collation is the PostgreSQL collation in which lists sort text columns. Set it to that of the
	// columns of an existing table, so that the table's own indexes serve lists: "default" is the
	// collation of the database. Default "C", by code point, which is the order of new tables of
	// this package. It must be deterministic. Filters such as startsWith compare by code point and
	// need an index in the collation "C". A Collation in Columns has precedence.
	Collation string
	// TimeLayout is the layout of times in SQLite, in UTC, of the fields that Columns gives no Layout and no
	// Unit, and of the columns of Modified and SoftDelete: [time.DateTime] for a table with
	// CURRENT_TIMESTAMP. Package sqlquery documents Column.Layout. The columns may be declared TEXT,
	// DATETIME or TIMESTAMP. Default [sqlquery.TimeLayout]. PostgreSQL has a type for times and ignores it.
	//
	// A time loses what the layout lacks: with time.DateTime it is rounded down to a second. The tests of
	// package resourcetest then need its Options.TimePrecision.
	TimeLayout string
	// Rev is the column of the revision, [XMin] or [Content]. Default "rev". It is a text column,
	// or an integer column with CountRev. If it is the column of a field, the field has the
	// revision, and values of clients are ignored.
	Rev string
	// CountRev declares Rev as an integer that counts writes: bigint in PostgreSQL. Each write stores the
	// time in microseconds if that is greater than the next number, so that revisions do not repeat for an
	// id that is inserted again, nor after the database was set back to a backup. A column of an existing
	// table may also be integer or smallint, such as lock_version of Rails. Such a counter starts at 0 and
	// is incremented by 1, so it does repeat, and [Table.Check] warns if ids can be inserted again.
	CountRev bool
	// Modified is a column for the time of the last write, which becomes Last-Modified. A second write in the
	// same second gets the next second, because clients have the date in whole seconds. Empty means
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
	// SoftDelete is the column of the time at which an item was deleted, which is NULL before. DELETE
	// sets it and keeps the row, if the item has the expected revision. Empty means that DELETE removes
	// the row. The item is in no list, count or lock, and a request for it is 410. There is no table of
	// tombstones, and [Table.Ops] has Restore.
	//
	// If it is the column of a field, that is a *time.Time with the tag readOnly, which is always null
	// in items that clients see. With Rev: Content it needs Modified, so that a restored item has a new
	// revision. A foreign key of the database still accepts a deleted row, and ON
	// DELETE does nothing: a relation to a deleted item finds none, and other items may refer to one that
	// is deleted. Remove rows with another program when they are no longer needed; their requests are
	// then 404.
	//
	// With Recreate, Insert replaces the row of a deleted item, which then cannot be restored. Columns
	// without a field keep the values of the deleted row.
	SoftDelete string
	// UniqueDeleted declares that unique indexes also cover deleted rows: a value of a deleted item is
	// taken, with 409, until the row is removed. By default CreateTable creates partial indexes, and
	// [Table.Check] reports others.
	UniqueDeleted bool
	// NoDelete declares that no program deletes rows of the table. There is no Delete, and no table of
	// tombstones. SQLite may then assign integer ids without AUTOINCREMENT, which it otherwise repeats
	// after a deletion.
	NoDelete bool
	// NewID returns the id of a new item. Default: a UUID of version 7; for integers the database
	// assigns ids, and there is no Insert. It must be safe for concurrent use. The id of an integer field
	// is its decimal text, such as "42" or "-1", without leading zeros.
	NewID func() string
	// ClientIDs makes clients choose the ids of new items: there is no Create.
	ClientIDs bool
	// Index lists fields, by JSON name. For each, CreateTable creates an index that ends with the
	// id. It serves filters and sorts by the field. Lists of related items by the field read the rows of
	// each key by it, and in the order of the id only those that are returned. A table of links is joined
	// only if the field that Relation.By names is in Index, is the first of the id or has the tag unique.
	// Name a field of an existing table, too, if there is such an index. Fields with the tag unique have a
	// unique index, alone or together with the fields that the tag names.
	Index []string
	// Search lists the fields, by JSON name, that a search covers, the most important first. Their columns
	// must be text columns. In PostgreSQL, CreateTable adds a generated column search_vector with a GIN
	// index. It needs the collation und-x-icu, and covers 150,000 characters of an item, the same number of
	// each field, and 16,383 words of a text. In SQLite, which must have the module FTS5, CreateTable
	// creates a table with the suffix "_search" and triggers. Check reports what is missing, and an index
	// with other words than those of [query.Search], but not that the fields or the Language of an
	// existing index differ: drop it, and run the statements of AlterDDL.
	//
	// The words of an index are those of [query.Search], except for these characters:
	//
	//	SQLite      a mark that follows no letter, digit or mark  begins a word
	//	SQLite      unassigned, and private use of planes 15, 16  part of a word
	//	SQLite      İ that does not begin a word                  not found by i
	//	SQLite      capitals without a lower form in Unicode 6.1  found if all words of a phrase are in
	//	                                                          lower case, capitalized, or in capitals
	//	PostgreSQL  letters and marks that its libraries lack     separate words
	//
	// VACUUM of SQLite changes the rows of tables with a key that is not an integer. Searches then return
	// wrong items until the search table is rebuilt:
	//
	//	INSERT INTO orders_search (orders_search) VALUES ('rebuild')
	//
	// The order by rank computes the rank of each row that is found. For a word of most rows of a large
	// table this takes seconds, and Options.ReadTimeout of the resource ends the read.
	Search []string
	// Language is the text search configuration of PostgreSQL, such as "english": a search then also
	// finds other forms of a word, and ignores the words that the configuration does. Default "simple",
	// for which all stores find the same items, except by the characters that Search lists.
	Language string
	// References maps a field, by JSON name, to the table that it refers to: CreateTable adds a
	// foreign key to its primary key. That table must exist before. SQLite enforces foreign keys
	// only with PRAGMA foreign_keys.
	References map[string]string
	// Constraints maps the name of a constraint to the JSON name of its field, which precedes the fields
	// that [Table.Check] finds: those of the columns of a CHECK. Set it if the program does not call Check
	// or CreateTable and a CHECK has a name other than <table>_<column>_check, because errors of databases
	// have only the name. If SQLite has none, its error has the expression, and so its fields.
	Constraints map[string]string
	// RaisedTexts sends the text of RAISE EXCEPTION (P0001) and of RAISE(ABORT) in a trigger to the
	// client. Set it if these texts are written for clients. A RAISE is 422 in any case.
	RaisedTexts bool
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
	// With Modified the time of the last write is part of the hash, which prevents that unless its
	// TimeLayout is coarse and the writes follow each other.
	Content = "*"
)
