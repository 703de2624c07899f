// Package pgxrows reads rows of PostgreSQL in the binary format, over the stdlib package of pgx. Lists
// of package sqltable are then encoded as JSON from the bytes that the server has sent, without values of
// Go between them.
//
//	pool, err := sql.Open("pgx", "postgres://stoa@db.internal/shop?connect_timeout=5")
//	db := sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Rows: pgxrows.Reader{}})
//	orders := sqltable.New[Order](db, "orders", nil)
//
// Everything else is unchanged: the pool, its connections, the prepared statements and the errors. Lists
// in transactions, with session variables, and over a pool of another driver use database/sql. So do
// reads of single items and all writes.
//
// # Formats
//
// Integers, floats, booleans, bytea, dates, times, UUIDs, xid and tid are requested in the binary format.
// Other types are requested as text, which is what the JSON has. In the modes exec and simple_protocol of
// pgx all values are text; they are then converted as by database/sql.
package pgxrows
