package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzBatch posts any content as a batch. The response is either a problem caused by the client,
// and nothing was written, or it has the result of each operation.
func FuzzBatch(f *testing.F) {
	f.Fuzz(func(t *testing.T, doc string) {
		h := api(t)
		create(t, h, "/users", `{"id":"ann","name":"Ann","email":"a@example.com","pin":"1234"}`)
		create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
		before := send(t, h, "GET /users").body
		res := send(t, h, "POST /users", batchBody, "", doc)
		if strings.Contains(res.body, "1234") && !strings.Contains(doc, "1234") {
			t.Errorf("a secret is told: %s", res.body)
		}
		if res.status >= 400 {
			checkProblem(t, http.MethodPost, res)
			same(t, "users", before, send(t, h, "GET /users").body)
			return
		}
		want(t, res, http.StatusOK, "Content-Type: application/json")
		if !jsontext.Value(res.body).IsValid() {
			t.Fatalf("%q is not JSON", res.body)
		}
		for _, r := range resultsOf(t, res) {
			if r.ID == "" || r.Status < 200 || r.Status > 204 || r.Status == 201 != (r.Location != "") {
				t.Errorf("result %+v", r)
			}
		}
	})
}
