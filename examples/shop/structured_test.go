package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/google/go-cmp/cmp"
)

// forms has the header fields that follow RFC 9651: those defined as structured fields, and older
// ones with the same syntax, so that one parser reads all of them. API-Version is not one of them,
// because 1.1.0 is not a number.
var forms = map[string]func([]string) error{
	"Deprecation":        isItem,
	"Retry-After":        isItem,
	"Content-Type":       isItem,
	"Accept-Patch":       isList,
	"Accept-Post":        isList,
	"Allow":              isList,
	"Vary":               isList,
	"Cache-Control":      isDictionary,
	"Preference-Applied": isDictionary,
}

func isItem(v []string) error       { _, err := httpsfv.UnmarshalItem(v); return err }
func isList(v []string) error       { _, err := httpsfv.UnmarshalList(v); return err }
func isDictionary(v []string) error { _, err := httpsfv.UnmarshalDictionary(v); return err }

// ask sends a request. Each of header is a line such as "Accept: text/html".
func ask(
	t *testing.T, h http.Handler, method, target, body string, header ...string,
) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Host = "localhost"
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestStructuredFields(t *testing.T) {
	t.Parallel()
	const asJSON, order = "Content-Type: application/json", `{"lines":[{"itemId":1,"qty":1}]}`
	s := openShop(t)
	seen := map[string]bool{}
	for _, w := range []*httptest.ResponseRecorder{
		ask(t, s, "GET", "/v1/orders/1", ""),
		ask(t, s, "GET", "/orders", "", "Prefer: count=exact", "API-Version: 1.0"),
		ask(t, s, "POST", "/orders", order, asJSON, "Prefer: return=minimal"),
		ask(t, s, "PATCH", "/v1.0/orders/1", "{}", asJSON),
		ask(t, s, "OPTIONS", "/orders", ""),
		ask(t, s, "OPTIONS", "/orders/1", ""),
		ask(t, s, "PUT", "/v0/orders/1", order, asJSON),
		ask(t, s, "GET", "/openapi", ""),
		ask(t, s, "BREW", "/v2/orders", ""),
		ask(t, s, "POST", "/orders/1", "", asJSON),
	} {
		for name, values := range w.Header() {
			if parse := forms[name]; parse != nil {
				seen[name] = true
				if err := parse(values); err != nil {
					t.Errorf("%s: %q: %v", name, values, err)
				}
			}
		}
	}
	for name := range forms {
		if !seen[name] && name != "Retry-After" { // the shop has no brownouts
			t.Errorf("no response has %s", name)
		}
	}
}

func TestDeprecationIsADate(t *testing.T) {
	t.Parallel()
	s, dates := openShop(t), newLifeCycle()
	for _, target := range []string{"/v1/orders/1", "/v1.0/orders", "/v1/nothing", "/orders?version=1&limit=none"} {
		h := ask(t, s, "GET", target, "").Header()
		item, err := httpsfv.UnmarshalItem(h["Deprecation"])
		if err != nil {
			t.Fatalf("%s: Deprecation %q: %v", target, h["Deprecation"], err)
		}
		since, _ := item.Value.(time.Time)
		if diff := cmp.Diff(dates.deprecated1, since.UTC()); diff != "" || len(item.Params.Names()) > 0 {
			t.Errorf("%s: Deprecation (-want +got):\n%s", target, diff)
		}
		until, err := http.ParseTime(h.Get("Sunset"))
		if diff := cmp.Diff(dates.sunset1, until.UTC()); diff != "" || err != nil {
			t.Errorf("%s: Sunset (-want +got), %v:\n%s", target, err, diff)
		}
	}
	for _, target := range []string{"/v2/orders/1", "/orders", "/openapi", "/health", "/"} {
		if got := ask(t, s, "GET", target, "").Header()["Deprecation"]; got != nil {
			t.Errorf("%s: Deprecation %q", target, got)
		}
	}
}
