package version

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
)

// varyFields are the request header fields that select a contract. Handlers send few different Vary
// values, so the merged values are cached.
type varyFields struct {
	names  []string
	line   []string // all names as one field value; nil if there are none
	merged atomic.Pointer[map[string][]string]
}

// maxMerged limits the number of cached values.
const maxMerged = 128

// newVary returns the fields of all strategies without duplicates.
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

// add merges the fields into the Vary field of h. The values are shared by all responses, so their
// capacity is their length.
func (v *varyFields) add(h http.Header) {
	if v.line == nil {
		return
	}
	old := h["Vary"]
	switch len(old) {
	case 0:
		h["Vary"] = v.line
	case 1:
		h["Vary"] = v.cached(old[0])
	default:
		h["Vary"] = v.merge(strings.Join(old, ", "))
	}
}

// cached returns the merged value for a Vary line, and caches it.
func (v *varyFields) cached(line string) []string {
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
	// Copy on write: readers use the map without a lock.
	more := map[string][]string{}
	if kept != nil {
		more = maps.Clone(*kept)
	}
	more[line] = all
	v.merged.CompareAndSwap(kept, &more) // if a concurrent update wins, the value is cached next time
	return all
}

// merge adds the fields to a Vary line without duplicates. "*" is kept alone, because it includes
// all fields (RFC 9110 section 12.5.5).
func (v *varyFields) merge(line string) []string {
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

// containsFold reports whether names contains name, ignoring case.
func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
