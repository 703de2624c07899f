-- Before release 2. Release 1 does not know the column and leaves it NULL.
-- +goose Up
SET LOCAL lock_timeout = '2s';
ALTER TABLE "customers" ADD COLUMN "email" text COLLATE "C";

-- +goose Down
ALTER TABLE customers DROP COLUMN email;
