package openapi_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi"
)

// TestBytes have no schema, and media types where not all are taken.
func TestBytes(t *testing.T) {
	t.Parallel()
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}))
	tests := []struct{ path, types, methods string }{
		{"/files", "*/*", "options post"},
		{"/files/{id}", "*/*", "delete get options put"},
		{"/photos/{id}", "image/* video/mp4", "delete get options put"},
		{"/icons", "", "options"},
		{"/icons/{id}", "", "get options"},
	}
	for _, tt := range tests {
		item := d.at(d.root, "paths", tt.path).(object)
		var got, types []string
		for name := range item {
			if slices.Contains(methods, name) {
				got = append(got, name)
			}
		}
		for _, method := range []string{"put", "post"} {
			content, _ := d.at(item, method, "requestBody", "content").(object)
			for name, media := range content {
				types = append(types, name)
				if diff := cmp.Diff(object{}, media); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", tt.path, name, diff)
				}
			}
		}
		slices.Sort(got)
		slices.Sort(types)
		if diff := cmp.Diff([]string{tt.methods, tt.types},
			[]string{strings.Join(got, " "), strings.Join(types, " ")}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	if d.at(d.root, "paths", "/photos/{id}", "put", "responses", "428") == nil ||
		d.at(d.root, "paths", "/files/{id}", "put", "responses", "428") != nil {
		t.Error("428 is for what requires If-Match")
	}
	if d.at(d.root, "paths", "/icons/{id}", "get", "responses", "410") != nil {
		t.Error("what nobody can delete is said to be gone")
	}
}

// TestRule113PartsAreDescribed: each request for a range is answered as described.
func TestRule113PartsAreDescribed(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	for _, tt := range []struct {
		header []string
		status int
		needs  []string
	}{
		{nil, http.StatusOK, []string{"Accept-Ranges"}},
		{[]string{"Range: bytes=0-9"}, http.StatusPartialContent, []string{"Content-Range", "Accept-Ranges"}},
		{[]string{"Range: bytes=90-"}, http.StatusRequestedRangeNotSatisfiable, []string{"Content-Range"}},
		{[]string{"Range: bytes=0-9", `If-Range: "other"`}, http.StatusOK, nil},
		{[]string{"If-None-Match: *"}, http.StatusNotModified, nil},
	} {
		res := send(shop.handler(), "GET /icons/a.png", "", tt.header...)
		if res.StatusCode != tt.status {
			t.Errorf("%v: %d, want %d", tt.header, res.StatusCode, tt.status)
		}
		d.check(t, "/icons/{id}", "GET /icons/a.png", res)
		for _, name := range tt.needs {
			if res.Header.Get(name) == "" {
				t.Errorf("%v: no %s", tt.header, name)
			}
		}
	}
	for _, name := range []string{"Range", "If-Range", "If-None-Match"} {
		if d.parameters("/icons/{id}", "GET")[name] == nil {
			t.Errorf("%s is not described", name)
		}
	}
}
