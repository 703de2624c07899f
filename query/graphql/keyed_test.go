package graphql_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
	"github.com/stoa-go/stoa/version"
)

// TestKeyedReplay: an equivalent request receives the recorded response and is not executed.
func TestKeyedReplay(t *testing.T) {
	t.Parallel()
	inExtensions := order1[:len(order1)-1] + `,"extensions":{"idempotencyKey":"k"}}`
	tests := []struct {
		name   string
		fields []string
		body   string
		form   string
	}{
		{"the same", []string{key("k")}, order1, typeOld},
		{"a bare key", []string{"Idempotency-Key: k"}, order1, typeOld},
		{"a key in the extensions", nil, inExtensions, typeOld},
		{"a key in both", []string{key("k")}, inExtensions, typeOld},
		{"another layout", []string{key("k")}, `{ "variables" : {"c":7.0} , "query":
			"mutation ($c: Int) {\n  # one\n  createOrder(input: {customerId: \"\u0061da\", cents: $c}) { id, cents customer { name } }\n}"}`, typeOld},
		{"a variable that nothing uses", []string{key("k")},
			strings.Replace(order1, `"c":7`, `"c":7,"d":8`, 1), typeOld},
		{"no name for its only operation", []string{key("k")}, order1[:len(order1)-1] +
			`,"operationName":null}`, typeOld},
		{"another media type", []string{key("k"), acceptNew}, order1, typeNew},
		{"another path", []string{key("k")}, order1, typeOld},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t)
			wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, fresh)
			line := postGraphQL
			if tt.name == "another path" {
				line = "POST /v2/graphql?x=y"
			}
			res := send(t, h, line, append(append(tt.fields, jsonBody), "", tt.body)...)
			wantBody(t, res, 200, isOrder1, replayed, tt.form, "Cache-Control: no-store",
				"Idempotency-Result:")
			if n := s.count(t); n != 1 {
				t.Errorf("there are %d orders", n)
			}
		})
	}
}

// TestKeyedMismatch: a key identifies one operation.
func TestKeyedMismatch(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, body string }{
		{"other variables", strings.Replace(order1, `"c":7`, `"c":8`, 1)},
		{"no variables", strings.Replace(order1, `"c":7`, ``, 1)},
		{"another selection", strings.Replace(order1, "id cents", "cents id", 1)},
		{"another operation", `{"query":"mutation{deleteOrder(id:1){id}}"}`},
		{"a name", strings.Replace(order1, "mutation(", "mutation Buy(", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t)
			wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1)
			res := send(t, h, postGraphQL, jsonBody, key("k"), acceptNew, "", tt.body)
			wantCode(t, res, 422, "BAD_USER_INPUT", fresh)
			wantType(t, res, problem.KeyReused)
			if n := s.count(t); n != 1 {
				t.Errorf("there are %d orders", n)
			}
			// The same key of another principal is another one.
			res = send(t, h, postGraphQL, jsonBody, key("k"), "X-User: bob", "",
				strings.Replace(order1, "cents:$c", "cents:9,note:\\\"\\\"", 1))
			want(t, res, 200, fresh)
		})
	}
}

// wantType checks which problem an error is.
func wantType(t *testing.T, res *answer, kind problem.Kind) {
	t.Helper()
	if g := read(t, res); len(g.Errors) == 0 || g.Errors[0].Extensions.Type != kind.URI() {
		t.Errorf("%s: no %s: %s", res.line, kind, res.body)
	}
}

// TestAllOrNothing: of several mutations under a key none is done if one fails, and nothing is remembered.
func TestAllOrNothing(t *testing.T) {
	t.Parallel()
	const document = `{"query":"mutation($id:ID!){a:createOrder(input:{customerId:\"ada\"}){id} ` +
		`b:deleteOrder(id:$id){id}` +
		` c:ordersShip(input:{text:\"x\"}){text}}","variables":{"id":"7"}}`
	var shipped, together int
	s, h := openKeyed(t, func(s *keyedShop) {
		s.ship = func(ctx context.Context, in greeting) (greeting, error) {
			if shipped++; tx.ActiveFor(ctx, s.db) {
				together++
			}
			return in, nil
		}
	})
	const notThere = `{"errors":[{"message":"There is no such item.","locations":[{"line":1,` +
		`"column":63}],"path":["b"],` +
		`"extensions":{"code":"NOT_FOUND","type":"https://stoa-go.github.io/problems/not-found"}}],` +
		`"data":null}`
	for range 2 {
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), acceptNew, "", document), 200, notThere,
			fresh, "Cache-Control: no-store")
	}
	if n := s.count(t); n != 0 || shipped != 0 {
		t.Errorf("there are %d orders, and %d were shipped", n, shipped)
	}
	// Without a key each field is executed separately, as the specification requires.
	want(t, send(t, h, postGraphQL, jsonBody, "", document), 200)
	if n := s.count(t); n != 1 || shipped != 1 {
		t.Errorf("without a key there are %d orders, and %d were shipped", n, shipped)
	}
	// The key has been used for nothing, so it is free; what is there now can be deleted.
	fixed := strings.Replace(document, `"7"`, `"`+s.first(t)+`"`, 1)
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", fixed)
	want(t, res, 200, fresh)
	if len(read(t, res).Errors) > 0 {
		t.Errorf("errors: %s", res.body)
	}
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", fixed), 200, res.body, replayed)
	if n := s.count(t); n != 1 || shipped != 2 || together != 1 {
		t.Errorf("with the key there are %d orders, and %d were shipped: %s", n, shipped, res.body)
	}
}

// TestKeyedFieldErrors: an error in the selection of a mutation rolls back the operation.
func TestKeyedFieldErrors(t *testing.T) {
	t.Parallel()
	failing := func(ctx context.Context, items []*order, _ struct{}) ([]*string, error) {
		return nil, errors.New("no weather")
	}
	s, h := openKeyed(t, func(s *keyedShop) {
		s.opts.Logger = quiet
		s.opts.Fields = []graphql.Field{graphql.Computed("orders", "weather", failing, nil)}
	})
	body := strings.Replace(order1, "id cents", "id weather", 1)
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", body)
	want(t, res, 200, fresh)
	if !strings.HasSuffix(res.body, `"data":null}`) || s.count(t) != 0 {
		t.Errorf("there are %d orders: %s", s.count(t), res.body)
	}
}

// TestKeyedMixedMutations: a mutation that cannot be rolled back is rejected beside other fields,
// and the error names it.
func TestKeyedMixedMutations(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, field string }{
		{"a command that says nothing of a database",
			`mutation{createOrder(input:{customerId:\"ada\"}){id} mailSend(input:{text:\"\"}){text}}`,
			"mailSend"},
		{"a collection elsewhere",
			`mutation{n:createNote(input:{text:\"\"}){id} createOrder(input:{customerId:\"ada\"}){id}}`, "n"},
		{"two of the same",
			`mutation{a:mailSend(input:{text:\"\"}){text} b:mailSend(input:{text:\"\"}){text}}`, "a"},
		{"a function", `mutation{createOrder(input:{customerId:\"ada\"}){id} poke}`, "poke"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t, func(s *keyedShop) {
				s.opts.Fields = []graphql.Field{graphql.Mutation("poke",
					func(context.Context, struct{}) (struct{}, error) {
						return struct{}{}, nil
					}, nil)}
			})
			res := send(t, h, postGraphQL, jsonBody, key("k"), "", `{"query":"`+tt.document+`"}`)
			wantCode(t, res, 400, "BAD_USER_INPUT", fresh)
			if !strings.Contains(res.body, " "+tt.field+" cannot be rolled back") {
				t.Errorf("it does not name %s: %s", tt.field, res.body)
			}
			if n := s.count(t); n != 0 || s.mails.Load() != 0 {
				t.Errorf("there are %d orders, and %d mails were sent", n, s.mails.Load())
			}
			// without a key
			want(t, send(t, h, postGraphQL, jsonBody, "", `{"query":"`+tt.document+`"}`), 200)
		})
	}
}

const sendMail = `{"query":"mutation{mailSend(input:{text:\"hi\"}){text}}"}`

const isSent = `{"data":{"mailSend":{"text":"hi"}}}`

// TestKeyedNonTransactional: if the outcome of a mutation without a transaction is unknown, a retry
// is rejected and not executed.
func TestKeyedNonTransactional(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		err          error
		first, again func(t *testing.T, res *answer)
		mails        int64
	}{
		{"done", nil, func(t *testing.T, res *answer) { wantBody(t, res, 200, isSent, fresh) },
			func(t *testing.T, res *answer) { wantBody(t, res, 200, isSent, replayed) }, 1},
		{"refused", resource.ErrForbidden, func(t *testing.T,
			res *answer) {
			want(t, res, 200, fresh)
			wantType(t, res, problem.Forbidden)
		},
			func(t *testing.T, res *answer) { want(t, res, 200, fresh); wantType(t, res, problem.Forbidden) },
			2},
		{"unknown outcome", errors.New("the line is dead"),
			func(t *testing.T, res *answer) { want(t, res, 200, fresh); wantType(t, res, problem.Internal) },
			func(t *testing.T, res *answer) {
				wantCode(t, res, 409, "CONFLICT", fresh)
				wantType(t, res, problem.OutcomeUnknown)
			}, 1},
		{"outcome pending", tx.ErrOutcomeUnknown,
			func(t *testing.T, res *answer) {
				wantCode(t, res, 503, "UNAVAILABLE", "Retry-After: 1")
			},
			func(t *testing.T, res *answer) { wantCode(t, res, 409, "CONFLICT", fresh) }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t, func(s *keyedShop) {
				s.opts.Logger = quiet
				s.send = func(_ context.Context, in mailed) (mailed, error) { return in, tt.err }
			})
			tt.first(t, send(t, h, postGraphQL, jsonBody, key("k"), "", sendMail))
			tt.again(t, send(t, h, postGraphQL, jsonBody, key("k"), "", sendMail))
			if n := s.mails.Load(); n != tt.mails {
				t.Errorf("%d mails were sent, want %d", n, tt.mails)
			}
		})
	}
}

// TestKeyedErrorRecorded: an error with RecordRefusal is recorded and replayed like a result.
func TestKeyedErrorRecorded(t *testing.T) {
	t.Parallel()
	for _, document := range []string{sendMail,
		`{"query":"mutation{ordersShip(input:{text:\"hi\"}){text}}"}`} {
		calls := 0
		declined := func(ctx context.Context) error {
			calls++
			idempotency.RecordRefusal(ctx)
			d := problem.New("https://shop.example/declined", "The card was declined.")
			d.Status = http.StatusPaymentRequired
			return d
		}
		_, h := openKeyed(t, func(s *keyedShop) {
			s.send = func(ctx context.Context, in mailed) (mailed, error) { return in, declined(ctx) }
			s.ship = func(ctx context.Context, in greeting) (greeting, error) { return in, declined(ctx) }
		})
		res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
		want(t, res, 200, fresh)
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, res.body, replayed)
		if calls != 1 || !strings.Contains(res.body, "declined") {
			t.Errorf("%d calls: %s", calls, res.body)
		}
	}
}

// TestByIdentity: a creation without a recorded outcome finds the item that it created, and no
// other.
func TestByIdentity(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s, h := openKeyed(t, func(s *keyedShop) {
		dying := &forgetful{Store: idempotency.NewMemory(nil)}
		dying.deaths.Store(1)
		s.store, s.keys.Now, s.keys.Logger = dying, func() time.Time { return now }, quiet
	})
	const document = `{"query":"mutation{createNote(input:{text:\"hi\"}){id text}}"}`
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
	want(t, res, 200, fresh)
	now = now.Add(time.Hour) // the lease has ended
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, res.body, fresh)
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, res.body, replayed)
	n := 0
	for range s.notes.List(t.Context(), noQuery) {
		n++
	}
	if n != 1 {
		t.Errorf("there are %d notes", n)
	}
	want(t, send(t, h, postGraphQL, jsonBody, key("l"), "", document), 200, fresh)
}

// TestKeyedConcurrent: of 64 concurrent copies one is executed. The others receive its response, or an error
// that asks for a retry.
func TestKeyedConcurrent(t *testing.T) {
	t.Parallel()
	s, h := openKeyed(t)
	answers := make([]*answer, 64)
	requests := make([]*http.Request, len(answers))
	for i := range requests {
		requests[i] = request(t, postGraphQL, jsonBody, key("k"), "", order1)
	}
	var all sync.WaitGroup
	for i, r := range requests {
		all.Go(func() { answers[i] = recorded(h, r) })
	}
	all.Wait()
	first := 0
	for _, a := range answers {
		switch {
		case a.status == http.StatusConflict:
			wantCode(t, a, 409, "CONFLICT", "Retry-After: 1")
			wantType(t, a, problem.InFlight)
		default:
			wantBody(t, a, 200, isOrder1)
			if a.header.Get("Idempotency-Replayed") == "" {
				first++
			}
		}
	}
	if n := s.count(t); n != 1 || first != 1 {
		t.Errorf("%d orders, %d first answers: %v", n, first, statuses(answers))
	}
}

// TestKeyedTransactionRetry: a transaction that the database retries has one effect and one event.
func TestKeyedTransactionRetry(t *testing.T) {
	t.Parallel()
	var again *twice
	s, h := openKeyed(t, func(s *keyedShop) {
		again = &twice{Runner: s.db}
		s.db = again
		s.store = idempotency.NewMemory(&idempotency.MemoryOptions{Runner: again})
		// Only the orders are known to be in this catalog.
	})
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", order1)
	g := read(t, res)
	want(t, res, 200, fresh)
	if len(g.Errors) > 0 || s.count(t) != 1 || again.runs.Load() != 2 {
		t.Errorf("%d orders after %d runs: %s", s.count(t), again.runs.Load(), res.body)
	}
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, res.body, replayed)
}

// TestKeysOfQueries: queries have no use for keys, and do not mind them.
func TestKeysOfQueries(t *testing.T) {
	t.Parallel()
	_, h := openKeyed(t, func(s *keyedShop) { s.keys.Required = true })
	for _, fields := range [][]string{{key("k")}, {"Idempotency-Key: "}, {key("a"), key("b")},
		{key("k"), "X-User: "}, {}} {
		wantBody(t, send(t, h, postGraphQL, append(fields, jsonBody, "", typenameBody)...), 200, typenameIs,
			fresh)
		wantBody(t, send(t, h, ask("{__typename}"), fields...), 200, typenameIs, fresh)
	}
	body := typenameBody[:len(typenameBody)-1] + `,"extensions":{"idempotencyKey":"\u00e4"}}`
	wantBody(t, send(t, h, postGraphQL, jsonBody, "", body), 200, typenameIs, fresh)
	// A mutation that does nothing needs none, as long as it has one.
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", `{"query":"mutation{__typename}"}`), 200,
		`{"data":{"__typename":"Mutation"}}`, fresh)
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "",
		`{"query":"mutation{deleteOrder(id:1)@skip(if:true){id}}"}`), 200, `{"data":{}}`, fresh)
}

// TestBadKeys are refused before anything is done.
func TestBadKeys(t *testing.T) {
	t.Parallel()
	extended := func(extensions string) string {
		return order1[:len(order1)-1] + `,"extensions":` +
			extensions + `}`
	}
	tests := []struct {
		name   string
		fields []string
		body   string
		kind   problem.Kind
	}{
		{"none, where one is required", nil, order1, problem.KeyMissing},
		{"null", nil, extended(`{"idempotencyKey":null}`), problem.KeyMissing},
		{"two", []string{key("a"), key("b")}, order1, problem.InvalidHeader},
		{"empty", []string{key("")}, order1, problem.InvalidHeader},
		{"empty in the extensions", nil, extended(`{"idempotencyKey":""}`), problem.InvalidHeader},
		{"too long", []string{key(strings.Repeat("k", 256))}, order1, problem.InvalidHeader},
		{"not ASCII, in the extensions", nil, extended(`{"idempotencyKey":"\u00e4"}`), problem.InvalidHeader},
		{"no string", nil, extended(`{"idempotencyKey":7}`), problem.BadRequest},
		{"different", []string{key("a")}, extended(`{"idempotencyKey":"b"}`), problem.InvalidHeader},
		{"without principal", []string{key("a"), "X-User: "}, order1, problem.InvalidHeader},
		{"without principal, in the extensions", []string{"X-User: "}, extended(`{"idempotencyKey":"a"}`),
			problem.InvalidHeader},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t, func(s *keyedShop) { s.keys.Required = true })
			res := send(t, h, postGraphQL, append(tt.fields, jsonBody, "", tt.body)...)
			wantCode(t, res, 400, "BAD_USER_INPUT", fresh)
			wantType(t, res, tt.kind)
			if n := s.count(t); n != 0 {
				t.Errorf("there are %d orders", n)
			}
		})
	}
}

// TestNoGuard: where no keys are kept they mean nothing.
func TestNoGuard(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const document = `{"query":"mutation{createOrder(input:{customerId:\"ada\"}){id}}"}`
	for _, id := range []string{"4", "5"} {
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200,
			`{"data":{"createOrder":{"id":"`+id+`"}}}`, fresh)
	}
}

// TestKeyedBatch: each request of a batch has the key with its place, so that each is done once.
func TestKeyedBatch(t *testing.T) {
	t.Parallel()
	s, h := openKeyed(t, func(s *keyedShop) { s.opts.Batch = 5 })
	two := strings.Replace(order1, `"c":7`, `"c":8`, 1)
	batch := "[" + order1 + "," + typenameBody + "," + two + "]"
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", batch)
	want(t, res, 200, fresh)
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", batch), 200, res.body, replayed)
	if n := s.count(t); n != 2 {
		t.Errorf("there are %d orders", n)
	}
	// Of another batch under the key each request is looked at by itself.
	res = send(t, h, postGraphQL, jsonBody, key("k"), "", "["+order1+","+two+","+sendMail+"]")
	want(t, res, 200, fresh)
	if !strings.HasPrefix(res.body, "["+isOrder1+`,{"data":`) ||
		!strings.Contains(res.body, problem.KeyReused.URI()) || s.count(t) != 3 {
		t.Errorf("there are %d orders: %s", s.count(t), res.body)
	}
}

// TestKeyedDocuments: a document that is named is the document.
func TestKeyedDocuments(t *testing.T) {
	t.Parallel()
	const text = `mutation($c:Int){createOrder(input:{customerId:"ada",cents:$c}){id cents customer{name}}}`
	const variables = `"variables":{"c":7}`
	byHash := `{` + variables + `,` + persistedQuery(hashOf(text)) + `}`
	t.Run("trusted", func(t *testing.T) {
		t.Parallel()
		_, h := openKeyed(t, func(s *keyedShop) { s.opts.Trusted = graphql.Documents{"buy": text} })
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", `{"documentId":"buy",`+variables+`}`),
			200, isOrder1, fresh)
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, replayed)
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", byHash), 200, isOrder1, replayed)
		wantCode(t, send(t, h, postGraphQL, jsonBody, key("k"), "", sendMail), 200, "FORBIDDEN", fresh)
	})
	t.Run("persisted", func(t *testing.T) {
		t.Parallel()
		_, h := openKeyed(t)
		wantCode(t, send(t, h, postGraphQL, jsonBody, key("k"), "", byHash), 200, "PERSISTED_QUERY_NOT_FOUND",
			fresh)
		taught := order1[:len(order1)-1] + `,` + persistedQuery(hashOf(text)) + `}`
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", taught), 200, isOrder1, fresh)
		wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", byHash), 200, isOrder1, replayed)
	})
}

// TestKeyedContracts: the meaning of a document depends on its contract, so a key does not match in
// another.
func TestKeyedContracts(t *testing.T) {
	t.Parallel()
	s := newKeyed(t)
	handler := graphql.New(s.catalog, nil)
	h := known(version.New([]version.Contract{{Name: "1.0.0", Handler: handler}, {Name: "2.0.0", Handler: handler}},
		[]version.Strategy{version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}},
		&version.Options{Default: "2.0.0"}))
	const vendor = "application/vnd.shop.2.0.0.graphql+json"
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, fresh, typeOld)
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "API-Version: 2", "", order1), 200, isOrder1,
		replayed, typeOld)
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "Accept: "+vendor, "", order1), 200, isOrder1,
		replayed, "Content-Type: "+vendor)
	res := send(t, h, postGraphQL, jsonBody, key("k"), "API-Version: 1", "", order1)
	wantCode(t, res, 422, "BAD_USER_INPUT", fresh)
	if n := s.count(t); n != 1 {
		t.Errorf("there are %d orders", n)
	}
}

// oldRelease and newRelease return the orders of two releases. The new one has more fields.
func oldRelease(db *memory.DB) *resource.Resource {
	type purchase struct {
		ID    string `json:"id" readOnly:"true"`
		Cents int    `json:"cents"`
	}
	return resource.New("purchases", memory.New[purchase](&memory.Options[purchase]{DB: db}),
		&resource.Options[purchase]{Public: true})
}

func newRelease(db *memory.DB) *resource.Resource {
	type purchase struct {
		ID    string `json:"id" readOnly:"true"`
		Cents int    `json:"cents"`
		Note  string `json:"note,omitzero"`
		Rank  int    `json:"rank" default:"3"`
	}
	return resource.New("purchases", memory.New[purchase](&memory.Options[purchase]{DB: db}),
		&resource.Options[purchase]{Public: true})
}

// TestKeyedTwoReleases: a retry at another release is replayed, although the input type of the new one
// has more fields.
func TestKeyedTwoReleases(t *testing.T) {
	t.Parallel()
	const body = `{"query":"mutation M($in: CreatePurchaseInput!) { createPurchase(input: $in) { cents } }",
		"variables":{"in":{"cents":7}}}`
	for _, first := range []string{"old", "new"} {
		t.Run(first+" first", func(t *testing.T) {
			t.Parallel()
			db := memory.NewDB()
			records := idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db})
			open := func(r *resource.Resource) http.Handler {
				return known(graphql.New(resource.NewCatalog(&resource.CatalogOptions{
					Idempotency: idempotency.New(records, nil),
					Principal:   func(context.Context) string { return "ada" },
				}, r), nil))
			}
			a, b := open(oldRelease(db)), open(newRelease(db))
			if first == "new" {
				a, b = b, a
			}
			const created = `{"data":{"createPurchase":{"cents":7}}}`
			wantBody(t, send(t, a, postGraphQL, jsonBody, key("k"), "", body), 200, created, fresh)
			wantBody(t, send(t, b, postGraphQL, jsonBody, key("k"), "", body), 200, created, replayed)
			other := strings.Replace(body, "7", "8", 1)
			wantCode(t, send(t, b, postGraphQL, jsonBody, key("k"), "", other), 422, "BAD_USER_INPUT", fresh)
		})
	}
}

// TestKeyedTimeout: an operation that takes too long has not happened.
func TestKeyedTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := true
		s, h := openKeyed(t, func(s *keyedShop) {
			s.opts.Timeout = time.Second
			s.ship = func(ctx context.Context, in greeting) (greeting, error) {
				if slow {
					<-ctx.Done()
					return in, ctx.Err()
				}
				return in, nil
			}
		})
		const document = `{"query":"mutation{createOrder(input:{customerId:\"ada\"}){id} ` +
			`ordersShip(input:{text:\"x\"}){text}}"}`
		began := time.Now()
		res := send(t, h, postGraphQL, jsonBody, key("k"), "", document)
		want(t, res, 200, fresh)
		wantType(t, res, problem.Unavailable)
		if n, took := s.count(t), time.Since(began); n != 0 || took != time.Second {
			t.Errorf("there are %d orders after %v: %s", n, took, res.body)
		}
		slow = false
		want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, fresh)
		want(t, send(t, h, postGraphQL, jsonBody, key("k"), "", document), 200, replayed)
		if n := s.count(t); n != 1 {
			t.Errorf("there are %d orders", n)
		}
	})
}

// TestKeyedLargeResponse: for a response above the limit of a record, only its existence is recorded.
func TestKeyedLargeResponse(t *testing.T) {
	t.Parallel()
	s, h := openKeyed(t, func(s *keyedShop) { s.keys.MaxResult = 20 })
	wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", order1), 200, isOrder1, fresh)
	res := send(t, h, postGraphQL, jsonBody, key("k"), "", order1)
	want(t, res, 200, replayed, "Idempotency-Result: reference")
	if g := read(t, res); len(g.Errors) != 1 || g.Errors[0].Extensions.Code != "ANSWER_NOT_KEPT" ||
		s.count(t) != 1 {
		t.Errorf("%d orders: %s", s.count(t), res.body)
	}
}
