package version_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule013VersionsInPathsAreSpelledExactly(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct {
		target   string
		contract string // "" is 404
		path     string
		raw      string
	}{
		{"/v1/orders", "1.1.0", "/orders", ""},
		{"/1/orders", "1.1.0", "/orders", ""},
		{"/v1.0/orders", "1.0.0", "/orders", ""},
		{"/v1.0.0/orders", "1.0.0", "/orders", ""},
		{"/1.0/orders/1", "1.0.0", "/orders/1", ""},
		{"/v1", "1.1.0", "/", ""},
		{"/v1/", "1.1.0", "/", ""},
		{"/v1/v1", "1.1.0", "/v1", ""},
		{"/v1/2/x", "1.1.0", "/2/x", ""},
		{"/v1//orders", "1.1.0", "//orders", ""},
		{"/%76%31/orders", "1.1.0", "/orders", ""}, // decoded once (RFC 3986 section 6.2.2.2)
		{"/v1/a%2Fb", "1.1.0", "/a/b", "/a%2Fb"},
		{"/v1/a%2Fb/%41", "1.1.0", "/a/b/A", "/a%2Fb/%41"},
		{"/%761/a%2Fb", "1.1.0", "/a/b", "/a%2Fb"},
		{"/v1/100%25", "1.1.0", "/100%", ""},
		// A segment that is not spelled like a version is part of the resource.
		{"/orders/v1", "2.0.0", "/orders/v1", ""},
		{"/V1/orders", "2.0.0", "/V1/orders", ""},
		{"/vx/orders", "2.0.0", "/vx/orders", ""},
		{"/v/orders", "2.0.0", "/v/orders", ""},
		{"/v1x/orders", "2.0.0", "/v1x/orders", ""},
		{"/v-1/orders", "2.0.0", "/v-1/orders", ""},
		{"/v1,0/orders", "2.0.0", "/v1,0/orders", ""},
		{"/v1%2Forders", "2.0.0", "/v1/orders", "/v1%2Forders"}, // one segment
		{"//v1/orders", "2.0.0", "//v1/orders", ""},
		{"/%2576%31/orders", "2.0.0", "/%761/orders", "/%2576%31/orders"}, // not decoded twice
		{"/", "2.0.0", "/", ""},
		// Malformed.
		{"/v01/orders", "", "", ""},
		{"/01/orders", "", "", ""},
		{"/v1./orders", "", "", ""},
		{"/v1..0/orders", "", "", ""},
		{"/v1.0.0.0/orders", "", "", ""},
		{"/v1.00/orders", "", "", ""},
		{"/v123456/orders", "", "", ""},
		{"/v1.0.", "", "", ""},
		// Not served.
		{"/v7/orders", "", "", ""},
		{"/v1.2/orders", "", "", ""},
		{"/7", "", "", ""},
		{"/v0.1/orders", "", "", ""},
		{"/v99999.99999.99999/orders", "", "", ""},
		{"/v3/orders", "", "", ""}, // a preview only by its full name
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, "GET "+tt.target)
			if tt.contract == "" {
				res.has(t, http.StatusNotFound, "Content-Type: "+problem.MediaType)
				return
			}
			s := res.saw(t, tt.contract)
			// RawPath is a hint: where it is the usual encoding it may be there or not.
			want := url.URL{Path: tt.path, RawPath: tt.raw}
			got := url.URL{Path: s.Path, RawPath: s.RawPath}
			if got.Path != want.Path || got.EscapedPath() != want.EscapedPath() {
				t.Errorf("path %q (%s), want %q (%s)", got.Path, got.EscapedPath(), want.Path,
					want.EscapedPath())
			}
			if s.Target != tt.target {
				t.Errorf("RequestURI %q, want it as it came, since links are made from it", s.Target)
			}
		})
	}
}

func TestRule024MalformedAndUnsupportedPathsDiffer(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for target, kind := range map[string]problem.Kind{
		"/v01/orders":    problem.MalformedVersion,
		"/v1.0.0.0":      problem.MalformedVersion,
		"/123456/orders": problem.MalformedVersion,
		"/v7/orders":     problem.UnsupportedVersion,
		"/1.7":           problem.UnsupportedVersion,
	} {
		r := ask(t, api, "GET "+target).refused(t, http.StatusNotFound, kind)
		if diff := cmp.Diff(marketServes, r.Supported); diff != "" {
			t.Errorf("%s: supported-versions (-want +got):\n%s", target, diff)
		}
		ask(t, api, "HEAD "+target).refused(t, http.StatusNotFound, kind)
	}
	ask(t, api, "GET /v0/orders").refused(t, http.StatusGone, problem.VersionRetired)
	ask(t, api, "GET /0.9.0/orders").refused(t, http.StatusGone, problem.VersionRetired)
}

func TestRule044PathsWithoutVersion(t *testing.T) {
	t.Parallel()
	alone, _ := openMarket(t, only(version.Path{}), withDefault(""))
	ask(t, alone, "GET /orders").refused(t, http.StatusNotFound, problem.VersionRequired).wantSupported(t)
	ask(t, alone, "GET /v1/orders").saw(t, "1.1.0")
	fallback, _ := openMarket(t, only(version.Path{}))
	ask(t, fallback, "GET /orders").saw(t, "2.0.0")
	both, _ := openMarket(t, only(version.Path{}, version.Query{}), withDefault(""))
	ask(t, both, "GET /orders").refused(t, http.StatusBadRequest, problem.VersionRequired).wantSupported(t)
	ask(t, both, "GET /orders?version=1").saw(t, "1.1.0")
}

// wantSupported checks that the refusal lists what the market serves.
func (r refusal) wantSupported(t testing.TB) {
	t.Helper()
	if diff := cmp.Diff(marketServes, r.Supported); diff != "" {
		t.Errorf("supported-versions (-want +got):\n%s", diff)
	}
}
