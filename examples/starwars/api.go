package main

// The catalog and the handlers, with a lookup, a computed field and a custom query.

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

// queryTimeout limits the execution of a GraphQL request. Fields that are not resolved by then
// become errors. The other limits, such as the depth and the cost of a query, are the defaults of
// [graphql.Limits].
const queryTimeout = 10 * time.Second

// newAPI serves a saga over REST and GraphQL. report describes the routes and fields. Both
// protocols use the same catalog, so an item has one policy, one validation and one set of
// relations.
func newAPI(s *saga) (api http.Handler, report string) {
	catalog := newCatalog(s)
	graphqlHandler := graphql.New(catalog, &graphql.Options{
		Description: "Characters, planets and species of the first three films.",
		Timeout:     queryTimeout,
		// Fields that are not in the catalog. Computed extends a type; Query adds a root field.
		Fields: []graphql.Field{
			// The resolver takes all films of a response at once, so it costs one call of the
			// store.
			graphql.Computed("films", "rating", s.ratings, &graphql.FieldOptions{
				Doc: "The mean of the stars of all reviews; null without reviews."}),
			graphql.Query("census", s.census, &graphql.FieldOptions{
				Doc: "The number of characters of each species, the largest first."}),
		},
	})
	mux := http.NewServeMux()
	// The patterns have no method, because the handlers respond to wrong methods with 405 and
	// Allow.
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/graphql", graphqlHandler)
	mux.Handle("/graphql/", graphqlHandler)
	// The page for browsers is part of the GraphQL handler.
	mux.Handle("GET /{$}", http.RedirectHandler("/graphql", http.StatusSeeOther))
	return mux, catalog.Report() + graphqlHandler.Report()
}

// newCatalog declares the resources and their relations. The name of a relation is a field in
// GraphQL and a value of expand in REST. Query declares what clients may filter and sort by;
// anything else is an error. Public removes the warning about missing authorization, because
// every caller may read and review.
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
				// Field holds the ids. A page of characters takes one call of GetMany for all of
				// their friends.
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
				// By names the field of the other side. It takes one call of ListByKeys for a page.
				{Name: "characters", Target: "characters", By: "speciesId"},
			},
		}),
		s.films.Resource("films", &resource.Options[Film]{
			Public: true,
			Query:  query.Support{Sort: []string{"number", "released"}},
			Relations: []resource.Relation[Film]{
				// The same name as the lookup: one is a field of Film, the other a root field.
				{Name: "hero", Target: "characters", Field: "heroId"},
				{Name: "reviews", Target: "reviews", By: "episode"},
			},
		}),
		s.reviews.Resource("reviews", &resource.Options[Review]{
			Public: true,
			Query: query.Support{
				Filter: map[string][]query.Op{
					"episode": {query.Eq, query.In},
					// no Eq: an operator that is not declared is an error
					"stars": {query.Gte, query.Lte},
				},
			},
			Relations: []resource.Relation[Review]{{Name: "film", Target: "films", Field: "episode"}},
		}),
		// A lookup is a root field that finds an item by other means than its id.
		resource.NewLookup("hero", "characters", s.hero),
	)
}

// Hero is the argument of the fields hero and census.
type Hero struct {
	Episode *Episode `json:"episode" enum:"NEWHOPE,EMPIRE,JEDI" doc:"The film; all three if null."`
}

// hero returns the id of a character. The lookup reads, authorizes and serves the character like
// any other item. An unknown episode cannot arrive here, because the enum is checked first. If its
// id does not exist, the lookup is null.
func (s *saga) hero(ctx context.Context, in Hero) (string, error) {
	if in.Episode == nil {
		return "r2-d2", nil
	}
	film, err := s.films.Get(ctx, string(*in.Episode))
	return film.Value.HeroID, err
}

// ratings computes a field of films that is not stored. It is called once for all films of a
// response, so one call of the store is enough. The third argument has the arguments of the field;
// this one has none. The result has one value for each film, in the same order, and nil is null.
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

// census is a query that returns neither an item nor a list of items. The library does not authorize
// such a field, so a function with private data checks its caller.
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
