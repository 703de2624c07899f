-- From: go run -C examples ./migrations -db postgres: -ddl
-- +goose Up
CREATE TABLE "customers" (
	"id" uuid NOT NULL PRIMARY KEY,
	"name" text COLLATE "C" NOT NULL,
	"phone" text COLLATE "C" NOT NULL,
	"rev" text COLLATE "C" NOT NULL
);
CREATE TABLE "customers_deleted" (
	"id" uuid NOT NULL PRIMARY KEY,
	"deleted_at" timestamptz NOT NULL
);

-- +goose Down
DROP TABLE customers_deleted;
DROP TABLE customers;
