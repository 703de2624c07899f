package graphql_test

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type City struct {
	ID  string  `json:"id"`
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// cities serves two cities, with fields beside them.
func cities(fields ...graphql.Field) *graphql.Handler {
	store := memory.New[City](nil)
	for _, c := range []City{{"athens", 38, 24}, {"chania", 35.5, 24}} {
		if _, err := store.Insert(context.Background(), c.ID, c); err != nil {
			panic(err)
		}
	}
	catalog := resource.NewCatalog(nil, resource.New("cities", store, &resource.Options[City]{Public: true}))
	return graphql.New(catalog, &graphql.Options{Fields: fields})
}

// show prints the answer to a document.
func show(h *graphql.Handler, document string) {
	r := httptest.NewRequest("POST", "/graphql", strings.NewReader(`{"query":"`+document+`"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Body)
}

// A query that no resource answers. The schema shows its result by the Go type.
func ExampleQuery() {
	type Weather struct {
		Degrees float64 `json:"degrees"`
		Sky     string  `json:"sky" enum:"CLEAR,CLOUDS"`
	}
	type At struct {
		City string `json:"city" required:"true"`
	}
	weather := graphql.Query("weather", func(ctx context.Context, at At) (*Weather, error) {
		if at.City != "athens" {
			return nil, nil // null, and no error
		}
		return &Weather{Degrees: 21.5, Sky: "CLEAR"}, nil
	}, &graphql.FieldOptions{Doc: "The weather in a city; null if nobody knows."})

	show(cities(weather),
		`{ athens: weather(city: \"athens\") { sky degrees } rome: weather(city: \"rome\") { sky } }`)
	// Output: {"data":{"athens":{"sky":"CLEAR","degrees":21.5},"rome":null}}
}

// An action that is for GraphQL alone, and that returns nothing: clients get true.
func ExampleMutation() {
	type Greeting struct {
		Name string `json:"name" required:"true" maxLength:"40"`
	}
	greet := graphql.Mutation("greet", func(ctx context.Context, in Greeting) (struct{}, error) {
		fmt.Println("Hello, " + in.Name + "!")
		return struct{}{}, nil
	}, nil)

	show(cities(greet), `mutation { greet(name: \"Ada\") }`)
	// Output:
	// Hello, Ada!
	// {"data":{"greet":true}}
}

// A field of every city. The function is called once for all of them.
func ExampleComputed() {
	type Point struct {
		Lat float64 `json:"lat" required:"true"`
		Lon float64 `json:"lon" required:"true"`
	}
	away := graphql.Computed("cities", "away",
		func(ctx context.Context, cities []*City, from Point) ([]float64, error) {
			fmt.Println(len(cities), "cities")
			out := make([]float64, len(cities))
			for i, c := range cities {
				out[i] = math.Hypot(c.Lat-from.Lat, c.Lon-from.Lon)
			}
			return out, nil
		}, &graphql.FieldOptions{Doc: "How far it is, in degrees."})

	show(cities(away), `{ cities { nodes { id away(lat: 38, lon: 24) } } }`)
	// Output:
	// 2 cities
	// {"data":{"cities":{"nodes":[{"id":"athens","away":0},{"id":"chania","away":2.5}]}}}
}
