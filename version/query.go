package version

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Query names a contract by a query parameter. The handler sees the query without it.
type Query struct {
	// Name of the parameter; "version" if empty.
	Name string
}

func (q Query) name() string {
	if q.Name == "" {
		return defaultMember
	}
	return q.Name
}

// Source returns "the query parameter" and its name.
func (q Query) Source() string { return "the query parameter " + q.name() }

// Vary returns nil: the query is part of every cache's key.
func (Query) Vary() []string { return nil }

// Find returns the first value of the parameter.
func (q Query) Find(r *http.Request) (name string, ok bool) {
	parameter := q.name()
	for rest := r.URL.RawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		if value, ok := pairValue(pair, parameter); ok {
			return value, true
		}
	}
	return "", false
}

func (q Query) install(n *Negotiator) {
	once(n.query != "", "Query")
	n.query = q.name()
	q.Name = n.query
	n.add(q, place{locator: q, kind: inQuery, parameter: n.query})
}

// locate looks at every value, since two that select the same contract are fine, and two that do not are none.
func (q Query) locate(n *Negotiator, r *http.Request, now time.Time) (found finding) {
	for rest := r.URL.RawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		value, ok := pairValue(pair, q.Name)
		if !ok {
			continue
		}
		if found = found.and(n.read(value, now)); found.kind == problem.MalformedVersion {
			return found
		}
	}
	return found
}

// pairValue returns the value of a pair of the query, decoded, if it has that name. A value that cannot be decoded is
// returned as it is: it is no version either way.
func pairValue(pair, parameter string) (value string, ok bool) {
	key, value, _ := strings.Cut(pair, "=")
	if key != parameter {
		if strings.IndexByte(key, '%') < 0 && strings.IndexByte(key, '+') < 0 {
			return "", false
		}
		if decoded, err := url.QueryUnescape(key); err != nil || decoded != parameter {
			return "", false
		}
	}
	if decoded, err := url.QueryUnescape(value); err == nil {
		value = decoded
	}
	return value, true
}

// stripQuery returns the query without the parameter, and everything else as it is spelled. It copies once, since the
// parameter may be there as often as a header is long.
func stripQuery(query, parameter string) string {
	var kept strings.Builder
	kept.Grow(len(query))
	begin := 0 // of what is kept and not yet copied
	for at := 0; at < len(query); {
		next := len(query)
		if i := strings.IndexByte(query[at:], '&'); i >= 0 {
			next = at + i + 1
		}
		if _, ours := pairValue(strings.TrimSuffix(query[at:next], "&"), parameter); ours {
			kept.WriteString(query[begin:at])
			begin = next
		}
		at = next
	}
	if begin == len(query) { // the last pair was taken, and the ampersand before it separates nothing
		return strings.TrimSuffix(kept.String(), "&")
	}
	kept.WriteString(query[begin:])
	return kept.String()
}

// pair returns the parameter as it stands in a query.
func (n *Negotiator) pair(value string) string {
	return url.QueryEscape(n.query) + "=" + url.QueryEscape(value)
}

// addQuery appends a pair to a URL.
func addQuery(ref, pair string) string {
	if strings.Contains(ref, "?") {
		return ref + "&" + pair
	}
	return ref + "?" + pair
}
