// Package shop is the data that all peers of a comparison serve: orders with their customers and
// shipments, in slices protected by one lock. Its methods take almost no time, so the benchmarks
// measure the peers.
package shop

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Schema is the GraphQL schema that the peers serve, without subscriptions.
//
//go:embed schema.graphql
var Schema string

// Order is an order of a customer.
type Order struct {
	ID         string    `json:"id" readOnly:"true"`
	Status     string    `json:"status"`
	TotalCents int32     `json:"totalCents"`
	Note       *string   `json:"note"`
	PlacedAt   time.Time `json:"placedAt"`
	CustomerID string    `json:"customerId"`
}

// User is a customer.
type User struct {
	ID    string `json:"id" readOnly:"true"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Shipment is a shipment of an order.
type Shipment struct {
	ID      string `json:"id" readOnly:"true"`
	OrderID string `json:"orderId"`
	Carrier string `json:"carrier"`
	Parcels int32  `json:"parcels"`
}

// Shop holds all data, each slice sorted by id. Only the notes of orders change.
type Shop struct {
	mu        sync.RWMutex // guards orders and revs
	orders    []Order
	revs      []int64        // of orders
	orderAt   map[string]int // index by id
	users     []User
	userAt    map[string]int // index by id
	shipments []Shipment     // two of each order; those of order i start at 2i
}

// New returns a shop with n orders and n/10 users.
func New(n int) *Shop {
	s := &Shop{orderAt: map[string]int{}, userAt: map[string]int{}}
	note := "Please ring \"twice\", at the back."
	for i := range max(1, n/10) {
		s.users = append(s.users, User{ID: fmt.Sprintf("u%06d", i), Name: fmt.Sprintf("Customer Nº %d", i),
			Email: fmt.Sprintf("customer%d@example.com", i)})
		s.userAt[s.users[i].ID] = i
	}
	began := time.Date(2026, time.November, 2, 12, 0, 0, 0, time.UTC)
	for i := range n {
		o := Order{
			ID:         fmt.Sprintf("o%06d", i),
			Status:     []string{"placed", "paid", "shipped"}[i%3],
			TotalCents: int32(i*37 + 199),
			PlacedAt:   began.Add(time.Duration(i) * time.Minute),
			CustomerID: s.users[i*7%len(s.users)].ID,
		}
		if i%4 == 0 {
			o.Note = &note
		}
		s.orders, s.revs = append(s.orders, o), append(s.revs, 1)
		s.orderAt[o.ID] = i
		for k := range 2 {
			s.shipments = append(s.shipments, Shipment{ID: fmt.Sprintf("s%06d-%d", i, k), OrderID: o.ID,
				Carrier: []string{"Post", "Van"}[k], Parcels: int32(i%5 + 1)})
		}
	}
	return s
}

// Orders returns copies of the first orders.
func (s *Shop) Orders(first int) []Order {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.orders[:min(first, len(s.orders))])
}

// Order returns the order with this id.
func (s *Shop) Order(id string) (Order, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.orderAt[id]
	if !ok {
		return Order{}, false
	}
	return s.orders[i], true
}

// User returns the user with this id. Users never change.
func (s *Shop) User(id string) (*User, bool) {
	i, ok := s.userAt[id]
	if !ok {
		return nil, false
	}
	return &s.users[i], true
}

// ShipmentsOf returns the shipments of an order. They never change, and the caller must not change
// them.
func (s *Shop) ShipmentsOf(orderID string) []Shipment {
	i, ok := s.orderAt[orderID] // no lock: ids and the number of orders never change
	if !ok {
		return nil
	}
	return s.shipments[2*i : 2*i+2 : 2*i+2]
}

// SetNote changes the note of an order and returns the changed order.
func (s *Shop) SetNote(id string, note *string) (Order, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.orderAt[id]
	if !ok {
		return Order{}, false
	}
	s.orders[i].Note = note
	s.revs[i]++
	return s.orders[i], true
}
