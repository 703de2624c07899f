package graphql_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// A test executes operations without a server.
func ExampleHandler_Execute() {
	api := graphql.New(sky(), nil)
	res := api.Execute(context.Background(), graphql.Request{
		Query:     `mutation($name: String!) { createPlanet(input: {id: "mars", name: $name}) { name } }`,
		Variables: map[string]any{"name": "Mars"},
	})
	var data struct {
		CreatePlanet Planet `json:"createPlanet"`
	}
	if err := res.Decode(&data); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(data.CreatePlanet.Name)
	// Output: Mars
}

// A command executes the operations in its input.
func ExampleHandler_Execute_command() {
	api := graphql.New(sky(), nil)
	input := strings.NewReader(`mutation { createPlanet(input: {id: "io"}) { id } }
		mutation { createPlanet(input: {id: "io", name: "Io"}) { id } }`) // os.Stdin
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(input); lines.Scan(); {
		if err := out.Encode(api.Execute(context.Background(), graphql.Request{Query: lines.Text()})); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// {"errors":[{"message":"Field \"CreatePlanetInput.name\" of required type \"String!\" was not provided.","locations":[{"line":1,"column":32}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","rule":"ValuesOfCorrectType"}}]}
	// {"data":{"createPlanet":{"id":"io"}}}
}

// A consumer of a queue receives a message at least once. The id of the message is the idempotency
// key, so the mutation is executed once.
func ExampleHandler_Execute_queue() {
	type message struct{ ID, Body string }
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
		Principal:   func(context.Context) string { return "queue" },
	}, resource.New("moons", memory.New[Moon](nil), &resource.Options[Moon]{Public: true}))
	api := graphql.New(catalog, nil)

	consume := func(m message) error {
		var req graphql.Request
		if err := json.Unmarshal([]byte(m.Body), &req); err != nil {
			return err
		}
		req.IdempotencyKey = m.ID
		res := api.Execute(context.Background(), req)
		fmt.Println(string(res.Data), res.Replayed)
		return res.Err()
	}
	m := message{"m1", `{"query":"mutation { createMoon(input: {planetId: \"mars\"}) { planetId } }"}`}
	fmt.Println(consume(m))
	fmt.Println(consume(m)) // delivered again
	// Output:
	// {"createMoon":{"planetId":"mars"}} false
	// <nil>
	// {"createMoon":{"planetId":"mars"}} true
	// <nil>
}

// A worker follows changes without HTTP.
func ExampleHandler_Subscribe() {
	changes := feed.New(feed.NewMemory(nil), nil)
	defer changes.Close()
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes},
		resource.New("moons", memory.New[Moon](nil), &resource.Options[Moon]{Public: true}))
	api := graphql.New(catalog, nil)

	ctx := context.Background()
	messages := api.Subscribe(ctx, graphql.Request{Query: `subscription { moonChanged { kind moon { planetId } } }`})
	api.Execute(ctx, graphql.Request{Query: `mutation { createMoon(input: {planetId: "mars"}) { id } }`})
	for res, err := range messages {
		if err != nil {
			fmt.Println(err) // subscribe again after the last res.Cursor
			return
		}
		fmt.Println(string(res.Data))
		break
	}
	// Output: {"moonChanged":{"kind":"CREATED","moon":{"planetId":"mars"}}}
}
