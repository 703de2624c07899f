package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// note is what the server under attack keeps.
type note struct {
	ID   string `json:"id"`
	Text string `json:"text" maxLength:"2000"`
}

// notes has one note, which honest clients read.
func notes(ctx context.Context) (http.Handler, error) {
	kept := memory.New[note](nil)
	if _, err := kept.Insert(ctx, "1", note{ID: "1", Text: "Good morning."}); err != nil {
		return nil, err
	}
	return resource.NewCatalog(nil, resource.New("notes", kept, &resource.Options[note]{Public: true})), nil
}

// serve is the server in a process of its own, so that what it holds is not what the clients hold. With -bare it is an
// http.Server as it comes, which waits for everybody without end.
func serve(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	bare := flags.Bool("bare", false, "no limits")
	if err := flags.Parse(args); err != nil {
		return err
	}
	h, err := notes(ctx)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "hostile: listening on http://%s\n", listener.Addr())
	if *bare {
		return http.Serve(listener, h)
	}
	limits := middleware.Chain(middleware.Limit(nil), middleware.Timeout(nil))
	server := middleware.Server(limits(h), &middleware.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	return middleware.Serve(ctx, server, listener, nil)
}
