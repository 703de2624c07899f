-- Before release 2. Release 1 does not know the column and leaves it NULL.
-- +goose Up
ALTER TABLE `customers` ADD COLUMN `email` TEXT;

-- +goose Down
ALTER TABLE customers DROP COLUMN email;
