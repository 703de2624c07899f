package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// order is an item with names and types of members that differ between JSON and GraphQL.
type order struct {
	ID       int64           `json:"id" readOnly:"true"`
	Status   string          `json:"status" required:"true" enum:"placed,paid,sent"`
	Total    int64           `json:"total"`
	Small    int8            `json:"small"`
	Weight   float64         `json:"weight"`
	Gift     bool            `json:"gift"`
	Note     *string         `json:"note" maxLength:"10"`
	Placed   time.Time       `json:"placed-at,omitzero"`
	Lines    []line          `json:"order-lines,omitempty" maxItems:"3"`
	To       *address        `json:"to"`
	Tags     []string        `json:"tags,omitempty" maxLength:"5"`
	Extra    any             `json:"extra,omitempty"`
	Counts   map[string]int8 `json:"counts,omitempty"`
	Odd      string          `json:"a/b~c,omitempty" maxLength:"3"`
	Password string          `json:"password,omitempty" writeOnly:"true"`
}

type line struct {
	Item string `json:"the-item" required:"true" minLength:"1"`
	Qty  int32  `json:"qty" minimum:"1" default:"1"`
}

type address struct {
	City string `json:"city" required:"true"`
	Zip  string `json:"zip,omitempty"`
}

// page is an item with an id that clients choose.
type page struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true"`
}

// slot is an item with a numeric id that clients choose.
type slot struct {
	ID   int64  `json:"id"`
	Text string `json:"text"`
}

// shop is the catalog of the tests. It records the calls of its stores.
type shop struct {
	orders  *memory.Store[order]
	asked   []query.Query
	hidden  int64 // an order that Authorize hides
	catalog *resource.Catalog
	schema  *model.Schema
	*fetch.Fetcher
}

type login struct {
	Name string `json:"user-name" required:"true" minLength:"2"`
	Days int    `json:"days" minimum:"1"`
}

type token struct {
	Text string `json:"text"`
}

// open returns a shop with three orders.
func open(t *testing.T, adjust ...func(*resource.Options[order])) *shop {
	t.Helper()
	s := &shop{orders: memory.New[order](nil), hidden: 3}
	for i, status := range []string{"placed", "paid", "sent"} {
		o := order{Status: status, Total: int64(10 * i),
			Placed: time.Date(2026, 11, 20, i, 0, 0, 0, time.UTC), Password: "hush"}
		if _, err := s.orders.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	ops := resource.OpsOf(s.orders)
	list := ops.List
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[order], error] {
		s.asked = append(s.asked, q)
		return list(ctx, q)
	}
	every := []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte,
		query.IsNull}
	o := resource.Options[order]{
		Query: query.Support{Sort: []string{"total", "placed-at"}, Filter: map[string][]query.Op{
			"id": every, "status": append(slices.Clone(every), query.Contains, query.StartsWith),
			"total": every,
			"small": every, "weight": every, "gift": {query.Eq}, "note": every, "placed-at": every,
		}},
		Authorize: func(_ context.Context, _ resource.Op, before, _ *order) error {
			if before != nil && before.ID == s.hidden {
				return resource.ErrForbidden
			}
			return nil
		},
		AuthorizeGone: func(context.Context, string) error { return nil },
		PageSize:      2, MaxPageSize: 5,
	}
	for _, fn := range adjust {
		fn(&o)
	}
	s.catalog = resource.NewCatalog(&resource.CatalogOptions{Limits: resource.Limits{Terms: 9}},
		ops.Resource("orders", &o),
		resource.New("pages", memory.New[page](nil), nil),
		resource.New("slots", memory.New[slot](nil), nil),
		resource.NewLookup("newest", "orders", newest),
		command.New("auth/login", logIn, nil),
		command.New("shop/close", func(context.Context, struct{}) (struct{},
			error) {
			return struct{}{}, nil
		}, nil),
	)
	var err error
	if s.schema, err = model.Reflect(s.catalog, nil); err != nil {
		t.Fatal(err)
	}
	s.Fetcher = fetch.New(s.catalog)
	return s
}

type newestIn struct {
	Status string `json:"of-status" required:"true"`
	Since  int64  `json:"since" minimum:"1900"`
}

// newest is a lookup that returns order 1, the hidden order, no order, or an error.
func newest(_ context.Context, in newestIn) (string, error) {
	switch in.Status {
	case "placed":
		return "1", nil
	case "sent":
		return "3", nil
	case "none":
		return "", nil
	case "bad":
		return "", errors.New("secret")
	}
	return "77", nil
}

func logIn(_ context.Context, in login) (token, error) {
	switch in.Name {
	case "eve":
		return token{}, resource.ErrForbidden
	case "bob":
		return token{}, resource.Invalid("user-name", "unknown")
	}
	return token{fmt.Sprint(in.Name, in.Days)}, nil
}

// field returns a field of a root type.
func (s *shop) field(t *testing.T, name string) *model.Field {
	t.Helper()
	for _, root := range []*model.Type{s.schema.Query, s.schema.Mutation} {
		if f := root.Field(name); f != nil {
			return f
		}
	}
	t.Fatalf("there is no field %s", name)
	return nil
}

// violation is an error about one argument.
type violation struct{ Argument, Code string }

// reported returns the code of an error and its violations.
func reported(err error) (string, []violation) {
	if err == nil {
		return "", nil
	}
	e := gqlerror.Of(err)
	var list []violation
	for i, v := range e.Problem.Errors {
		list = append(list, violation{e.Arguments[i], v.Code})
	}
	return e.Code, list
}

// args has the form that package coerce returns.
type args = map[string]any

// kindOf returns the problem kind of an error.
func kindOf(err error) problem.Kind {
	if err == nil {
		return ""
	}
	return resource.Problem(err).Kind
}
