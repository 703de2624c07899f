package openapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
)

// watchedCatalog serves notes that one can listen to.
func watchedCatalog(t *testing.T) *resource.Catalog {
	type note struct {
		ID   string `json:"id" readOnly:"true"`
		Text string `json:"text" required:"true"`
	}
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	ops := resource.OpsOf(memory.New[note](nil))
	ops.Replace, ops.Delete, ops.Deleted, ops.Insert = nil, nil, nil, nil
	notes := ops.Resource("notes",
		&resource.Options[note]{Public: true, Samples: []note{{"a", "Ring twice."}},
			Query: query.Support{Filter: map[string][]query.Op{"text": {query.Eq}}}})
	return resource.NewCatalog(&resource.CatalogOptions{Feed: f, Limits: resource.Limits{Streams: 1},
		Principal: func(context.Context) string { return "ann" }}, notes)
}

func TestGoldenFeeds(t *testing.T) {
	t.Parallel()
	golden(t, "feeds.json", full(openapi.New(watchedCatalog(t), &openapi.Options{Title: "Notes"})))
}

// TestFeedsAreDescribed holds what a feed answers against the document.
func TestFeedsAreDescribed(t *testing.T) {
	t.Parallel()
	const stream, foreign = "Accept: text/event-stream", "AcQ_tkSe6jcFCNQqAlvSYmc"
	catalog := watchedCatalog(t)
	d := described(t, openapi.New(catalog, nil))
	id := strings.TrimPrefix(send(rest.New(catalog, nil), "POST /notes", `{"text":"x"}`,
		"Content-Type: application/json").Header.Get("Location"), "/notes/")
	tests := []struct {
		query  string
		fields []string
		status int
	}{
		{"", nil, http.StatusOK},
		{"", []string{stream}, http.StatusOK},
		{"", []string{stream, "Last-Event-ID: x"}, http.StatusBadRequest},
		{"", []string{stream, "Last-Event-ID: " + foreign}, http.StatusGone},
		{"?lastEventId=" + foreign, []string{stream}, http.StatusGone},
		{"?lastEventId=" + foreign, nil, http.StatusBadRequest},
	}
	for _, path := range []string{"/notes", "/notes/{id}"} {
		for _, tt := range tests {
			method := "GET "
			if tt.status == http.StatusOK {
				method = "HEAD " // as it would not end
			}
			res := send(rest.New(catalog, nil), method+target(path, id)+tt.query, "", tt.fields...)
			if res.StatusCode != tt.status {
				t.Errorf("%s%s %v: status %d, want %d", path, tt.query, tt.fields, res.StatusCode, tt.status)
			}
			d.check(t, path, "GET "+target(path, id)+tt.query, res)
		}
		leave, err := catalog.Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		res := send(rest.New(catalog, nil), "GET "+target(path, id), "", stream)
		if res.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%s: status %d for one stream too many, want 429", path, res.StatusCode)
		}
		d.check(t, path, "GET "+target(path, id), res)
		leave()
		params := d.parameters(path, "GET")
		if params["Last-Event-ID"] == nil || params["lastEventId"] == nil {
			t.Errorf("%s has the parameters %v", path, params)
		}
		if d.at(d.root, "paths", path, "get", "responses", "200", "content", "text/event-stream") == nil {
			t.Errorf("%s has no feed", path)
		}
	}

	// The example is what a client gets.
	const whole = "/notes"
	example := d.at(d.root, "paths", whole, "get", "responses", "200", "content", "text/event-stream",
		"examples", "event", "value")
	if want := "id: " + foreign +
		"\nevent: updated\ndata: {\"id\":\"a\",\"text\":\"Ring twice.\"}\n\n"; example != want {
		t.Errorf("the example is %q, want %q", example, want)
	}
}

// TestWithoutFeeds: where one cannot listen there is not a word of it.
func TestWithoutFeeds(t *testing.T) {
	t.Parallel()
	doc := string(full(openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})))
	for _, word := range []string{"event-stream", "Event-Cursor", "lastEventId", "Last-Event-ID"} {
		if strings.Contains(doc, word) {
			t.Errorf("the document speaks of %s", word)
		}
	}
}
