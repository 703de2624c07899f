// Command adminfield serves employees. Administrators see and change salaries; for other callers the
// field does not exist, in any response, filter or document.
//
//	go run -C examples ./adminfield
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// Employee is the item of the store, which administrators see.
type Employee struct {
	ID     int64  `json:"id" readOnly:"true"`
	Name   string `json:"name" required:"true" minLength:"1" maxLength:"100"`
	Phone  string `json:"phone" maxLength:"40"`
	Salary int64  `json:"salary" minimum:"0" maximum:"10000000"`
}

// PublicEmployee is the item that other callers see. It has no salary.
type PublicEmployee struct {
	ID    int64  `json:"id" readOnly:"true"`
	Name  string `json:"name" required:"true" minLength:"1" maxLength:"100"`
	Phone string `json:"phone" maxLength:"40"`
}

func toPublic(e Employee) (PublicEmployee, error) {
	return PublicEmployee{ID: e.ID, Name: e.Name, Phone: e.Phone}, nil
}

// fromPublic applies a write of another caller. The salary in base keeps its value.
func fromPublic(v PublicEmployee, base Employee) (Employee, error) {
	base.Name, base.Phone = v.Name, v.Phone
	return base, nil
}

// role is the claim of a session.
type role string

const admin role = "admin"

var tokens = map[string]middleware.Session[role]{
	"ann-token": {Principal: "ann", Claims: admin},
	"bob-token": {Principal: "bob", Claims: "staff"},
}

func session(_ *http.Request, token string) (middleware.Session[role], error) {
	if s, ok := tokens[token]; ok {
		return s, nil
	}
	return middleware.Session[role]{}, middleware.ErrToken
}

// authorize lets every known caller read and change, and administrators also create and delete.
func authorize(ctx context.Context, op resource.Op, _, _ *Employee) error {
	switch r, ok := middleware.Claims[role](ctx); {
	case !ok:
		return resource.ErrUnauthenticated
	case r != admin && (op == resource.OpCreate || op == resource.OpDelete):
		return resource.ErrForbidden
	}
	return nil
}

// newHandler returns a handler that selects one of two catalogs by the role of the caller. Both have
// the same store and policy, and the view shares the transactions and events of its resource.
func newHandler() http.Handler {
	employees := resource.New("employees", memory.New[Employee](nil), &resource.Options[Employee]{
		Query: query.Support{
			Filter: map[string][]query.Op{"name": {query.Eq}, "salary": {query.Gte}},
			Sort:   []string{"name", "salary"},
		},
		Authorize: authorize,
	})
	public := resource.View(employees, toPublic, fromPublic, nil)
	opts := &resource.CatalogOptions{Principal: middleware.Principal}
	full := serve.New(resource.NewCatalog(opts, employees), &serve.Options{Title: "Employees, in full"})
	limited := serve.New(resource.NewCatalog(opts, public), &serve.Options{Title: "Employees"})
	return middleware.Authenticate(session, &middleware.AuthenticateOptions{Realm: "employees", Vary: true})(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if caller, _ := middleware.Claims[role](r.Context()); caller == admin {
				full.ServeHTTP(w, r)
				return
			}
			limited.ServeHTTP(w, r)
		}))
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("adminfield: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(newHandler(), nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
