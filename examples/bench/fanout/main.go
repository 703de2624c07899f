// Command fanout measures what it costs to tell many subscribers of one change, with Stoa and with gqlgen. Both serve the
// same data and the same document, and tell the same:
//
//	go run -C examples/bench ./fanout
//
// Once the whole way, over WebSockets without compression: each side is a process of its own, whose processor time, memory
// and allocations are measured; its clients are in this one and do next to nothing. And once without sockets, where what a
// handler writes into a stream of events is counted and forgotten: that is what making the messages costs.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	sockets := flag.Int("sockets", 1000, "how many subscribers have a WebSocket")
	streams := flag.Int("streams", 10_000, "how many have a stream without a socket")
	each := flag.Duration("time", 3*time.Second, "how long one measurement takes")
	rounds := flag.Int("rounds", 3, "how often each is made, in turns; the median counts")
	serve := flag.String("serve", "", "for this command alone: be the server of a side")
	flag.Parse()
	if *serve != "" {
		if err := serveSide(*serve, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "fanout:", err)
			os.Exit(1)
		}
		return
	}
	if err := compare(setting{*sockets, *streams, *each, *rounds}); err != nil {
		fmt.Fprintln(os.Stderr, "fanout:", err)
		os.Exit(1)
	}
}

// setting is what is measured.
type setting struct {
	sockets, streams int
	each             time.Duration
	rounds           int
}

// compare measures everything in turns, and prints it.
func compare(s setting) error {
	var whole, made results
	for range s.rounds {
		for _, side := range sides {
			r, err := overSockets(side, s.sockets, s.each)
			if err != nil {
				return fmt.Errorf("%s, over WebSockets: %w", side.name, err)
			}
			whole.add(side.name, r)
			if r, err = intoStreams(side, s.streams, s.each); err != nil {
				return fmt.Errorf("%s, without sockets: %w", side.name, err)
			}
			made.add(side.name, r)
		}
	}
	fmt.Printf("one change to %d subscribers over WebSockets\n\n", s.sockets)
	whole.print(os.Stdout)
	fmt.Printf("\none change to %d subscribers, without sockets\n\n", s.streams)
	made.print(os.Stdout)
	return nil
}
