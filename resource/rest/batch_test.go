package rest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// operations encodes a batch.
func operations(list ...string) string { return `{"operations":[` + strings.Join(list, ",") + `]}` }

// result is the result of an operation.
type result struct {
	Status   int            `json:"status"`
	ID       string         `json:"id"`
	Location string         `json:"location"`
	ETag     string         `json:"etag"`
	Value    jsontext.Value `json:"value"`
}

func resultsOf(t testing.TB, res *response) []result {
	t.Helper()
	return value[struct {
		Results []result `json:"results"`
	}](t, res).Results
}

// refusal is the problem of a rejected batch.
type refusal struct {
	Operation *int   `json:"operation"`
	ETag      string `json:"etag"`
	Existing  string `json:"existing"`
}

func TestBatchDoesAll(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", `{"id":"ann","name":"Ann","pin":"1234"}`)
	create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	res := send(t, h, "POST /users", batchBody, "", operations(
		`{"op":"create","value":{"id":"c/1","name":"Cid"}}`,
		`{"op":"replace","id":"ann","ifMatch":`+strconv.Quote(tag)+`,"value":{"name":"Anna"}}`,
		`{"op":"patch","id":"c/1","patch":{"name":"Cyd"}}`, // reads the item created before
		`{"op":"patch","id":"c/1","patch":[{"op":"test","path":"/name","value":"Cyd"},{"op":"add","path":"/email","value":"c@example.com"}]}`,
		`{"op":"replace","id":"dot","value":{"name":"Dot"}}`,
		`{"op":"patch","id":"ann","patch":{}}`,
		`{"op":"delete","id":"bob"}`))
	want(t, res, http.StatusOK, "Content-Type: application/json", "Cache-Control: no-store", "Etag:", "Location:",
		"Vary: Accept, Accept-Encoding", "X-Content-Type-Options:", "Content-Length: *")
	got := resultsOf(t, res)
	for i, r := range got {
		if status := []int{201, 200, 200, 200, 201, 200, 204}[i]; r.Status != status {
			t.Errorf("operation %d: status %d, want %d", i, r.Status, status)
		}
	}
	same(t, "id", "c/1", got[0].ID)
	same(t, "location", []string{"/users/c%2F1", "", "", "", "/users/dot", "", ""}, locations(got))
	same(t, "value", `{"id":"c/1","name":"Cyd","email":"c@example.com"}`, string(got[3].Value))
	same(t, "deleted", result{Status: 204, ID: "bob"}, got[6])
	for i, path := range map[int]string{3: "/users/c%2F1", 5: "/users/ann", 4: "/users/dot"} {
		item := send(t, h, "GET "+path)
		want(t, item, http.StatusOK, "ETag: "+got[i].ETag)
		same(t, path, string(got[i].Value), item.body)
	}
	want(t, send(t, h, "GET /users/bob"), http.StatusGone)
	if got[0].ETag == got[2].ETag || got[0].ETag == "" {
		t.Errorf("two writes of one item have the tags %s and %s", got[0].ETag, got[2].ETag)
	}
}

func locations(results []result) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Location)
	}
	return out
}

func TestBatchNegotiation(t *testing.T) {
	t.Parallel()
	doc := operations(`{"op":"create","value":{"customerId":"u"}}`)
	tests := []struct {
		name   string
		line   string
		fields []string
		status int
		want   []string
	}{
		{"minimal", "POST /orders", []string{batchBody, "Prefer: return=minimal"}, 200, []string{"Preference-Applied: return=minimal"}},
		{"representation", "POST /orders", []string{batchBody, "Prefer: return=representation"}, 200,
			[]string{"Preference-Applied: return=representation"}},
		{"a parameter of the type", "POST /orders", []string{batchBody + "; charset=utf-8"}, 200, nil},
		{"in capitals", "POST /orders", []string{"Content-Type: Application/Vnd.Stoa.Batch+JSON"}, 200, nil},
		{"If-Match means nothing", "POST /orders", []string{batchBody, `If-Match: "x"`}, 200, nil},
		{"gzip", "POST /orders", []string{batchBody, "Accept-Encoding: gzip, identity;q=0"}, 200, []string{"Content-Encoding: gzip"}},
		{"another Accept", "POST /orders", []string{batchBody, "Accept: text/html"}, 406, nil},
		{"another coding", "POST /orders", []string{batchBody, "Accept-Encoding: br, identity;q=0"}, 406, nil},
		{"another charset", "POST /orders", []string{batchBody + "; charset=latin1"}, 415, []string{"Accept-Post: " + postTypes}},
		{"another coding of the content", "POST /orders", []string{batchBody, "Content-Encoding: br"}, 415,
			[]string{"Accept-Encoding: gzip, identity"}},
		{"two types", "POST /orders", []string{batchBody, batchBody}, 415, nil},
		{"PUT", "PUT /orders/1", []string{batchBody}, 415, []string{"Accept-Post:"}},
		{"a command's path", "POST /orders/1", []string{batchBody}, 405, nil},
		{"fields", "POST /orders?fields=id", []string{batchBody}, 400, nil},
		{"a parameter", "POST /orders?x=1", []string{batchBody}, 400, nil},
		{"a parameter, leniently", "POST /orders?x=1", []string{batchBody, "Prefer: handling=lenient"}, 200, nil},
		{"where nothing is created", "POST /places", []string{batchBody}, 405, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t)
			res := send(t, h, tt.line, append(tt.fields, "", doc)...)
			want(t, res, tt.status, tt.want...)
			made := send(t, h, "GET /orders/1").status == http.StatusOK
			same(t, "there is an order", tt.status == http.StatusOK, made)
			if tt.name == "minimal" && (strings.Contains(res.body, "value") || !strings.Contains(res.body, `"location":"/orders/1","etag":`)) {
				t.Errorf("body %s", res.body)
			}
		})
	}
}

// Without transactions there are no batches, and no response advertises them.
func TestBatchNeedsTransactions(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.orderOps.Transactions = nil })
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"create","value":{"customerId":"u"}}`))
	wantProblem(t, res, problem.UnsupportedMediaType, "Accept-Post: application/json", "Accept: application/json")
	want(t, send(t, h, "OPTIONS /orders"), http.StatusNoContent, "Accept-Post: application/json")
}

// With handling=lenient members that the schema does not define are ignored, in values and around
// them.
func TestBatchLeniently(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "POST /orders", batchBody, "Prefer: handling=lenient", "",
		`{"operations":[{"op":"create","comment":"x","value":{"customerId":"u","x":1}}],"x":2}`)
	want(t, res, http.StatusOK, "Preference-Applied: handling=lenient")
}

// A batch is in the contract that the request names.
func TestBatchInContracts(t *testing.T) {
	t.Parallel()
	doc := operations(`{"op":"create","value":{"itemId":7,"qty":1}}`, `{"op":"patch","id":"1","patch":{"qty":5}}`)
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			h := versioned(t)
			fields := w.fields
			if w.name == "media type" { // the media type of a batch, not of an order
				w.fields = []string{"Accept: application/vnd.shop.1.0.batch+json"}
			}
			res := w.send(t, h, "POST /orders", batchBody, "", doc)
			want(t, res, http.StatusOK)
			got := resultsOf(t, res)
			w.fields = fields
			for _, r := range got {
				item := w.send(t, h, "GET /orders/"+r.ID)
				same(t, "value", string(r.Value), item.body)
			}
			plain := send(t, h, "GET /v1.0/orders/1")
			want(t, plain, http.StatusOK, "ETag: "+got[1].ETag)
			target := got[0].Location
			if strings.HasPrefix(w.before, "http:") {
				target = "http://api-v1-0.example.com" + target
			}
			same(t, target, string(got[0].Value), send(t, h, "GET "+target, fields...).body)
		})
	}
	h := versioned(t)
	res := send(t, h, "POST /orders", batchBody, "", `{"version":"1.0",`+doc[1:])
	want(t, res, http.StatusOK, "Content-Type: application/json", "API-Version: 1.0.0")
	if !strings.HasSuffix(res.body, `],"version":"1.0"}`) {
		t.Errorf("the member is not repeated: %s", res.body)
	}
	res = send(t, h, "POST /orders", "Content-Type: application/vnd.shop.1.0.batch+json", "", doc)
	want(t, res, http.StatusOK, "Content-Type: application/vnd.shop.1.0.0.batch+json")
	bad := send(t, h, "POST /v1.0/orders", batchBody, "", operations(`{"op":"create","value":{"lines":[]}}`,
		`{"op":"create","value":{"itemId":0,"qty":1}}`))
	wantErrors(t, wantProblem(t, bad, problem.Invalid), "/operations/0/value/itemId required",
		"/operations/0/value/qty required", "/operations/0/value/lines unknown", "/operations/1/value/itemId minimum")
	want(t, send(t, h, "POST /v1.0/orders", batchBody, "Accept: application/vnd.shop.1.0.order+json", "", doc), http.StatusNotAcceptable)
}

func TestBatchLimits(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits = resource.Limits{Operations: 2, Body: 400} })
	one := `{"op":"create","value":{"customerId":"u"}}`
	want(t, send(t, h, "POST /orders", batchBody, "", operations(one, one)), http.StatusOK)
	d := wantProblem(t, send(t, h, "POST /orders", batchBody, "", operations(one, one, one)), problem.TooLarge)
	wantErrors(t, d, "/operations maxItems")
	d = wantProblem(t, send(t, h, "POST /orders", batchBody, "", operations(one)+strings.Repeat(" ", 400)), problem.TooLarge)
	same(t, "limit", int64(400), d.Limit)
	res := send(t, h, "POST /orders", batchBody, "", operations(`{"op":"patch","id":"1","patch":[`+
		strings.Repeat(`{"op":"remove","path":"/note"},`, 2)+`{"op":"remove","path":"/note"}]}`))
	wantErrors(t, wantProblem(t, res, problem.Invalid), "/operations/0/patch operations")
	same(t, "orders", 2, strings.Count(send(t, h, "GET /orders", asLines).body, "\n"))
}

// TestBatchRefusal: the problem of a refused batch has the operation, and the tag or the URL of the item.
func TestBatchRefusal(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", `{"id":"ann","name":"Ann"}`)
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	for _, tt := range []struct {
		op       string
		kind     problem.Kind
		etag     string
		existing string
	}{
		{`{"op":"delete","id":"ann","ifMatch":"\"x\""}`, problem.PreconditionFailed, tag, ""},
		{`{"op":"create","value":{"id":"ann","name":"A"}}`, problem.Exists, "", "/users/ann"},
	} {
		res := send(t, h, "POST /users", batchBody, "", operations(`{"op":"create","value":{"id":"new","name":"New"}}`, tt.op))
		wantProblem(t, res, tt.kind, "Etag:", "Location:")
		one := 1
		same(t, tt.op, refusal{&one, tt.etag, tt.existing}, value[refusal](t, res))
	}
}
