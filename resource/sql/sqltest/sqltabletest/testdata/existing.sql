-- A usual schema of PostgreSQL, made by another program: see TestSixTables.
CREATE TYPE customer_tier AS ENUM ('free', 'pro', 'enterprise');
CREATE TYPE order_state AS ENUM ('draft', 'placed', 'paid', 'shipped', 'cancelled');
CREATE TABLE customers (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(), email varchar(255) NOT NULL UNIQUE, full_name text NOT NULL, tier customer_tier NOT NULL DEFAULT 'free',
  credit_limit numeric(12,2) NOT NULL DEFAULT 0, birthday date, preferences jsonb NOT NULL DEFAULT '{}', created_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz);
CREATE TABLE categories (id serial PRIMARY KEY, slug varchar(80) NOT NULL UNIQUE, title text NOT NULL, parent_id integer REFERENCES categories);
CREATE TABLE products (
  sku text PRIMARY KEY, title text NOT NULL, price numeric(10,2) NOT NULL CHECK (price >= 0), weight_kg real, tags text[] NOT NULL DEFAULT '{}',
  attributes jsonb, stock integer NOT NULL DEFAULT 0, available_from timestamp, image bytea);
CREATE TABLE product_categories (product_sku text REFERENCES products, category_id integer REFERENCES categories, PRIMARY KEY (product_sku, category_id));
CREATE TABLE orders (
  id bigserial PRIMARY KEY, customer_id uuid NOT NULL REFERENCES customers, state order_state NOT NULL DEFAULT 'draft', total numeric(14,2) NOT NULL DEFAULT 0,
  placed_at timestamptz, ship_after interval, note text);
CREATE TABLE order_items (
  order_id bigint REFERENCES orders ON DELETE CASCADE, line_no smallint, product_sku text NOT NULL REFERENCES products, qty integer NOT NULL CHECK (qty > 0),
  unit_price numeric(10,2) NOT NULL, discount double precision, PRIMARY KEY (order_id, line_no));
