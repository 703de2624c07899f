package rest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

// Section C: content negotiation. The grammar of the fields is tested in package header.

// big is a document that is large enough for compression.
var big = `{"customerId":"u","note":"` + strings.Repeat("long ", 400) + `"}`

func gunzip(t testing.TB, res *response) string {
	t.Helper()
	want(t, res, res.status, "Content-Encoding: gzip")
	zr, err := gzip.NewReader(strings.NewReader(res.body))
	if err != nil {
		t.Fatalf("%s: %v", res.line, err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		t.Fatalf("%s: %v", res.line, err)
	}
	return string(plain)
}

func zip(t testing.TB, plain string) string {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := io.WriteString(zw, plain); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The representation of a list: JSON, lines, or 406.
func TestRule047AcceptOfLists(t *testing.T) {
	t.Parallel()
	h := api(t)
	const (
		js    = "application/json"
		lines = "application/x-ndjson"
		rows  = "text/csv; charset=utf-8; header=present"
		none  = ""
	)
	tests := []struct {
		name   string
		accept []string
		want   string
	}{
		{"absent", nil, js},
		{"empty", []string{""}, js},
		{"anything", []string{"*/*"}, js},
		{"any application", []string{"application/*"}, js},
		{"lines", []string{"application/x-ndjson"}, lines},
		{"lines preferred", []string{"application/json;q=0.5, application/x-ndjson"}, lines},
		{"two field lines", []string{"text/html", "application/x-ndjson"}, lines},
		{"empty members", []string{",,application/x-ndjson,"}, lines},
		{"case", []string{"APPLICATION/X-NDJSON"}, lines},
		{"most specific", []string{"application/*;q=0.1, application/json;q=0"}, lines},
		{"specific zero beats wildcard", []string{"*/*, application/json;q=0"}, lines},
		{"two excluded", []string{"*/*, application/json;q=0, application/x-ndjson;q=0"}, rows},
		{"all excluded", []string{"*/*, application/json;q=0, application/x-ndjson;q=0, text/csv;q=0"}, none},
		{"any text", []string{"text/*"}, rows},
		{"tie", []string{"application/x-ndjson, application/json"}, js},
		{"utf-8", []string{"application/json; charset=utf-8"}, js},
		{"bad weight is no member", []string{"application/json;q=x, application/x-ndjson;q=0.1"}, lines},
		{"utf8", []string{"application/json; charset=utf8"}, none},
		{"html", []string{"text/html"}, none},
		{"all zero", []string{"*/*;q=0"}, none},
		{"suffix is no subtype", []string{"application/vnd.acme.order+json"}, none},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fields []string
			for _, line := range tt.accept {
				fields = append(fields, "Accept: "+line)
			}
			res := send(t, h, "GET /places", fields...)
			if tt.want != none {
				want(t, res, http.StatusOK, "Content-Type: "+tt.want, "Vary: Accept, Accept-Encoding, Prefer")
				return
			}
			d := wantProblem(t, res, problem.NotAcceptable, "Vary: Accept, Accept-Encoding, Prefer")
			if diff := cmp.Diff([]string{js, lines, "text/csv"}, d.Available); diff != "" {
				t.Errorf("available (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRule052NotAcceptableBeforeAnyEffect(t *testing.T) {
	t.Parallel()
	h := api(t, withLookup)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	before := send(t, h, "GET "+path).body
	tests := []struct {
		line string
		rest []string
	}{
		{"GET " + path, nil},
		{"HEAD " + path, nil},
		{"GET /biggest?customerId=u", nil},
		{"POST /orders", []string{jsonBody, "", `{"customerId":"v"}`}},
		{"PUT " + path, []string{jsonBody, "", `{"customerId":"v"}`}},
		{"PATCH " + path, []string{mergeBody, "", `{"customerId":"v"}`}},
		{"PATCH " + path, []string{"Content-Type: text/plain", "", `x`}}, // 406 before 415
	}
	for _, tt := range tests {
		for _, accept := range []string{"Accept: text/html", "Accept: application/x-ndjson", "Accept: application/json;q=0"} {
			d := wantProblem(t, send(t, h, tt.line, append([]string{accept}, tt.rest...)...), problem.NotAcceptable)
			if !strings.HasPrefix(tt.line, "HEAD") && !cmp.Equal([]string{"application/json"}, d.Available) {
				t.Errorf("%s: available %q", tt.line, d.Available)
			}
		}
	}
	wantBody(t, send(t, h, "GET "+path), http.StatusOK, before)
	wantBody(t, send(t, h, "GET /orders?fields=id"), http.StatusOK, `{"items":[{"id":1}]}`)
}

// A response without content ignores Accept.
func TestRule052NothingToAccept(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	for _, wish := range []string{"Accept: text/html", "Accept-Encoding: br, identity;q=0"} {
		want(t, send(t, h, "PATCH "+path, wish, "Prefer: return=minimal", mergeBody, "", `{"cents":3}`),
			http.StatusNoContent)
		want(t, send(t, h, "PUT "+path, wish, "Prefer: return=minimal", jsonBody, "", `{"customerId":"u"}`),
			http.StatusNoContent)
		want(t, send(t, h, "POST /orders", wish, "Prefer: return=minimal", jsonBody, "", `{"customerId":"u"}`),
			http.StatusCreated)
		want(t, send(t, h, "OPTIONS "+path, wish), http.StatusNoContent)
	}
	want(t, send(t, h, "DELETE "+path, "Accept: text/html", "Accept-Encoding: *;q=0"), http.StatusNoContent)
}

func TestRule053ProblemsWhateverAccept(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, accept := range []string{"text/html", "application/json", "*/*;q=0", "image/png", "application/problem+xml"} {
		wantProblem(t, send(t, h, "GET /nothing", "Accept: "+accept), problem.NotFound)
		wantProblem(t, send(t, h, "BREW /orders", "Accept: "+accept), problem.NotImplemented)
		wantProblem(t, send(t, h, "DELETE /orders/9", "Accept: "+accept), problem.NotFound)
	}
	wantProblem(t, send(t, h, "GET /nothing", "Accept-Encoding: gzip;q=1, identity;q=0"), problem.NotFound,
		"Content-Encoding:")
}

func TestRule054AcceptEncodingChoosesTheCoding(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", big)
	plain := send(t, h, "GET "+path).body
	tests := []struct {
		name   string
		field  []string
		coding string // "406" for none
	}{
		{"absent", nil, ""},
		{"empty", []string{"Accept-Encoding:"}, ""},
		{"gzip", []string{"Accept-Encoding: gzip"}, "gzip"},
		{"x-gzip", []string{"Accept-Encoding: x-gzip"}, "gzip"},
		{"case", []string{"Accept-Encoding: GZip"}, "gzip"},
		{"browser", []string{"Accept-Encoding: gzip, deflate, br, zstd"}, "gzip"},
		{"two lines", []string{"Accept-Encoding: br", "Accept-Encoding: gzip"}, "gzip"},
		{"refused", []string{"Accept-Encoding: gzip;q=0"}, ""},
		{"others only", []string{"Accept-Encoding: br, zstd"}, ""},
		{"identity only", []string{"Accept-Encoding: identity"}, ""},
		{"identity refused", []string{"Accept-Encoding: gzip, identity;q=0"}, "gzip"},
		{"nothing at all", []string{"Accept-Encoding: *;q=0"}, "406"},
		{"identity refused without gzip", []string{"Accept-Encoding: br, identity;q=0"}, "406"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "GET "+path, tt.field...)
			switch tt.coding {
			case "406":
				wantProblem(t, res, problem.NotAcceptable, "Vary: Accept, Accept-Encoding")
			case "gzip":
				want(t, res, http.StatusOK, "Vary: Accept, Accept-Encoding", "Content-Type: application/json")
				if diff := cmp.Diff(plain, gunzip(t, res)); diff != "" {
					t.Errorf("content (-want +got):\n%s", diff)
				}
			default:
				want(t, res, http.StatusOK, "Content-Encoding:", "Vary: Accept, Accept-Encoding")
				wantBody(t, res, http.StatusOK, plain)
			}
		})
	}
}

func TestRule055StrongTagsDifferByCoding(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/orders", big)
	plain := send(t, h, "GET "+path)
	zipped := send(t, h, "GET "+path, "Accept-Encoding: gzip")
	a, b := plain.header.Get("Etag"), zipped.header.Get("Etag")
	if a == b || strings.HasPrefix(a, "W/") || strings.HasPrefix(b, "W/") || a == "" || b == "" {
		t.Fatalf("tags %s and %s: want two strong ones", a, b)
	}
	// Each tag matches its own coding only, and both match for writes.
	want(t, send(t, h, "GET "+path, "If-None-Match: "+a), http.StatusNotModified, "Etag: "+a)
	want(t, send(t, h, "GET "+path, "If-None-Match: "+b), http.StatusOK, "Etag: "+a)
	want(t, send(t, h, "GET "+path, "Accept-Encoding: gzip", "If-None-Match: "+b), http.StatusNotModified, "Etag: "+b)
	want(t, send(t, h, "GET "+path, "Accept-Encoding: gzip", "If-None-Match: "+a), http.StatusOK, "Etag: "+b)
	want(t, send(t, h, "PATCH "+path, "If-Match: "+b, mergeBody, "", `{"cents":1}`), http.StatusOK)
	// The same for lists.
	a = send(t, h, "GET /orders").header.Get("Etag")
	b = send(t, h, "GET /orders", "Accept-Encoding: gzip").header.Get("Etag")
	if a == b {
		t.Errorf("the list has the tag %s in both codings", a)
	}
	want(t, send(t, h, "GET /orders", "Accept-Encoding: gzip", "If-None-Match: "+b), http.StatusNotModified)
}

func TestRule056WhatIsCompressed(t *testing.T) {
	t.Parallel()
	h := api(t)
	small := create(t, h, "/orders", `{"customerId":"u"}`)
	large := create(t, h, "/orders", big)
	gz := "Accept-Encoding: gzip"
	want(t, send(t, h, "GET "+small, gz), http.StatusOK, "Content-Encoding:", "Vary: Accept, Accept-Encoding")
	want(t, send(t, h, "GET "+small, gz+", identity;q=0"), http.StatusOK, "Content-Encoding: gzip")
	want(t, send(t, h, "GET "+large, gz), http.StatusOK, "Content-Encoding: gzip")
	want(t, send(t, h, "GET "+large+"?fields=id", gz), http.StatusOK, "Content-Encoding:")
	want(t, send(t, h, "GET /orders", gz), http.StatusOK, "Content-Encoding: gzip")
	want(t, send(t, h, "GET /places", gz), http.StatusOK, "Content-Encoding:", "Vary: Accept, Accept-Encoding, Prefer")
	// Responses to writes are compressed, too.
	res := send(t, h, "POST /orders", gz, jsonBody, "", big)
	if plain := gunzip(t, res); !strings.Contains(plain, `"id":3`) {
		t.Errorf("POST answered %s", plain)
	}
	gunzip(t, send(t, h, "PUT "+large, gz, jsonBody, "", big))
	gunzip(t, send(t, h, "PATCH "+large, gz, mergeBody, "", `{"cents":1}`))
	// Problems are not.
	long := strings.Repeat("x", 3000)
	wantProblem(t, send(t, h, "GET /orders?"+long, gz), problem.InvalidParameter, "Content-Encoding:")
}

func TestRule057CharsetAndLanguageChangeNothing(t *testing.T) {
	t.Parallel()
	h := api(t)
	plain := send(t, h, "GET /places/ath")
	res := send(t, h, "GET /places/ath", "Accept-Charset: utf-16", "Accept-Language: el, *;q=0")
	want(t, res, http.StatusOK, "Vary: Accept, Accept-Encoding", "Content-Language:", "Content-Type: application/json",
		"Etag: "+plain.header.Get("Etag"))
	wantBody(t, res, http.StatusOK, plain.body)
}
