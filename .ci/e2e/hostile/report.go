package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// result is what came of a siege.
type result struct {
	attacks             []*attack
	quiet, meanwhile    *honest // good clients before, and during it
	before, after, peak int64   // KiB of the server
}

func (r result) print(out io.Writer, name string) {
	fmt.Fprintln(out, name)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "clients that drip\tconnections\tclosed\tanswered 408\tlimit\tlongest\t")
	for _, a := range r.attacks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%v\t%.1fs\t\n", a.kind, a.opened.Load(), a.closed.Load(), a.answered.Load(),
			a.limit, time.Duration(a.longest.Load()).Seconds())
	}
	w.Flush()
	for _, h := range []struct {
		when string
		*honest
	}{{"before", r.quiet}, {"meanwhile", r.meanwhile}} {
		n, p50, p99 := h.figures()
		fmt.Fprintf(out, "honest requests %s: %d, failed %d, p50 %v, p99 %v\n", h.when, n, h.failed,
			p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond))
	}
	fmt.Fprintf(out, "memory: %d MiB before, %d MiB at most, %.1f KiB for each connection\n\n", r.before>>10, r.peak>>10, r.each())
}

// connectionBound is how many KiB of memory a slow client may cost the server: two buffers, two stacks and a request.
const connectionBound = 64

// each is how many KiB every connection cost.
func (r result) each() float64 {
	var opened int64
	for _, a := range r.attacks {
		opened += a.opened.Load()
	}
	return float64(r.peak-r.before) / float64(max(opened, 1))
}

// verdict is about counts alone: how long things take is a matter of the machine.
func (r result) verdict() error {
	var errs []error
	for _, a := range r.attacks {
		if a.opened.Load() != int64(a.n) || a.closed.Load() != a.opened.Load() {
			errs = append(errs, fmt.Errorf("of %d clients that drip %s, %d were let in and %d turned out", a.n, a.kind,
				a.opened.Load(), a.closed.Load()))
		}
	}
	if each := r.each(); each > connectionBound {
		errs = append(errs, fmt.Errorf("%.1f KiB for each connection, and %d are allowed", each, connectionBound))
	}
	return errors.Join(append(errs, r.honestVerdict())...)
}

func (r result) honestVerdict() error {
	for _, h := range []*honest{r.quiet, r.meanwhile} {
		if h.failed > 0 || len(h.took) == 0 {
			return fmt.Errorf("%d of %d honest requests failed, the first with: %w", h.failed, len(h.took), h.first)
		}
	}
	return nil
}

// controlVerdict is that of a server without limits, which must not have closed anything.
func (r result) controlVerdict() error {
	for _, a := range r.attacks {
		if a.opened.Load() == 0 || a.closed.Load() > 0 {
			return fmt.Errorf("the control closed %d of %d connections, so this check cannot fail", a.closed.Load(), a.opened.Load())
		}
	}
	return nil
}
