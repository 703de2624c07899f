package main

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

// queryTimeout limits the execution of a GraphQL request.
const queryTimeout = 10 * time.Second

// newAPI serves a saga over REST and GraphQL. report describes the routes and fields.
func newAPI(s *saga) (api http.Handler, report string) {
	catalog := newCatalog(s)
	graphqlHandler := graphql.New(catalog, &graphql.Options{
		Description: "Characters, planets and species of the first three films.",
		Timeout:     queryTimeout,
		Fields: []graphql.Field{
			graphql.Computed("films", "rating", s.ratings, &graphql.FieldOptions{
				Doc: "The mean of the stars of all reviews; null without reviews."}),
			graphql.Query("census", s.census, &graphql.FieldOptions{
				Doc: "The number of characters of each species, the largest first."}),
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/graphql", graphqlHandler)
	mux.Handle("/graphql/", graphqlHandler)
	mux.Handle("GET /{$}", http.RedirectHandler("/graphql", http.StatusSeeOther))
	return mux, catalog.Report() + graphqlHandler.Report()
}

// newCatalog declares the resources and their relations. The name of a relation is a field in
// GraphQL and a value of expand in REST.
func newCatalog(s *saga) *resource.Catalog {
	return resource.NewCatalog(nil,
		s.characters.Resource("characters", &resource.Options[Character]{
			Public: true,
			Query: query.Support{
				Filter: map[string][]query.Op{
					"name":      {query.Eq, query.Contains, query.StartsWith},
					"speciesId": {query.Eq, query.In},
				},
				Sort: []string{"name", "height"},
			},
			Relations: []resource.Relation[Character]{
				{Name: "friends", Target: "characters", Field: "friendIds", Many: true},
				{Name: "homeWorld", Target: "planets", Field: "homeWorldId"},
				{Name: "species", Target: "all-species", Field: "speciesId"},
				{Name: "films", Target: "films", Field: "appearsIn", Many: true},
			},
		}),
		s.planets.Resource("planets", &resource.Options[Planet]{
			Public: true,
			Query: query.Support{
				Filter: map[string][]query.Op{"climate": {query.Eq, query.Ne}},
				Sort:   []string{"name"},
			},
		}),
		s.species.Resource("all-species", &resource.Options[Species]{
			Public: true,
			Query:  query.Support{Sort: []string{"name", "lifespan"}},
			Relations: []resource.Relation[Species]{
				{Name: "origin", Target: "planets", Field: "originId"},
				{Name: "characters", Target: "characters", By: "speciesId"},
			},
		}),
		s.films.Resource("films", &resource.Options[Film]{
			Public: true,
			Query:  query.Support{Sort: []string{"number", "released"}},
			Relations: []resource.Relation[Film]{
				{Name: "hero", Target: "characters", Field: "heroId"},
				{Name: "reviews", Target: "reviews", By: "episode"},
			},
		}),
		s.reviews.Resource("reviews", &resource.Options[Review]{
			Public: true,
			Query: query.Support{
				Filter: map[string][]query.Op{
					"episode": {query.Eq, query.In},
					"stars":   {query.Gte, query.Lte},
				},
			},
			Relations: []resource.Relation[Review]{{Name: "film", Target: "films", Field: "episode"}},
		}),
		resource.NewLookup("hero", "characters", s.hero),
	)
}

// Hero is the argument of the fields hero and census.
type Hero struct {
	Episode *Episode `json:"episode" enum:"NEWHOPE,EMPIRE,JEDI" doc:"The film; all three if null."`
}

// hero returns the id of a character. The lookup reads, authorizes and serves the character like
// any other item.
func (s *saga) hero(ctx context.Context, in Hero) (string, error) {
	if in.Episode == nil {
		return "r2-d2", nil
	}
	film, err := s.films.Get(ctx, string(*in.Episode))
	return film.Value.HeroID, err
}

// ratings computes a field of films that is not stored. It is called once for all films of a
// response, so one call of the store is enough.
func (s *saga) ratings(ctx context.Context, films []*Film, _ struct{}) ([]*float64, error) {
	var episodes []string
	for _, film := range films {
		episodes = append(episodes, string(film.ID))
	}
	stars, count := map[Episode]int{}, map[Episode]int{}
	for review, err := range s.reviews.ListByKeys(ctx, "episode", episodes, query.Query{Limit: 10_000}) {
		if err != nil {
			return nil, err
		}
		stars[review.Value.Episode] += review.Value.Stars
		count[review.Value.Episode]++
	}
	out := make([]*float64, len(films))
	for i, film := range films {
		if n := count[film.ID]; n > 0 {
			out[i] = new(float64(stars[film.ID]) / float64(n))
		}
	}
	return out, nil
}

// Share is the number of characters of a species.
type Share struct {
	Species    string `json:"species"`
	Characters int    `json:"characters" minimum:"0" maximum:"1000000"`
}

// census is a query that returns neither an item nor a list of items.
func (s *saga) census(ctx context.Context, in Hero) ([]Share, error) {
	counts := map[string]int{}
	for c, err := range s.characters.List(ctx, query.Query{Sort: []query.Order{{Field: "id"}}}) {
		if err != nil {
			return nil, err
		}
		if in.Episode == nil || slices.Contains(c.Value.AppearsIn, *in.Episode) {
			counts[c.Value.SpeciesID]++
		}
	}
	shares := make([]Share, 0, len(counts))
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		shares = append(shares, Share{Species: id, Characters: counts[id]})
	}
	slices.SortStableFunc(shares, func(a, b Share) int { return cmp.Compare(b.Characters, a.Characters) })
	return shares, nil
}
