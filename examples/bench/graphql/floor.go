package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// The floor is what a team writes that needs just these answers: it reads the request, fills structs that look like the
// answer, and leaves the rest to encoding/json. It looks at the document only to tell the jobs apart.

type (
	floorAnswer[T any] struct {
		Data T `json:"data"`
	}
	floorOrders struct {
		Orders struct {
			Nodes []floorOrder `json:"nodes"`
		} `json:"orders"`
	}
	floorItem struct {
		Order *floorOrder `json:"order"`
	}
	floorPlainOrders struct {
		Orders struct {
			Nodes []floorPlain `json:"nodes"`
		} `json:"orders"`
	}
	floorPatched struct {
		PatchOrder *floorNote `json:"patchOrder"`
	}
	floorPlain struct {
		ID         string    `json:"id"`
		Status     string    `json:"status"`
		TotalCents int32     `json:"totalCents"`
		Note       *string   `json:"note"`
		PlacedAt   time.Time `json:"placedAt"`
	}
	floorOrder struct {
		floorPlain
		Customer  *floorUser      `json:"customer"`
		Shipments []floorShipment `json:"shipments"`
	}
	floorUser struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
	}
	floorShipment struct {
		ID      string `json:"id"`
		Carrier string `json:"carrier"`
		Parcels int32  `json:"parcels"`
	}
	floorNote struct {
		ID   string  `json:"id"`
		Note *string `json:"note"`
	}
)

func floorHandler(s *shop.Shop) http.Handler {
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
			floorWrite(w, floorList(s, v.First))
		case strings.HasPrefix(in.Query, "query Plain"):
			floorWrite(w, floorPlainList(s, v.First))
		case strings.HasPrefix(in.Query, "query Order"):
			var out floorItem
			if o, ok := s.Order(v.ID); ok {
				out.Order = &floorOrder{}
				floorFill(out.Order, s, &o)
			}
			floorWrite(w, out)
		case strings.HasPrefix(in.Query, "mutation Patch"):
			var out floorPatched
			if o, ok := s.SetNote(v.ID, v.Input.Note); ok {
				out.PatchOrder = &floorNote{o.ID, o.Note}
			}
			floorWrite(w, out)
		default:
			http.NotFound(w, r)
		}
	})
}

func floorWrite[T any](w http.ResponseWriter, data T) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(floorAnswer[T]{data})
}

func floorList(s *shop.Shop, first int) (out floorOrders) {
	orders := s.Orders(first)
	out.Orders.Nodes = make([]floorOrder, len(orders))
	for i := range orders {
		floorFill(&out.Orders.Nodes[i], s, &orders[i])
	}
	return out
}

func floorPlainList(s *shop.Shop, first int) (out floorPlainOrders) {
	orders := s.Orders(first)
	out.Orders.Nodes = make([]floorPlain, len(orders))
	for i := range orders {
		out.Orders.Nodes[i] = plain(&orders[i])
	}
	return out
}

func plain(o *shop.Order) floorPlain {
	return floorPlain{ID: o.ID, Status: o.Status, TotalCents: o.TotalCents, Note: o.Note, PlacedAt: o.PlacedAt}
}

func floorFill(out *floorOrder, s *shop.Shop, o *shop.Order) {
	out.floorPlain = plain(o)
	if u, ok := s.User(o.CustomerID); ok {
		out.Customer = &floorUser{u.ID, u.Name, u.Email}
	}
	of := s.ShipmentsOf(o.ID)
	out.Shipments = make([]floorShipment, len(of))
	for i := range of {
		out.Shipments[i] = floorShipment{of[i].ID, of[i].Carrier, of[i].Parcels}
	}
}
