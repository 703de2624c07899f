package main

import "fmt"

// counts are what became of frames.
type counts struct {
	expected, delivered int
	lost                int // never heard
	repeated            int // heard again, by the cursor
	again               int // heard again with another cursor
	inverted            int // heard behind what came after it, of the same item
	surplus             int // heard, and did not happen
	examples            []string
}

func (n *counts) add(m counts) {
	n.expected += m.expected
	n.delivered += m.delivered
	n.lost += m.lost
	n.repeated += m.repeated
	n.again += m.again
	n.inverted += m.inverted
	n.surplus += m.surplus
	for _, text := range m.examples {
		n.example("%s", text)
	}
}

func (n *counts) example(format string, args ...any) {
	if len(n.examples) < 5 {
		n.examples = append(n.examples, fmt.Sprintf("%.300s", fmt.Sprintf(format, args...)))
	}
}

// wrong is how much there should not be.
func (n *counts) wrong() int { return n.lost + n.repeated + n.again + n.inverted + n.surplus }

// judge compares what somebody has heard with what happened.
func judge(who string, v view, happened map[string]history, heard []frame) (n counts) {
	seen := map[string]bool{}       // cursors
	got := map[string]map[key]int{} // how often, of each item
	last := map[string]int{}        // index of what came last
	left := map[string]int{}        // deletions that were heard
	order := map[string]map[key]int{}
	for id, h := range happened {
		order[id] = map[key]int{}
		for i, k := range h.expected(v) {
			order[id][k] = i + 1
		}
		n.expected += len(order[id])
	}
	for _, f := range heard {
		if seen[f.cursor] {
			n.repeated++
			n.example("%s: %s %d of %s was heard again", who, f.kind, f.n, f.id)
			continue
		}
		seen[f.cursor] = true
		k := key{f.kind, f.n}
		if f.kind == deleted {
			k.n = left[f.id]
			left[f.id]++
		}
		at := order[f.id][k]
		switch {
		case at == 0:
			n.surplus++
			n.example("%s: %s %d of %s did not happen", who, f.kind, f.n, f.id)
			continue
		case got[f.id][k] > 0:
			n.again++
			n.example("%s: %s %d of %s was heard again, with another cursor", who, f.kind, f.n, f.id)
			continue
		case at < last[f.id]:
			n.inverted++
			n.example("%s: %s %d of %s came too late", who, f.kind, f.n, f.id)
		}
		if got[f.id] == nil {
			got[f.id] = map[key]int{}
		}
		got[f.id][k]++
		last[f.id] = max(last[f.id], at)
		n.delivered++
	}
	n.lost = n.expected - n.delivered
	if n.lost > 0 {
		n.missing(who, order, got)
	}
	return n
}

// missing names the first that was not heard.
func (n *counts) missing(who string, order, got map[string]map[key]int) {
	for id, keys := range order {
		for k := range keys {
			if got[id][k] == 0 {
				n.example("%s: %s %d of %s was not heard", who, k.kind, k.n, id)
				return
			}
		}
	}
}
