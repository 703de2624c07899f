package main

// The server half: the program starts itself with -serve, so that the processor time and memory of
// the server can be separated from those of its clients. websockets.go is the other half.

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

// servePeer is the server process. It serves a peer, prints the address, and ends at the end of in.
func servePeer(name string, in io.Reader, out io.Writer) error {
	for _, p := range peers() {
		if p.name != name {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		// The parent reads this line to learn the port. The end of its pipe ends the server, even
		// if the parent crashes.
		fmt.Fprintln(out, listener.Addr())
		server := &http.Server{Handler: serve(p), ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }() // ends with the process
		_, err = io.Copy(io.Discard, in)
		return err
	}
	return fmt.Errorf("no peer %q in this program", name)
}

// serve returns a handler for GraphQL, for making changes and for the resources used.
func serve(p peer) http.Handler {
	mux := http.NewServeMux()
	h := p.handler(shop.New(100))
	c := &changes{handler: h}
	mux.Handle("/graphql", h)
	mux.HandleFunc("POST /change", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.FormValue("n"))
		if err == nil {
			err = c.make(n)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	// Collecting garbage takes long and uses processor time, so only the figures of memory ask for
	// it.
	mux.HandleFunc("POST /stats", func(w http.ResponseWriter, r *http.Request) {
		taken := now
		if r.FormValue("settle") != "" {
			taken = settle
		}
		_ = json.NewEncoder(w).Encode(taken()) // an error means that the client has disconnected
	})
	return mux
}
