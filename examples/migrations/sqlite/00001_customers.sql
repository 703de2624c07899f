-- From: go run -C examples ./migrations -ddl
-- +goose Up
CREATE TABLE `customers` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`name` TEXT NOT NULL,
	`phone` TEXT NOT NULL,
	`rev` TEXT NOT NULL
) STRICT;
CREATE TABLE `customers_deleted` (
	`id` TEXT NOT NULL PRIMARY KEY,
	`deleted_at` TEXT NOT NULL
) STRICT;

-- +goose Down
DROP TABLE customers_deleted;
DROP TABLE customers;
