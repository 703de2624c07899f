package graphql_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// persistedQuery is the extension that Apollo's clients send.
func persistedQuery(hash string) string {
	return `"extensions":{"persistedQuery":{"version":1,"sha256Hash":"` + hash + `"}}`
}

// TestAutomaticPersistedQueries is the conversation that Apollo's clients have: the hash alone, then with the text, and
// from then on alone again.
func TestAutomaticPersistedQueries(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const text = "{__typename}"
	hash := hashOf(text)
	alone := `{` + persistedQuery(hash) + `}`
	get := "GET /graphql?extensions=" + url.QueryEscape(
		`{"persistedQuery":{"version":1,"sha256Hash":"`+hash+`"}}`)

	res := send(t, h, "POST /graphql", jsonBody, "", alone)
	wantCode(t, res, http.StatusOK, "PERSISTED_QUERY_NOT_FOUND", typeOld)
	// which old clients compare with
	if msg := read(t, res).Errors[0].Message; msg != "PersistedQueryNotFound" {
		t.Errorf("the message is %q", msg)
	}
	wantCode(t, send(t, h, get, acceptNew), http.StatusBadRequest, "PERSISTED_QUERY_NOT_FOUND")
	res = send(t, h, "POST /graphql", jsonBody, acceptNew, "",
		`{"query":"{__typename }",`+persistedQuery(hash)+`}`)
	wantCode(t, res, http.StatusBadRequest, "BAD_USER_INPUT")
	wantBody(t, send(t, h, "POST /graphql", jsonBody, "", `{"query":"`+text+`",`+persistedQuery(hash)+`}`),
		200, typenameIs)
	wantBody(t, send(t, h, "POST /graphql", jsonBody, "", alone), 200, typenameIs)
	wantBody(t, send(t, h, get), 200, typenameIs, "Etag: *")
	wantBody(t, send(t, h, "GET /graphql?documentId=sha256:"+hash), 200, typenameIs)
	wantBody(t, send(t, h, "POST /graphql", jsonBody, "",
		`{"documentId":"sha256:`+strings.ToUpper(hash)+`"}`), 200, typenameIs)
}

// TestPersistedIsRefused has what the protocol does not provide for.
func TestPersistedIsRefused(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	mutation := "mutation {__typename}"
	want(t, send(t, h, "POST /graphql", jsonBody, "",
		`{"query":"`+mutation+`",`+persistedQuery(hashOf(mutation))+`}`), 200)
	wrong := `{nobody}`
	want(t, send(t, h, "POST /graphql", jsonBody, acceptNew, "",
		`{"query":"`+wrong+`",`+persistedQuery(hashOf(wrong))+`}`), 400)
	tests := []struct {
		name, line, body, code string
		status                 int
	}{
		{"another version", "POST /graphql",
			`{"extensions":{"persistedQuery":{"version":2,"sha256Hash":"00"}}}`, "BAD_USER_INPUT", 400},
		{"a short hash", "POST /graphql", `{` + persistedQuery("00") + `}`, "PERSISTED_QUERY_NOT_FOUND", 400},
		{"a hash that is none", "POST /graphql", `{` + persistedQuery(strings.Repeat("x", 64)) + `}`,
			"PERSISTED_QUERY_NOT_FOUND", 400},
		{"no hash", "POST /graphql", `{` + persistedQuery("") + `}`, "BAD_USER_INPUT", 400},
		{"a name", "POST /graphql", `{"documentId":"orders"}`, "PERSISTED_QUERY_NOT_FOUND", 400},
		{"what is not valid is not kept", "POST /graphql", `{` + persistedQuery(hashOf(wrong)) + `}`,
			"PERSISTED_QUERY_NOT_FOUND", 400},
		{"a mutation by GET", "GET /graphql?documentId=sha256:" + hashOf(mutation), "", "BAD_USER_INPUT",
			405},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantCode(t, send(t, h, tt.line, jsonBody, acceptNew, "", tt.body), tt.status, tt.code)
		})
	}
}

// TestPersistedOff: clients learn that hashes are not supported, and succeed when they send the
// text.
func TestPersistedOff(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Persisted = -1 })
	res := send(t, h, "POST /graphql", jsonBody, acceptNew, "",
		`{`+persistedQuery(hashOf("{__typename}"))+`}`)
	wantCode(t, res, 400, "PERSISTED_QUERY_NOT_SUPPORTED")
	res = send(t, h, "POST /graphql", jsonBody, acceptNew, "",
		`{"query":"{__typename}",`+persistedQuery(hashOf("{__typename}"))+`}`)
	wantBody(t, res, 200, typenameIs)
}

// TestPersistedIsBounded: of more than fits, what was asked for last stays.
func TestPersistedIsBounded(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Persisted = 3 * 1000 })
	text := func(i int) string { return fmt.Sprintf("{__typename #%d%s\\n}", i, strings.Repeat("x", 700)) }
	plain := func(i int) string { return strings.ReplaceAll(text(i), `\n`, "\n") }
	keep := func(i int) {
		want(t, send(t, h, "POST /graphql", jsonBody, acceptNew, "",
			`{"query":"`+text(i)+`",`+persistedQuery(hashOf(plain(i)))+`}`), 200)
	}
	known := func(i int) bool {
		return send(t, h, "GET /graphql?documentId=sha256:"+hashOf(plain(i)), acceptNew).status == 200
	}
	for i := range 3 {
		keep(i)
	}
	if !known(0) {
		t.Error("the first of three is not kept")
	}
	keep(0) // again, which takes no more memory
	keep(3)
	var got []bool
	for _, i := range []int{0, 1, 2, 3} {
		got = append(got, known(i))
	}
	if diff := cmp.Diff([]bool{true, false, true, true}, got); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
}

// TestTrusted: no document is answered but those that were given, by whatever name.
func TestTrusted(t *testing.T) {
	t.Parallel()
	const text, two = "query($id:ID!){order(id:$id){id}}", "query A {__typename} query B {b:__typename}"
	h := newTestHandler(t, func(s *setup) {
		s.opts.Trusted = graphql.Documents{"order": text, "sha256:" + hashOf(two): two}
	})
	const found = `{"data":{"order":{"id":"1"}}}`
	const id = `,"variables":{"id":1}}`
	tests := []struct {
		name, line, body, want string
	}{
		{"by name", "POST /graphql", `{"documentId":"order"` + id, found},
		{"by hash", "POST /graphql", `{"documentId":"sha256:` + hashOf(text) + `"` + id, found},
		{"by Apollo's hash", "POST /graphql", `{` + persistedQuery(hashOf(text)) + id, found},
		{"by its text", "POST /graphql", `{"query":"` + text + `"` + id, found},
		{"by GET", "GET /graphql?documentId=order&variables=" + url.QueryEscape(`{"id":1}`), "", found},
		{"one of two operations", "POST /graphql", `{"documentId":"sha256:` + hashOf(two) +
			`","operationName":"B"}`, `{"data":{"b":"Query"}}`},
		{"another text", "POST /graphql", `{"query":"{__typename}"}`, "FORBIDDEN"},
		{"the text with a blank", "POST /graphql", `{"query":" ` + text + `"` + id, "FORBIDDEN"},
		{"introspection", "POST /graphql", `{"query":"{__schema{types{name}}}"}`, "FORBIDDEN"},
		{"another text with a hash that is known", "POST /graphql", `{"query":"{__typename}",` +
			persistedQuery(hashOf(text)) + `}`, "FORBIDDEN"},
		{"another text with its own hash", "POST /graphql", `{"query":"{__typename}",` +
			persistedQuery(hashOf("{__typename}")) + `}`, "FORBIDDEN"},
		{"a name that is not known", "POST /graphql", `{"documentId":"orders"}`, "PERSISTED_QUERY_NOT_FOUND"},
		{"a hash that is not known", "POST /graphql", `{` + persistedQuery(hashOf("{__typename}")) + `}`,
			"PERSISTED_QUERY_NOT_FOUND"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, tt.line, jsonBody, acceptNew, "", tt.body)
			if strings.HasPrefix(tt.want, "{") {
				wantBody(t, res, 200, tt.want)
				return
			}
			wantCode(t, res, 400, tt.want)
		})
	}
}

// TestTrustedIsChecked: documents that could never be answered are known at the start.
func TestTrustedIsChecked(t *testing.T) {
	t.Parallel()
	c, _ := catalog(t)
	tests := []struct {
		name, want string
		docs       graphql.Documents
	}{
		{"syntax", "bad: ", graphql.Documents{"bad": "{"}},
		{"not of this schema", "bad: ", graphql.Documents{"bad": "{nobody}", "good": "{__typename}"}},
		{"another hash", "is not the hash", graphql.Documents{"sha256:" + hashOf("a"): "{__typename}"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, tt.want, func() { graphql.New(c, &graphql.Options{Trusted: tt.docs}) })
		})
	}
	h := graphql.New(c, &graphql.Options{Trusted: graphql.Documents{}})
	wantCode(t, send(t, h, "POST /graphql", jsonBody, acceptNew, "", typenameBody), 400, "FORBIDDEN")
}

func TestLoadDocuments(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tests := []struct {
		name  string
		files fstest.MapFS
		want  graphql.Documents
		err   string
	}{
		{"nothing", fstest.MapFS{"README.md": file("{a}")}, graphql.Documents{}, ""},
		{"files", fstest.MapFS{"a.graphql": file("{a}"), "sub/b.gql": file("{b}\n")},
			graphql.Documents{"a": "{a}", "sub/b": "{b}\n"}, ""},
		{"a list", fstest.MapFS{"persisted.json": file(`{"x1":"{a}","sha256:00":"{b}"}`)},
			graphql.Documents{"x1": "{a}", "sha256:00": "{b}"}, ""},
		{"one id twice", fstest.MapFS{"a.graphql": file("{a}"), "b.json": file(`{"a":"{a}"}`)}, nil,
			"b.json"},
		{"no list", fstest.MapFS{"b.json": file(`["a"]`)}, nil, "b.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := graphql.LoadDocuments(tt.files)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("the error is %v, without %s", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestConcurrentRequests sends the same and different documents to one handler, by text and by
// hash, while others write.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.Persisted, s.opts.PlanBytes = 3000, 10_000 })
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for i := range 50 {
				text := fmt.Sprintf("{order(id:1){id} a%d:__typename}", (client+i)%10)
				res := send(t, h, "POST /graphql", jsonBody, acceptNew, "",
					`{"query":"`+text+`",`+persistedQuery(hashOf(text))+`}`)
				wantBody(t, res, 200, fmt.Sprintf(`{"data":{"order":{"id":"1"},"a%d":"Query"}}`,
					(client+i)%10))
				if res = send(t, h, "GET /graphql?documentId=sha256:"+hashOf(text),
					acceptNew); res.status != 200 {
					wantCode(t, res, 400, "PERSISTED_QUERY_NOT_FOUND") // evicted by the others
				}
				want(t, send(t, h, "POST /graphql", jsonBody, "",
					`{"query":"mutation{patchOrder(id:1,input:{cents:`+fmt.Sprint(i)+`}){id}}"}`), 200)
			}
		})
	}
	group.Wait()
}
