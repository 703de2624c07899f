package version

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Query names a contract by a query parameter. The handler receives the query without it.
type Query struct {
	// Name is the name of the parameter. Default "version".
	Name string
}

func (q Query) parameterName() string {
	if q.Name == "" {
		return defaultName
	}
	return q.Name
}

// Source returns "the query parameter NAME".
func (q Query) Source() string { return "the query parameter " + q.parameterName() }

// Vary returns nil, because the query is part of the cache key.
func (Query) Vary() []string { return nil }

// Find returns the first value of the parameter.
func (q Query) Find(r *http.Request) (name string, ok bool) {
	parameter := q.parameterName()
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
	rejectTwice(n.query != "", "Query")
	n.query = q.parameterName()
	q.Name = n.query
	n.add(q, place{locator: q, kind: inQuery, parameter: n.query})
}

// locate merges all values of the parameter. Several values are valid if they select the same
// contract.
func (q Query) locate(n *Negotiator, r *http.Request, now time.Time) (found match) {
	for rest := r.URL.RawQuery; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		value, ok := pairValue(pair, q.Name)
		if !ok {
			continue
		}
		if found = found.merge(n.matchName(value, now)); found.kind == problem.MalformedVersion {
			return found
		}
	}
	return found
}

// pairValue returns the decoded value of a pair if its key is parameter. A value with invalid
// escapes is returned unchanged; it is not a valid version.
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

// stripQuery returns the query without the parameter. All other pairs keep their spelling. It
// copies once, so that many occurrences do not cost quadratic time.
func stripQuery(query, parameter string) string {
	var kept strings.Builder
	kept.Grow(len(query))
	begin := 0 // begin of the part that is kept and not yet copied
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
	if begin == len(query) { // the last pair was removed, and with it the need for the ampersand before it
		return strings.TrimSuffix(kept.String(), "&")
	}
	kept.WriteString(query[begin:])
	return kept.String()
}

// pair returns the parameter with a value, escaped.
func (n *Negotiator) pair(value string) string {
	return url.QueryEscape(n.query) + "=" + url.QueryEscape(value)
}

// addQuery appends a pair to the query of a URL.
func addQuery(ref, pair string) string {
	if strings.Contains(ref, "?") {
		return ref + "&" + pair
	}
	return ref + "?" + pair
}
