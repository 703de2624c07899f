CREATE TABLE "numbers" (
	"id" bigint NOT NULL PRIMARY KEY,
	"note" text COLLATE "C"
);
CREATE TABLE "dead" (
	"id" bigint NOT NULL PRIMARY KEY,
	"deleted_at" timestamptz NOT NULL
);
