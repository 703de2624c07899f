package graphql_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// TestExecuteIsHTTP: the response of Execute is the body of the response over HTTP.
func TestExecuteIsHTTP(t *testing.T) {
	t.Parallel()
	type vars = map[string]any
	list := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	tests := []struct {
		name string
		req  graphql.Request
	}{
		{"a query", graphql.Request{Query: `{order(id:1){id cents customer{name}}}`}},
		{"variables", graphql.Request{Query: `query($id:ID!){order(id:$id){id}}`, Variables: vars{"id": 2}}},
		{"a struct of variables", graphql.Request{Query: `query($id:ID!){order(id:$id){id}}`,
			Variables: struct {
				ID string `json:"id"`
			}{"2"}}},
		{"raw variables", graphql.Request{Query: `query($id:ID!){order(id:$id){id}}`,
			Variables: json.RawMessage(`{"id":"3"}`)}},
		{"variables that are no object", graphql.Request{Query: `{__typename}`, Variables: "x"}},
		{"variables too deep", graphql.Request{Query: `{__typename}`, Variables: vars{"x": json.RawMessage(list)}}},
		{"a variable that is missing", graphql.Request{Query: `query($id:ID!){order(id:$id){id}}`}},
		{"one of two operations", graphql.Request{Query: `query A{a:__typename} query B{b:__typename}`,
			OperationName: "B"}},
		{"an operation that is missing", graphql.Request{Query: `{__typename}`, OperationName: "B"}},
		{"a mutation", graphql.Request{Query: `mutation{patchOrder(id:1,input:{status:paid}){status}}`}},
		{"a field error", graphql.Request{Query: `mutation{a:patchOrder(id:9,input:{status:paid}){id} ` +
			`b:patchOrder(id:1,input:{cents:-1}){id} c:patchOrder(id:2,input:{cents:1}){cents}}`}},
		{"a syntax error", graphql.Request{Query: "{"}},
		{"an invalid document", graphql.Request{Query: "{orders{nodes{none}}}"}},
		{"nothing", graphql.Request{}},
		{"two documents", graphql.Request{Query: "{__typename}", DocumentID: "x"}},
		{"an unknown document", graphql.Request{DocumentID: "x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content, err := json.Marshal(tt.req)
			if err != nil {
				t.Fatal(err)
			}
			want := send(t, newTestHandler(t), "POST /graphql", jsonBody, "", string(content)).body
			got, err := json.Marshal(newTestHandler(t).Execute(t.Context(), tt.req))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decoded(t, want), decoded(t, string(got))); diff != "" {
				t.Errorf("response (-HTTP +Execute):\n%s", diff)
			}
		})
	}
}

// decoded returns JSON without the order of its members.
func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestExecuteNumbers: a number of encoding/json is a number, wherever it is in the variables.
func TestExecuteNumbers(t *testing.T) {
	t.Parallel()
	type input struct {
		Customer string       `json:"customerId"`
		Cents    *json.Number `json:"cents"`
	}
	cents := json.Number("100000")
	tests := []struct {
		name      string
		variables any
		want      string
	}{
		{"in a map", map[string]any{"in": map[string]any{"customerId": "ada", "cents": json.Number("7")}}, "7"},
		{"in a struct", map[string]any{"in": input{"ada", &cents}}, "100000"},
		{"empty", map[string]any{"in": map[string]any{"customerId": "ada", "cents": json.Number("")}}, "0"},
		{"not a number", map[string]any{"in": map[string]any{"customerId": "ada", "cents": json.Number("7x")}}, ""},
		{"a string", map[string]any{"in": map[string]any{"customerId": "ada", "cents": "7"}}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := newTestHandler(t).Execute(t.Context(), graphql.Request{Variables: tt.variables,
				Query: `mutation($in:CreateOrderInput!){o:createOrder(input:$in){cents}}`})
			want := `{"o":{"cents":` + tt.want + `}}`
			if tt.want == "" {
				want = ""
			}
			if diff := cmp.Diff(want, string(res.Data)); diff != "" || (want == "") != (res.Errors != nil) {
				t.Errorf("errors %v, data (-want +got):\n%s", res.Errors, diff)
			}
		})
	}
}

func TestExecuteDecode(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	var data struct {
		Order, None *struct{ Cents int }
	}
	res := h.Execute(t.Context(), graphql.Request{Query: `{order(id:1){cents} none:order(id:9){cents}}`})
	if err := res.Decode(&data); err != nil || data.Order == nil || data.Order.Cents != 100 || data.None != nil {
		t.Errorf("%+v, %v", data, err)
	}
	if err := res.Decode(new(int)); err == nil {
		t.Error("an object was decoded into an int")
	}
	res = h.Execute(t.Context(), graphql.Request{
		Query: `mutation{a:patchOrder(id:9,input:{cents:1}){id} b:patchOrder(id:8,input:{cents:1}){id}}`})
	err := res.Decode(&data)
	var first *graphql.Error
	if !errors.As(err, &first) || first.Code() != "NOT_FOUND" {
		t.Fatalf("error %v", err)
	}
	if got, want := err.Error(), "graphql: a: "+first.Message+" (and 1 more)"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}
	if diff := cmp.Diff([]graphql.Location{{Line: 1, Column: 10}}, first.Locations); diff != "" {
		t.Errorf("locations (-want +got):\n%s", diff)
	}
}

func TestExecuteLimits(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Limits.Body, s.opts.Limits.Tokens = 100, 10 })
	tests := []struct{ name, query, code string }{
		{"size", "{__typename #" + strings.Repeat("x", 100) + "\n}", "BAD_USER_INPUT"},
		{"tokens", "{a b c d e f g h i j k}", "GRAPHQL_VALIDATION_FAILED"},
		{"invalid UTF-8", "{\xff}", "BAD_USER_INPUT"},
		{"a subscription", "subscription{x}", "GRAPHQL_VALIDATION_FAILED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := h.Execute(t.Context(), graphql.Request{Query: tt.query})
			if len(res.Errors) != 1 || res.Errors[0].Code() != tt.code || res.Data != nil {
				t.Errorf("data %q, errors %v, code %s, want %s", []byte(res.Data), res.Errors, res.Errors[0].Code(), tt.code)
			}
		})
	}
}

// TestExecuteKeyed: a key executes a mutation once, with the principal of the context.
func TestExecuteKeyed(t *testing.T) {
	t.Parallel()
	s := newKeyed(t)
	h := graphql.New(s.catalog, &s.opts)
	var req graphql.Request
	if err := json.Unmarshal([]byte(order1), &req); err != nil {
		t.Fatal(err)
	}
	req.IdempotencyKey = "k"
	ctx := context.WithValue(t.Context(), callerKey{}, "ada")
	first, again := h.Execute(ctx, req), h.Execute(ctx, req)
	if first.Replayed || !again.Replayed {
		t.Errorf("replayed %t and %t", first.Replayed, again.Replayed)
	}
	if diff := cmp.Diff(string(first.Data), string(again.Data)); diff != "" || first.Err() != nil {
		t.Errorf("data (-first +again):\n%s%v", diff, first.Err())
	}
	if n := s.count(t); n != 1 {
		t.Errorf("%d orders", n)
	}
	req.Variables = map[string]any{"c": 8}
	if res := h.Execute(ctx, req); len(res.Errors) != 1 || res.Errors[0].Code() != "BAD_USER_INPUT" {
		t.Errorf("another request: %v", res.Errors)
	}
	if res := h.Execute(t.Context(), req); len(res.Errors) != 1 ||
		!strings.Contains(res.Errors[0].Message, "must be authenticated") {
		t.Errorf("without a principal: %v", res.Errors)
	}
}

// TestExecuteCanceled: the errors match the error of the context.
func TestExecuteCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := newTestHandler(t, func(s *setup) {
		get := s.orderOps.Get
		s.orderOps.Get = func(ctx context.Context, id string) (resource.Item[order], error) {
			cancel()
			return get(ctx, id)
		}
	})
	res := h.Execute(ctx, graphql.Request{Query: `mutation{patchOrder(id:1,input:{cents:1}){id}}`})
	if !errors.Is(res.Err(), context.Canceled) {
		t.Errorf("data %s, error %v", res.Data, res.Err())
	}
	past, cancelPast := context.WithTimeout(t.Context(), -time.Second)
	defer cancelPast()
	res = h.Execute(past, graphql.Request{Query: `{order(id:1){id}}`})
	if !errors.Is(res.Err(), context.DeadlineExceeded) {
		t.Errorf("data %s, error %v", res.Data, res.Err())
	}
}

// TestExecutePanic: a panic is an internal error without details.
func TestExecutePanic(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) {
		s.opts.Logger = quiet
		s.catalog.Idempotency = idempotency.New(idempotency.NewMemory(nil), nil)
		s.catalog.Principal = func(context.Context) string { panic("secret") }
	})
	res := h.Execute(t.Context(), graphql.Request{IdempotencyKey: "k",
		Query: `mutation{patchOrder(id:1,input:{cents:1}){id}}`})
	if len(res.Errors) != 1 || res.Errors[0].Message != "Internal server error" {
		t.Errorf("errors %v", res.Errors)
	}
}

// TestExecuteSubscribe follows changes, resumes, and ends in each way.
func TestExecuteSubscribe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(t, watched(t, nil))
		req := graphql.Request{Query: `subscription{orderChanged{kind order{cents}}}`}
		messages := h.Subscribe(t.Context(), req)
		for _, n := range []int{1, 2, 3} { // after the call of Subscribe
			if err := h.Execute(t.Context(), graphql.Request{Query: price(n)}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		message := func(n string) string {
			return `{"orderChanged":{"kind":"UPDATED","order":{"cents":` + n + `}}}`
		}
		var got []string
		for res, err := range messages {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(res.Data)); len(got) == 2 {
				req.After = res.Cursor
				break
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for res, err := range h.Subscribe(ctx, req) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(res.Data))
			cancel() // ends the sequence without an error
		}
		if diff := cmp.Diff([]string{message("1"), message("2"), message("3")}, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		time.AfterFunc(time.Second, func() { h.Shutdown(context.Background()) })
		for res, err := range h.Subscribe(t.Context(), graphql.Request{Query: req.Query}) {
			if res != nil || !errors.Is(err, feed.ErrClosed) {
				t.Errorf("shutdown: %v, %v", res, err)
			}
		}
	})
}

func TestExecuteSubscribeErrors(t *testing.T) {
	t.Parallel()
	const good = `subscription{orderChanged{id}}`
	tests := []struct {
		name string
		req  graphql.Request
		want string
	}{
		{"a syntax error", graphql.Request{Query: "{"}, "GRAPHQL_PARSE_FAILED"},
		{"a query", graphql.Request{Query: "{__typename}"}, "BAD_USER_INPUT"},
		{"a key", graphql.Request{Query: good, IdempotencyKey: "k"}, "BAD_USER_INPUT"},
		{"a cursor", graphql.Request{Query: good, After: "x"}, "BAD_USER_INPUT"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, n := newTestHandler(t, watched(t, nil)), 0
			for res, err := range h.Subscribe(t.Context(), tt.req) {
				var e *graphql.Error
				if n++; res != nil || !errors.As(err, &e) || e.Code() != tt.want {
					t.Errorf("%v, %v, want %s", res, err, tt.want)
				}
			}
			if n != 1 {
				t.Errorf("%d elements", n)
			}
		})
	}
}

// TestExecuteSubscribeLimit: the catalog counts the sequences that are in use.
func TestExecuteSubscribeLimit(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, watched(t, nil), func(s *setup) {
		s.catalog.Principal = func(context.Context) string { return "ada" }
		s.catalog.Limits.Streams = 1
	})
	req := graphql.Request{Query: `subscription{orderChanged{id}}`}
	for range 2 { // the first sequence has ended in the second round
		messages := h.Subscribe(t.Context(), req)
		if err := h.Execute(t.Context(), graphql.Request{Query: paying}).Err(); err != nil {
			t.Fatal(err)
		}
		if err := h.Execute(t.Context(), graphql.Request{Query: sending}).Err(); err != nil {
			t.Fatal(err)
		}
		for _, err := range messages {
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range h.Subscribe(t.Context(), req) {
				var e *graphql.Error
				if !errors.As(err, &e) || e.Code() != "RATE_LIMITED" {
					t.Fatalf("a second stream: %v", err)
				}
			}
			break
		}
	}
}

func TestRequestJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		want          graphql.Request
	}{
		{"all members", `{"query":"{a}","operationName":"A","variables":{"x":12345678901234567890},` +
			`"extensions":{"idempotencyKey":"k"},"more":1}`,
			graphql.Request{Query: "{a}", OperationName: "A", IdempotencyKey: "k",
				Variables: map[string]jsontext.Value{"x": jsontext.Value("12345678901234567890")}}},
		{"an id", `{"documentId":"a"}`, graphql.Request{DocumentID: "a"}},
		{"a hash", `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}`,
			graphql.Request{DocumentID: "sha256:ab"}},
		{"nulls", `{"query":"{a}","operationName":null,"variables":null,"extensions":null}`,
			graphql.Request{Query: "{a}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got graphql.Request
			if err := json.Unmarshal([]byte(tt.content), &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			content, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			var again graphql.Request
			if err := json.Unmarshal(content, &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("request after a round trip (-want +got):\n%s", diff)
			}
		})
	}
	for _, content := range []string{`{"query":"{a}","extensions":{"idempotencyKey":""}}`, `[]`, `{}`, `{"query":1}`, `{"query":"{a}","variables":[]}`,
		`{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"ab"}}}`} {
		if err := json.Unmarshal([]byte(content), new(graphql.Request)); err == nil {
			t.Errorf("%s: no error", content)
		}
	}
}
