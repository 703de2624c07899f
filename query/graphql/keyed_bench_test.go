package graphql_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkKeys compares one mutation without a key, with a new one each time, and with one that was used. The catalog that
// keeps no keys shows what it costs that others could be there.
//
//	go test -run '^$' -bench Keys ./query/graphql
func BenchmarkKeys(b *testing.B) {
	const rename = `{"query":"mutation{patchUser(id:\"ada\",input:{name:\"Ada\"}){name}}"}`
	serve := func(b *testing.B, h http.Handler, key func(i int) string) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(rename))
			r.Header["Content-Type"] = []string{"application/json"}
			if k := key(i); k != "" {
				r.Header["Idempotency-Key"] = []string{k}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				b.Fatal(w.Body)
			}
		}
	}
	none := func(int) string { return "" }
	b.Run("no keeper", func(b *testing.B) { serve(b, known(newTestHandler(b)), none) })
	many := func(s *keyedShop) { s.keys.Quota = -1 }
	for _, bm := range []struct {
		name string
		key  func(i int) string
	}{{"no key", none}, {"new key", strconv.Itoa}, {"replay", func(int) string { return "k" }}} {
		b.Run(bm.name, func(b *testing.B) {
			_, h := openKeyed(b, many)
			serve(b, h, bm.key)
		})
	}
}
