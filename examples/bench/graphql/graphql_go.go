package main

// The peer graphql-go. Its schema is built from Go values, and its values are of type any.

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// graphqlGoHandler serves the shop with graphql-go/graphql. Each field has a resolver, which is
// faster than the default lookup by struct tag. Relations are thunks, as with a dataloader: the
// executor calls them level by level.
func graphqlGoHandler(s *shop.Shop) http.Handler {
	order := orderType(s)
	schema, err := graphql.NewSchema(
		graphql.SchemaConfig{Query: queryType(s, order), Mutation: mutationType(s, order)})
	if err != nil {
		panic(err)
	}
	// The library has no HTTP handler of its own, so this one does the least that a client needs.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Query         string         `json:"query"`
			OperationName string         `json:"operationName"`
			Variables     map[string]any `json:"variables"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		result := graphql.Do(graphql.Params{
			Schema:         schema,
			RequestString:  in.Query,
			OperationName:  in.OperationName,
			VariableValues: in.Variables,
			Context:        r.Context(),
		})
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(result)
	})
}

// fieldOf returns a field of T.
// get receives the parent, which every resolver of this schema passes as a pointer.
func fieldOf[T any](typ graphql.Output, get func(v *T) any) *graphql.Field {
	return &graphql.Field{
		Type:    typ,
		Resolve: func(p graphql.ResolveParams) (any, error) { return get(p.Source.(*T)), nil },
	}
}

// nonNull returns the type that ends with "!" in SDL.
func nonNull(t graphql.Type) graphql.Output { return graphql.NewNonNull(t) }

var dateTimeScalar = graphql.NewScalar(graphql.ScalarConfig{Name: "DateTime", Serialize: func(v any) any {
	return v.(time.Time).Format(time.RFC3339Nano)
}})

// orderType returns the type Order with the types of its relations.
func orderType(s *shop.Shop) *graphql.Object {
	user := graphql.NewObject(graphql.ObjectConfig{Name: "User", Fields: graphql.Fields{
		"id":    fieldOf(nonNull(graphql.ID), func(u *shop.User) any { return u.ID }),
		"name":  fieldOf(nonNull(graphql.String), func(u *shop.User) any { return u.Name }),
		"email": fieldOf(nonNull(graphql.String), func(u *shop.User) any { return u.Email }),
	}})
	shipment := graphql.NewObject(graphql.ObjectConfig{Name: "Shipment", Fields: graphql.Fields{
		"id":      fieldOf(nonNull(graphql.ID), func(s *shop.Shipment) any { return s.ID }),
		"orderId": fieldOf(nonNull(graphql.String), func(s *shop.Shipment) any { return s.OrderID }),
		"carrier": fieldOf(nonNull(graphql.String), func(s *shop.Shipment) any { return s.Carrier }),
		"parcels": fieldOf(nonNull(graphql.Int), func(s *shop.Shipment) any { return s.Parcels }),
	}})
	return graphql.NewObject(graphql.ObjectConfig{Name: "Order", Fields: graphql.Fields{
		"id":         fieldOf(nonNull(graphql.ID), func(o *shop.Order) any { return o.ID }),
		"status":     fieldOf(nonNull(graphql.String), func(o *shop.Order) any { return o.Status }),
		"totalCents": fieldOf(nonNull(graphql.Int), func(o *shop.Order) any { return o.TotalCents }),
		"note":       fieldOf(graphql.String, func(o *shop.Order) any { return o.Note }),
		"placedAt":   fieldOf(nonNull(dateTimeScalar), func(o *shop.Order) any { return o.PlacedAt }),
		"customerId": fieldOf(nonNull(graphql.String), func(o *shop.Order) any { return o.CustomerID }),
		// The executor collects the thunks of a level and calls them after it.
		"customer": fieldOf(user, func(o *shop.Order) any {
			return func() (any, error) {
				u, ok := s.User(o.CustomerID)
				if !ok {
					return nil, nil
				}
				return u, nil
			}
		}),
		"shipments": fieldOf(nonNull(graphql.NewList(nonNull(shipment))), func(o *shop.Order) any {
			return func() (any, error) {
				of := s.ShipmentsOf(o.ID)
				out := make([]*shop.Shipment, len(of))
				for i := range of {
					out[i] = &of[i]
				}
				return out, nil
			}
		}),
	}})
}

// queryType returns the type Query. DefaultValue is the page size of Stoa.
func queryType(s *shop.Shop, order *graphql.Object) *graphql.Object {
	connection := graphql.NewObject(graphql.ObjectConfig{Name: "OrderConnection", Fields: graphql.Fields{
		"nodes": &graphql.Field{Type: nonNull(graphql.NewList(nonNull(order))),
			Resolve: func(p graphql.ResolveParams) (any, error) { return p.Source, nil }},
	}})
	return graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{
		"order": {
			Type: order,
			Args: graphql.FieldConfigArgument{"id": {Type: nonNull(graphql.ID)}},
			Resolve: func(p graphql.ResolveParams) (any, error) {
				return found(s.Order(p.Args["id"].(string)))
			},
		},
		"orders": {
			Type: connection,
			Args: graphql.FieldConfigArgument{"first": {Type: graphql.Int, DefaultValue: 50}},
			Resolve: func(p graphql.ResolveParams) (any, error) {
				orders := s.Orders(p.Args["first"].(int))
				out := make([]*shop.Order, len(orders))
				for i := range orders {
					out[i] = &orders[i]
				}
				return out, nil
			},
		},
	}})
}

// mutationType returns the type Mutation.
func mutationType(s *shop.Shop, order *graphql.Object) *graphql.Object {
	input := graphql.NewInputObject(graphql.InputObjectConfig{Name: "PatchOrderInput",
		Fields: graphql.InputObjectConfigFieldMap{"note": {Type: graphql.String}}})
	return graphql.NewObject(graphql.ObjectConfig{Name: "Mutation", Fields: graphql.Fields{
		"patchOrder": {
			Type: order,
			Args: graphql.FieldConfigArgument{
				"id":    {Type: nonNull(graphql.ID)},
				"input": {Type: nonNull(input)},
			},
			Resolve: func(p graphql.ResolveParams) (any, error) {
				note, _ := p.Args["input"].(map[string]any)["note"].(string)
				return found(s.SetNote(p.Args["id"].(string), &note))
			},
		},
	}})
}

// found returns a pointer to the order for the resolvers of its fields, or nil if it does not
// exist.
func found(o shop.Order, ok bool) (any, error) {
	if !ok {
		return nil, nil
	}
	return &o, nil
}
