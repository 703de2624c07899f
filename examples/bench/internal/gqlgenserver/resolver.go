//go:build gqlgen

package gqlgenserver

import (
	"context"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// Resolver reads and writes the shop.
type Resolver struct {
	Shop    *shop.Shop
	Changes broker
}

// PatchOrder is the resolver for the patchOrder field.
func (r *mutationResolver) PatchOrder(
	ctx context.Context, id string, input PatchOrderInput,
) (*shop.Order, error) {
	o, ok := r.Shop.SetNote(id, input.Note)
	if !ok {
		return nil, nil
	}
	r.Changes.publish(&OrderChange{Kind: ChangeKindUpdated, ID: id, Order: &o})
	return &o, nil
}

// Customer is the resolver for the customer field.
func (r *orderResolver) Customer(ctx context.Context, obj *shop.Order) (*shop.User, error) {
	u, _ := r.Shop.User(obj.CustomerID)
	return u, nil
}

// Shipments is the resolver for the shipments field.
func (r *orderResolver) Shipments(ctx context.Context, obj *shop.Order) ([]*shop.Shipment, error) {
	return pointers(r.Shop.ShipmentsOf(obj.ID)), nil
}

// Order is the resolver for the order field.
func (r *queryResolver) Order(ctx context.Context, id string) (*shop.Order, error) {
	o, ok := r.Shop.Order(id)
	if !ok {
		return nil, nil
	}
	return &o, nil
}

// Orders is the resolver for the orders field.
func (r *queryResolver) Orders(ctx context.Context, first *int32) (*OrderConnection, error) {
	n := 50
	if first != nil {
		n = int(*first)
	}
	return &OrderConnection{Nodes: pointers(r.Shop.Orders(n))}, nil
}

// OrderChanged is the resolver for the orderChanged field.
func (r *subscriptionResolver) OrderChanged(ctx context.Context) (<-chan *OrderChange, error) {
	return r.Changes.subscribe(ctx), nil
}

// Mutation returns MutationResolver implementation.
func (r *Resolver) Mutation() MutationResolver { return &mutationResolver{r} }

// Order returns OrderResolver implementation.
func (r *Resolver) Order() OrderResolver { return &orderResolver{r} }

// Query returns QueryResolver implementation.
func (r *Resolver) Query() QueryResolver { return &queryResolver{r} }

// Subscription returns SubscriptionResolver implementation.
func (r *Resolver) Subscription() SubscriptionResolver { return &subscriptionResolver{r} }

type (
	mutationResolver     struct{ *Resolver }
	orderResolver        struct{ *Resolver }
	queryResolver        struct{ *Resolver }
	subscriptionResolver struct{ *Resolver }
)
