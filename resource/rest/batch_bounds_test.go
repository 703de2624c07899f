package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// A short batch can change a large item many times. The total size of the items in the response is
// limited.
func TestRule064BatchAnswer(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { s.catalog.Limits = resource.Limits{Body: 2000} })
	create(t, h, "/orders", `{"customerId":"u","note":"`+strings.Repeat("a", 900)+`"}`)
	var list []string
	for i := range 30 {
		list = append(list, fmt.Sprintf(`{"op":"patch","id":"1","patch":{"cents":%d}}`, i+1))
	}
	res := send(t, h, "POST /orders", batchBody, "", operations(list...))
	want(t, res, http.StatusOK)
	got := resultsOf(t, res)
	same(t, "results", 30, len(got))
	shown := slices.IndexFunc(got, func(r result) bool { return r.Value == nil })
	if size := len(got[0].Value); shown < 1 || shown*size > 8*2000 || (shown+1)*size <= 8*2000 {
		t.Fatalf("%d items of %d bytes are shown", shown, size)
	}
	for i, r := range got {
		if (r.Value != nil) != (i < shown) || (r.Status == http.StatusOK) != (i < shown) || r.ID != "1" || r.ETag == "" {
			t.Errorf("result %d: status %d, id %s, tag %s, value of %d bytes", i, r.Status, r.ID, r.ETag, len(r.Value))
		}
	}
	last := send(t, h, "GET /orders/1")
	want(t, last, http.StatusOK, "ETag: "+got[29].ETag)
	same(t, "cents", int64(30), value[order](t, last).Cents)
}

// An id that is not valid in a path does not reach the store through a batch either.
func TestRule009BatchIDs(t *testing.T) {
	t.Parallel()
	h := api(t)
	res := send(t, h, "POST /users", batchBody, "", operations(`{"op":"delete","id":"a\u0000"}`,
		`{"op":"patch","id":"\u0085","patch":{}}`, `{"op":"replace","id":"a\nb","value":{"name":"A"}}`))
	wantErrors(t, wantProblem(t, res, problem.Invalid), "/operations/0/id format", "/operations/1/id format",
		"/operations/2/id format")
}
