package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/network"
)

// wires is what lies between those who take part: a wire before each process, and one between each and its database.
type wires struct {
	doors, stores []*network.Proxy
	behind        []atomic.Pointer[string] // where each process is in truth, as 127.0.0.1:8080
	sources       []string                 // the database as each process knows it
}

// newNetwork lays wires for n processes of a database. A file needs none, and has no stores.
func newNetwork(seed uint64, n int, source string) (*wires, error) {
	w := &wires{behind: make([]atomic.Pointer[string], n), sources: make([]string, n)}
	for i := range n {
		w.sources[i] = source
		door, err := network.New(seed+uint64(i)<<8, w.process(i))
		if err != nil {
			w.close()
			return nil, err
		}
		w.doors = append(w.doors, door)
		if !strings.HasPrefix(source, "postgres:") {
			continue
		}
		if err := w.layStore(seed+uint64(i)<<16, i, source); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// process dials a process, wherever it is now.
func (w *wires) process(i int) func(ctx context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		at := w.behind[i].Load()
		if at == nil {
			return nil, fmt.Errorf("process %d was never started", i)
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", *at)
	}
}

// layStore lays the wire to the database of a process.
func (w *wires) layStore(seed uint64, i int, source string) error {
	u, err := url.Parse(source)
	if err != nil {
		return err
	}
	q := u.Query()
	kind, address := "tcp", u.Host
	if folder := q.Get("host"); folder != "" {
		kind, address = "unix", filepath.Join(folder, ".s.PGSQL.5432")
	}
	store, err := network.New(seed, func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, kind, address)
	})
	if err != nil {
		return err
	}
	w.stores = append(w.stores, store)
	q.Del("host")
	q.Set("sslmode", "disable")
	u.Host, u.RawQuery = store.Addr(), q.Encode()
	w.sources[i] = u.String()
	return nil
}

// carry has the processes of a fleet found through the wires.
func (w *wires) carry(f *fleet.Fleet) {
	f.Args = func(i int) []string { return []string{"-db", w.sources[i]} }
	f.Address = func(i int, url string) string {
		at := strings.TrimPrefix(url, "http://")
		w.behind[i].Store(&at)
		return "http://" + w.doors[i].Addr()
	}
}

// straight is where a process is that is found at a URL, for who does not take part.
func (w *wires) straight(base string) string {
	if w == nil {
		return base
	}
	for i, door := range w.doors {
		if base == "http://"+door.Addr() {
			return "http://" + *w.behind[i].Load()
		}
	}
	return base
}

func (w *wires) close() {
	for _, all := range [][]*network.Proxy{w.doors, w.stores} {
		for _, one := range all {
			one.Close()
		}
	}
}

// set changes the weather everywhere.
func (w *wires) set(door, store network.Faults) {
	for _, one := range w.doors {
		one.Set(door)
	}
	for _, one := range w.stores {
		one.Set(store)
	}
}
