package graphql_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestUnconvertible: a change that a contract cannot represent ends its subscriptions with an error
// that asks clients to list again. Over SSE "complete" follows, so that clients do not reconnect.
func TestUnconvertible(t *testing.T) {
	t.Parallel()
	type note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	down := func(n note) (note, error) {
		switch n.Text {
		case "panics":
			panic("secret")
		case "fails":
			return n, errors.New("secret")
		}
		return n, nil
	}
	for _, text := range []string{"fails", "panics"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := feed.New(feed.NewMemory(nil), &feed.Options{Logger: quiet})
				defer f.Close()
				notes := resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true})
				view := resource.View(notes, down, func(n, _ note) (note, error) { return n, nil }, nil)
				now := resource.NewCatalog(&resource.CatalogOptions{Feed: f, Logger: quiet}, notes)
				h := graphql.New(resource.NewCatalog(&resource.CatalogOptions{Feed: f, Logger: quiet}, view),
					&graphql.Options{Logger: quiet})
				const all = "subscription{noteChanged{id}}"
				s := serve(t, h, h)
				c, l := s.socket(t), s.subscribe(t, all)
				c.talk(initMessage, ackMessage, startMessage("1", all))
				synctest.Wait()
				want(t, send(t, rest.New(now, nil), "POST /notes", jsonBody, "", `{"text":"`+text+`"}`),
					http.StatusCreated)
				heard := []string{c.receive()}
				e, err := l.Next()
				if err != nil {
					t.Fatal(err)
				}
				for _, said := range append(heard, string(e.Data)) {
					if !strings.Contains(said, `"code":"CURSOR_EXPIRED"`) ||
						strings.Contains(said, "secret") {
						t.Errorf("told %s", said)
					}
				}
				l.expect("complete ", "EOF")
				c.talk(startMessage("1", "{__typename}"), next("1", typenameIs), completed("1"))
			})
		})
	}
}
