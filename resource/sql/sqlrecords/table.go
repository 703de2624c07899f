package sqlrecords

// The table and its statements in each dialect.

import (
	"context"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// statements are the SQL statements of a Store.
type statements struct {
	create []string
	check  string

	claim, readRow, finish, release, purge, count string
}

// columns lists the columns of the table that a claim sets. All columns:
//
//	id           hash of principal, method, target and key
//	fingerprint  hash of the request
//	members      hashes of its members, for comparing it with a request in another contract
//	owner        hash of the principal
//	token        of the attempt that has claimed it
//	lease        end of the lease; like all times, in microseconds of Unix time
//	expires      when it may be purged, for a claim not before the end of its lease
//	status       of the response; null until it is finished, 0 if its outcome is unknown
//	about        header fields and ids of the response
//	result       content of the response
const columns = "id, fingerprint, members, owner, token, lease, expires"

// replace turns a row into an unfinished claim.
const replace = "fingerprint = excluded.fingerprint, members = excluded.members, " +
	"owner = excluded.owner, token = excluded.token, lease = excluded.lease, " +
	"expires = excluded.expires, status = NULL, about = NULL, result = NULL"

// newStatements returns the statements for a table. Arguments are numbered as in claimArgs.
func (s *Store) newStatements(table string) statements {
	t := statements{
		create: s.creation(table),
		check:  "SELECT " + columns + ", status, about, result FROM " + table + " WHERE 1 = 0",
		readRow: "SELECT fingerprint, members, lease, expires, status, about, result FROM " + table +
			" WHERE id = $1",
		finish: "UPDATE " + table + " SET status = $3, about = $4, result = $5, expires = $6 WHERE id = " +
			"$1 AND token = $2 AND status IS NULL",
		release: "DELETE FROM " + table + " WHERE id = $1 AND token = $2 AND status IS NULL",
		count: "SELECT count(*) FROM (SELECT 1 FROM " + table + " WHERE owner = $1 AND expires > $2 " +
			"LIMIT $3) AS live",
	}
	if s.db.Dialect() == sqltx.PostgreSQL {
		t.claim = claimPostgres(table)
		// The array is evaluated once. A subquery in IN may be evaluated again and exceed its
		// limit.
		t.purge = "DELETE FROM " + table + " WHERE expires <= $1 " +
			"AND id = ANY (ARRAY(SELECT id FROM " + table +
			" WHERE expires <= $1 ORDER BY expires LIMIT $2 FOR UPDATE SKIP LOCKED))"
		return t
	}
	t.claim = "INSERT INTO " + table + " (" + columns + ") VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT " +
		"(id) DO UPDATE SET " + replace +
		" WHERE expires <= $8 OR $9 AND status IS NULL AND lease <= $8 AND fingerprint = excluded.fingerprint"
	t.purge = "DELETE FROM " + table + " WHERE id IN (SELECT id FROM " + table + " WHERE expires <= $1 " +
		"ORDER BY expires LIMIT $2)"
	for _, text := range []*string{&t.readRow, &t.finish, &t.release, &t.count, &t.claim, &t.purge} {
		*text = strings.ReplaceAll(*text, "$", "?")
	}
	return t
}

// claimPostgres returns the statement of a claim. known is the row in the snapshot of the
// statement. If it decides the result, nothing is written; ON CONFLICT alone would lock the row of
// each replay.
//
// With synchronous replication the statement locks a finished row, which PostgreSQL writes to the
// log, so that the commit of the replay waits for the standby. A transaction that writes nothing does
// not wait, and could replay a record that a failover loses: the row is visible before the standby has
// it if the wait of its commit was canceled, or if the server was restarted.
func claimPostgres(table string) string {
	replaceable := func(row string) string {
		return "(" + row + ".expires <= $8 OR $9::boolean AND " + row + ".status IS NULL AND " +
			row + ".lease <= $8 AND " + row + ".fingerprint = $2::bytea)"
	}
	return "WITH known AS (SELECT * FROM " + table + " WHERE id = $1::bytea), " +
		"locked AS (SELECT 1 FROM " + table + " WHERE id = $1::bytea AND status IS NOT NULL " +
		"AND current_setting('synchronous_standby_names', true) <> '' FOR KEY SHARE), " +
		"lock AS (SELECT CASE WHEN EXISTS (SELECT 1 FROM known WHERE NOT " + replaceable("known") + ") " +
		"THEN (SELECT NULL::boolean FROM locked) " +
		"ELSE pg_try_advisory_xact_lock($10::bigint) END AS held), " +
		"fresh AS (INSERT INTO " + table + " AS old (" + columns + ") " +
		"SELECT $1::bytea, $2::bytea, $3::bytea, $4::bytea, $5::text, $6::bigint, $7::bigint " +
		"FROM lock WHERE held ON CONFLICT (id) DO UPDATE SET " + replace +
		" WHERE " + replaceable("old") + " RETURNING 1) " +
		"SELECT lock.held, EXISTS (SELECT 1 FROM fresh), known.fingerprint, known.members, " +
		"known.lease, known.expires, known.status, known.about, known.result " +
		"FROM lock LEFT JOIN known ON true"
}

// creation returns the statements that make the table. The index of owners is for quotas, which are
// counted in it alone, and the other for purging.
func (s *Store) creation(table string) []string {
	binary, integer, tail := "bytea", "bigint", ""
	within, schema := table, "" // of an index: SQLite has its schema with its own name
	if s.db.Dialect() == sqltx.SQLite {
		binary, integer, tail = "blob", "integer", " STRICT, WITHOUT ROWID"
		if i := strings.LastIndexByte(s.name, '.'); i >= 0 {
			schema, within = s.db.Dialect().Quote(s.name[:i])+".", s.db.Dialect().Quote(s.name[i+1:])
		}
	}
	bare := s.name[strings.LastIndexByte(s.name, '.')+1:]
	index := func(name, columns string) string {
		return "CREATE INDEX IF NOT EXISTS " + schema + s.db.Dialect().
			Quote(bare+"_"+name+"_idx") +
			" ON " + within + " (" + columns + ")"
	}
	items := []string{
		"id " + binary + " NOT NULL PRIMARY KEY",
		"fingerprint " + binary + " NOT NULL",
		"members " + binary,
		"owner " + binary + " NOT NULL",
		"token text NOT NULL",
		"lease " + integer + " NOT NULL",
		"expires " + integer + " NOT NULL",
		"status " + integer,
		"about text",
		"result " + binary,
	}
	return []string{
		"CREATE TABLE IF NOT EXISTS " + table + " (\n\t" + strings.Join(items, ",\n\t") + "\n)" + tail,
		index("owner", "owner, expires"),
		index("expires", "expires"),
	}
}

// DDL returns the statements that create the table and its indexes, for a migration tool.
func (s *Store) DDL() string { return strings.Join(s.sql.create, ";\n") + ";\n" }

// CreateTable creates the table if it does not exist. It never drops or alters a table. An existing
// table without the columns of [Store.DDL] is an error. Several processes may call it concurrently.
func (s *Store) CreateTable(ctx context.Context) error {
	ctx = sqltx.WithoutSession(ctx)
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		statements := append(s.sql.create[:len(s.sql.create):len(s.sql.create)], s.sql.check)
		// concurrent CREATE TABLE IF NOT EXISTS statements can fail
		if s.db.Dialect() == sqltx.PostgreSQL {
			statements = append(
				[]string{"SELECT pg_advisory_xact_lock(hashtext('stoa sqlrecords'))"},
				statements...)
		}
		for _, text := range statements {
			if _, err := s.db.Writer(ctx).ExecContext(ctx, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sqlrecords: creating %s: %w", s.name, err)
	}
	return nil
}
