package report

import (
	"errors"
	"fmt"
	"io"
)

// Turns is the number of measurements of the gate, and Tolerance the factor by which a ratio has to
// exceed its limit in each of them. A busy machine exceeds a limit in one turn, but rarely in all.
const (
	Turns     = 3
	Tolerance = 1.25
)

// ErrGate reports that ratios exceeded their limits in all turns.
var ErrGate = errors.New("slower than the limits of the gate")

// Gate calls measure up to [Turns] times and compares the ratios with [Budget.Gate]. It succeeds
// after the first turn in which no ratio fails that failed in each turn before, and otherwise
// returns [ErrGate] with the ratios that failed in all.
func Gate(out io.Writer, measure func() (*Results, error)) error {
	var failing map[Budget]Ratio
	for turn := range Turns {
		r, err := measure()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "turn %d of at most %d; a limit may be exceeded by %.0f %%\n\n", turn+1, Turns,
			(Tolerance-1)*100)
		again := map[Budget]Ratio{}
		fmt.Fprint(out, "| table | job | peer | ratio | budget | gate | |\n|---|---|---|--:|--:|--:|---|\n")
		for _, x := range r.Ratios {
			b, ok := BudgetOf(x)
			if !ok {
				continue
			}
			verdict := "ok"
			if x.Median > b.Most {
				verdict = "budget exceeded"
			}
			if x.Median > b.Gate*Tolerance {
				verdict = "FAILS"
				if _, before := failing[b]; before || turn == 0 {
					again[b] = x
				}
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s beside %s | %s | %s | %s |\n", x.Table, x.Job, x.Peer,
				Factor(x.Median), x.Beside, Factor(b.Most), Factor(b.Gate), verdict)
		}
		fmt.Fprintln(out)
		if failing = again; len(failing) == 0 {
			return nil
		}
	}
	failed := ErrGate
	for _, b := range Budgets {
		if x, ok := failing[b]; ok {
			failed = fmt.Errorf("%w; %s, %s: %s beside %s, limit %s", failed, x.Table, x.Job,
				Factor(x.Median), x.Beside, Factor(b.Gate))
		}
	}
	return failed
}
