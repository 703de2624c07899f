package version

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// acceptField reads the Accept field. Unlike other places it can name several contracts, and the
// rest of the request may choose among them.
type acceptField struct{ *media }

// preference is the combined meaning of the ranges of an Accept field.
type preference struct {
	// greatest quality of a vendor type that is served or has no version
	bestQuality int
	jsonQuality int // quality of application/json, which selects the default contract
	newest      match
	retired     match // first retired contract
	invalid     match // first malformed or unsupported type
	otherTypes  bool  // there are types other than those of the vendor
}

// locate returns the contract with the greatest quality, the newest if there are several.
func (m acceptField) locate(n *Negotiator, r *http.Request, now time.Time) match {
	lines := r.Header["Accept"]
	if len(lines) == 0 || !mentionsVendor(lines) {
		return match{}
	}
	var w preference
	for c := (ranges{lines: lines}); c.next(); {
		if c.quality > 0 {
			m.addRange(&w, n, &c, now)
		}
	}
	switch {
	case w.bestQuality > 0 && w.bestQuality >= w.jsonQuality:
		return w.newest
	case w.bestQuality > 0 || w.otherTypes:
		return match{}
	case w.retired.contract != nil:
		return w.retired
	}
	return w.invalid
}

// addRange adds one range to w.
func (m acceptField) addRange(w *preference, n *Negotiator, c *ranges, now time.Time) {
	t, ours := m.parse(c.typ)
	if !ours {
		w.otherTypes = true
		if c.typ == mediaJSON {
			w.jsonQuality = max(w.jsonQuality, c.quality)
		}
		return
	}
	var found match
	switch {
	case !t.valid:
		found = match{kind: problem.MalformedVersion, raw: c.typ}
	case t.version != "":
		found = n.matchVersion(t.version, t.number, now)
	}
	switch {
	case found.kind != "":
		if w.invalid.kind == "" || w.invalid.kind == problem.MalformedVersion {
			w.invalid = found
		}
	case found.contract != nil && found.contract.retired(now):
		if w.retired.contract == nil {
			w.retired = found
		}
	case c.quality > w.bestQuality:
		w.bestQuality, w.newest = c.quality, found
	case c.quality == w.bestQuality:
		w.newest = w.newest.newer(found)
	}
}

// newer returns the newer of two contracts with the same quality.
func (f match) newer(g match) match {
	if f.contract == g.contract || g.contract == nil {
		return f
	}
	if f.contract == nil {
		return g
	}
	if g.contract.name.number > f.contract.name.number {
		f = g
	}
	f.tied = true
	return f
}

// allows reports whether Accept allows representations of c: a vendor type with a quality above
// zero names c or has no version.
func (m acceptField) allows(n *Negotiator, r *http.Request, c *contract, now time.Time) bool {
	return m.quality(n, r, c, now, false) > 0
}

// quality returns the greatest quality of a type that matches c. If explicitly is true, types
// without version are ignored.
func (m acceptField) quality(n *Negotiator, r *http.Request, c *contract, now time.Time,
	explicitly bool) (most int) {
	for s := (ranges{lines: r.Header["Accept"]}); s.next(); {
		if t, _ := m.parse(s.typ); s.quality > most && t.matches(n, c, now) &&
			!(explicitly && t.version == "") {
			most = s.quality
		}
	}
	return most
}

// matches reports whether t selects c. A type without version matches every contract.
func (t *vendorType) matches(n *Negotiator, c *contract, now time.Time) bool {
	if !t.valid || t.version == "" {
		return t.valid
	}
	selected, _ := n.resolve(t.number, now)
	return selected == c
}

// ranges iterates over the ranges of an Accept field (RFC 9110 section 12.5.1).
type ranges struct {
	lines   []string
	rest    string
	typ     string // lower case, without parameters
	quality int    // in thousandths
}

// next advances to the next valid range and reports whether there is one. Invalid ranges are
// skipped.
func (c *ranges) next() bool {
	for {
		for c.rest == "" {
			if len(c.lines) == 0 {
				return false
			}
			c.rest, c.lines = c.lines[0], c.lines[1:]
		}
		var member string
		member, c.rest = cutMember(c.rest)
		if member == "" {
			continue
		}
		parsed, err := header.ParseMediaType(member)
		if err != nil {
			continue
		}
		weight, weighed := parsed.Param("q")
		if c.typ, c.quality = parsed.Type, 1000; !weighed {
			return true
		}
		var ok bool
		if c.quality, ok = parseWeight(weight); ok {
			return true
		}
	}
}

// cutMember splits off the first member of a list. Commas within quoted strings do not separate
// members.
func cutMember(list string) (member, rest string) { return cutUnquoted(list, ',') }

// cutUnquoted cuts list at the first separator that is not in a quoted string. The part before it
// is trimmed.
func cutUnquoted(list string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == separator && !quoted:
			return strings.Trim(list[:i], " \t"), list[i+1:]
		}
	}
	return strings.Trim(list, " \t"), ""
}

// parseWeight parses a weight in thousandths (RFC 9110 section 12.4.2). It also accepts ".5" for
// "0.5".
func parseWeight(s string) (weight int, ok bool) {
	whole, decimals, _ := strings.Cut(s, ".")
	if s == "" || s == "." || len(decimals) > 3 || decimals != "" && !isNumber(decimals) {
		return 0, false
	}
	switch whole {
	case "", "0":
	case "1":
		weight = 1000
	default:
		return 0, false
	}
	unit := 100
	for _, c := range []byte(decimals) {
		weight += int(c-'0') * unit
		unit /= 10
	}
	return weight, weight <= 1000
}
