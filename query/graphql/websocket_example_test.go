package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// ping sends messages as a client and prints the responses. Another client sends a mutation over
// HTTP.
func ping(server *httptest.Server, messages ...string) {
	ctx := context.Background()
	client, _, err := websocket.Dial(ctx, server.URL+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseNow()
	for _, m := range messages {
		if strings.HasPrefix(m, "mutation") {
			posted(server.Config.Handler, m)
		} else {
			client.Write(ctx, websocket.MessageText, []byte(m))
		}
		if strings.Contains(m, "subscribe") {
			continue // it is answered when something happens
		}
		_, heard, err := client.Read(ctx)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(string(heard))
	}
}

// A client authenticates with a token when it connects, and receives a planet that is added
// afterwards.
func ExampleSocket() {
	type Planet struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	connect := func(ctx context.Context, payload []byte) (context.Context, time.Time, error) {
		var said struct{ Token string }
		if json.Unmarshal(payload, &said) != nil || said.Token != "letmein" {
			return nil, time.Time{}, resource.ErrUnauthenticated
		}
		return ctx, time.Now().Add(time.Hour), nil // when the token expires
	}
	changes := feed.New(feed.NewMemory(nil), nil)
	defer changes.Close()
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes},
		resource.New("planets", memory.New[Planet](nil), &resource.Options[Planet]{Public: true}))
	handler := graphql.New(catalog, &graphql.Options{Socket: graphql.Socket{Connect: connect,
		Wait: time.Minute}})
	defer handler.Shutdown(context.Background())
	server := httptest.NewServer(handler)
	defer server.Close()

	ping(server, `{"type":"connection_init","payload":{"token":"please"}}`)
	from, err := changes.Position(context.Background()) // clients ask for eventCursor, beside what they list
	if err != nil {
		log.Fatal(err)
	}
	ping(server, `{"type":"connection_init","payload":{"token":"letmein"}}`,
		fmt.Sprintf(`{"id":"1","type":"subscribe","payload":{"query":"subscription($from: String) { `+
			`planetChanged(after: $from) { kind planet { name } } }","variables":{"from":%q}}}`, from),
		`mutation { createPlanet(input: {id: "ceres", name: "Ceres"}) { id } }`)
	// Output:
	// failed to get reader: received close frame: status = StatusCode(4403) and reason = "The operation requires authentication."
	// {"type":"connection_ack"}
	// {"data":{"createPlanet":{"id":"ceres"}}}
	// {"id":"1","type":"next","payload":{"data":{"planetChanged":{"kind":"CREATED","planet":{"name":"Ceres"}}}}}
}
