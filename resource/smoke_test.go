package resource_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type snote struct {
	ID   int64   `json:"id" readOnly:"true"`
	Text string  `json:"text" required:"true" maxLength:"50"`
	N    int     `json:"n"`
	Note *string `json:"note"`
}

func TestSmoke(t *testing.T) {
	c := resource.NewCatalog(nil, resource.New("notes", memory.New[snote](nil), &resource.Options[snote]{
		Query: query.Support{Filter: map[string][]query.Op{"n": {query.Eq, query.Gte}}, Sort: []string{"n"}}}))
	do := func(method, path, body string, h ...string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i < len(h); i += 2 {
			r.Header.Set(h[i], h[i+1])
		}
		w := httptest.NewRecorder()
		c.ServeHTTP(w, r)
		fmt.Println(">", method, path, body, h)
		fmt.Println(w.Code, w.Header(), w.Body.String())
	}
	j := "application/json"
	do("POST", "/notes", `{"text":"a","n":1}`, "Content-Type", j)
	do("POST", "/notes", `{"text":"b","n":2}`, "Content-Type", j)
	do("POST", "/notes", `{"n":"2","x":1}`, "Content-Type", j)
	do("GET", "/notes/1", ``)
	do("GET", "/notes/1?fields=id,n", ``)
	do("GET", "/notes?limit=1", ``)
	do("GET", "/notes?limit=1&sort=-n&n.gte=1", ``, "Prefer", "count=exact")
	do("PATCH", "/notes/1", `{"note":"x"}`, "Content-Type", resource.MergePatch)
	do("PATCH", "/notes/1", `[{"op":"test","path":"/n","value":9}]`, "Content-Type", resource.JSONPatch)
	do("PATCH", "/notes/1", `[{"op":"replace","path":"/id","value":9}]`, "Content-Type", resource.JSONPatch)
	do("PUT", "/notes/1", `{"text":"zz"}`, "Content-Type", j)
	do("PUT", "/notes/1", `{"text":"zz"}`, "Content-Type", j, "If-Match", `"x"`)
	do("DELETE", "/notes/1", ``)
	do("DELETE", "/notes/1", ``, "If-Match", `"x"`)
	do("GET", "/notes", ``, "Accept", "application/x-ndjson")
	do("BREW", "/notes", ``)
	do("PUT", "/notes", ``)
	do("OPTIONS", "/notes/2", ``)
	do("POST", "/notes/", ``)
}
