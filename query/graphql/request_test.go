package graphql_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// repeat writes a text for each of the numbers below n.
func repeat(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestRequests: GraphQL over HTTP, section 5.4.1: what makes a request, and what makes none.
func TestRequests(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const good, bad = 200, 400
	tests := []struct {
		name, body string
		status     int
	}{
		{"query", `{"query":"{__typename}"}`, good},
		{"blanks around", " \r\n\t{ \"query\" : \"{__typename}\" } \n", good},
		{"escapes", `{"\u0071uery":"{\u005f_typename}"}`, good},
		{"nulls", `{"query":"{__typename}","operationName":null,"variables":null,"extensions":null,` +
			`"documentId":null}`, good},
		{"empty operationName", `{"query":"{__typename}","operationName":""}`, good},
		{"operationName", `{"query":"query Q {__typename}","operationName":"Q"}`, good},
		{"unused variables", `{"query":"{__typename}","variables":{"a":[{"b":"]"}],"c":"\"}"}}`, good},
		{"other extensions", `{"query":"{__typename}","extensions":{"tracing":{"version":7}}}`, good},
		{"members of the future", `{"query":"{__typename}","onError":"HALT","version":"1.0.0","id":[1,{}]}`,
			good},
		{"nothing", "", bad},
		{"blanks", "  ", bad},
		{"null", "null", bad},
		{"a string", `"{__typename}"`, bad},
		{"an array", `[{"query":"{__typename}"}]`, bad},
		{"no query", `{"variables":{}}`, bad},
		{"null for the query", `{"query":null}`, bad},
		{"a number for the query", `{"query":1}`, bad},
		{"an object for the query", `{"query":{"a":1}}`, bad},
		{"an array for the name", `{"query":"{__typename}","operationName":["A"]}`, bad},
		{"a string for variables", `{"query":"{__typename}","variables":"{}"}`, bad},
		{"an array for variables", `{"query":"{__typename}","variables":[]}`, bad},
		{"a number for extensions", `{"query":"{__typename}","extensions":0}`, bad},
		{"a string for persistedQuery", `{"query":"{__typename}","extensions":{"persistedQuery":""}}`, bad},
		{"a number for the hash",
			`{"query":"{__typename}","extensions":{"persistedQuery":{"version":1,"sha256Hash":1}}}`, bad},
		{"query and documentId", `{"query":"{__typename}","documentId":"a"}`, bad},
		{"a query twice", `{"query":"{__typename}","query":"{__typename}"}`, bad},
		{"a variable twice", `{"query":"{__typename}","variables":{"a":1,"a":2}}`, bad},
		{"a comma too many", `{"query":"{__typename}",}`, bad},
		{"cut off", `{"query":"{__typename}"`, bad},
		{"cut off in variables", `{"query":"{__typename}","variables":{"a":`, bad},
		{"trailing value", `{"query":"{__typename}"}{}`, bad},
		{"trailing garbage", `{"query":"{__typename}"}]`, bad},
		{"no UTF-8", "{\"query\":\"{__typename} #\xff\"}", bad},
		{"half a pair of surrogates", `{"query":"{__typename} #\ud800"}`, bad},
		{"a byte order mark", "\ufeff" + `{"query":"{__typename}"}`, bad},
		{"variables 60 deep", `{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 60) +
			strings.Repeat("]", 60) + `}}`, good},
		{"variables 61 deep", `{"query":"{__typename}","variables":{"a":` + strings.Repeat("[", 61) +
			strings.Repeat("]", 61) + `}}`, bad},
		{"extensions 100,000 deep", `{"query":"{__typename}","extensions":{"a":` +
			strings.Repeat("[", 100_000), bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "POST /graphql", jsonBody, acceptOld, "", tt.body)
			if tt.status == good {
				wantBody(t, res, good, typenameIs)
				return
			}
			wantCode(t, res, tt.status, "BAD_USER_INPUT", typeOld)
		})
	}
}

// TestContent: RFC 9110, sections 8.3, 8.4 and 15.5.16, and GraphQL over HTTP, section 5.4: the content of a POST.
func TestContent(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Limits.Body = 1000 })
	var zipped, bomb bytes.Buffer
	zip(&zipped, typenameBody)
	zip(&bomb, `{"query":"{__typename}`+strings.Repeat(" ", 100_000)+`"}`)
	const good, large, unsupported = 200, 413, 415
	tests := []struct {
		name   string
		fields []string
		body   string
		status int
	}{
		{"JSON", []string{"Content-Type: application/json"}, typenameBody, good},
		{"in UTF-8", []string{"Content-Type: application/json; charset=utf-8"}, typenameBody, good},
		{"in UTF-8, otherwise", []string{`Content-Type: Application/JSON;charset="UTF-8"`}, typenameBody,
			good},
		{"no type", nil, typenameBody, unsupported},
		{"no type and no content", nil, "", unsupported},
		{"text", []string{"Content-Type: text/plain"}, typenameBody, unsupported},
		{"a form", []string{"Content-Type: application/x-www-form-urlencoded"}, "query={__typename}",
			unsupported},
		{"files", []string{"Content-Type: multipart/form-data; boundary=x"}, "--x--", unsupported},
		{"GraphQL", []string{"Content-Type: application/graphql"}, "{__typename}", unsupported},
		{"Latin 1", []string{"Content-Type: application/json; charset=iso-8859-1"}, typenameBody,
			unsupported},
		{"two types", []string{"Content-Type: application/json", "Content-Type: text/plain"}, typenameBody,
			unsupported},
		{"no type at all", []string{"Content-Type: json"}, typenameBody, unsupported},
		{"identity", []string{jsonBody, "Content-Encoding: identity"}, typenameBody, good},
		{"gzip", []string{jsonBody, "Content-Encoding: gzip"}, zipped.String(), good},
		{"gzip that is none", []string{jsonBody, "Content-Encoding: gzip"}, typenameBody, 400},
		{"gzip that is cut off", []string{jsonBody, "Content-Encoding: gzip"}, zipped.String()[:30], 400},
		{"gzip of too much", []string{jsonBody, "Content-Encoding: gzip"}, bomb.String(), large},
		{"brotli", []string{jsonBody, "Content-Encoding: br"}, typenameBody, unsupported},
		{"gzip twice", []string{jsonBody, "Content-Encoding: gzip, gzip"}, typenameBody, unsupported},
		{"too large", []string{jsonBody}, strings.Repeat(" ", 1001-len(typenameBody)) + typenameBody, large},
		{"as large as it may be", []string{jsonBody}, strings.Repeat(" ", 1000-len(typenameBody)) +
			typenameBody, good},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, chunked := range []bool{false, true} {
				r := request(t, "POST /graphql", append(tt.fields, "", tt.body)...)
				if chunked {
					r.ContentLength = -1
				}
				res := answered(h, r)
				switch tt.status {
				case good:
					wantBody(t, res, good, typenameIs)
				case large:
					wantCode(t, res, large, "BAD_USER_INPUT", "Connection: close")
				case unsupported:
					wantCode(t, res, unsupported, "BAD_USER_INPUT")
				default:
					wantCode(t, res, tt.status, "BAD_USER_INPUT")
				}
			}
		})
	}
	res := send(t, h, "POST /graphql", "Content-Type: text/plain", "", typenameBody)
	want(t, res, unsupported, "Accept: application/json", "Accept-Post: application/json")
	res = send(t, h, "POST /graphql", jsonBody, "Content-Encoding: br", "", typenameBody)
	want(t, res, unsupported, "Accept-Encoding: gzip, identity")
}

func zip(to *bytes.Buffer, text string) {
	w := gzip.NewWriter(to)
	w.Write([]byte(text))
	w.Close()
}

// TestGet: GraphQL over HTTP, section 5.3, and RFC 9110, section 9.3.1.
func TestGet(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const good, bad = 200, 400
	q := url.QueryEscape
	tests := []struct {
		name, query string
		status      int
	}{
		{"query", "query=" + q("{__typename}"), good},
		{"with everything", "query=" + q("query Q {__typename}") + "&operationName=Q&variables=" +
			q(`{"a":1}`) + "&extensions=" + q(`{"b":2}`), good},
		{"an empty name", "query=" + q("{__typename}") + "&operationName=", good},
		{"null for variables", "query=" + q("{__typename}") + "&variables=null", good},
		{"another parameter", "query=" + q("{__typename}") + "&utm_source=x", good},
		{"nothing", "", bad},
		{"no query", "operationName=Q", bad},
		{"a query twice", "query=" + q("{__typename}") + "&query=" + q("{__typename}"), bad},
		{"variables twice", "query=" + q("{__typename}") + "&variables={}&variables={}", bad},
		{"no JSON for variables", "query=" + q("{__typename}") + "&variables=a", bad},
		{"nothing for variables", "query=" + q("{__typename}") + "&variables=", bad},
		{"an array for variables", "query=" + q("{__typename}") + "&variables=[]", bad},
		{"trailing value after variables", "query=" + q("{__typename}") + "&variables=" + q("{} {}"), bad},
		{"a number for extensions", "query=" + q("{__typename}") + "&extensions=1", bad},
		{"bad escapes", "query=%zz", bad},
		{"a semicolon", "query=" + q("{__typename}") + ";a=1", bad},
		{"a query and documentId", "query=" + q("{__typename}") + "&documentId=a", bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "GET /graphql?"+tt.query, acceptOld)
			head := send(t, h, "HEAD /graphql?"+tt.query, acceptOld)
			if tt.status == good {
				wantBody(t, res, good, typenameIs, "Etag: *", "Cache-Control: private, no-cache")
				wantBody(t, head, good, "", "Content-Length: 31", "Etag: "+res.header.Get("Etag"))
				return
			}
			wantCode(t, res, bad, "BAD_USER_INPUT")
			wantCode(t, head, bad, "")
		})
	}
	long := send(t, h, "GET /graphql?query="+q("{__typename "+strings.Repeat(" ", 8192)+"}"))
	wantCode(t, long, http.StatusRequestURITooLong, "BAD_USER_INPUT")
}

// TestMethods: RFC 9110, section 9.1, and GraphQL over HTTP, section 5.3.
func TestMethods(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const all = "Allow: GET, HEAD, POST, OPTIONS"
	mutation := "/graphql?query=" + url.QueryEscape(`mutation {__typename}`)
	wantCode(t, send(t, h, "GET "+mutation, acceptNew), 405, "BAD_USER_INPUT", "Allow: POST, OPTIONS",
		typeNew)
	wantCode(t, send(t, h, "GET "+mutation, acceptOld), 405, "BAD_USER_INPUT", "Allow: POST, OPTIONS",
		typeOld)
	wantCode(t, send(t, h, "HEAD "+mutation), 405, "", "Allow: POST, OPTIONS")
	wantBody(t, send(t, h, "OPTIONS /graphql"), 204, "", all, "Accept-Post: application/json",
		"Cache-Control: no-store",
		"Content-Type:")
	for _, method := range []string{"PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "QUERY"} {
		wantCode(t, send(t, h, method+" /graphql"), 405, "BAD_USER_INPUT", all)
	}
	for _, method := range []string{"BREW", "get", "Post", "M-SEARCH"} {
		wantCode(t, send(t, h, method+" /graphql"), 501, "INTERNAL_SERVER_ERROR", "Allow:")
	}
	// Only GET opens a WebSocket (RFC 6455 section 4.1); an Upgrade that means nothing is passed over (RFC 9110 section 7.8).
	wantCode(t, send(t, h, "PUT /graphql", "Connection: Upgrade", "Upgrade: websocket"), 405,
		"BAD_USER_INPUT", all)
}

// TestBatch: batches are rejected unless Options.Batch allows them.
func TestBatch(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Batch = 3 })
	one := typenameBody
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"one", "[" + one + "]", 200, "[" + typenameIs + "]"},
		{"three", "[" + one + "," + one + "," + one + "]", 200, "[" + typenameIs + "," + typenameIs + "," +
			typenameIs + "]"},
		{"not in an array", one, 200, typenameIs},
		{"four", "[" + one + "," + one + "," + one + "," + one + "]", 400, ""},
		{"none", "[]", 400, ""},
		{"one that is none", "[" + one + ",{}]", 400, ""},
		{"a number", "[1]", 400, ""},
		{"cut off", "[" + one, 400, ""},
		{"trailing value", "[" + one + "],", 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", tt.body)
			if tt.status != 200 {
				wantCode(t, res, tt.status, "BAD_USER_INPUT")
				return
			}
			wantBody(t, res, 200, tt.want, typeNew)
		})
	}
	res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", `[{"query":"{"},`+one+`]`)
	want(t, res, 200)
	if !strings.HasPrefix(res.body, `[{"errors":[`) || !strings.HasSuffix(res.body, ","+typenameIs+"]") {
		t.Errorf("one of two has failed, and the answer is %s", res.body)
	}
}
