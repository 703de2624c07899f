package main

import (
	"errors"
	"fmt"
	"io"
)

// levels are what the modes are called in reports.
var levels = map[string]string{
	together: "exactly once: key, effect and answer in one transaction",
	identity: "once by identity: keys elsewhere, ids follow from the key",
	apart:    "at most once: keys elsewhere",
	three:    "control: three commits, and a lease of 300 ms",
}

func (t *trouble) print(out io.Writer, n counts) {
	fmt.Fprintf(out, "%s, %s\n", t.name, levels[t.mode])
	fmt.Fprintf(out, "  %d writers, %d processes, %d deaths, %d crashes of the database, %.1f s, -seed %d\n", t.writers, t.processes,
		t.deaths.Load(), t.crashed, t.took.Seconds(), t.seed)
	c := t.client
	fmt.Fprintf(out, "  %d requests: %d broken off, 500 %d, other 5xx %d, 409 %d\n", c.sent.Load(), c.broken.Load(),
		c.internal.Load(), c.unavailable.Load(), c.conflicts.Load())
	fmt.Fprintf(out, "  %v\n\n", &n)
}

// verdict of a control is that it fails.
func (t *trouble) verdict(n counts) error {
	if t.shots < t.kills {
		return fmt.Errorf("%d kills, and not %d", t.shots, t.kills)
	}
	if t.crash != "" && t.crashed < t.crashes {
		return fmt.Errorf("the database crashed %d times, and not %d", t.crashed, t.crashes)
	}
	if t.mode == three {
		if n.duplicates == 0 {
			return errors.New("the control did nothing twice, so this check cannot fail")
		}
		return nil
	}
	return errors.Join(n.verdict(t.mode), t.client.verdict())
}
