package rest_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// FuzzServe sends any request that net/http accepts, and checks each response: no panic, no 500,
// errors as problems, valid JSON, and URLs of this host.
func FuzzServe(f *testing.F) {
	f.Fuzz(func(t *testing.T, method, target, header, body string) {
		raw := method + " " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n" +
			header + "\r\n\r\n" + body
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Skip()
		}
		h := api(t, withLookup, withCommands)
		create(t, h, "/orders", `{"customerId":"u","cents":3,"tags":["a","b"]}`)
		create(t, h, "/users", `{"id":"u","name":"n","email":"n@example.com"}`)

		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		res := received(strconv.Quote(raw), w.Result())
		if r.Method == http.MethodHead && res.body != "" {
			t.Errorf("%s: HEAD has content", res.line)
		}
		switch {
		case res.status >= 400:
			checkProblem(t, r.Method, res)
		case res.header.Get("Content-Type") == "application/json" && res.header.Get("Content-Encoding") == "":
			if r.Method != http.MethodHead && !jsontext.Value(res.body).IsValid() {
				t.Errorf("%s: %q is not JSON", res.line, res.body)
			}
		}
		for _, name := range []string{"Location", "Content-Location"} {
			at := res.header.Get(name)
			if at != "" && (at[0] != '/' || strings.HasPrefix(at, "//") || strings.ContainsFunc(at, notInURLs)) {
				t.Errorf("%s: %s: %q", res.line, name, at)
			}
		}
		for name, values := range res.header {
			if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("%s: %s: %q", res.line, name, values)
			}
		}
		want(t, send(t, h, "GET /orders"), http.StatusOK)
	})
}

func notInURLs(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"<>\^{}|`+"`", r) }

// checkProblem checks that an error is a problem with the status of the status line, and that it is
// a mistake of the client.
func checkProblem(t *testing.T, method string, res *response) {
	t.Helper()
	if res.status >= 500 && res.status != http.StatusNotImplemented {
		t.Errorf("%s: status %d: %s", res.line, res.status, res.body)
	}
	want(t, res, res.status, "Content-Type: "+problem.MediaType, "Cache-Control: no-store", "Content-Length: *")
	if method == http.MethodHead {
		return
	}
	var d details
	if err := json.Unmarshal([]byte(res.body), &d); err != nil || d.Status != res.status || d.Type == "" || d.Title == "" {
		t.Errorf("%s: %d with %v %s", res.line, res.status, err, res.body)
	}
}
