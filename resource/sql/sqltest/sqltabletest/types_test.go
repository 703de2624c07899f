package sqltabletest

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// typed has a column of each kind, not nullable and nullable.
type typed struct {
	ID       string            `json:"id" format:"uuid"`
	Text     string            `json:"text"`
	TextN    *string           `json:"textN" sql:"varchar(20)"`
	Code     string            `json:"code" sql:"char(4)"`
	Tier     string            `json:"tier" enum:"free,pro" sql:"tier"`
	TierN    *string           `json:"tierN" enum:"free,pro" sql:"tier"`
	Price    string            `json:"price" format:"decimal" precision:"9,3"`
	PriceN   *string           `json:"priceN" format:"decimal" precision:"15,2"`
	Born     string            `json:"born" format:"date"`
	BornN    *string           `json:"bornN" format:"date"`
	Opens    string            `json:"opens" format:"time-local"`
	OpensN   *string           `json:"opensN" format:"time-local"`
	Zoned    *string           `json:"zoned" format:"time" sql:"timetz"`
	Span     string            `json:"span" format:"duration"`
	SpanN    *string           `json:"spanN" format:"duration"`
	At       time.Time         `json:"at"`
	Local    *time.Time        `json:"local" sql:"timestamp"`
	Day      *time.Time        `json:"day" sql:"date"`
	Real     float32           `json:"real"`
	RealN    *float32          `json:"realN"`
	Double   float64           `json:"double"`
	Rate     *float64          `json:"rate" sql:"numeric(12,4)"`
	Small    int16             `json:"small" sql:"smallint"`
	Int      int               `json:"int" sql:"integer"`
	IntN     *int32            `json:"intN" sql:"integer"`
	Big      int64             `json:"big"`
	Flag     bool              `json:"flag"`
	FlagN    *bool             `json:"flagN"`
	Address  netip.Addr        `json:"address" sql:"inet"`
	Net      *netip.Prefix     `json:"net" sql:"cidr"`
	Tags     []string          `json:"tags" sql:"text[]"`
	Sizes    []int32           `json:"sizes" sql:"integer[]"`
	Tiers    []string          `json:"tiers" enum:"free,pro" sql:"tier[]"`
	Times    []time.Time       `json:"times" sql:"timestamptz[]"`
	Prices   []string          `json:"prices" format:"decimal" sql:"numeric(9,2)[]"`
	Labels   []string          `json:"labels"`
	Document map[string]string `json:"document"`
	Maybe    map[string]int    `json:"maybe,omitzero" sql:"jsonb,null"`
	Raw      json.RawMessage   `json:"raw" sql:"jsonb"`
	Bytes    []byte            `json:"bytes"`
}

// newTyped returns values at the limits of their types, between others.
func newTyped(n int) typed {
	at := time.Date(2026, 11, 25, 12, 0, 0, 123456000, time.UTC)
	far := time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	midnight := time.Date(2026, 11, 25, 0, 0, 0, 0, time.UTC)
	net := netip.MustParsePrefix("10.0.0.0/8")
	return typed{
		Text: of(n, "", "a", "A", "é", "'; --", "z"), TextN: pointerOf(n, "", "x", "X", strings.Repeat("é", 20)),
		Code: of(n, "a", "", "abcd", "A"), Tier: of(n, "free", "pro"), TierN: pointerOf(n, "", "free", "pro"),
		Price: of(n, "0.000", "9.555", "-9.555", "999999.999", "10.000", "2.000"), PriceN: pointerOf(n, "", "9999999999999.99", "0.10", "-0.01"),
		Born: of(n, "2024-02-29", "0001-01-01", "9999-12-31", "1970-01-01"), BornN: pointerOf(n, "", "2024-02-29", "1969-12-31"),
		Opens: of(n, "00:00:00", "15:04:05.5", "15:04:05.25", "23:59:59.999999"), OpensN: pointerOf(n, "", "12:00:00"),
		Zoned: pointerOf(n, "", "15:04:05+02:00", "15:04:05.5-03:30"), Span: of(n, "PT0S", "P1M", "P31D", "PT-1S", "P1Y2M3DT4H5M6.5S"),
		SpanN: pointerOf(n, "", "P1D"), At: of(n, at, at.Add(time.Microsecond), far, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)),
		Local: of(n, nil, &at, &far), Day: of(n, nil, &midnight), Real: of[float32](n, 0, 0.1, -0.1, 3.4028235e38, 1e-45, 16777216),
		RealN: pointerOf[float32](n, 0, 0.1, 2.5), Double: of(n, 0, 0.1, -1e300, 5e-324), Rate: pointerOf(n, 0, 0.1, 99999999.9999, -2.5),
		Small: of[int16](n, 0, -32768, 32767), Int: of(n, 0, -2147483648, 2147483647), IntN: pointerOf[int32](n, 0, 7, -7),
		Big: of[int64](n, 0, 1<<63-1, -1<<63), Flag: n%2 == 0, FlagN: of(n, nil, new(bool)),
		Address: of(n, netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("9.0.0.1")), Net: of(n, nil, &net),
		Tags: of(n, []string{}, []string{"a", ""}, []string{`"\{}`, "NULL", "é"}), Sizes: of(n, []int32{}, []int32{1, -2147483648}),
		Tiers: of(n, []string{}, []string{"free", "pro"}), Times: of(n, []time.Time{}, []time.Time{at}), Prices: of(n, []string{}, []string{"9.50", "0.00"}),
		Labels: of(n, []string{}, []string{"a", `"`}), Document: of(n, map[string]string{}, map[string]string{"a": "b"}),
		Maybe: of(n, nil, map[string]int{"a": 1}), Raw: of(n, json.RawMessage(`{"a":[1,null]}`), json.RawMessage(`1.5`)),
		Bytes: of(n, []byte{}, []byte{0, 255}),
	}
}

// types is the shape of a table of all kinds that CreateTable makes. The enum exists already.
func types() shape[typed] {
	s := shape[typed]{table: "typed", opts: sqltable.Options{Index: []string{"tier", "price", "born"}}, tables: map[sqltx.Dialect][]string{
		sqltx.PostgreSQL: {"CREATE TYPE tier AS ENUM ('pro', 'free')"}}}
	s.kit.New = newTyped
	return s
}

func TestKitOfTypes(t *testing.T) { enginetest.EachEngine(t, types().run) }

// TestDeclaredQueriesAreAnswered declares each operator, sort key, group and aggregate of a table of all kinds
// alone. The table answers what it is not refused for.
func TestDeclaredQueriesAreAnswered(t *testing.T) {
	refusals := map[sqltx.Dialect][]string{sqltx.SQLite: {
		"span eq", "span ne", "span in", "span notIn", "span lt", "span lte", "span gt", "span gte", "sort span",
		"spanN eq", "spanN ne", "spanN in", "spanN notIn", "spanN lt", "spanN lte", "spanN gt", "spanN gte",
		"sort spanN", "times contains", "prices contains",
	}}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, types().tables[e.Dialect]...)
		table := sqltable.New[typed](db, "typed", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		ops, v := table.Ops(), newTyped(1)
		if _, err := ops.Insert(t.Context(), "01234567-89ab-7def-8123-456789abc000", v); err != nil {
			t.Fatal(err)
		}
		var refused []string
		answered := 0
		declare := func(name string, s query.Support, ask func() error) {
			defer func() {
				switch text := fmt.Sprint(recover()); {
				case strings.Contains(text, "which the collection does not support"):
					refused = append(refused, name)
				case text == "<nil>":
					answered++
				}
			}()
			ops.Resource("kinds", &resource.Options[typed]{Query: s, Public: true})
			if err := ask(); err != nil {
				t.Errorf("%s is accepted and fails: %v", name, err)
			}
		}
		list := func(q query.Query) func() error {
			return func() error { return failure(ops.List(t.Context(), q)) }
		}
		aggregate := func(a query.Aggregation) func() error {
			return func() error { return failure(ops.Aggregate(t.Context(), a)) }
		}
		for _, f := range schema.For[typed]().Fields {
			for _, op := range []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt,
				query.Gte, query.IsNull, query.Contains, query.StartsWith} {
				value := f.Get(&v)
				if elems, ok := value.([]any); ok && len(elems) > 0 {
					value = elems[0]
				}
				switch op {
				case query.In, query.NotIn:
					value = []any{value}
				case query.IsNull:
					value = true
				}
				declare(f.Name+" "+string(op), query.Support{Filter: map[string][]query.Op{f.Name: {op}}},
					list(query.Query{Filter: query.Where(f.Name, op, value)}))
			}
			declare("sort "+f.Name, query.Support{Sort: []string{f.Name}},
				list(query.Query{Sort: []query.Order{{Field: f.Name}}}))
			declare("group "+f.Name, query.Support{Group: []string{f.Name}},
				aggregate(query.Aggregation{Group: []string{f.Name}}))
			for _, fn := range query.Funcs() {
				declare(string(fn)+" "+f.Name, query.Support{Aggregate: map[string][]query.Func{f.Name: {fn}}},
					aggregate(query.Aggregation{Aggregates: []query.Aggregate{{Func: fn, Field: f.Name}}}))
			}
		}
		if diff := cmp.Diff(refusals[e.Dialect], refused); diff != "" || answered < 300 {
			t.Errorf("%d queries are answered; refused (-want +got):\n%s", answered, diff)
		}
	})
}

// failure returns the first error of a sequence.
func failure[V any](all iter.Seq2[V, error]) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestTypesEverywhere reads the items of a table of all kinds in REST, in GraphQL, in events and after an import.
func TestTypesEverywhere(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, types().tables[e.Dialect]...)
		table, log := sqltable.New[typed](db, "typed", nil), sqlfeed.New(db, nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := log.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		start, err := log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f := feed.New(log, nil)
		t.Cleanup(func() { f.Close() })
		r := table.Ops().Resource("kinds", &resource.Options[typed]{Query: table.Support(), Public: true})
		catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: f}, r, command.NewImport("kinds/import", r))
		over, gql := rest.New(catalog, nil), graphql.New(catalog, nil)
		send := func(method, path, mediaType, body string) string {
			request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
			request.Header.Set("Content-Type", mediaType)
			answer := httptest.NewRecorder()
			if path == "/graphql" {
				gql.ServeHTTP(answer, request)
			} else {
				over.ServeHTTP(answer, request)
			}
			if answer.Code >= 300 {
				t.Fatalf("%s %s %s: %d %s", method, path, body, answer.Code, answer.Body)
			}
			return answer.Body.String()
		}
		var want []string
		for n := range 12 {
			v := newTyped(n)
			v.ID = fmt.Sprintf("01234567-89ab-7def-8123-456789abc%03d", n)
			document, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, string(document))
			if n < 6 {
				send("PUT", "/kinds/"+v.ID, "application/json", string(document))
			}
		}
		send("POST", "/kinds/import", "application/x-ndjson", strings.Join(want[6:], "\n"))

		var page struct{ Items []json.RawMessage }
		if err := json.Unmarshal([]byte(send("GET", "/kinds?limit=50", "application/json", "")), &page); err != nil {
			t.Fatal(err)
		}
		var events []json.RawMessage
		for _, event := range allSince(t, log, start) {
			events = append(events, json.RawMessage(event.After))
		}
		for name, got := range map[string][]json.RawMessage{"a list": page.Items, "events": events} {
			checkJSON(t, name, want, got)
		}

		var answer struct {
			Data struct {
				Kinds struct{ Nodes []map[string]any }
			}
			Errors []any
		}
		fields := "id text textN code tier tierN price priceN born bornN opens opensN zoned span spanN at local day real realN double rate " +
			"small int intN big flag flagN address net tags sizes tiers times prices labels document maybe raw bytes"
		sent := send("POST", "/graphql", "application/json", `{"query":"{kinds(first:50){nodes{`+fields+`}}}"}`)
		if err := json.Unmarshal([]byte(sent), &answer); err != nil || len(answer.Errors) > 0 || len(answer.Data.Kinds.Nodes) != len(want) {
			t.Fatalf("GraphQL: %.1000s, %v", sent, err)
		}
		var rows []json.RawMessage
		for _, node := range answer.Data.Kinds.Nodes {
			node["tier"], node["tierN"] = lower(node["tier"]), lower(node["tierN"])
			if list, ok := node["tiers"].([]any); ok {
				for i := range list {
					list[i] = lower(list[i])
				}
			}
			text, _ := json.Marshal(node)
			rows = append(rows, text)
		}
		checkJSON(t, "GraphQL", want, rows)
	})
}

// lower returns an enum value of GraphQL as it is in JSON.
func lower(v any) any {
	if s, ok := v.(string); ok {
		return strings.ToLower(s)
	}
	return v
}

// checkJSON compares documents by their values: integers of GraphQL may be strings.
func checkJSON(t *testing.T, name string, want []string, got []json.RawMessage) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s has %d documents, want %d", name, len(got), len(want))
	}
	for i := range want {
		var a, b map[string]any
		if err := json.Unmarshal([]byte(want[i]), &a); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got[i], &b); err != nil {
			t.Fatal(err)
		}
		for _, document := range []map[string]any{a, b} {
			if n, ok := document["big"].(float64); ok {
				document["big"] = fmt.Sprint(int64(n))
			}
			if document["maybe"] == nil {
				document["maybe"] = map[string]any{}
			}
		}
		delete(a, "big")
		delete(b, "big")
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("document %d of %s (-want +got):\n%s", i, name, diff)
		}
	}
}

// TestStrangeValues reads values that another program has stored and that JSON has no counterpart of, page by page.
func TestStrangeValues(t *testing.T) {
	type strange struct {
		ID    int64      `json:"id"`
		Total string     `json:"total" format:"decimal"`
		Born  string     `json:"born" format:"date"`
		At    time.Time  `json:"at"`
		Local *time.Time `json:"local" sql:"timestamp"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, `CREATE TABLE stranges (id bigint PRIMARY KEY, total numeric NOT NULL, born date NOT NULL,
			at timestamptz NOT NULL, local timestamp)`,
			`INSERT INTO stranges VALUES (1, 1, '2024-02-29', '2024-02-29 12:00Z', '2024-02-29 12:00'),
			(2, 'NaN', 'infinity', 'infinity', 'infinity'), (3, 2, '-infinity', '-infinity', '-infinity'),
			(4, 'NaN', '10000-01-01', '9999-12-31 23:59:59.999999Z', NULL), (5, -1, '0044-03-15 BC', '0001-01-01 00:00Z', NULL)`)
		s := serveExisting(t, db, shape[strange]{table: "stranges", opts: sqltable.Options{Rev: sqltable.XMin, Forget: true, ClientIDs: true}})
		checkLists(t, s, "id", [][2]string{
			{"sort=total", "5 1 3 2 4"}, {"sort=-total", "2 4 3 1 5"}, {"total.gt=1.5&sort=total", "3 2 4"},
			{"sort=born", "3 5 1 4 2"}, {"sort=-born", "2 4 1 5 3"}, {"born.gt=9999-12-31", "2 4"}, {"born.lt=2024-03-01", "1 3 5"},
			{"sort=at", "3 5 1 4 2"}, {"sort=-at", "2 4 1 5 3"}, {"at=9999-12-31T23:59:59.999999999Z", "2"},
			{"at.lt=9999-12-31T23:59:59.999999999Z&sort=id", "1 3 4 5"}, {"sort=local,id", "4 5 3 1 2"}, {"local=0000-01-01T00:00:00Z", "3"},
		})
		s.do(t, 400, "GET", "?born=infinity", "") // no document has it as a date
		got := s.do(t, 200, "GET", "/2", "")
		want := map[string]any{"id": 2.0, "total": "NaN", "born": "infinity", "at": "9999-12-31T23:59:59.999999999Z", "local": "9999-12-31T23:59:59.999999999Z"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("GET (-want +got):\n%s", diff)
		}
		s.do(t, 422, "PATCH", "/2", `{"local":null}`)
		s.do(t, 200, "PATCH", "/2", `{"total":"5","born":"2024-01-01"}`)
		checkLists(t, s, "id", [][2]string{{"at=9999-12-31T23:59:59.999999999Z", "2"}, {"local=9999-12-31T23:59:59.999999999Z", "2"}})
	})
}

// TestUncheckedTexts sends texts that only the database checks, because no tag does. They are 422, in
// single writes and in imports. A label with a comma cannot be in the tag enum, so Check does not ask for it.
func TestUncheckedTexts(t *testing.T) {
	type host struct {
		ID      string   `json:"id" maxLength:"20"`
		Tier    string   `json:"tier" sql:"tier"`
		Tiers   []string `json:"tiers" sql:"tier[]"`
		Address string   `json:"address" sql:"inet"`
		Net     *string  `json:"net" sql:"cidr"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TYPE tier AS ENUM ('free', 'pro', 'a,b')")
		table := sqltable.New[host](db, "hosts", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := table.Ops().Resource("hosts", &resource.Options[host]{Query: table.Support(), Public: true})
		server := serve(t, nil, r, command.NewImport("hosts/import", r))
		s := served{server.Client(), server.URL + "/hosts"}
		const good = `{"id":"a","tier":"pro","tiers":["free"],"address":"10.0.0.1","net":"10.0.0.0/8"}`
		checkDocument(t, good, s.do(t, 201, "PUT", "/a", good))
		for _, change := range []string{`{"tier":"gold"}`, `{"tier":""}`, `{"tiers":["pro","gold"]}`, `{"address":"10.0.0"}`,
			`{"address":""}`, `{"net":"10.0.0.1/8"}`} {
			s.do(t, 422, "PATCH", "/a", change)
		}
		s.do(t, 422, "PUT", "/b", strings.Replace(good, `"a","tier":"pro"`, `"b","tier":"gold"`, 1))
		checkDocument(t, good, s.do(t, 200, "GET", "/a", ""))
		line := strings.Replace(good, `"a","tier":"pro"`, `"%s","tier":"%s"`, 1)
		answer, err := s.client.Post(s.url+"/import?atomic=true", "application/x-ndjson",
			strings.NewReader(fmt.Sprintf(line+"\n"+line, "c", "pro", "d", "gold")))
		if err != nil || answer.StatusCode != 422 {
			t.Fatalf("import: %v, %v", answer, err)
		}
		answer.Body.Close()
		checkLists(t, s, "id", [][2]string{{"tier=gold", ""}, {"tier=pro&sort=id", "a"}})
	})
}

// TestDefaults leaves values to the database: defaults, a generated column, an identity and domains.
func TestDefaults(t *testing.T) {
	type item struct {
		ID      string    `json:"id" maxLength:"20"`
		Tier    string    `json:"tier" enum:"free,pro" sql:"tier" default:"db"`
		Limit   string    `json:"limit" format:"decimal" precision:"12,2" db:"max" default:"db"`
		Active  *bool     `json:"active" default:"db"`
		Created time.Time `json:"created" readOnly:"true" default:"db"`
		Tags    []string  `json:"tags" sql:"text[]" default:"db"`
		Double  string    `json:"double" format:"decimal" readOnly:"true" sql:"numeric,generated"`
		Number  int       `json:"number" readOnly:"true" sql:"bigint,generated"`
		Mail    string    `json:"mail" sql:"citext"`
		Qty     int       `json:"qty" sql:"integer"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE EXTENSION citext", "CREATE TYPE tier AS ENUM ('free', 'pro')", "CREATE DOMAIN mail AS citext CHECK (VALUE ~ '@')",
			"CREATE DOMAIN positive AS integer NOT NULL CHECK (VALUE > 0)",
			`CREATE TABLE items (id varchar(20) PRIMARY KEY, tier tier NOT NULL DEFAULT 'pro', max numeric(12,2) NOT NULL DEFAULT 5,
			active boolean NOT NULL DEFAULT true, created timestamptz NOT NULL DEFAULT '2026-01-01Z', tags text[] NOT NULL DEFAULT '{new}',
			double numeric GENERATED ALWAYS AS (max * 2) STORED, number bigint GENERATED ALWAYS AS IDENTITY, mail mail NOT NULL UNIQUE, qty positive)`)
		table := sqltable.New[item](db, "items", &sqltable.Options{Rev: sqltable.XMin, Forget: true})
		if err := table.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Without the tag, the pages of a list in the order of the column would lack rows.
		type untagged struct {
			ID   string `json:"id" maxLength:"20"`
			Mail string `json:"mail"`
		}
		enginetest.MustExec(t, db, "CREATE TABLE untagged (id varchar(20) PRIMARY KEY, mail citext NOT NULL, rev text NOT NULL)")
		err := sqltable.New[untagged](db, "untagged", &sqltable.Options{Forget: true}).Check(t.Context())
		if want := `column mail is citext: tag the field Mail with sql:"citext"`; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("Check: %v, want %s", err, want)
		}
		r := table.Ops().Resource("items", &resource.Options[item]{Query: table.Support(), Public: true})
		server := serve(t, nil, r, command.NewImport("items/import", r))
		s := served{server.Client(), server.URL + "/items"}
		filled := `{"id":"a","tier":"pro","limit":"5.00","active":true,"created":"2026-01-01T00:00:00Z","tags":["new"],"double":"10.00","number":1,"mail":"A@b.c","qty":1}`
		checkDocument(t, filled, s.do(t, 201, "PUT", "/a", `{"mail":"A@b.c","qty":1}`))
		full := `{"id":"b","tier":"free","limit":"7.00","active":false,"created":"2026-01-01T00:00:00Z","tags":[],"double":"14.00","number":2,"mail":"b@b.c","qty":2}`
		checkDocument(t, full, s.do(t, 201, "PUT", "/b", `{"tier":"free","limit":"7.00","active":false,"tags":[],"mail":"b@b.c","qty":2}`))
		checkDocument(t, strings.Replace(filled, `"qty":1`, `"qty":9`, 1), s.do(t, 200, "PATCH", "/a", `{"qty":9}`))
		s.do(t, 422, "PATCH", "/b", `{"tier":""}`)
		s.do(t, 422, "PATCH", "/b", `{"limit":""}`)
		checkDocument(t, full, s.do(t, 200, "PATCH", "/b", `{"tier":"free"}`))
		checkDocument(t, strings.Replace(full, "false", "true", 1), s.do(t, 200, "PATCH", "/b", `{"active":null}`))
		checkDocument(t, full, s.do(t, 200, "PATCH", "/b", `{"active":false}`))
		s.do(t, 409, "PUT", "/c", `{"mail":"a@B.c","qty":1}`)
		s.do(t, 422, "PUT", "/c", `{"mail":"none","qty":1}`)
		s.do(t, 422, "PUT", "/c", `{"mail":"x@y.z","qty":-1}`)
		s.do(t, 422, "PUT", "/c", `{"mail":"x@y.z","qty":4294967296}`)
		answer, err := s.client.Post(s.url+"/import", "application/x-ndjson", strings.NewReader(
			`{"id":"i1","mail":"i1@x","qty":1}`+"\n"+`{"id":"i2","tier":"free","mail":"i2@x","qty":1}`+"\n"+`{"id":"i3","mail":"i3@x","qty":1}`))
		if err != nil || answer.StatusCode >= 300 {
			t.Fatalf("import: %v, %v", answer, err)
		}
		answer.Body.Close()
		checkLists(t, s, "id", [][2]string{{"tier=pro", "a i1 i3"}, {"tier=free", "b i2"}, {"mail=A@b.c", "a"}, {"mail=a@b.c", ""}, {"number.gt=2", "i1 i2 i3"},
			{"tags.contains=new", "a i1 i2 i3"}, {"sort=-double,id", "b a i1 i2 i3"}, {"qty.gte=3", "a"}})
	})
}
