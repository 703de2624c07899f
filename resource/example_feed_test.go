package resource_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// A client receives changes with Accept: text/event-stream. It begins at the Event-Cursor of a
// list, so that no change between the two requests is missed.
func ExampleCatalogOptions_feed() {
	type Note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	changes := feed.New(feed.NewMemory(nil), nil)
	defer changes.Close()
	api := httptest.NewServer(rest.New(resource.NewCatalog(&resource.CatalogOptions{Feed: changes},
		resource.New("notes", memory.New[Note](nil), nil)), nil))
	defer api.Close()
	ask := func(method, path, content string, fields ...string) *http.Response {
		r, _ := http.NewRequest(method, api.URL+path, strings.NewReader(content))
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(fields); i += 2 {
			r.Header.Set(fields[i], fields[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			log.Fatal(err)
		}
		return res
	}
	list := ask("GET", "/notes", "")
	for list.Header.Get("Event-Cursor") == "" { // the log has not said in time where it is
		list = ask("GET", "/notes", "")
	}
	ask("PUT", "/notes/milk", `{"text":"Buy milk."}`)
	ask("DELETE", "/notes/milk", "")

	stream := ask("GET", "/notes", "", "Accept", "text/event-stream", "Last-Event-ID", list.Header.Get("Event-Cursor"))
	defer stream.Body.Close()
	events := eventstream.NewReader(stream.Body, nil)
	for range 2 {
		e, err := events.Next()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Name, string(e.Data))
	}

	// Output:
	// created {"id":"milk","text":"Buy milk."}
	// deleted {"id":"milk"}
}
