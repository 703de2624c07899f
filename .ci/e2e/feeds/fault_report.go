package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// toll is what happened while something was cut off.
type toll struct {
	done, busy, failed, silent, refused int           // writes there: 2xx, 503 with Retry-After, other 5xx, no answer, 4xx
	elsewhere                           int           // writes that others did meanwhile
	stayed                              int           // settlers whose stream went on
	dropped                             int           // streams of settlers that the server ended
	told                                int           // frames that settlers heard
	others                              int           // frames that others heard
	claims                              int           // places that were told, and cannot have been known
	after                               time.Duration // until all settlers had heard something again
}

// count says what happened in a fault.
func (c *fault) count(attempts []attempt, listeners []*listener) (n toll) {
	for _, a := range attempts {
		if a.began.Before(c.from) || a.ended.After(c.to) {
			continue
		}
		if !slices.Contains(c.bases, a.base) {
			if a.status/100 == 2 {
				n.elsewhere++
			}
			continue
		}
		switch {
		case a.status/100 == 2:
			n.done++
		case a.status == http.StatusServiceUnavailable && a.retry:
			n.busy++
		case a.status >= 500:
			n.failed++
		case a.status == 0:
			n.silent++
		default:
			n.refused++
		}
	}
	for _, l := range listeners {
		c.listen(&n, l)
	}
	return n
}

// listen counts what one listener heard.
func (c *fault) listen(n *toll, l *listener) {
	settler := slices.Contains(c.settlers, l)
	frames := 0
	for _, f := range l.heard {
		switch {
		case f.at.Before(c.from):
		case f.at.Before(c.half):
			frames++
		case settler && f.at.After(c.to):
			n.after = max(n.after, f.at.Sub(c.to))
			settler = false
		}
	}
	if slices.Contains(c.settlers, l) {
		n.told += frames
	} else {
		n.others += frames
	}
	for _, v := range l.visits {
		if !slices.Contains(c.bases, v.base) {
			continue
		}
		if slices.Contains(c.settlers, l) && v.began.Before(c.from) && v.ended.After(c.half) {
			n.stayed++
		}
		if v.dropped && v.ended.After(c.from) && v.ended.Before(c.to) {
			n.dropped++
		}
		if c.store && v.ended.After(c.from) && v.ended.Before(c.to) && v.to != v.from {
			if at, err := feed.ParseCursor(v.to); err != nil || at.Seq > c.newest {
				n.claims++
			}
		}
	}
}

func (n toll) print(out io.Writer, c *fault) {
	fmt.Fprintf(out, "  %s for %.1f s\n", c.what, c.to.Sub(c.from).Seconds())
	fmt.Fprintf(out, "    writes there: %d done, %d answered 503 with Retry-After, %d another 5xx, %d 4xx, %d not answered; %d done elsewhere\n",
		n.done, n.busy, n.failed, n.refused, n.silent, n.elsewhere)
	fmt.Fprintf(out, "    %d of %d who listen only there stayed, %d were sent away; in the first half they heard %d events, and %d bytes; ",
		n.stayed, len(c.settlers), n.dropped, n.told, c.bytes)
	fmt.Fprintf(out, "others heard %d events\n", n.others)
	fmt.Fprintf(out, "    all of them heard something again %.1f s after it was over\n", n.after.Seconds())
}

// verdict is what can be told whatever the time: a write that was done where nothing can be, and a place that nobody can have
// known. If the database is gone, that is what everybody is told.
func (n toll) verdict(c *fault) error {
	switch {
	case n.done > 0:
		return fmt.Errorf("%s: %d writes were acknowledged there", c.what, n.done)
	case n.claims > 0:
		return fmt.Errorf("%s: %d were told of a place that it cannot have known", c.what, n.claims)
	case c.gone && n.busy+n.failed+n.refused+n.silent == 0:
		return fmt.Errorf("%s: nobody was told so", c.what)
	case c.gone && n.failed+n.refused > 0:
		return fmt.Errorf("%s: %d writes were answered, and not by 503 with Retry-After", c.what, n.failed+n.refused)
	case c.gone && n.dropped > 0 && n.stayed == 0: // who reads the log just then cannot go on
		return fmt.Errorf("%s: all streams were ended", c.what)
	}
	return nil
}

// tolls prints what happened in the faults, and judges it.
func (t *trouble) tolls(out io.Writer) error {
	var errs []error
	for _, c := range t.faults {
		n := c.count(t.writers.attempts.all, t.listeners)
		n.print(out, c)
		errs = append(errs, n.verdict(c))
	}
	return errors.Join(errs...)
}
