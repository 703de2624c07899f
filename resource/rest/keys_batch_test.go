package rest_test

import (
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestCompositeBatch(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, nil, someItems()...)
	res := send(t, h, "POST /order-items", batchBody, "", operations(
		`{"op":"create","value":{"orderId":"a,c","lineNo":3,"product":"pen"}}`,
		`{"op":"replace","id":"2,9","value":{"product":"ink"}}`,
		`{"op":"patch","id":"2,10","patch":{"qty":7}}`,
		`{"op":"patch","id":"a~1c,3","patch":{"qty":8}}`,
		`{"op":"delete","id":"a~1b,1"}`))
	want(t, res, 200)
	for i, part := range []string{`"/order-items/a~1c,3"`, `"id":"2,9","orderId":"2","lineNo":9,"product":"ink"`, `"qty":7`, `"qty":8`} {
		if !strings.Contains(res.body, part) {
			t.Errorf("operation %d: there is no %s in %s", i, part, res.body)
		}
	}
	wantProblem(t, send(t, h, "GET /order-items/a~1b,1"), problem.Gone)
	for _, op := range []string{
		`{"op":"patch","id":"2,10","patch":{"lineNo":7}}`,
		`{"op":"replace","id":"2,10","value":{"orderId":"3","product":"ink"}}`,
		`{"op":"delete","id":"2,010"}`,
	} {
		if res := send(t, h, "POST /order-items", batchBody, "", operations(op)); res.status < 400 {
			t.Errorf("%s: status %d: %s", op, res.status, res.body)
		}
	}
	want(t, send(t, h, "GET /order-items/2,10"), 200)
}

func TestCompositeConditions(t *testing.T) {
	t.Parallel()
	h := itemAPI(t, &resource.Options[orderItem]{RequireIfMatch: true}, someItems()...)
	tag := send(t, h, "GET /order-items/2,9").header.Get("ETag")
	want(t, send(t, h, "GET /order-items/2,9", "If-None-Match: "+tag), 304)
	wantProblem(t, send(t, h, "PATCH /order-items/2,9", mergeBody, `If-Match: "x"`, "", `{"qty":3}`),
		problem.PreconditionFailed)
	want(t, send(t, h, "PATCH /order-items/2,9", mergeBody, "If-Match: "+tag, "", `{"qty":3}`), 200)
	wantProblem(t, send(t, h, "DELETE /order-items/2,9", "If-Match: "+tag), problem.PreconditionFailed)
	wantProblem(t, send(t, h, "PUT /order-items/2,9", jsonBody, "If-None-Match: *", "", `{"product":"x"}`),
		problem.PreconditionFailed)
	want(t, send(t, h, "PUT /order-items/2,8", jsonBody, "If-None-Match: *", "", `{"product":"x"}`), 201)
}
