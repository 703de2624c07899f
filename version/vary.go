package version

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
)

// vary is the header fields that decide. What handlers put into Vary is the same again and again, so that it is merged only
// once.
type vary struct {
	names  []string
	line   []string // all of them, as one value; nil if there are none
	merged atomic.Pointer[map[string][]string]
}

// maxMerged is how many merged values are kept. It is more than programs have; one that makes them up gets new ones.
const maxMerged = 128

// newVary returns the fields of all strategies, each once.
func newVary(strategies []Strategy) (names []string) {
	for _, s := range strategies {
		for _, name := range s.Vary() {
			if !containsFold(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// add merges the fields into what is there.
func (v *vary) add(h http.Header) {
	if v.line == nil {
		return
	}
	old := h["Vary"]
	switch len(old) {
	case 0:
		h["Vary"] = v.line
	case 1:
		h["Vary"] = v.known(old[0])
	default:
		h["Vary"] = v.merge(strings.Join(old, ", "))
	}
}

// known returns what a line is merged into.
func (v *vary) known(line string) []string {
	kept := v.merged.Load()
	if kept != nil {
		if all, ok := (*kept)[line]; ok {
			return all
		}
	}
	all := v.merge(line)
	if kept != nil && len(*kept) >= maxMerged {
		return all
	}
	more := map[string][]string{}
	if kept != nil {
		more = maps.Clone(*kept)
	}
	more[line] = all
	v.merged.CompareAndSwap(kept, &more) // who comes second merges once more, later
	return all
}

// merge adds the fields to those of a line, each once, and nothing to "*", which says more than any list (RFC 9110 section
// 12.5.5).
func (v *vary) merge(line string) []string {
	var all []string
	for member := range strings.SplitSeq(line, ",") {
		member = strings.TrimSpace(member)
		if member == "*" {
			return []string{member}
		}
		if member != "" && !containsFold(all, member) {
			all = append(all, member)
		}
	}
	for _, name := range v.names {
		if !containsFold(all, name) {
			all = append(all, name)
		}
	}
	return []string{strings.Join(all, ", ")}
}

// containsFold compares as the names of fields are compared, without case.
func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
