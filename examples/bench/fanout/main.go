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
// the messages. With -grow, both are measured at several numbers of subscribers instead:
//
//	go run -C examples/bench -tags gqlgen ./fanout -grow
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fanout:", err)
		os.Exit(1)
	}
}

// run parses the flags and measures.
func run(args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("fanout", flag.ContinueOnError)
	flags.IntVar(&s.sockets, "sockets", 1000, "how many subscribers have a WebSocket")
	flags.IntVar(&s.streams, "streams", 10_000, "how many have a stream without a socket")
	flags.DurationVar(&s.each, "time", 3*time.Second, "how long one measurement takes")
	flags.IntVar(&s.rounds, "rounds", 3, "how often each is made, in turns; the median counts")
	growing := flags.Bool("grow", false, "measure several numbers of subscribers instead")
	sizes := flags.String("sizes", "10,100,1000,10000",
		"`numbers` of subscribers for -grow, separated by commas")
	file := flags.String("json", "", "write the results of -grow to this `file`")
	serve := flags.String("serve", "", "internal: run as the server of this `peer`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if s.sizes, err = measure.Sizes(*sizes); err != nil {
		return err
	}
	switch {
	case *serve != "":
		return servePeer(*serve, os.Stdin, out)
	case flags.NArg() > 0 || s.rounds < 1:
		return errors.New("want only flags, and at least one of -rounds; see -h")
	case !*growing:
		return compare(s)
	}
	results, err := grow(s, out)
	if err != nil || *file == "" {
		return err
	}
	return results.Save(*file)
}

// settings are the flags.
type settings struct {
	sockets, streams int
	each             time.Duration
	rounds           int   // in each of which every peer is measured once
	sizes            []int // numbers of subscribers of grow, ascending
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
