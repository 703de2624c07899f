package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// orderItem has a composite id of a text and a number.
type orderItem struct {
	ID      string `json:"id" readOnly:"true" id:"orderId,lineNo"`
	OrderID string `json:"orderId"`
	LineNo  int16  `json:"lineNo" minimum:"1"`
	Product string `json:"product"`
	Qty     int    `json:"qty" default:"1"`
}

// parcel refers to an order item by two fields.
type parcel struct {
	ID      string `json:"id"`
	OrderID string `json:"orderId"`
	LineNo  int16  `json:"lineNo"`
}

func itemSupport() query.Support {
	return query.Support{
		Filter: map[string][]query.Op{
			"id":      {query.Eq, query.Ne, query.In, query.NotIn},
			"orderId": {query.Eq}, "qty": {query.Eq, query.Gt},
		},
		Sort: []string{"id", "orderId", "lineNo", "qty"},
	}
}

func itemStore() *memory.Store[orderItem] { return memory.New[orderItem](nil) }

// itemAPI serves order items of a store, and parcels.
func itemAPI(t *testing.T, opts *resource.Options[orderItem], items ...orderItem) *rest.Handler {
	t.Helper()
	store := itemStore()
	for _, v := range items {
		if _, err := store.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	if opts == nil {
		opts = &resource.Options[orderItem]{}
	}
	opts.Query = itemSupport()
	parcels := memory.New[parcel](nil)
	for _, v := range []parcel{{"p1", "7", 2}, {"p2", "7", 9}, {"p3", "", 0}} {
		if _, err := parcels.Insert(t.Context(), v.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	return catalog(t, resource.New("order-items", store, opts),
		resource.New("parcels", parcels, &resource.Options[parcel]{
			Relations: []resource.Relation[parcel]{
				{Name: "item", Target: "order-items", Field: "orderId,lineNo"},
			},
		}))
}

func TestCompositeCreate(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, nil)
	res := send(t, h, "POST /order-items", jsonBody, "", `{"orderId":"7","lineNo":2,"product":"pen"}`)
	wantBody(t, res, 201, `{"id":"7,2","orderId":"7","lineNo":2,"product":"pen","qty":1}`)
	want(t, res, 201, "Location: /order-items/7,2")

	res = send(t, h, "POST /order-items", jsonBody, "", `{"orderId":"a,b~/c","lineNo":1,"product":"pen"}`)
	want(t, res, 201, "Location: /order-items/a~1b~0%2Fc,1")
	want(t, send(t, h, "GET /order-items/a~1b~0%2Fc,1"), 200)
	want(t, send(t, h, "GET /order-items/7%2C2"), 200)

	for _, id := range []string{"7", "7,2,", "7,02", "7,+2", ",2", "7,", "7,70000", "a~2b,1", "a~,1", "7,2,1"} {
		wantProblem(t, send(t, h, "GET /order-items/"+id), problem.NotFound)
	}
	for _, tt := range []struct {
		doc    string
		errors []string
	}{
		{`{"product":"pen"}`, []string{"/orderId required", "/lineNo required"}},
		{`{"orderId":"","lineNo":1,"product":"pen"}`, []string{"/orderId minLength"}},
		{`{"orderId":"8","lineNo":0,"product":"pen"}`, []string{"/lineNo minimum"}},
		{`{"id":"7,3","orderId":"8","lineNo":1,"product":"pen"}`, []string{"/id mismatch"}},
		{`{"id":7,"orderId":"8","lineNo":"1","product":"pen"}`, []string{"/id type", "/lineNo type"}},
	} {
		d := wantProblem(t, send(t, h, "POST /order-items", jsonBody, "", tt.doc), problem.Invalid)
		wantErrors(t, d, tt.errors...)
	}
	wantProblem(t, send(t, h, "POST /order-items", jsonBody, "", `{"orderId":"7","lineNo":2}`), problem.Exists)
	want(t, send(t, h, "POST /order-items", jsonBody, "", `{"id":"8,1","orderId":"8","lineNo":1}`), 201)
}

func TestCompositeWrites(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, nil)
	res := send(t, h, "PUT /order-items/7,2", jsonBody, "", `{"product":"pen"}`)
	wantBody(t, res, 201, `{"id":"7,2","orderId":"7","lineNo":2,"product":"pen","qty":1}`)
	for _, tt := range []struct {
		line, doc string
		errors    []string // nil if it succeeds
	}{
		{"PUT /order-items/7,3", `{"orderId":"8","product":"pen"}`, []string{"/orderId mismatch"}},
		{"PUT /order-items/7,3", `{"id":"7,4","product":"pen"}`, []string{"/id mismatch"}},
		{"PUT /order-items/7,0", `{"product":"pen"}`, []string{"/lineNo minimum"}},
		{"PUT /order-items/7,2", `{"product":"ink"}`, nil},
		{"PUT /order-items/7,2", `{"id":"7,2","orderId":"7","lineNo":2,"product":"ink","qty":2}`, nil},
		{"PUT /order-items/7,2", `{"lineNo":3,"product":"ink"}`, []string{"/lineNo immutable"}},
		{"PUT /order-items/7,2", `{"id":"7,3","product":"ink"}`, []string{"/id readOnly"}},
		{"PATCH /order-items/7,2", `{"qty":3}`, nil},
		{"PATCH /order-items/7,2", `{"lineNo":2,"qty":3}`, nil},
		{"PATCH /order-items/7,2", `{"orderId":"8","lineNo":3}`, []string{"/orderId immutable", "/lineNo immutable"}},
		{"PATCH /order-items/7,2", `{"orderId":null}`, []string{"/orderId immutable"}},
	} {
		body := jsonBody
		if strings.HasPrefix(tt.line, "PATCH") {
			body = mergeBody
		}
		res := send(t, h, tt.line, body, "", tt.doc)
		if tt.errors == nil {
			want(t, res, 200)
			continue
		}
		wantErrors(t, wantProblem(t, res, problem.Invalid), tt.errors...)
		if len(tt.errors) == 1 && strings.HasSuffix(tt.errors[0], "/lineNo immutable") &&
			!strings.Contains(res.body, `"lineNo is part of the id and must not be changed"`) {
			t.Errorf("%s: %s", res.line, res.body)
		}
	}
	wantBody(t, send(t, h, "GET /order-items/7,2"), 200,
		`{"id":"7,2","orderId":"7","lineNo":2,"product":"ink","qty":3}`)
	wantProblem(t, send(t, h, "PUT /order-items/7", jsonBody, "", `{"product":"pen"}`), problem.NotFound)
	want(t, send(t, h, "DELETE /order-items/7,2"), 204)
	wantProblem(t, send(t, h, "GET /order-items/7,2"), problem.Gone)
}

func someItems() []orderItem {
	return []orderItem{
		{OrderID: "10", LineNo: 1, Qty: 1}, {OrderID: "2", LineNo: 10, Qty: 2}, {OrderID: "2", LineNo: 9, Qty: 1},
		{OrderID: "2", LineNo: 1, Qty: 2}, {OrderID: "a,b", LineNo: 1, Qty: 3},
	}
}

func TestCompositeLists(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, nil, someItems()...)
	for _, tt := range []struct{ query, want string }{
		{"", "10,1 2,1 2,9 2,10 a~1b,1"},
		{"sort=id", "10,1 2,1 2,9 2,10 a~1b,1"},
		{"sort=-id", "a~1b,1 2,10 2,9 2,1 10,1"},
		{"sort=lineNo", "10,1 2,1 a~1b,1 2,9 2,10"},
		{"sort=-lineNo,-id", "2,10 2,9 a~1b,1 2,1 10,1"},
		{"sort=qty", "10,1 2,9 2,1 2,10 a~1b,1"},
		{"sort=orderId,qty,lineNo", "10,1 2,9 2,1 2,10 a~1b,1"},
		{"id=2,9", "2,9"},
		{"id.ne=2,9", "10,1 2,1 2,10 a~1b,1"},
		{`id.in=2\,9,a~1b\,1`, "2,9 a~1b,1"},
		{`id.notIn=2\,9,a~1b\,1`, "10,1 2,1 2,10"},
		{"orderId=2&qty=2", "2,1 2,10"},
	} {
		for _, limit := range []string{"", "limit=1", "limit=2"} {
			target := "/order-items?" + strings.Trim(tt.query+"&"+limit, "&")
			var got []string
			for _, page := range walk[orderItem](t, h, target, "next") {
				for _, v := range page {
					got = append(got, v.ID)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", target, diff)
			}
		}
	}
	for _, query := range []string{"id.gt=2,9", "id=2", "id=2,09"} {
		wantProblem(t, send(t, h, "GET /order-items?"+query), problem.InvalidParameter)
	}
}

func TestCompositeRelation(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, nil, orderItem{OrderID: "7", LineNo: 2, Product: "pen"})
	wantBody(t, send(t, h, "GET /parcels?expand=item"), http.StatusOK,
		`{"items":[{"id":"p1","orderId":"7","lineNo":2,`+
			`"item":{"id":"7,2","orderId":"7","lineNo":2,"product":"pen","qty":0}},`+
			`{"id":"p2","orderId":"7","lineNo":9,"item":null},{"id":"p3","orderId":"","lineNo":0,"item":null}]}`)
}
