package rest_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// The shop of testdata/exchanges. It has its own clock and always starts with the same items.

type purchase struct {
	ID        int64          `json:"id" readOnly:"true"`
	Status    string         `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Lines     []purchaseLine `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	Note      *string        `json:"note" maxLength:"500"`
	Customer  int64          `json:"customerId,omitzero" minimum:"1"`
	CreatedAt time.Time      `json:"createdAt" readOnly:"true"`
}

type purchaseLine struct {
	Item int64 `json:"itemId" required:"true" minimum:"1"`
	Qty  int   `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type customer struct {
	ID     int64  `json:"id" readOnly:"true"`
	Email  string `json:"email" required:"true" format:"email" unique:"true"`
	Active bool   `json:"active" required:"true"`
	Role   string `json:"role" enum:"customer,clerk,admin" default:"customer"`
}

type town struct {
	ID         string  `json:"id" maxLength:"64"`
	Name       string  `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string  `json:"country" required:"true" pattern:"^[A-Z]{2}$"`
	Population int64   `json:"population" minimum:"0"`
	Lat        float64 `json:"lat" minimum:"-90" maximum:"90"`
	Lon        float64 `json:"lon" minimum:"-180" maximum:"180"`
}

// ticking returns a clock that advances by a minute with each call.
func ticking() func() time.Time {
	now := time.Date(2024, 3, 1, 8, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Minute)
		return now
	}
}

// goldenShop opens the shop.
func goldenShop(t *testing.T) http.Handler {
	t.Helper()
	return byToken(rest.New(resource.NewCatalog(nil, goldenParts(t)...), goldenMedia()))
}

// goldenParts returns the parts of the shop: orders, users, and those that are the same in all
// contracts.
func goldenParts(t *testing.T) []resource.Part {
	t.Helper()
	clock := ticking()
	orders := memory.New(&memory.Options[purchase]{Now: clock})
	users := memory.New(&memory.Options[customer]{Now: clock})
	places := memory.New(&memory.Options[town]{Now: clock})
	fill(t, users.Create, customer{Email: "ann@example.com", Active: true, Role: "admin"},
		customer{Email: "bob@example.com", Active: true, Role: "customer"})
	noon := time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
	fill(t, orders.Create,
		purchase{Status: "paid", Lines: []purchaseLine{{Item: 7, Qty: 1}}, Customer: 1, CreatedAt: noon},
		purchase{Status: "placed", Lines: []purchaseLine{{Item: 7, Qty: 2}, {Item: 9, Qty: 1}}, Customer: 2, CreatedAt: noon},
		purchase{Status: "placed", Lines: []purchaseLine{{Item: 3, Qty: 10}}, Customer: 1, CreatedAt: noon})
	fill(t, func(ctx context.Context, v town) (resource.Item[town], error) { return places.Insert(ctx, v.ID, v) },
		town{"athens", "Athens", "GR", 643452, 37.98, 23.73}, town{"blantyre", "Blantyre", "MW", 800264, -15.79, 35.01},
		town{"cusco", "Cusco", "PE", 428450, -13.53, -71.97}, town{"delphi", "Delphi", "GR", 1404, 38.48, 22.5},
		town{"edirne", "Edirne", "TR", 180002, 41.68, 26.56}, town{"fez", "Fez", "MA", 1112072, 34.03, -5})
	jobs := goldenJobs()
	placesResource := resource.New("places", places, placeOptions())
	return []resource.Part{
		withoutInsert(orders).Resource("orders", orderOptions(clock)),
		withoutInsert(users).Resource("users", userOptions()),
		placesResource,
		command.NewImport("places/import", placesResource),
		resource.NewLookup("largest-place", "places", largestIn(places)),
		command.New("auth/login", letIn, &command.Options[keyIn]{Public: true}),
		command.New("orders/cancel-stale", cancelStale(orders), &command.Options[staleIn]{Jobs: jobs}),
		jobs.Resource(),
		blob.New("files", newCellar(), &blob.Options{Public: true, MaxSize: 100,
			NewID: func(string) string { return "0193-4c1e" }}),
	}
}

func fill[T any](t testing.TB, create func(context.Context, T) (resource.Item[T], error), values ...T) {
	t.Helper()
	for _, v := range values {
		if _, err := create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
}

func withoutInsert[T any](c resource.Collection[T]) resource.Ops[T] {
	ops := resource.OpsOf(c)
	ops.Insert = nil
	return ops
}

func orderOptions(clock func() time.Time) *resource.Options[purchase] {
	return &resource.Options[purchase]{
		Public: true, Samples: purchaseSamples(),
		Query: query.Support{
			Filter: map[string][]query.Op{"status": {query.Eq, query.In}, "customerId": {query.Eq}},
			Sort:   []string{"status", "createdAt"},
		},
		Before: func(_ context.Context, op resource.Op, _, after *purchase) error {
			if op == resource.OpCreate {
				after.CreatedAt = clock()
			}
			return nil
		},
		Relations: []resource.Relation[purchase]{{
			Name: "customer", Target: "users",
			Keys: func(o *purchase) []string {
				if o.Customer == 0 {
					return nil
				}
				return []string{strconv.FormatInt(o.Customer, 10)}
			},
		}},
	}
}

// goldenMedia has the names of items in vendor media types.
func goldenMedia() *rest.Options {
	return &rest.Options{Resources: map[string]rest.ResourceOptions{"orders": {Media: "order"}, "users": {Media: "user"}}}
}

// userOptions allow every caller to read, and Ann to write.
func userOptions() *resource.Options[customer] {
	return &resource.Options[customer]{
		Query: query.Support{Filter: map[string][]query.Op{"role": {query.Eq}}},
		Authorize: func(ctx context.Context, op resource.Op, _, _ *customer) error {
			switch {
			case op == resource.OpGet || op == resource.OpCreate || caller(ctx) == "ann":
				return nil
			case caller(ctx) == "":
				return resource.ErrUnauthenticated
			}
			return resource.ErrForbidden
		},
		Relations: []resource.Relation[customer]{{Name: "orders", Target: "orders", By: "customerId"}},
	}
}

func placeOptions() *resource.Options[town] {
	return &resource.Options[town]{
		Public:         true,
		RequireIfMatch: true,
		Query: query.Support{
			Filter: map[string][]query.Op{
				"country": {query.Eq, query.In}, "name": {query.Contains, query.StartsWith},
				"population": {query.Gte, query.Lt},
			},
			Sort: []string{"name", "country", "population"},
		},
	}
}

type inCountry struct {
	Country string `json:"country" required:"true" pattern:"^[A-Z]{2}$"`
}

func largestIn(places resource.Collection[town]) func(context.Context, inCountry) (string, error) {
	return func(ctx context.Context, in inCountry) (string, error) {
		q := query.Query{
			Filter: query.Where("country", query.Eq, in.Country),
			Sort:   []query.Order{{Field: "population", Desc: true}, {Field: "id"}},
			Limit:  1,
		}
		for item, err := range places.List(ctx, q) {
			return item.ID, err
		}
		return "", nil
	}
}

// byToken uses the token of a request as the name of the caller, which is not secure.
func byToken(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, name)))
	})
}
