-- Before release 2, which filters by the column. CONCURRENTLY does not block writes.
-- +goose NO TRANSACTION
-- +goose Up
CREATE INDEX CONCURRENTLY "customers_email_idx" ON "customers" ("email" NULLS FIRST, "id");

-- +goose Down
DROP INDEX CONCURRENTLY customers_email_idx;
