package sqltabletest

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

// serve serves resources over a real connection.
func serve(tb testing.TB, opts *rest.Options, parts ...resource.Part) *httptest.Server {
	tb.Helper()
	server := httptest.NewServer(rest.New(resource.NewCatalog(&resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(tb.Output(), nil))}, parts...), opts))
	tb.Cleanup(server.Close)
	return server
}

// do makes a request of the shop.
func (s *shop) do(t *testing.T, method, path, body string) (status int, header http.Header, text string) {
	t.Helper()
	return request(t, s.client, method, s.url+path, body)
}

// request sends a request with the media type of its method.
func request(t testing.TB, client *http.Client, method, url, body string) (status int, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}
