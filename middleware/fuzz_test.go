package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/middleware"
)

// bearerPattern is the grammar of RFC 6750 section 2.1, with the white space around it that net/http takes off.
var bearerPattern = regexp.MustCompile(`^[ \t]*(?i:bearer) +([A-Za-z0-9._~+/-]+=*)[ \t]*$`)

// FuzzBearer: a token conforms to the grammar, and a request without one has no principal. The
// seeds are in testdata.
func FuzzBearer(f *testing.F) {
	f.Fuzz(func(t *testing.T, field string) {
		asked := ""
		echo := func(_ *http.Request, token string) (middleware.Session[string], error) {
			asked = token
			return middleware.Session[string]{Principal: "p-" + token}, nil
		}
		r := httptest.NewRequest("GET", "/", nil)
		r.Header["Authorization"] = []string{field}
		w := httptest.NewRecorder()
		who := ""
		h := middleware.Authenticate(echo,
			nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			who = middleware.Principal(r.Context())
		}))
		h.ServeHTTP(w, r)
		want := ""
		if m := bearerPattern.FindStringSubmatch(field); m != nil {
			want = m[1]
		}
		if asked != want {
			t.Errorf("%q: the token is %q, want %q", field, asked, want)
		}
		if want != "" && who != "p-"+want || want == "" && who != "" {
			t.Errorf("%q: %q asks", field, who)
		}
		if scheme, _, _ := strings.Cut(strings.Trim(field, " \t"), " "); strings.EqualFold(scheme,
			"bearer") && want == "" &&
			w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d, want 400", field, w.Code)
		}
	})
}
