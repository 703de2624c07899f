package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// A subject is a cache that runs twice: in front of the shop, and in front of the shop without Vary.
type subject struct{ cache, shop, control string }

// parseSubject reads NAME=URL,URL.
func parseSubject(arg string) (subject, error) {
	cache, urls, _ := strings.Cut(arg, "=")
	shop, control, ok := strings.Cut(urls, ",")
	if !ok || cache == "" {
		return subject{}, fmt.Errorf("%q is not NAME=URL,URL", arg)
	}
	return subject{cache, shop, control}, nil
}

// row is what came of one cache.
type row struct {
	cache             string
	measured, control tally
	stale             []staleness
}

// report prints the table, and below it what a reader of a failure wants to see first.
func report(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "cache\trequests\thits\twrong bodies\twrong headers\tcontrol's hits\tcontrol's wrong bodies\tstale after a write\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n", r.cache, r.measured.requests, r.measured.hits,
			r.measured.wrongBodies, r.measured.wrongHeads, r.control.hits, r.control.wrongBodies, leftovers(r.stale))
	}
	w.Flush()
	for _, r := range rows {
		for _, example := range r.measured.examples[:min(3, len(r.measured.examples))] {
			fmt.Fprintf(out, "%s: %s\n", r.cache, example)
		}
	}
}

func leftovers(all []staleness) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, fmt.Sprintf("%s %d of %d", s.method, s.stale, s.asked))
	}
	return strings.Join(parts, ", ")
}

// verdict returns why the check fails; nil if it does not. A control without a wrong body is a failure too: then Vary
// would have made no difference, and the check proves nothing.
func verdict(rows []row) error {
	if len(rows) == 0 {
		return errors.New("no cache was asked")
	}
	var errs []error
	for _, r := range rows {
		if r.measured.wrongBodies > 0 || r.measured.wrongHeads > 0 {
			errs = append(errs, fmt.Errorf("%s gave wrong answers", r.cache))
		}
		if r.measured.hits == 0 {
			errs = append(errs, fmt.Errorf("%s never answered from its store", r.cache))
		}
		if r.control.wrongBodies == 0 {
			errs = append(errs, fmt.Errorf("%s: taking Vary out made no difference", r.cache))
		}
	}
	return errors.Join(errs...)
}
