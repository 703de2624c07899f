-- Before release 4. Release 3 reads and writes name, release 4 reads and writes the new columns, and the
-- trigger copies each to the other.
-- +goose Up
SET LOCAL lock_timeout = '2s';
ALTER TABLE "customers" ADD COLUMN "first_name" text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE "customers" ADD COLUMN "last_name" text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE customers ALTER name SET DEFAULT '';
-- +goose StatementBegin
CREATE FUNCTION customers_names() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	old_release boolean; -- wrote name
BEGIN
	IF TG_OP = 'INSERT' THEN
		old_release := NEW.name <> '';
	ELSE
		old_release := NEW.name <> OLD.name;
	END IF;
	IF old_release THEN
		NEW.last_name := regexp_replace(NEW.name, '^.* ', '');
		NEW.first_name := CASE WHEN strpos(NEW.name, ' ') = 0 THEN '' ELSE regexp_replace(NEW.name, ' [^ ]*$', '') END;
	ELSIF TG_OP = 'INSERT' OR (NEW.first_name, NEW.last_name) IS DISTINCT FROM (OLD.first_name, OLD.last_name) THEN
		NEW.name := btrim(NEW.first_name || ' ' || NEW.last_name);
	END IF;
	RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER customers_names BEFORE INSERT OR UPDATE ON customers FOR EACH ROW EXECUTE FUNCTION customers_names();
-- The rows that exist. Of a large table, update ranges of ids, each in a transaction of its own.
UPDATE customers SET last_name = regexp_replace(name, '^.* ', ''),
	first_name = CASE WHEN strpos(name, ' ') = 0 THEN '' ELSE regexp_replace(name, ' [^ ]*$', '') END
WHERE first_name = '' AND last_name = '' AND name <> '';

-- +goose Down
DROP TRIGGER customers_names ON customers;
DROP FUNCTION customers_names;
ALTER TABLE customers ALTER name DROP DEFAULT;
ALTER TABLE customers DROP COLUMN first_name, DROP COLUMN last_name;
