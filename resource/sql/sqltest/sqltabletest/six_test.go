package sqltabletest

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// existingSchema is a usual schema of another program. Its six tables have no column for Stoa.
//
//go:embed testdata/existing.sql
var existingSchema string

// The types of the six tables, as a user would write them.
type (
	existingCustomer struct {
		ID          string         `json:"id" format:"uuid"`
		Email       string         `json:"email" format:"email" maxLength:"255" unique:"true"`
		FullName    string         `json:"fullName"`
		Tier        string         `json:"tier" enum:"free,pro,enterprise" sql:"customer_tier"`
		CreditLimit string         `json:"creditLimit" format:"decimal" sql:"numeric(12,2)"`
		Birthday    *string        `json:"birthday" format:"date"`
		Preferences map[string]any `json:"preferences"`
		CreatedAt   time.Time      `json:"createdAt"`
		DeletedAt   *time.Time     `json:"deletedAt"`
	}

	existingCategory struct {
		ID       int32  `json:"id" readOnly:"true"`
		Slug     string `json:"slug" maxLength:"80" unique:"true"`
		Title    string `json:"title"`
		ParentID *int   `json:"parentId" sql:"integer"`
	}

	existingProduct struct {
		SKU           string            `json:"sku"`
		Title         string            `json:"title"`
		Price         string            `json:"price" format:"decimal" sql:"numeric(10,2)"`
		WeightKg      *float32          `json:"weightKg"`
		Tags          []string          `json:"tags" sql:"text[]"`
		Attributes    map[string]string `json:"attributes" sql:"jsonb,null"`
		Stock         int               `json:"stock" sql:"integer"`
		AvailableFrom *time.Time        `json:"availableFrom" sql:"timestamp"`
		Image         *[]byte           `json:"image"`
	}

	existingOrder struct {
		ID         int64      `json:"id" readOnly:"true"`
		CustomerID string     `json:"customerId" format:"uuid"`
		State      string     `json:"state" enum:"draft,placed,paid,shipped,cancelled" sql:"order_state"`
		Total      string     `json:"total" format:"decimal" sql:"numeric(14,2)"`
		PlacedAt   *time.Time `json:"placedAt"`
		ShipAfter  *string    `json:"shipAfter" format:"duration"`
		Note       *string    `json:"note"`
	}

	existingItem struct {
		ID         string   `json:"id" readOnly:"true" id:"orderId,lineNo"`
		OrderID    int64    `json:"orderId"`
		LineNo     int16    `json:"lineNo" sql:"smallint"`
		ProductSKU string   `json:"productSku"`
		Qty        int      `json:"qty" minimum:"1" sql:"integer"`
		UnitPrice  string   `json:"unitPrice" format:"decimal" sql:"numeric(10,2)"`
		Discount   *float64 `json:"discount"`
	}

	existingLink struct {
		ID         string `json:"id" readOnly:"true" id:"productSku,categoryId"`
		ProductSKU string `json:"productSku"`
		CategoryID int32  `json:"categoryId"`
	}
)

// of returns the nth of the values, again from the start after the last.
func of[T any](n int, values ...T) T { return values[n%len(values)] }

// pointerOf is of for a field that can be null: it returns nil for each zero value.
func pointerOf[T comparable](n int, values ...T) *T {
	v, zero := of(n, values...), *new(T)
	if v == zero {
		return nil
	}
	return &v
}

func existingCustomers() shape[existingCustomer] {
	s := ofExisting[existingCustomer]("customers", sqltable.Options{})
	at := time.Date(2026, 11, 25, 12, 0, 0, 123456000, time.UTC)
	s.kit.New = func(n int) existingCustomer {
		return existingCustomer{
			Email: fmt.Sprintf("a%d@example.com", n), FullName: of(n, "Ada", "", "É", "ada", "'; --"),
			Tier: of(n, "free", "pro", "enterprise"), CreditLimit: of(n, "0.00", "9.55", "10.00", "-2.50", "9999999999.99"),
			Birthday:    pointerOf(n, "", "1990-02-03", "0001-01-01", "9999-12-31", "2024-02-29"),
			Preferences: of(n, map[string]any{}, map[string]any{"a": []any{1.0, "x", nil}, "b": map[string]any{"c": true}}),
			CreatedAt:   at.Add(time.Duration(n%7) * time.Microsecond), DeletedAt: of(n, nil, &at, &time.Time{}),
		}
	}
	return s
}

func existingCategories() shape[existingCategory] {
	s := ofExisting[existingCategory]("categories", sqltable.Options{})
	s.kit.New = func(n int) existingCategory {
		return existingCategory{Slug: fmt.Sprintf("s%d", n), Title: of(n, "A", "", "a", "É")}
	}
	return s
}

func existingProducts() shape[existingProduct] {
	s := ofExisting[existingProduct]("products", sqltable.Options{ID: "sku"})
	at := time.Date(2026, 11, 25, 12, 0, 0, 123456000, time.UTC)
	s.kit.New = func(n int) existingProduct {
		image := []byte{0, byte(n), 255}
		return existingProduct{
			Title: of(n, "A", "", "a", "É"), Price: of(n, "0.00", "9.55", "99999999.99", "10.00"),
			WeightKg:   pointerOf[float32](n, 0, 0.1, 3.4028235e38, -1e-45, 2.5),
			Tags:       of(n, []string{}, []string{"a"}, []string{"A", `x"y\`, "", "NULL", "{,}"}, []string{"é", "a"}),
			Attributes: of(n, nil, map[string]string{}, map[string]string{"a": "b"}), Stock: of(n, 0, -1, 2147483647, -2147483648),
			AvailableFrom: of(n, nil, &at, &time.Time{}), Image: of(n, nil, &[]byte{}, &image),
		}
	}
	return s
}

func existingOrders() shape[existingOrder] {
	s := ofExisting[existingOrder]("orders", sqltable.Options{})
	s.tables[sqltx.PostgreSQL] = append(s.tables[sqltx.PostgreSQL], `INSERT INTO customers (id, email, full_name) VALUES
		('01234567-89ab-7def-8123-456789abcdef', 'a', 'A'), ('01234567-89ab-7def-8123-456789abcdf0', 'b', 'B')`)
	at := time.Date(2026, 11, 25, 12, 0, 0, 123456000, time.UTC)
	s.kit.New = func(n int) existingOrder {
		return existingOrder{
			CustomerID: of(n, "01234567-89ab-7def-8123-456789abcdef", "01234567-89ab-7def-8123-456789abcdf0"),
			State:      of(n, "draft", "placed", "paid", "shipped", "cancelled"), Total: of(n, "0.00", "9.55", "-10.00", "999999999999.99"),
			PlacedAt: of(n, nil, &at), ShipAfter: pointerOf(n, "", "PT0S", "P1M", "P31D", "P1Y2M3DT4H5M6.5S", "P-1DT-0.000001S"),
			Note: pointerOf(n, "", "x", "X"),
		}
	}
	return s
}

func existingItems() shape[existingItem] {
	s := ofExisting[existingItem]("order_items", sqltable.Options{})
	s.tables[sqltx.PostgreSQL] = append(s.tables[sqltx.PostgreSQL],
		`INSERT INTO customers (id, email, full_name) VALUES ('01234567-89ab-7def-8123-456789abcdef', 'a', 'A')`,
		`INSERT INTO orders (customer_id) SELECT id FROM customers, generate_series(1, 7)`,
		`INSERT INTO products (sku, title, price) VALUES ('a', 'A', 1), ('B', 'B', 2), ('é', 'C', 3)`)
	s.kit.ID = func(n int) string { return fmt.Sprintf("%d,%d", n%7+1, n-500) }
	s.kit.New = func(n int) existingItem {
		return existingItem{
			ProductSKU: of(n, "a", "B", "é"), Qty: of(n, 1, 2147483647, 7), UnitPrice: of(n, "0.00", "-99999999.99", "9.55", "10.00"),
			Discount: pointerOf(n, 0, 0.1, -1e300, 5e-324, 1.7976931348623157e308),
		}
	}
	return s
}

// existingLinks has no column but those of the id. Change therefore returns an equal value.
func existingLinks() shape[existingLink] {
	s := ofExisting[existingLink]("product_categories", sqltable.Options{})
	s.tables[sqltx.PostgreSQL] = append(s.tables[sqltx.PostgreSQL],
		`INSERT INTO products (sku, title, price) VALUES ('a,b', 'A', 1), ('~B', 'B', 2), ('é', 'C', 3), ('a', 'D', 4)`,
		`INSERT INTO categories (slug, title) SELECT n, n FROM generate_series(1, 2000) AS n`)
	s.kit.ID = func(n int) string { return fmt.Sprintf("%s,%d", of(n, "a~1b", "~0B", "é", "a"), n+1) }
	s.kit.New = func(n int) existingLink { return existingLink{} }
	s.kit.Change = func(v existingLink) existingLink { return v }
	return s
}

// ofExisting is the shape of one of the six tables: the revision is that of the row, and deletions
// are not recorded.
func ofExisting[T any](table string, opts sqltable.Options) shape[T] {
	opts.Rev, opts.Forget, opts.Recreate = sqltable.XMin, true, false
	return shape[T]{table: table, opts: opts, tables: map[sqltx.Dialect][]string{
		sqltx.PostgreSQL: strings.SplitAfter(strings.TrimSpace(existingSchema), ";\n"),
	}}
}

// untagged are types without tags.
type (
	untaggedCustomer struct {
		ID          string         `json:"id" format:"uuid"`
		Email       string         `json:"email"`
		FullName    string         `json:"fullName"`
		Tier        string         `json:"tier"`
		CreditLimit string         `json:"creditLimit"`
		Birthday    *string        `json:"birthday"`
		Preferences map[string]any `json:"preferences"`
		CreatedAt   time.Time      `json:"createdAt"`
	}
	untaggedProduct struct {
		SKU           string         `json:"sku"`
		Title         string         `json:"title"`
		Price         float64        `json:"price"`
		WeightKg      *float64       `json:"weightKg"`
		Tags          []string       `json:"tags"`
		Attributes    map[string]any `json:"attributes"`
		Stock         int            `json:"stock"`
		AvailableFrom *time.Time     `json:"availableFrom"`
	}
	untaggedOrder struct {
		ID         int64   `json:"id"`
		CustomerID string  `json:"customerId"`
		State      string  `json:"state" enum:"draft,lost" sql:"order_state"`
		Total      *string `json:"total" format:"decimal"`
		PlacedAt   *string `json:"placedAt"`
		ShipAfter  *string `json:"shipAfter"`
	}
)

// TestCheckNamesTags checks that a fault of a type names the tag that mends it.
func TestCheckNamesTags(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, existingCustomers().tables[e.Dialect]...)
		opts := &sqltable.Options{Rev: sqltable.XMin, Forget: true}
		bySKU := &sqltable.Options{Rev: sqltable.XMin, Forget: true, ID: "sku"}
		errs := []error{sqltable.New[untaggedCustomer](db, "customers", opts).Check(t.Context()),
			sqltable.New[untaggedProduct](db, "products", bySKU).Check(t.Context()),
			sqltable.New[untaggedOrder](db, "orders", opts).Check(t.Context())}
		want := strings.TrimSpace(`
sqltable: the table customers does not fit sqltabletest.untaggedCustomer:
	column email is character varying(255): tag the field Email with maxLength:"255"
	column tier is customer_tier: tag the field Tier with sql:"customer_tier"
	column credit_limit is numeric(12,2): tag the field CreditLimit with format:"decimal" precision:"12,2"
	column birthday is date: tag the field Birthday with format:"date"
sqltable: the table products does not fit sqltabletest.untaggedProduct:
	column price is numeric(10,2): tag the field Price with sql:"numeric(10,2)"
	column weight_kg is real: make the field WeightKg a float32, or tag it with sql:"real", which rounds
	column tags is text[]: tag the field Tags with sql:"text[]"
	column attributes can be NULL, but field Attributes cannot: make the field a pointer, tag it sql:",null", or make the column NOT NULL
	column stock is integer: tag the field Stock with sql:"integer"
	column available_from is timestamp without time zone: tag the field AvailableFrom with sql:"timestamp"
sqltable: the table orders does not fit sqltabletest.untaggedOrder:
	column customer_id is uuid: tag the field CustomerID with format:"uuid"
	column state is order_state, which lacks the label "lost" of the tag enum of field State
	column total is numeric(14,2): tag the field Total with format:"decimal" precision:"14,2"
	column total is NOT NULL, but field Total can be null
	column placed_at is timestamp with time zone: make the field PlacedAt a time.Time
	column ship_after is interval: tag the field ShipAfter with format:"duration"`)
		got := strings.Trim(fmt.Sprintln(errs[0])+fmt.Sprintln(errs[1])+fmt.Sprintln(errs[2]), "\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Check (-want +got):\n%s", diff)
		}
	})
}

// TestSixTables runs the kit over each of the tables.
func TestSixTables(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		t.Run("customers", func(t *testing.T) { existingCustomers().run(t, e) })
		t.Run("categories", func(t *testing.T) { existingCategories().run(t, e) })
		t.Run("products", func(t *testing.T) { existingProducts().run(t, e) })
		t.Run("orders", func(t *testing.T) { existingOrders().run(t, e) })
		t.Run("order_items", func(t *testing.T) { existingItems().run(t, e) })
		t.Run("product_categories", func(t *testing.T) { existingLinks().run(t, e) })
	})
}
