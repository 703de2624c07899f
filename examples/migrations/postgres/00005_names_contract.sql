-- After the last process of release 3 has ended.
-- +goose Up
SET LOCAL lock_timeout = '2s';
DROP TRIGGER customers_names ON customers;
DROP FUNCTION customers_names;
ALTER TABLE customers DROP COLUMN name;
ALTER TABLE customers ALTER first_name DROP DEFAULT, ALTER last_name DROP DEFAULT;

-- +goose Down
ALTER TABLE customers ALTER first_name SET DEFAULT '', ALTER last_name SET DEFAULT '';
ALTER TABLE customers ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT '';
UPDATE customers SET name = btrim(first_name || ' ' || last_name);
-- Then the function and the trigger of 00004_names_expand.sql again.
