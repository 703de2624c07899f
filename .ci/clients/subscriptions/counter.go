// Command counter serves a schema with a subscription over graphql-transport-ws, for run: what is
// executed here is of no interest, but what the sockets make of it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
	"github.com/graphql-go/graphql/language/parser"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

// serve serves until ctx ends, and then closes the connections.
func serve(ctx context.Context, addr string) error {
	c := &counter{}
	if err := c.setSchema(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	sockets := transportws.New(c, &transportws.Options{Operations: 5})
	server := &http.Server{Handler: sockets, ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l)
	fmt.Printf("counter: listening on ws://%s\n", l.Addr())
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	return errors.Join(server.Shutdown(drain), sockets.Shutdown(drain))
}

// counter executes operations.
type counter struct {
	schema  graphql.Schema
	streams atomic.Int64
	sum     atomic.Int64
}

type userKey struct{}

// Init rejects the token "no". The authorization of "short" expires after a moment.
func (c *counter) Init(ctx context.Context, payload []byte) (context.Context, time.Time, error) {
	var p struct{ Token string }
	if payload != nil {
		if err := json.Unmarshal(payload, &p); err != nil {
			return nil, time.Time{}, &transportws.Close{Code: transportws.BadRequest, Reason: "This is no token"}
		}
	}
	var until time.Time
	switch p.Token {
	case "no":
		return nil, until, &transportws.Close{Code: transportws.Forbidden, Reason: "Forbidden"}
	case "fault":
		return nil, until, errors.New("the database is gone")
	case "short":
		until = time.Now().Add(300 * time.Millisecond)
	}
	return context.WithValue(ctx, userKey{}, p.Token), until, nil
}

// Operate executes a request.
func (c *counter) Operate(ctx context.Context, request []byte) transportws.Operation {
	var q struct {
		Query         string
		OperationName string
		Variables     map[string]any
	}
	if err := json.Unmarshal(request, &q); err != nil {
		return once(nil, &transportws.Refusal{Errors: []byte(`[{"message":"This is no request"}]`)})
	}
	doc, err := parser.Parse(parser.ParseParams{Source: q.Query})
	if err != nil {
		return refused(graphql.Do(graphql.Params{Schema: c.schema, RequestString: q.Query}))
	}
	if v := graphql.ValidateDocument(&c.schema, doc, nil); !v.IsValid {
		return refused(&graphql.Result{Errors: v.Errors})
	}
	p := graphql.Params{Schema: c.schema, RequestString: q.Query, OperationName: q.OperationName, VariableValues: q.Variables, Context: ctx}
	if operation, ok := doc.Definitions[0].(*ast.OperationDefinition); ok && operation.Operation == "subscription" {
		return transportws.Operation{Stream: true, Results: c.count(ctx, p)}
	}
	return once(json.Marshal(graphql.Do(p)))
}

func once(result []byte, err error) transportws.Operation {
	return transportws.Operation{Results: func(yield func([]byte, error) bool) { yield(result, err) }}
}

func refused(r *graphql.Result) transportws.Operation {
	text, err := json.Marshal(r.Errors)
	if err != nil {
		return once(nil, err)
	}
	return once(nil, &transportws.Refusal{Errors: text})
}

// count yields what graphql-go makes of a subscription. Its source ends with the context.
func (c *counter) count(ctx context.Context, p graphql.Params) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		c.streams.Add(1)
		defer c.streams.Add(-1)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.Context = ctx
		results := graphql.Subscribe(p)
		for {
			select {
			case <-ctx.Done():
				return
			case r, ok := <-results:
				if !ok {
					return
				}
				if text, err := json.Marshal(r); !yield(text, err) {
					return
				}
			}
		}
	}
}

// numbers is the source of the subscription: from one number to another, or without end.
func numbers(p graphql.ResolveParams) (any, error) {
	from, _ := p.Args["from"].(int)
	to, bounded := p.Args["to"].(int)
	source := make(chan any)
	go func() {
		defer close(source)
		for n := from; !bounded || n <= to; n++ {
			select {
			case source <- n:
			case <-p.Context.Done():
				return
			}
			select {
			case <-time.After(10 * time.Millisecond):
			case <-p.Context.Done():
				return
			}
		}
	}()
	return source, nil
}

func (c *counter) setSchema() (err error) {
	number := graphql.NewNonNull(graphql.Int)
	field := func(t graphql.Output, resolve graphql.FieldResolveFn) *graphql.Field {
		return &graphql.Field{Type: t, Resolve: resolve}
	}
	add := field(number, func(p graphql.ResolveParams) (any, error) { return c.sum.Add(int64(p.Args["n"].(int))), nil })
	add.Args = graphql.FieldConfigArgument{"n": {Type: number}}
	count := field(number, func(p graphql.ResolveParams) (any, error) { return p.Source, nil })
	count.Args = graphql.FieldConfigArgument{"from": {Type: graphql.Int}, "to": {Type: graphql.Int}}
	count.Subscribe = numbers
	c.schema, err = graphql.NewSchema(graphql.SchemaConfig{
		Query: graphql.NewObject(graphql.ObjectConfig{Name: "Query", Fields: graphql.Fields{
			"user":    field(graphql.String, func(p graphql.ResolveParams) (any, error) { return p.Context.Value(userKey{}), nil }),
			"streams": field(number, func(graphql.ResolveParams) (any, error) { return c.streams.Load(), nil }),
			"broken":  field(graphql.String, func(graphql.ResolveParams) (any, error) { return nil, errors.New("broken") }),
			"long":    field(graphql.String, func(graphql.ResolveParams) (any, error) { return strings.Repeat("é", 100_000), nil }),
		}}),
		Mutation:     graphql.NewObject(graphql.ObjectConfig{Name: "Mutation", Fields: graphql.Fields{"add": add}}),
		Subscription: graphql.NewObject(graphql.ObjectConfig{Name: "Subscription", Fields: graphql.Fields{"count": count}}),
	})
	return err
}
