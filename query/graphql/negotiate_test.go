package graphql_test

import (
	"net/http"
	"testing"
)

// TestAccept: GraphQL over HTTP, section 4.2 and RFC 9110, section 12.5.1.
func TestAccept(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const neither = "406"
	tests := []struct {
		name, accept, form string
	}{
		{"absent", "", typeOld},
		{"anything", "Accept: */*", typeOld},
		{"any application", "Accept: application/*", typeOld},
		{"JSON", acceptOld, typeOld},
		{"the newer type", acceptNew, typeNew},
		{"the newer type with its charset", acceptNew + "; charset=utf-8", typeNew},
		{"in capitals", "Accept: Application/GraphQL-Response+JSON", typeNew},
		{"both alike: the newer", "Accept: application/json, application/graphql-response+json", typeNew},
		{"both alike, with charsets",
			"Accept: application/graphql-response+json; charset=utf-8, application/json; charset=utf-8",
			typeNew},
		{"JSON rather", "Accept: application/graphql-response+json;q=0.5, application/json", typeOld},
		{"the newer rather", "Accept: application/json;q=0.9, application/graphql-response+json", typeNew},
		{"anything, but not JSON", "Accept: */*, application/json;q=0", typeNew},
		{"the newer not", "Accept: application/graphql-response+json;q=0, */*", typeOld},
		{"what other clients list",
			"Accept: multipart/mixed, application/graphql-response+json, application/json", typeNew},
		{"a browser, where it cannot have the page", "Accept: text/html, */*;q=0.8", typeOld},
		{"only HTML", "Accept: text/html", neither},
		{"something else", "Accept: application/xml, text/csv", neither},
		{"another charset", "Accept: application/json; charset=iso-8859-1", neither},
		{"neither", "Accept: application/json;q=0, application/graphql-response+json;q=0", neither},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lines := []string{jsonBody, tt.accept, "", typenameBody}
			if tt.accept == "" {
				lines = []string{jsonBody, "", typenameBody}
			}
			res := send(t, h, "POST /graphql", lines...)
			if tt.form == neither {
				wantCode(t, res, http.StatusNotAcceptable, "BAD_USER_INPUT", typeOld,
					"Vary: Accept, Accept-Encoding")
				return
			}
			wantBody(t, res, http.StatusOK, typenameIs, tt.form, "Vary: Accept, Accept-Encoding",
				"Content-Length: 31",
				"X-Content-Type-Options: nosniff", "Cache-Control: no-store")
		})
	}
}

// TestAcceptEncoding: RFC 9110, section 12.5.3. A short response is compressed only if the client
// rejects identity.
func TestAcceptEncoding(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	long := `{"query":"{` + repeat("a%d:__typename ", 90) + `}"}`
	tests := []struct {
		name, accept, body, coding string
		status                     int
	}{
		{"short", "gzip", typenameBody, "", 200},
		{"short, and nothing else is taken", "gzip, identity;q=0", typenameBody, "gzip", 200},
		{"long", "br, gzip", long, "gzip", 200},
		{"long, not wanted", "gzip;q=0", long, "", 200},
		{"long, wanted less", "gzip;q=0.2, identity", long, "", 200},
		{"nothing is taken", "identity;q=0, *;q=0", typenameBody, "", 406},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "POST /graphql", jsonBody, "Accept-Encoding: "+tt.accept, "", tt.body)
			want(t, res, tt.status, "Content-Encoding: "+tt.coding, "Vary: Accept, Accept-Encoding")
		})
	}
}

// TestStatus: GraphQL over HTTP, section 6.4: what does not come to execution is 400 in the newer type and 200 in the older.
func TestStatus(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	tests := []struct {
		name, body, code string
		malformed        bool
	}{
		{"syntax", `{"query":"{"}`, "GRAPHQL_PARSE_FAILED", false},
		{"empty", `{"query":""}`, "GRAPHQL_PARSE_FAILED", false},
		{"unknown field", `{"query":"{nobody}"}`, "GRAPHQL_VALIDATION_FAILED", false},
		{"no operation of that name", `{"query":"query A {__typename}","operationName":"B"}`,
			"OPERATION_RESOLUTION_FAILURE", false},
		{"which operation", `{"query":"query A {__typename} query B {__typename}"}`,
			"OPERATION_RESOLUTION_FAILURE", false},
		{"variable", `{"query":"query($id:ID!){order(id:$id){id}}","variables":{"id":null}}`,
			"BAD_USER_INPUT", false},
		{"subscription", `{"query":"subscription {__typename}"}`, "", false},
		{"unknown hash", `{"documentId":"sha256:00"}`, "PERSISTED_QUERY_NOT_FOUND", false},
		{"no query", `{}`, "BAD_USER_INPUT", true},
		{"no JSON", `{`, "BAD_USER_INPUT", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			old := send(t, h, "POST /graphql", jsonBody, acceptOld, "", tt.body)
			res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", tt.body)
			if tt.code == "" { // the detail depends on the check that fails first
				tt.code = read(t, res).Errors[0].Extensions.Code
			}
			wantCode(t, res, http.StatusBadRequest, tt.code, typeNew)
			status := http.StatusOK
			if tt.malformed {
				status = http.StatusBadRequest
			}
			wantCode(t, old, status, tt.code, typeOld)
		})
	}
}
