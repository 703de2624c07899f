package sqlfeed

// The SQL of each dialect. It is built once for the name of the table.

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// statements are the SQL statements of a Log.
type statements struct {
	create       []string // the tables
	insertEpoch  string
	replaceEpoch string
	lock         string // takes the advisory lock of transactions that append
	lockKey      int64
	currentXID   string
	openAppends  string   // describes transactions before an xid that have appended and have not ended
	insert       []string // one statement for each of insertRows

	page           string // the rows from one number to another
	newest         string // the newest row up to a number
	newestComplete string // the same, and whether no number before it is missing
	oldest         string // the oldest rows

	deleteUpTo string
	setFloor   string // stores the cursor up to which events were purged
}

// The tables. Columns of the table of events:
//
//	seq         number of the event
//	mark        random; distinguishes the event from another one that had the same number
//	kind        1 created, 2 updated, 3 deleted
//	collection  name of the resource
//	item, rev   id and revision of the item
//	was, now    the item before and after the change, as JSON; NULL if there is none
//	schema      identifies the type of was and now
//	at          time of the append, in microseconds of Unix time
const (
	createEvents = `CREATE TABLE IF NOT EXISTS {events} (
	seq {serial},
	mark {integer} NOT NULL,
	kind {integer} NOT NULL,
	collection text NOT NULL,
	item text NOT NULL,
	rev {bytes} NOT NULL,
	was {bytes},
	now {bytes},
	schema text NOT NULL,
	at {integer} NOT NULL
){strict}`

	createLog = `CREATE TABLE IF NOT EXISTS {log} (
	id {integer} PRIMARY KEY CHECK (id = 1),
	epoch {integer} NOT NULL,
	seq {integer} NOT NULL,
	mark {integer} NOT NULL
){strict}`
)

// The queries. Each reads both tables in one statement, so that it sees one state of them, and
// begins with the columns of {head}: the epoch, the cursor up to which events were purged, and for
// PostgreSQL whether the anchors of [progress.args] are present, and the snapshot. An anchor that
// was purged counts as present.
const (
	sqliteHead   = `l.epoch, l.seq, l.mark, 1, 0, 0`
	postgresHead = `l.epoch, l.seq, l.mark,
	coalesce((SELECT mark = $2::bigint FROM {events} WHERE seq = $1::bigint), $1::bigint <= l.seq)
	AND coalesce((SELECT mark = $4::bigint FROM {events} WHERE seq = $3::bigint), $3::bigint <= l.seq),
	pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
	pg_snapshot_xmax(pg_current_snapshot())::text::bigint`

	selectPage = `SELECT {head}, e.seq, e.mark, e.kind, e.collection, e.item, e.rev, e.was, e.now, e.schema,
	e.at
FROM {log} AS l LEFT JOIN ({rows}) AS e ON 1 = 1 ORDER BY e.seq`
	sqliteRows = `SELECT * FROM {events} WHERE seq >= {1} AND seq <= {2} ORDER BY seq LIMIT {3}`
	// PostgreSQL computes the whole result before it sends the first row, so the statement itself
	// limits the bytes of a page. octet_length does not read the column. The first row is that of
	// the cursor.
	postgresRows = `SELECT * FROM (
	SELECT *, sum(CASE WHEN seq > {1}
			THEN coalesce(octet_length(was), 0) + coalesce(octet_length(now), 0) ELSE 0 END)
		OVER (ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes
	FROM (` + sqliteRows + `) AS p
) AS s WHERE coalesce(bytes, 0) < {4}`

	fromNewest = `
FROM {log} AS l LEFT JOIN (
	SELECT seq, mark FROM {events} WHERE seq <= {1} ORDER BY seq DESC LIMIT 1
) AS e ON 1 = 1`
	selectNewest         = `SELECT {head}, e.seq, e.mark` + fromNewest
	selectNewestComplete = `SELECT {head}, e.seq, e.mark,
	coalesce(CASE WHEN e.seq - greatest(l.seq, $1::bigint) <= {2}::bigint THEN
	(SELECT count(*) FROM {events} WHERE seq > greatest(l.seq, $1::bigint) AND seq <= e.seq)
	= e.seq - greatest(l.seq, $1::bigint) END, false)` + fromNewest

	// The relations of another database may have the same oid. Both locks are held until the transaction
	// has ended, so it does not matter which of them is read first.
	selectOpenAppends = `SELECT DISTINCT coalesce('pid ' || t.pid || coalesce(', user ' || a.usename, '') ||
	coalesce(', application ' || nullif(a.application_name, ''), ''), 'prepared transaction')
FROM pg_locks AS t JOIN pg_locks AS e USING (virtualtransaction)
LEFT JOIN pg_stat_activity AS a ON a.pid = t.pid
WHERE t.locktype = 'transactionid' AND t.mode = 'ExclusiveLock' AND t.granted AND t.transactionid IN (
	SELECT id::xid FROM pg_snapshot_xip(pg_current_snapshot()) AS x (id) WHERE id::text::bigint < {1}::bigint)
AND e.locktype = 'relation' AND e.mode = 'RowExclusiveLock' AND e.granted AND e.relation = {name}::regclass
AND e.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

	selectOldest = `SELECT {head}, (SELECT max(seq) FROM {events}),
	(SELECT at FROM {events} WHERE at <= {2} ORDER BY seq LIMIT 1), e.seq, e.mark, e.at
FROM {log} AS l LEFT JOIN (
	SELECT seq, mark, at FROM {events} WHERE seq < (SELECT max(seq) FROM {events}) ORDER BY seq LIMIT {1}
) AS e ON 1 = 1 ORDER BY e.seq`
)

// newStatements returns the statements for a table of events.
func newStatements(d sqltx.Dialect, name string) statements {
	h := fnv.New64a()
	h.Write([]byte("stoa log " + name))
	events, log := quoteName(d, name), quoteName(d, name+"_log")
	ddl := strings.NewReplacer("{events}", events, "{log}", log, "{integer}", "bigint", "{bytes}", "bytea",
		"{serial}", "bigint GENERATED BY DEFAULT AS IDENTITY (CACHE 1) PRIMARY KEY", "{strict}", "")
	parts := strings.NewReplacer("{head}", postgresHead, "{rows}", postgresRows)
	headArgs := 4
	if d == sqltx.SQLite {
		// The row with the largest number is never deleted, so no number is assigned twice without
		// AUTOINCREMENT.
		ddl = strings.NewReplacer("{events}", events, "{log}", log, "{integer}", "INTEGER", "{bytes}", "BLOB",
			"{serial}", "INTEGER PRIMARY KEY", "{strict}", " STRICT")
		parts = strings.NewReplacer("{head}", sqliteHead, "{rows}", sqliteRows)
		headArgs = 0
	}
	fill := func(first int, text string) string {
		return strings.NewReplacer("{events}", events, "{log}", log,
			"{1}", d.Placeholder(first+1), "{2}", d.Placeholder(first+2),
			"{3}", d.Placeholder(first+3), "{4}", d.Placeholder(first+4)).Replace(text)
	}
	query := func(text string) string { return fill(headArgs, parts.Replace(text)) }
	s := statements{
		create: []string{ddl.Replace(createEvents), ddl.Replace(createLog)},
		insertEpoch: fill(0, "INSERT INTO {log} (id, epoch, seq, mark) VALUES (1, {1}, 0, {2}) "+
			"ON CONFLICT (id) DO NOTHING"),
		replaceEpoch: fill(0, "UPDATE {log} SET epoch = {1}, seq = 0, mark = {2} WHERE epoch = {3}"),
		lock:         "SELECT pg_advisory_xact_lock($1)",
		lockKey:      int64(h.Sum64()),
		currentXID:   "SELECT pg_current_xact_id()::text::bigint",
		openAppends: fill(0, strings.ReplaceAll(selectOpenAppends, "{name}",
			"'"+strings.ReplaceAll(events, "'", "''")+"'")),

		page:           query(selectPage),
		newest:         query(selectNewest),
		newestComplete: query(selectNewestComplete),
		oldest:         query(selectOldest),

		deleteUpTo: fill(0, "DELETE FROM {events} WHERE seq <= {1}"),
		setFloor:   fill(0, "UPDATE {log} SET seq = {1}, mark = {2} WHERE seq < {1}"),
	}
	for _, rows := range insertRows {
		s.insert = append(s.insert, insertEvents(d, events, rows))
	}
	return s
}

// quoteName quotes each part of a name that may have a schema.
func quoteName(d sqltx.Dialect, name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = d.Quote(part)
	}
	return strings.Join(parts, ".")
}

// insertEvents returns the statement that inserts a number of events in order.
func insertEvents(d sqltx.Dialect, table string, rows int) string {
	const columns = "mark, kind, collection, item, rev, was, now, schema, at"
	if d == sqltx.SQLite {
		// Not numbered, because drivers look up each numbered parameter by a linear search.
		return "INSERT INTO " + table + " (" + columns + ") VALUES " +
			strings.Repeat("(?, ?, ?, ?, ?, ?, ?, ?, ?), ", rows-1) +
			"(?, ?, ?, ?, ?, ?, ?, ?, ?)"
	}
	var b strings.Builder
	// The transaction must have an xid before an event gets a number; see gaps.go. Numbers are
	// assigned after the sort.
	b.WriteString("WITH own AS MATERIALIZED (SELECT pg_current_xact_id() AS id) " +
		"INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM own, (VALUES ")
	types := [...]string{"bigint", "bigint", "text", "text", "bytea", "bytea", "bytea", "text", "bigint"}
	for row := range rows {
		for i, typ := range types {
			b.WriteString([]string{"(", ", "}[min(i, 1)] + d.Placeholder(row*len(types)+i+1))
			if row == 0 { // the other rows get the types of the first
				b.WriteString("::" + typ)
			}
		}
		b.WriteString(", " + strconv.Itoa(row) + [...]string{"), ", ")"}[(row+1)/rows])
	}
	b.WriteString(") AS fresh (" + columns + ", n) WHERE own.id IS NOT NULL ORDER BY n")
	return b.String()
}
