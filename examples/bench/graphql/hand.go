package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// The peer by hand answers only these jobs. It decodes the request, fills structs of the shape of
// the response, and encodes them with encoding/json. It uses the document only to distinguish the
// jobs.

type (
	// Each job has a type for its response. Structs are the fastest input of encoding/json.
	handAnswer[T any] struct {
		Data T `json:"data"`
	}
	handOrders struct {
		Orders struct {
			Nodes []handOrder `json:"nodes"`
		} `json:"orders"`
	}
	handItem struct {
		Order *handOrder `json:"order"`
	}
	handPlainOrders struct {
		Orders struct {
			Nodes []handPlain `json:"nodes"`
		} `json:"orders"`
	}
	handPatched struct {
		PatchOrder *handNote `json:"patchOrder"`
	}
	// handPlain has the fields of an order itself, in the order in which the documents select them.
	handPlain struct {
		ID         string    `json:"id"`
		Status     string    `json:"status"`
		TotalCents int32     `json:"totalCents"`
		Note       *string   `json:"note"`
		PlacedAt   time.Time `json:"placedAt"`
	}
	handOrder struct {
		handPlain
		Customer  *handUser      `json:"customer"`
		Shipments []handShipment `json:"shipments"`
	}
	handUser struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
	}
	handShipment struct {
		ID      string `json:"id"`
		Carrier string `json:"carrier"`
		Parcels int32  `json:"parcels"`
	}
	handNote struct {
		ID   string  `json:"id"`
		Note *string `json:"note"`
	}
)

// handHandler answers the documents of the jobs, which it recognizes by their text. It does not
// parse GraphQL, so it is a lower bound for any server.
func handHandler(s *shop.Shop) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Query     string `json:"query"`
			Variables struct {
				ID    string `json:"id"`
				First int    `json:"first"`
				Input struct {
					Note *string `json:"note"`
				} `json:"input"`
			} `json:"variables"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		v := &in.Variables
		switch {
		case strings.HasPrefix(in.Query, "query Orders"):
			handWrite(w, handList(s, v.First))
		case strings.HasPrefix(in.Query, "query Plain"):
			handWrite(w, handPlainList(s, v.First))
		case strings.HasPrefix(in.Query, "query Order"):
			var out handItem
			if o, ok := s.Order(v.ID); ok {
				out.Order = &handOrder{}
				handFill(out.Order, s, &o)
			}
			handWrite(w, out)
		case strings.HasPrefix(in.Query, "mutation Patch"):
			var out handPatched
			if o, ok := s.SetNote(v.ID, v.Input.Note); ok {
				out.PatchOrder = &handNote{o.ID, o.Note}
			}
			handWrite(w, out)
		default:
			http.NotFound(w, r)
		}
	})
}

// handWrite encodes a response with encoding/json.
func handWrite[T any](w http.ResponseWriter, data T) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(handAnswer[T]{data})
}

// handList returns a page of orders with their relations.
func handList(s *shop.Shop, first int) (out handOrders) {
	orders := s.Orders(first)
	out.Orders.Nodes = make([]handOrder, len(orders))
	for i := range orders {
		handFill(&out.Orders.Nodes[i], s, &orders[i])
	}
	return out
}

// handPlainList returns a page of orders without relations.
func handPlainList(s *shop.Shop, first int) (out handPlainOrders) {
	orders := s.Orders(first)
	out.Orders.Nodes = make([]handPlain, len(orders))
	for i := range orders {
		out.Orders.Nodes[i] = plain(&orders[i])
	}
	return out
}

// plain returns the fields of an order itself.
func plain(o *shop.Order) handPlain {
	return handPlain{ID: o.ID, Status: o.Status, TotalCents: o.TotalCents, Note: o.Note, PlacedAt: o.PlacedAt}
}

// handFill sets an order with its relations. It looks them up one by one, as the other peers do.
func handFill(out *handOrder, s *shop.Shop, o *shop.Order) {
	out.handPlain = plain(o)
	if u, ok := s.User(o.CustomerID); ok {
		out.Customer = &handUser{u.ID, u.Name, u.Email}
	}
	of := s.ShipmentsOf(o.ID)
	out.Shipments = make([]handShipment, len(of))
	for i := range of {
		out.Shipments[i] = handShipment{of[i].ID, of[i].Carrier, of[i].Parcels}
	}
}
