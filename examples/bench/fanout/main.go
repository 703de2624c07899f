// Command fanout compares the cost of sending one change to many subscribers in Stoa and gqlgen.
// Both serve the same data and the same document, and send the same messages:
//
//	go generate ./internal/gqlgenserver      (in examples/bench, once: the code of gqlgen)
//	go run -C examples/bench -tags gqlgen ./fanout
//
// Without the tag, gqlgen is left out. Each peer is measured twice. Over WebSocket without
// compression, the peer runs in a process of its own, of which processor time, memory and
// allocations are measured; its clients are in this process and do little work. Without sockets,
// the handlers write event streams that are counted and discarded, which is the cost of encoding
// the messages.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
)

func main() {
	sockets := flag.Int("sockets", 1000, "how many subscribers have a WebSocket")
	streams := flag.Int("streams", 10_000, "how many have a stream without a socket")
	each := flag.Duration("time", 3*time.Second, "how long one measurement takes")
	rounds := flag.Int("rounds", 3, "how often each is made, in turns; the median counts")
	serve := flag.String("serve", "", "internal: run as the server of this `peer`")
	flag.Parse()
	if *serve != "" {
		if err := servePeer(*serve, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "fanout:", err)
			os.Exit(1)
		}
		return
	}
	if err := compare(settings{*sockets, *streams, *each, *rounds}); err != nil {
		fmt.Fprintln(os.Stderr, "fanout:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	sockets, streams int
	each             time.Duration
	rounds           int // in each of which every peer is measured once
}

// compare runs all measurements in turn and prints the results.
// The peers alternate within a round, so that other load of the machine affects both.
func compare(s settings) error {
	var whole, made results
	for range s.rounds {
		for _, p := range peers() {
			r, err := overWebSockets(p, s.sockets, s.each)
			if err != nil {
				return fmt.Errorf("%s, over WebSockets: %w", p.name, err)
			}
			whole.add(p.name, r)
			if r, err = intoStreams(p, s.streams, s.each); err != nil {
				return fmt.Errorf("%s, without sockets: %w", p.name, err)
			}
			made.add(p.name, r)
		}
	}
	fmt.Printf("one change to %d subscribers over WebSockets\n\n", s.sockets)
	whole.print(os.Stdout)
	fmt.Printf("\none change to %d subscribers, without sockets\n\n", s.streams)
	made.print(os.Stdout)
	if !gqlgenserver.Available {
		fmt.Println("\n" + gqlgenserver.LeftOut)
	}
	return nil
}
