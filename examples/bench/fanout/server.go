package main

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

// serveSide is the other process: it serves a side, says where, and ends when in does.
func serveSide(name string, in io.Reader, out io.Writer) error {
	for _, s := range sides {
		if s.name != name {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Fprintln(out, listener.Addr())
		server := &http.Server{Handler: serve(s), ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }() // which ends with the process
		_, err = io.Copy(io.Discard, in)
		return err
	}
	return fmt.Errorf("there is no side %q", name)
}

// serve answers what clients ask, makes changes when it is told to, and says what all that takes.
func serve(s side) http.Handler {
	mux := http.NewServeMux()
	h := s.handler(shop.New(100))
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
	mux.HandleFunc("POST /stats", func(w http.ResponseWriter, r *http.Request) {
		taken := now
		if r.FormValue("settle") != "" {
			taken = settle
		}
		_ = json.NewEncoder(w).Encode(taken()) // who does not read it has gone
	})
	return mux
}
