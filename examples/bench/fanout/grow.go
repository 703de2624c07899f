package main

// The measurement at several numbers of subscribers. A cost of a message that does not depend on
// their number is a level line.

import (
	"fmt"
	"io"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// grow measures each peer at each size, over WebSocket and as streams without sockets.
func grow(s settings, out io.Writer) (*report.Results, error) {
	ways := []struct {
		panel   string
		measure func(p peer, n int) (result, error)
	}{
		{"one change to many WebSockets", func(p peer, n int) (result, error) {
			return overWebSockets(p, n, s.each)
		}},
		{"one change to many streams, without sockets", func(p peer, n int) (result, error) {
			return intoStreams(p, n, s.each)
		}},
	}
	all := &report.Results{}
	fmt.Fprintln(out, "| way | peer | subscribers | processor time of a message | held idle |")
	fmt.Fprintln(out, "|---|---|--:|--:|--:|")
	for _, way := range ways {
		var curves []report.Curve
		for _, p := range peers() {
			curves = append(curves, report.Curve{Panel: way.panel, Cost: "processor time of a message",
				Size: "subscribers", Series: p.name})
		}
		for _, n := range s.sizes {
			var rounds results
			for range s.rounds {
				for _, p := range peers() {
					r, err := way.measure(p, n)
					if err != nil {
						return nil, fmt.Errorf("%s, %s, %d subscribers: %w", way.panel, p.name, n, err)
					}
					rounds.add(p.name, r)
				}
			}
			for i, p := range peers() {
				m := rounds.median(p.name)
				us := float64(m.processor.Nanoseconds()) / 1000
				curves[i].Points = append(curves[i].Points, report.Point{Size: n, Microseconds: us})
				fmt.Fprintf(out, "| %s | %s | %d | %.2f us | %.1f KiB |\n", way.panel, p.name, n, us,
					float64(m.held)/1024)
			}
		}
		all.Curves = append(all.Curves, curves...)
	}
	return all, nil
}
