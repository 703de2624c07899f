-- The table of another program, in SQLite.
CREATE TABLE tbl_customer (
	cust_no       INTEGER PRIMARY KEY AUTOINCREMENT,
	full_name     TEXT NOT NULL,
	email_addr    TEXT NOT NULL,
	tier          TEXT NOT NULL DEFAULT 'free' CHECK (tier IN ('free', 'pro', 'enterprise')),
	credit_limit  REAL NOT NULL DEFAULT 0,
	legacy_flags  INTEGER NOT NULL DEFAULT 0,
	changed_on    TEXT NOT NULL DEFAULT '2026-01-01T00:00:00.000000000Z',
	removed_on    TEXT
);
CREATE UNIQUE INDEX tbl_customer_email ON tbl_customer (email_addr) WHERE removed_on IS NULL;
INSERT INTO tbl_customer (full_name, email_addr, tier, credit_limit) VALUES
	('Ada King', 'ada@example.com', 'pro', 1200.50), ('Bob Stone', 'bob@example.com', 'free', 0);
