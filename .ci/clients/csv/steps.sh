# shellcheck shell=bash disable=SC2154,SC2317 # .ci/clients/run sources this file
# CSV: ROWS rows are exported and imported again, with the peak of the heap; the exported file is read by SQLite's .import, by
# PostgreSQL's COPY and by a spreadsheet library, and what they have read is compared with the items, row by row.
ROWS=${ROWS:-20000}

build() { go vet ./csv && go build -buildvcs=false -o "$ready/csv" ./csv; }

install_sqlite() { command -v sqlite3 >/dev/null || "$root/.ci/apt" sqlite3; }

start_postgres() {
	local out
	"$root/.ci/postgres" install || return 1
	out=$(FSYNC=off "$root/.ci/postgres" start) || return 1
	at_exit+=("'$root/.ci/postgres' stop '${out%%$'\n'*}'")
	dsn=${out##*$'\n'}
}

csv() { timeout 3000 "$ready/csv" -rows "$ROWS" "$@"; }

whole() { mkdir -p "$tmp/whole" && timeout 900 "$ready/csv" -rows 300000 -dir "$tmp/whole" -whole; }

# sqlite has no null in what it imports, so null and an empty text are the same there.
sqlite() {
	sqlite3 "$tmp/rows.db" ".import --csv '$1' cities" || return 1
	sqlite3 -csv -header "$tmp/rows.db" 'SELECT * FROM cities ORDER BY id' >"$tmp/sqlite.csv" && csv -check "$tmp/sqlite.csv" -no-nulls
}

# copied reads the file into typed columns, and writes it again in the formats of JSON.
copied() {
	psql -qX -v ON_ERROR_STOP=1 "$dsn" <<-SQL || return 1
		DROP TABLE IF EXISTS cities;
		CREATE TABLE cities (id text PRIMARY KEY, name text NOT NULL, note text, count bigint NOT NULL, price float8 NOT NULL,
			open boolean NOT NULL, since timestamptz NOT NULL, tags json NOT NULL, bounds json);
		\\copy cities FROM '$1' WITH (FORMAT csv, HEADER match)
		\\copy (SELECT id, name, note, count, price, open::text AS open, to_char(since AT TIME ZONE 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since, tags, bounds FROM cities ORDER BY id) TO '$tmp/postgres.csv' WITH (FORMAT csv, HEADER)
	SQL
	csv -check "$tmp/postgres.csv"
}

# changed writes the file with one digit less in its last row.
changed() { sed '$ s/0/1/' "$tmp/rows.csv" >"$tmp/changed.csv"; }

sheet() { timeout 900 node sheet.mjs "$tmp/sample.csv" "$tmp/sample.jsonl" "$tmp"; }

# unescaped removes the escapes of formulas from the sample.
unescaped() { sed -i "s/'=1+1/=1+1/" "$tmp/sample.csv"; }

prepare() {
	step 'build' at .. build
	step 'SQLite' install_sqlite
	step 'PostgreSQL: .ci/postgres' start_postgres
}

check() {
	step 'a client that keeps the content is over the limit of the heap' refused 'the heap is over' whole
	step "$ROWS rows out and in" csv -dir "$tmp"
	cat "$log"
	step "SQLite's .import" sqlite "$tmp/rows.csv"
	step "PostgreSQL's COPY" copied "$tmp/rows.csv"
	step 'a changed row' changed
	step 'a changed row is found' refused 'want {ID' copied "$tmp/changed.csv"
	step 'ExcelJS reads the file and its own workbook' sheet
	cat "$log"
	step 'formulas that are not escaped' unescaped
	step 'formulas that are not escaped are found' refused 'want' sheet
}
