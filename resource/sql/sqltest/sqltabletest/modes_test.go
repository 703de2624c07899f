package sqltabletest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// queryModes are the modes of pgx. They encode arguments and results in different ways.
var queryModes = map[string]pgx.QueryExecMode{
	"cache_statement": pgx.QueryExecModeCacheStatement, "cache_describe": pgx.QueryExecModeCacheDescribe,
	"describe_exec": pgx.QueryExecModeDescribeExec, "exec": pgx.QueryExecModeExec, "simple_protocol": pgx.QueryExecModeSimpleProtocol,
}

// eachMode runs a test with a new database in each mode. The settings of the sessions differ from
// those of others, because they must not have an effect.
func eachMode(t *testing.T, test func(t *testing.T, db *sqltx.DB)) {
	t.Parallel()
	for name, mode := range queryModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config, err := pgx.ParseConfig(sqltest.PostgreSQL(t))
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = mode
			// In two modes results are text, and pgx parses only dates and times of ISO 8601.
			if mode != pgx.QueryExecModeSimpleProtocol && mode != pgx.QueryExecModeExec {
				config.RuntimeParams["DateStyle"] = "German, DMY"
			}
			config.RuntimeParams["IntervalStyle"] = "sql_standard"
			config.RuntimeParams["TimeZone"] = "Asia/Kolkata"
			pool := sql.OpenDB(sqltx.Guard(stdlib.GetConnector(*config)))
			t.Cleanup(func() { pool.Close() })
			test(t, sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Debug: true}))
		})
	}
}

// served is a table over HTTP.
type served struct {
	client *http.Client
	url    string
}

// serveExisting serves one of the six tables with all its queries.
func serveExisting[T any](t *testing.T, db *sqltx.DB, s shape[T]) served {
	t.Helper()
	table := sqltable.New[T](db, s.table, &s.opts)
	if err := table.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	support := withText(table.Support(), schema.For[T]())
	r := table.Ops().Resource(s.table, &resource.Options[T]{ID: s.opts.ID, Query: support, Public: true})
	server := serve(t, nil, r)
	return served{server.Client(), server.URL + "/" + s.table}
}

// do sends a request, and returns the document of the answer, which must have the status.
func (s served) do(t *testing.T, want int, method, path, body string) (document map[string]any) {
	t.Helper()
	status, _, text := request(t, s.client, method, s.url+path, body)
	if status != want {
		t.Errorf("%s %s %s: %d %s, want %d", method, path, body, status, text, want)
		return nil
	}
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// ids returns the ids of the items of a list.
func (s served) ids(t *testing.T, field string, params url.Values) string {
	t.Helper()
	document := s.do(t, 200, "GET", "?"+params.Encode(), "")
	items, _ := document["items"].([]any)
	var ids []string
	for _, item := range items {
		ids = append(ids, fmt.Sprint(item.(map[string]any)[field]))
	}
	return strings.Join(ids, " ")
}

// TestQueryModes writes, reads, filters and sorts every column of the six tables in each mode of pgx.
func TestQueryModes(t *testing.T) {
	eachMode(t, func(t *testing.T, db *sqltx.DB) {
		enginetest.MustExec(t, db, existingCustomers().tables[sqltx.PostgreSQL]...)
		customers := serveExisting(t, db, existingCustomers())
		const ada = `{"id":"01234567-89ab-7def-8123-456789abcdef","email":"ada@example.com","fullName":"Ada","tier":"pro",` +
			`"creditLimit":"1234.50","birthday":"1990-02-03","preferences":{"a":[1,"x"]},"createdAt":"2026-11-25T12:00:00.123456Z","deletedAt":null}`
		const bob = `{"id":"01234567-89ab-7def-8123-456789abcdf0","email":"bob@example.com","fullName":"bob","tier":"enterprise",` +
			`"creditLimit":"99.00","birthday":null,"preferences":{},"createdAt":"2026-11-25T12:00:00Z","deletedAt":"2026-11-26T00:00:00Z"}`
		for i, body := range []string{ada, bob} {
			path := "/01234567-89ab-7def-8123-456789abcd" + []string{"ef", "f0"}[i]
			checkDocument(t, body, customers.do(t, 201, "PUT", path, body))
			checkDocument(t, body, customers.do(t, 200, "GET", path, ""))
			// The document that was read can be written again: nothing of it is unreadable.
			checkDocument(t, body, customers.do(t, 200, "PATCH", path, `{"fullName":`+[]string{`"Ada"`, `"bob"`}[i]+`}`))
		}
		customers.do(t, 201, "POST", "", `{"email":"eve@example.com","fullName":"Eve","tier":"free","creditLimit":"-0.01",`+
			`"preferences":{},"createdAt":"2026-11-25T13:00:00Z"}`)
		customers.do(t, 422, "POST", "", `{"email":"x@example.com","fullName":"X","tier":"gold","creditLimit":"1.00","preferences":{},"createdAt":"2026-11-25T13:00:00Z"}`)
		checkLists(t, customers, "fullName", [][2]string{
			{"id=01234567-89ab-7def-8123-456789abcdef", "Ada"}, {"email=ada@example.com", "Ada"}, {"email.startsWith=b", "bob"},
			{"fullName.gt=Eve", "bob"}, {"tier=pro", "Ada"}, {"tier.in=pro,free&sort=tier", "Eve Ada"}, {"tier.ne=pro&sort=fullName", "Eve bob"},
			{"tier.contains=r&sort=tier", "bob Eve Ada"}, {"tier.gte=free&sort=-tier", "Ada Eve"},
			{"creditLimit=1234.5", "Ada"}, {"creditLimit.gt=98.999", "Ada bob"}, {"creditLimit.lt=99&sort=creditLimit", "Eve"},
			{"sort=creditLimit", "Eve bob Ada"}, {"sort=-creditLimit", "Ada bob Eve"}, {"creditLimit.in=99,1234.500", "Ada bob"},
			{"birthday=1990-02-03", "Ada"}, {"birthday.gte=1990-02-01", "Ada"}, {"birthday.lt=1990-02-04", "Ada"}, {"birthday.contains=-02-", "Ada"},
			{"birthday.isNull=true&sort=fullName", "Eve bob"}, {"sort=birthday,fullName", "Eve bob Ada"}, {"birthday=1990-02-28", ""},
			{"createdAt=2026-11-25T12:00:00.123456Z", "Ada"}, {"createdAt.gt=2026-11-25T12:00:00.1234567Z", "Eve"}, {"sort=-createdAt", "Eve Ada bob"},
			{"deletedAt.isNull=false", "bob"}, {"deletedAt.gt=2026-11-25T00:00:00Z", "bob"}, {"sort=-deletedAt,fullName", "bob Ada Eve"},
		})

		categories := serveExisting(t, db, existingCategories())
		root := categories.do(t, 201, "POST", "", `{"slug":"root","title":"Root"}`)
		categories.do(t, 201, "POST", "", fmt.Sprintf(`{"slug":"leaf","title":"Leaf","parentId":%v}`, root["id"]))
		categories.do(t, 422, "POST", "", `{"slug":"x","title":"X","parentId":99}`)
		categories.do(t, 422, "POST", "", `{"slug":"x","title":"X","parentId":4294967296}`)
		checkLists(t, categories, "slug", [][2]string{
			{"id=1", "root"}, {"sort=-id", "leaf root"}, {"parentId=1", "leaf"}, {"parentId.gt=4294967296", ""}, {"parentId.lt=4294967296", "leaf"},
			{"parentId.isNull=true", "root"}, {"sort=parentId", "root leaf"}, {"slug.startsWith=le", "leaf"}, {"sort=title", "leaf root"},
		})

		products := serveExisting(t, db, existingProducts())
		const pen = `{"sku":"pen","title":"Pen","price":"9.50","weightKg":0.1,"tags":["a b","\"q\"","{,}","NULL",""],"attributes":{"color":"blue"},` +
			`"stock":-5,"availableFrom":"2026-11-25T12:00:00.5Z","image":"AP8="}`
		const cup = `{"sku":"cup","title":"cup","price":"10.00","weightKg":null,"tags":[],"attributes":null,"stock":2147483647,"availableFrom":null,"image":null}`
		checkDocument(t, pen, products.do(t, 201, "PUT", "/pen", pen))
		checkDocument(t, strings.Replace(cup, `"attributes":null`, `"attributes":{}`, 1), products.do(t, 201, "PUT", "/cup", strings.Replace(cup, `"attributes":null,`, "", 1)))
		checkDocument(t, pen, products.do(t, 200, "GET", "/pen", ""))
		products.do(t, 422, "PUT", "/big", strings.Replace(pen, "-5", "2147483648", 1))
		products.do(t, 422, "PUT", "/big", strings.Replace(pen, "9.50", "9.555", 1))
		products.do(t, 422, "PUT", "/big", strings.Replace(pen, "9.50", "999999999.00", 1))
		checkLists(t, products, "sku", [][2]string{
			{"sku.gt=a&sort=-sku", "pen cup"}, {"price.lt=10", "pen"}, {"sort=price", "pen cup"}, {"price=10", "cup"}, {"price.gt=9.499", "cup pen"},
			{"weightKg=0.1", "pen"}, {"weightKg.lte=0.1", "pen"}, {"weightKg.lt=0.1", ""}, {"weightKg.gt=0.0999999", "pen"}, {"weightKg.isNull=true", "cup"},
			{"sort=weightKg", "cup pen"}, {"tags.contains=a b", "pen"}, {"tags.contains=NULL", "pen"}, {`filter={"tags":{"contains":""}}`, "pen"}, {"tags.contains=x", ""},
			{"stock.lt=0", "pen"}, {"sort=-stock", "cup pen"}, {"stock.gt=2147483648", ""}, {"availableFrom=2026-11-25T12:00:00.5Z", "pen"},
			{"availableFrom.gt=2026-11-25T12:00:00.4999999Z", "pen"}, {"sort=availableFrom", "cup pen"}, {"title.gt=Z", "cup"},
		})

		orders := serveExisting(t, db, existingOrders())
		const first = `{"id":1,"customerId":"01234567-89ab-7def-8123-456789abcdef","state":"placed","total":"10.00","placedAt":"2026-11-25T12:00:00Z",` +
			`"shipAfter":"P1Y2M3DT4H5M6.5S","note":"x"}`
		const second = `{"id":2,"customerId":"01234567-89ab-7def-8123-456789abcdf0","state":"cancelled","total":"9.00","placedAt":null,"shipAfter":"PT-1H","note":null}`
		checkDocument(t, first, orders.do(t, 201, "POST", "", strings.Replace(first, `"id":1,`, "", 1)))
		checkDocument(t, second, orders.do(t, 201, "POST", "", strings.Replace(second, `"id":2,`, "", 1)))
		checkLists(t, orders, "id", [][2]string{
			{"id=2", "2"}, {"customerId.startsWith=01234567&sort=-id", "2 1"}, {"state=placed", "1"}, {"state.notIn=placed", "2"}, {"sort=state", "2 1"},
			{"total.gt=9", "1"}, {"sort=total", "2 1"}, {"placedAt.isNull=true", "2"}, {"sort=-placedAt", "1 2"},
			{"shipAfter=P14M3DT14706.5S", "1"}, {"shipAfter.lt=PT0S", "2"}, {"shipAfter.gte=P1Y", "1"}, {"sort=shipAfter", "2 1"}, {"note=x", "1"},
			{"sort=note", "2 1"},
		})
		checkComposite(t, db, orders)
	})
}

// checkComposite is TestQueryModes for the two tables with composite ids. The others have rows.
func checkComposite(t *testing.T, db *sqltx.DB, orders served) {
	t.Helper()
	items := serveExisting(t, db, existingItems())
	const pens = `{"id":"1,2","orderId":1,"lineNo":2,"productSku":"pen","qty":3,"unitPrice":"9.50","discount":0.1}`
	const cups = `{"id":"1,-10","orderId":1,"lineNo":-10,"productSku":"cup","qty":2147483647,"unitPrice":"10.00","discount":null}`
	checkDocument(t, pens, items.do(t, 201, "POST", "", strings.Replace(pens, `"id":"1,2",`, "", 1)))
	checkDocument(t, cups, items.do(t, 201, "PUT", "/1,-10", `{"productSku":"cup","qty":2147483647,"unitPrice":"10.00","discount":null}`))
	checkDocument(t, pens, items.do(t, 200, "GET", "/1,2", ""))
	checkDocument(t, pens, items.do(t, 200, "PATCH", "/1,2", `{"qty":3}`))
	items.do(t, 201, "PUT", "/2,1", `{"productSku":"pen","qty":1,"unitPrice":"-0.50","discount":-1e300}`)
	items.do(t, 422, "PUT", "/9,1", `{"productSku":"pen","qty":1,"unitPrice":"1.00"}`)
	items.do(t, 422, "PUT", "/1,1", `{"productSku":"none","qty":1,"unitPrice":"1.00"}`)
	items.do(t, 422, "PUT", "/1,1", `{"productSku":"pen","qty":0,"unitPrice":"1.00"}`)
	items.do(t, 422, "PATCH", "/1,2", `{"lineNo":3}`)
	items.do(t, 404, "GET", "/1,02", "")
	items.do(t, 404, "GET", "/1,32768", "")
	checkLists(t, items, "id", [][2]string{
		{"", "1,-10 1,2 2,1"}, {"sort=-id", "2,1 1,2 1,-10"}, {`id=1,2`, "1,2"}, {`id.in=1\,2,2\,1`, "1,2 2,1"},
		{"orderId=1", "1,-10 1,2"}, {"orderId.gt=1", "2,1"}, {"sort=-orderId,lineNo", "2,1 1,-10 1,2"},
		{"lineNo.lt=0", "1,-10"}, {"lineNo.gte=-32768", "1,-10 1,2 2,1"}, {"sort=lineNo", "1,-10 2,1 1,2"}, {"lineNo=2", "1,2"},
		{"productSku=pen", "1,2 2,1"}, {"productSku.startsWith=c", "1,-10"}, {"sort=-productSku,id", "1,2 2,1 1,-10"},
		{"qty.gte=3", "1,-10 1,2"}, {"sort=qty", "2,1 1,2 1,-10"}, {"unitPrice.lt=9.501&sort=unitPrice", "2,1 1,2"}, {"sort=-unitPrice", "1,-10 1,2 2,1"},
		{"unitPrice=9.5", "1,2"}, {"discount=0.1", "1,2"}, {"discount.lt=0", "2,1"}, {"discount.isNull=true", "1,-10"}, {"sort=discount", "1,-10 2,1 1,2"},
	})
	items.do(t, 204, "DELETE", "/2,1", "")
	orders.do(t, 204, "DELETE", "/1", "") // ON DELETE CASCADE
	checkLists(t, items, "id", [][2]string{{"", ""}})

	links := serveExisting(t, db, existingLinks())
	const one, two = `{"id":"cup,2","productSku":"cup","categoryId":2}`, `{"id":"pen,1","productSku":"pen","categoryId":1}`
	checkDocument(t, two, links.do(t, 201, "POST", "", `{"productSku":"pen","categoryId":1}`))
	checkDocument(t, one, links.do(t, 201, "PUT", "/cup,2", `{}`))
	checkDocument(t, one, links.do(t, 200, "GET", "/cup,2", ""))
	checkDocument(t, one, links.do(t, 200, "PUT", "/cup,2", one))
	links.do(t, 409, "POST", "", `{"productSku":"pen","categoryId":1}`)
	links.do(t, 422, "POST", "", `{"productSku":"pen","categoryId":99}`)
	links.do(t, 422, "PATCH", "/cup,2", `{"categoryId":1}`)
	checkLists(t, links, "id", [][2]string{
		{"", "cup,2 pen,1"}, {"sort=-id", "pen,1 cup,2"}, {`id=pen,1`, "pen,1"}, {"productSku=pen", "pen,1"}, {"productSku.gt=cup", "pen,1"},
		{"sort=-productSku", "pen,1 cup,2"}, {"categoryId=2", "cup,2"}, {"categoryId.lt=2147483647&sort=categoryId", "pen,1 cup,2"}, {"sort=-categoryId", "cup,2 pen,1"},
	})
	links.do(t, 204, "DELETE", "/cup,2", "")
	links.do(t, 410, "GET", "/cup,2", "")
}

// checkDocument compares a document with its JSON.
func checkDocument(t *testing.T, want string, got map[string]any) {
	t.Helper()
	var document map[string]any
	if err := json.Unmarshal([]byte(want), &document); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// checkLists requests lists, each as one page and as pages of one item.
func checkLists(t *testing.T, s served, field string, lists [][2]string) {
	t.Helper()
	for _, list := range lists {
		params, err := url.ParseQuery(list[0])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list[1], s.ids(t, field, params)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", list[0], diff)
		}
		params.Set("limit", "1")
		var pages []string
		for n := 0; n < 5; n++ {
			document := s.do(t, 200, "GET", "?"+params.Encode(), "")
			items, _ := document["items"].([]any)
			for _, item := range items {
				pages = append(pages, fmt.Sprint(item.(map[string]any)[field]))
			}
			next, ok := document["next"].(string)
			if !ok {
				break
			}
			if u, err := url.Parse(next); err == nil && u.Query().Has("after") {
				params = u.Query()
			} else {
				params.Set("after", next)
			}
		}
		if diff := cmp.Diff(list[1], strings.Join(pages, " ")); diff != "" {
			t.Errorf("%s, page by page (-want +got):\n%s", list[0], diff)
		}
	}
}
