package version

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// accept is the place of a MediaType that says what the client would like. Unlike the others it can name several contracts
// at once, and then leaves the choice among them to the rest of the request.
type accept struct{ *media }

// wish is what an Accept field says as a whole.
type wish struct {
	// the greatest weight of a type of the vendor which names a contract that is served, or names none
	best    int
	rival   int // that of application/json, which is how the default contract is asked for
	newest  finding
	retired finding // the first retired contract that it names
	wrong   finding // the first type that was passed over
	open    bool    // there is something beside the types of the vendor
}

// locate returns the newest of the contracts that are liked best.
func (m accept) locate(n *Negotiator, r *http.Request, now time.Time) finding {
	lines := r.Header["Accept"]
	if len(lines) == 0 || !mentionsVendor(lines) {
		return finding{}
	}
	var w wish
	for c := (ranges{lines: lines}); c.next(); {
		if c.quality > 0 {
			m.weigh(&w, n, &c, now)
		}
	}
	switch {
	case w.best > 0 && w.best >= w.rival:
		return w.newest
	case w.best > 0 || w.open:
		return finding{}
	case w.retired.contract != nil:
		return w.retired
	}
	return w.wrong
}

// weigh adds one range to the wish.
func (m accept) weigh(w *wish, n *Negotiator, c *ranges, now time.Time) {
	t, ours := m.parse(c.typ)
	if !ours {
		w.open = true
		if c.typ == mediaJSON {
			w.rival = max(w.rival, c.quality)
		}
		return
	}
	var found finding
	switch {
	case !t.valid:
		found = finding{kind: problem.MalformedVersion, raw: c.typ}
	case t.version != "":
		found = n.find(t.version, t.number, now)
	}
	switch {
	case found.kind != "":
		if w.wrong.kind == "" || w.wrong.kind == problem.MalformedVersion {
			w.wrong = found
		}
	case found.contract != nil && found.contract.retired(now):
		if w.retired.contract == nil {
			w.retired = found
		}
	case c.quality > w.best:
		w.best, w.newest = c.quality, found
	case c.quality == w.best:
		w.newest = w.newest.orNewer(found)
	}
}

// orNewer returns the newer of two contracts that are liked as much.
func (f finding) orNewer(g finding) finding {
	if f.contract == g.contract || g.contract == nil {
		return f
	}
	if f.contract == nil {
		return g
	}
	if g.contract.name.number > f.contract.name.number {
		f = g
	}
	f.several = true
	return f
}

// admits reports whether the field leaves room for a contract: a type of the vendor that is acceptable is one of it, or
// would do for any.
func (m accept) admits(n *Negotiator, r *http.Request, c *contract, now time.Time) bool {
	return m.weight(n, r, c, now, false) > 0
}

// weight returns the greatest weight of a type that is of the contract; explicitly: that names it.
func (m accept) weight(n *Negotiator, r *http.Request, c *contract, now time.Time,
	explicitly bool) (most int) {
	for s := (ranges{lines: r.Header["Accept"]}); s.next(); {
		if t, _ := m.parse(s.typ); s.quality > most && t.fits(n, c, now) && !(explicitly && t.version == "") {
			most = s.quality
		}
	}
	return most
}

// fits reports whether a type is one of the contract. One without version is of any.
func (t *vendorType) fits(n *Negotiator, c *contract, now time.Time) bool {
	if !t.valid || t.version == "" {
		return t.valid
	}
	selected, _ := n.resolve(t.number, now)
	return selected == c
}

// ranges walks through the ranges of an Accept field (RFC 9110 section 12.5.1).
type ranges struct {
	lines   []string
	rest    string
	typ     string // in lower case, without parameters
	quality int    // in thousandths
}

// next goes to the next range, and passes over what is none.
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

// cutMember cuts the first member off a list. Commas within quoted strings do not count.
func cutMember(list string) (member, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted:
			i++
		case c == ',' && !quoted:
			return strings.Trim(list[:i], " \t"), list[i+1:]
		}
	}
	return strings.Trim(list, " \t"), ""
}

// parseWeight reads a weight in thousandths (RFC 9110 section 12.4.2), and ".5" for "0.5", as Accept is read elsewhere.
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
