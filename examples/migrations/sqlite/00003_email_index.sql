-- Before release 2, which filters by the column.
-- +goose Up
CREATE INDEX `customers_email_idx` ON `customers` (`email` COLLATE BINARY, `id` COLLATE BINARY);

-- +goose Down
DROP INDEX customers_email_idx;
