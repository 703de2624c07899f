package main

// The peers and the change that they distribute. Both serve package shop with the same document.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// peer is one subscription server for the shop.
type peer struct {
	name    string
	handler func(s *shop.Shop) http.Handler
}

// peers returns all peers, without gqlgen if the program was built without its code.
func peers() []peer {
	all := []peer{{"Stoa", stoaHandler}, {"gqlgen", gqlgenserver.Handler}}
	if !gqlgenserver.Available {
		all = all[:1]
	}
	return all
}

// stoaHandler returns Stoa with a feed in memory. All subscribers are one anonymous principal, so
// the limit of sockets per principal is raised. So is Wait, because on a busy machine a thousand
// handshakes take longer than the default.
func stoaHandler(s *shop.Shop) http.Handler {
	changes := feed.New(feed.NewMemory(nil), nil)
	return graphql.New(resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, s.Parts()...),
		&graphql.Options{Socket: graphql.Socket{PerPrincipal: 1 << 20, Wait: time.Minute}})
}

const (
	// gqlgenserver has the same field, so the messages of both peers are equal byte for byte.
	subscription = "subscription Watch { orderChanged { kind id " +
		"order { id status totalCents note placedAt customerId } } }"
	change = "mutation Change($note: String) " +
		"{ patchOrder(id: \"o000042\", input: {note: $note}) { id } }"
	// eventMember occurs in each message with a change, and in no other message.
	eventMember = `"orderChanged"`
)

// note returns the note of the nth change. All notes have the same length.
func note(n int) string { return "note " + strconv.Itoa(1e6+n) }

// changes patches an order with a new note each time.
type changes struct {
	handler http.Handler
	n       int // number of changes made, so that each has a new note
}

// make applies changes through the handler without a socket, so that only the delivery is measured
// over the network. It returns after the last mutation has been answered.
func (c *changes) make(times int) error {
	for range times {
		c.n++
		body, err := json.Marshal(
			map[string]any{"query": change, "variables": map[string]string{"note": note(c.n)}})
		if err != nil {
			return err
		}
		r := httptest.NewRequest("POST", "/graphql", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !bytes.Contains(w.Body.Bytes(), []byte(`"o000042"`)) {
			return fmt.Errorf("mutation: status %d: %.300s", w.Code, w.Body)
		}
	}
	return nil
}
