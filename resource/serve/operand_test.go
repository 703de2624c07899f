package serve_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// visit has members with formats, and refers to another visit.
type visit struct {
	ID    string   `json:"id" format:"uuid"`
	Past  string   `json:"past" format:"uuid"`
	Day   string   `json:"day" format:"date"`
	Email string   `json:"email" format:"email"`
	Hosts []string `json:"hosts" format:"ipv4"`
}

// visits serves two visits, the second of which refers to the first.
func visits(t *testing.T) http.Handler {
	t.Helper()
	eq := []query.Op{query.Eq, query.In, query.Gt, query.StartsWith}
	r := resource.New("visits", memory.New[visit](nil), &resource.Options[visit]{
		Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"id": eq, "past": eq, "day": eq, "email": eq,
			"hosts": {query.Contains}}, Relations: []string{"previous"}, Group: []string{"email"},
			Aggregate: map[string][]query.Func{"day": {query.Min}}},
		Relations: []resource.Relation[visit]{{Name: "previous", Target: "visits", Field: "past"}}})
	api := serve.New(resource.NewCatalog(nil, r), nil)
	for i, id := range []string{"0190a3b4-0000-7000-8000-00000000abcd", "0190a3b4-0000-7000-8000-00000000abce"} {
		past := []string{id, "0190A3B4-0000-7000-8000-00000000ABCD"}[i]
		answer(t, api, "PUT", "/visits/"+id, `{"id":"`+strings.ToUpper(id)+`","past":"`+past+
			`","day":"2024-02-29","email":"a@b.c","hosts":["1.2.3.4"]}`, 201, id)
	}
	return api
}

// answer sends a request and checks the status and a part of the body.
func answer(t *testing.T, h http.Handler, method, target, body string, status int, part string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != status || !strings.Contains(w.Body.String(), part) {
		t.Errorf("%s %s: %d %s, want %d with %s", method, target, w.Code, w.Body, status, part)
	}
}

// TestRule021Operands: an operand has the format of its field, over both protocols and on all ways to a filter.
func TestRule021Operands(t *testing.T) {
	t.Parallel()
	api := visits(t)
	const upper, later = "0190A3B4-0000-7000-8000-00000000ABCD", "0190a3b4-0000-7000-8000-00000000abce"
	for _, tt := range []struct {
		rest, graphql string
		want          string // of the detail, or of the list if it has no space
	}{
		{"day=2024-02-30", `filter:{day:{eq:"2024-02-30"}}`, "must be a date"},
		{"day.gt=2024", `filter:{day:{gt:"2024"}}`, "must be a date"},
		{"day.startsWith=2024", `filter:{day:{startsWith:"2024"}}`, later},
		{"email.in=a@b.c,x", `filter:{email:{in:["a@b.c","x"]}}`, "must be an email address"},
		{"hosts.contains=1.2", `filter:{hosts:{contains:"1.2"}}`, "must be an IPv4 address"},
		{"id=x", `filter:{id:{eq:"x"}}`, "must be a UUID"},
		{"past=" + upper, `filter:{past:{eq:"` + upper + `"}}`, later},
		{"previous.id=" + upper, `filter:{previous:{id:{eq:"` + upper + `"}}}`, later},
		{"previous.day=x", `filter:{previous:{day:{eq:"x"}}}`, "must be a date"},
		{`filter={"not":{"day":{"eq":"x"}}}`, `filter:{not:{day:{eq:"x"}}}`, "must be a date"},
		{`group=email&min=day&having={"min.day":{"eq":"2024"}}`,
			`groupBy:email,having:{min:{day:{eq:"2024"}}}`, "must be a date"},
	} {
		status, field, selected := 200, "visits", "{nodes{id}}"
		if strings.Contains(tt.want, " ") {
			status = 400
		}
		if strings.HasPrefix(tt.graphql, "groupBy") {
			field, selected = "visitsAggregate", "{nodes{email}}"
		}
		params, err := url.ParseQuery(tt.rest)
		if err != nil {
			t.Fatal(err)
		}
		answer(t, api, "GET", "/visits?"+params.Encode(), "", status, tt.want)
		document := "{" + field + "(" + tt.graphql + ")" + selected + "}"
		answer(t, api, "GET", "/graphql?query="+url.QueryEscape(document), "", 200, tt.want)
	}
	answer(t, api, "PUT", "/visits/0190A3B4-0000-7000-8000-00000000ABCF",
		`{"past":"`+upper+`","day":"2024-02-29","email":"a@b.c","hosts":[]}`, 422, "UUIDs in lower case")
}
