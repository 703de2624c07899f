package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// A middleware around a catalog can read the pattern of the request, as with a ServeMux.
func TestPattern(t *testing.T) {
	t.Parallel()
	type note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	catalog := rest.New(resource.NewCatalog(nil, resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true}),
		command.New("notes/tidy", func(_ context.Context, in note) (note, error) { return in, nil }, nil)), nil)
	mux := http.NewServeMux()
	mux.Handle("/", catalog)
	for _, tt := range []struct{ method, target, want string }{
		{"GET", "/notes", "/notes"},
		{"POST", "/notes", "/notes"},
		{"GET", "/notes/1", "/notes/{id}"},
		{"DELETE", "/notes/%31", "/notes/{id}"},
		{"BREW", "/notes/1", "/"},
		{"POST", "/notes/tidy", "/notes/tidy"},
		{"GET", "/n%6Ftes/1", "/notes/{id}"},
		{"GET", "/nothing/1", "/"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, nil)
		mux.ServeHTTP(httptest.NewRecorder(), r)
		if r.Pattern != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.method, tt.target, r.Pattern, tt.want)
		}
	}
}
