package openapi_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
)

// The shop that is described in the tests: what the reference application has, and beside it whatever a schema and a
// collection can be.

type order struct {
	ID         int64     `json:"id" readOnly:"true" doc:"Assigned by the shop."`
	Status     string    `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	Lines      []line    `json:"lines" required:"true" minItems:"1" maxItems:"50"`
	Note       *string   `json:"note" maxLength:"500" example:"Ring twice."`
	CustomerID *int64    `json:"customerId,omitzero" doc:"The user it is for."`
	CreatedAt  time.Time `json:"createdAt" readOnly:"true"`
}

type line struct {
	ItemID int64 `json:"itemId" required:"true" minimum:"1"`
	Qty    int   `json:"qty" required:"true" minimum:"1" maximum:"1000"`
}

type orderV1 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Status string `json:"status" enum:"placed,paid,shipped,cancelled" default:"placed"`
	ItemID int64  `json:"itemId" required:"true" minimum:"1"`
	Qty    int    `json:"qty" required:"true" minimum:"1" maximum:"1000" deprecated:"use lines of 2.0.0"`
}

type user struct {
	ID       int64  `json:"id" readOnly:"true"`
	Email    string `json:"email" required:"true" format:"email" unique:"true"`
	Active   bool   `json:"active" required:"true"`
	Role     string `json:"role" enum:"customer,clerk,admin" default:"customer"`
	Password string `json:"password,omitempty" writeOnly:"true" minLength:"8"`
}

// place has a field of every kind.
type place struct {
	ID         string            `json:"id" maxLength:"64" doc:"Chosen by the client, or assigned."`
	Name       string            `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string            `json:"country" pattern:"^[A-Z]{2}$" doc:"ISO 3166-1 alpha-2"`
	Population *int64            `json:"population,omitzero" minimum:"0"`
	Lat        *float64          `json:"lat,omitzero" minimum:"-90" maximum:"90"`
	Elevation  int16             `json:"elevation,omitempty" minimum:"-500"`
	Serial     int64             `json:"serial,string"`
	Visits     uint64            `json:"visits" default:"0"`
	Capital    bool              `json:"capital"`
	Tags       []string          `json:"tags,omitempty" maxItems:"9" unique:"true" minLength:"2"`
	Names      map[string]string `json:"names,omitempty" maxItems:"99" maxLength:"200"`
	Box        [4]float32        `json:"box"`
	Area       *area             `json:"area"`
	Owner      owner             `json:"owner"`
	Icon       []byte            `json:"icon,omitempty"`
	Code       string            `json:"code,omitempty" pattern:"(?i)^[a-z]+$"`
	Extra      any               `json:"extra,omitempty"`
}

// area is recursive.
type area struct {
	Name  string          `json:"name" required:"true" minLength:"1"`
	Parts []area          `json:"parts,omitempty"`
	Near  map[string]area `json:"near,omitempty"`
	Of    *area           `json:"of,omitzero"`
}

type owner struct {
	Name  string    `json:"name"`
	Since time.Time `json:"since" readOnly:"true"`
}

type country struct {
	Code string `json:"code" pattern:"^[A-Z]{2}$" required:"true"`
	Name string `json:"name" required:"true"`
}

type capitalOf struct {
	Country string `json:"country" required:"true" pattern:"^[A-Z]{2}$" example:"GR"`
	Year    int    `json:"year" minimum:"1" doc:"If not now"`
}

// assigned takes away that clients may choose ids.
func assigned[T any](c resource.Collection[T]) resource.Ops[T] {
	ops := resource.OpsOf(c)
	ops.Insert = nil
	return ops
}

// given takes away that the store may.
func given[T any](c resource.Collection[T]) resource.Ops[T] {
	ops := resource.OpsOf(c)
	ops.Create = nil
	return ops
}

// everything can be asked by every single value.
func everything[T any]() query.Support {
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range schema.For[T]().Fields {
		if !f.Comparable() || f.WriteOnly {
			continue
		}
		s.Sort = append(s.Sort, f.Name)
		s.Filter[f.Name] = []query.Op{query.Eq, query.Ne, query.In}
		switch f.Type.Kind {
		case schema.Integer, schema.Number:
			s.Filter[f.Name] = append(s.Filter[f.Name], query.Gte, query.Lt)
		case schema.String:
			if f.Type.Format != "date-time" {
				s.Filter[f.Name] = append(s.Filter[f.Name], query.Contains)
			}
		}
		if f.Nullable {
			s.Filter[f.Name] = append(s.Filter[f.Name], query.IsNull)
		}
	}
	return s
}

// shop is the catalog in its two contracts.
type shop struct {
	now, old *resource.Catalog
}

// shopREST are the options of its handlers.
var shopREST = &rest.Options{Resources: map[string]rest.ResourceOptions{"countries": {RepeatedDelete: 204}}}

func (s shop) handler() http.Handler { return rest.New(s.now, shopREST) }

func sampleOrder() order {
	note, customer := "Please wrap it.", int64(2)
	return order{ID: 7, Status: "paid", Lines: []line{{1, 2}, {9, 1}}, Note: &note, CustomerID: &customer,
		CreatedAt: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)}
}

func samplePlace() place {
	people := int64(664046)
	return place{ID: "264371", Name: "Athens", Country: "GR", Population: &people, Serial: 5, Capital: true,
		Tags: []string{"sunny"}, Names: map[string]string{"de": "Athen"}, Owner: owner{Name: "Athenians"},
		Area: &area{Name: "Attica", Parts: []area{{Name: "Piraeus"}}}, Code: "ath"}
}

func newShop(t testing.TB) shop {
	t.Helper()
	orders := assigned(memory.New[order](nil)).Resource("orders", &resource.Options[order]{
		Query:     everything[order](),
		Relations: []resource.Relation[order]{{Name: "customer", Target: "users", Keys: customerOf}},
		Samples:   []order{sampleOrder()},
		Public:    true,
	})
	users := assigned(memory.New[user](nil)).Resource("users", &resource.Options[user]{
		Query:     everything[user](),
		Relations: []resource.Relation[user]{{Name: "orders", Target: "orders", By: "customerId"}},
		Samples: []user{{ID: 2, Email: "bob@example.com", Active: true, Role: "clerk",
			Password: "correct horse"}},
		Authorize: func(ctx context.Context, op resource.Op, before, after *user) error { return nil },
	})
	places := resource.New("places", memory.New[place](nil), &resource.Options[place]{
		Query: everything[place](), Samples: []place{samplePlace()}, Public: true, PageSize: 10,
		MaxPageSize: 20,
	})
	countries := given(memory.New(&memory.Options[country]{ID: "code"})).Resource("countries",
		&resource.Options[country]{ID: "code", Public: true, RequireIfMatch: true})
	dusty := resource.OpsOf(memory.New[order](nil))
	archive := resource.Ops[order]{Get: dusty.Get, List: dusty.List}.Resource("order-archive",
		&resource.Options[order]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"status": {query.Eq}}}})
	capital := resource.NewLookup("capital", "places", func(context.Context, capitalOf) (string, error) {
		return "264371", nil
	})
	old := resource.View(orders, func(o order) (orderV1, error) {
		return orderV1{o.ID, o.Status, o.Lines[0].ItemID, o.Lines[0].Qty}, nil
	}, func(v orderV1, base order) (order, error) {
		if len(base.Lines) == 0 {
			base.Lines = make([]line, 1)
		}
		base.Status, base.Lines[0] = v.Status, line{v.ItemID, v.Qty}
		return base, nil
	}, nil)
	kept := newJobs()
	common := slices.Concat([]resource.Part{users, places, countries, kept.resource(),
		command.NewImport("places/import", places)}, filesOf(), commandsOf(kept))
	return shop{
		now: resource.NewCatalog(nil, append([]resource.Part{orders, archive, capital}, common...)...),
		old: resource.NewCatalog(nil, append([]resource.Part{old}, common...)...),
	}
}

func customerOf(o *order) []string {
	if o.CustomerID == nil {
		return nil
	}
	return []string{schema.For[order]().Field("customerId").Text(o)}
}
