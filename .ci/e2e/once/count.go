package main

import (
	"fmt"
	"strings"
)

// counts are what became of writes.
type counts struct {
	keys, acknowledged, unknown, effects int
	duplicates, missing, wrong           int // effects too many, effects too few, answers that differ
	other                                int // what there is no reason for
	unknownCreates                       int
	examples                             []string
}

func (n *counts) String() string {
	return fmt.Sprintf("keys %d, effects %d, acknowledged %d, unknown %d; duplicates %d, missing %d, wrong replays %d",
		n.keys, n.effects, n.acknowledged, n.unknown, n.duplicates, n.missing, n.wrong)
}

func (n *counts) example(format string, args ...any) {
	if len(n.examples) < 5 {
		n.examples = append(n.examples, fmt.Sprintf("%.400s", fmt.Sprintf(format, args...)))
	}
}

// found is what is in the database when all is quiet, by key: the ids of the items that a write left.
type found map[string][]string

// look reads everything that writes leave.
func look(c *client, base string) (found, error) {
	left := found{}
	effects, err := all[effect](c, base, "effects")
	if err != nil {
		return nil, err
	}
	deposits, err := all[effect](c, base, "deposits")
	if err != nil {
		return nil, err
	}
	lists, err := all[list](c, base, "lists")
	if err != nil {
		return nil, err
	}
	accounts, err := all[account](c, base, "accounts")
	if err != nil {
		return nil, err
	}
	for _, e := range append(effects, deposits...) {
		left[e.Key] = append(left[e.Key], e.ID)
	}
	for _, l := range lists {
		for _, key := range l.Keys {
			left[key] = append(left[key], "in list "+l.ID)
		}
	}
	return left, balanced(deposits, accounts)
}

// balanced compares the two things that a deposit does.
func balanced(deposits []effect, accounts []account) error {
	var noted, held int64
	for _, d := range deposits {
		noted += d.Amount
	}
	for _, a := range accounts {
		held += a.Balance
	}
	if noted != held {
		return fmt.Errorf("the accounts hold %d, and %d were deposited: half of a deposit was done", held, noted)
	}
	return nil
}

// judge compares what writes were told with what they left.
func judge(writes []*write, left found) counts {
	var n counts
	for _, w := range writes {
		n.keys++
		ids := left[w.key]
		effects := len(ids)
		if w.kind == remove && len(left["item-of-"+w.key]) == 0 {
			effects = 1 // what it was to remove is not there
		}
		n.effects += effects
		n.settle(w, effects)
		if len(w.answers) > 1 {
			n.wrong++
			n.example("wrong: %s got %v", w.key, w.answers)
		} else if w.id != "" && effects == 1 && ids[0] != w.id {
			n.wrong++
			n.example("wrong: %s got %s, and there is %s", w.key, w.id, ids[0])
		}
	}
	return n
}

// settle counts what one write was told against how often it was done.
func (n *counts) settle(w *write, effects int) {
	switch {
	case w.refused != "":
		n.other++
		n.example("unexpected: %s: %s", w.key, w.refused)
	case w.acknowledged():
		n.acknowledged++
		if effects == 0 {
			n.missing++
			n.example("missing: %s", w.key)
		}
	case w.unknown:
		n.unknown++
		if w.kind == create {
			n.unknownCreates++
		}
	default:
		n.other++
		n.example("unexpected: %s was never answered", w.key)
	}
	if effects > 1 {
		n.duplicates += effects - 1
		n.example("duplicate: %s was done %d times", w.key, effects)
	}
}

// verdict is nil for once each: no effect too many and none too few, and each key told the same each time. Only where keys
// are elsewhere may a client be told that nobody knows, and not of what is created if its id follows from the key.
func (n *counts) verdict(mode string) error {
	clean := n.duplicates == 0 && n.missing == 0 && n.wrong == 0 && n.other == 0
	switch mode {
	case together:
		clean = clean && n.unknown == 0 && n.effects == n.keys && n.acknowledged == n.keys
	case identity:
		clean = clean && n.unknownCreates == 0
	}
	if clean && n.keys > 0 {
		return nil
	}
	return fmt.Errorf("%v, %d unexpected answers\n    %s", n, n.other, strings.Join(n.examples, "\n    "))
}
