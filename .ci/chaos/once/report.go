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
	fmt.Fprintf(out, "  %d writers, %d processes, %d deaths, %d crashes of the database, %d requests (%d broken off, 500: %d, other 5xx: %d, 409: %d), %.1f s, -seed %d\n",
		t.writers, t.processes, t.deaths.Load(), t.crashed, t.client.sent.Load(), t.client.broken.Load(), t.client.internal.Load(), t.client.unavailable.Load(),
		t.client.conflicts.Load(), t.took.Seconds(), t.seed)
	fmt.Fprintf(out, "  keys %d, effects %d, acknowledged %d, unknown %d; duplicates %d, missing %d, wrong replays %d\n\n",
		n.keys, n.effects, n.acknowledged, n.unknown, n.duplicates, n.missing, n.wrong)
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
	return n.verdict(t.mode)
}
