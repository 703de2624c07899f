package version

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// List returns a handler that serves the contracts as JSON: names, statuses, dates and documents, and
// the changes since the previous contract if [Options.Snapshots] is set.
// The list belongs to no contract, so mount it outside the Negotiator.
func (n *Negotiator) List() http.Handler { return http.HandlerFunc(n.serveList) }

// listEntry is one contract in the list.
type listEntry struct {
	Name       string     `json:"name"`
	Status     Status     `json:"status"`
	Default    bool       `json:"default,omitempty"`
	Names      []string   `json:"names"`
	Deprecated time.Time  `json:"deprecated,omitzero"`
	Sunset     time.Time  `json:"sunset,omitzero"`
	Successor  string     `json:"successor,omitempty"`
	URL        string     `json:"url,omitempty"` // of another server
	OpenAPI    string     `json:"openapi,omitempty"`
	Links      *listLinks `json:"links,omitempty"`
	// Changes are those since the previous contract; see Options.Snapshots.
	Changes *contractChanges `json:"changes,omitempty"`
}

// listLinks are links to HTML pages.
type listLinks struct {
	Deprecation string `json:"deprecation,omitempty"`
	Sunset      string `json:"sunset,omitempty"`
}

// serveList encodes the list for each request, because statuses change with time.
func (n *Negotiator) serveList(w http.ResponseWriter, r *http.Request) {
	if !onlyRead(w, r) {
		return
	}
	body := n.document(n.opts.Now())
	w.Header().Set("Cache-Control", "no-cache")
	httpbody.Serve(w, r, mediaJSON, bodyTag(body), body)
}

// onlyRead reports whether the request is GET or HEAD, and responds otherwise.
func onlyRead(w http.ResponseWriter, r *http.Request) bool {
	const allowed = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodOptions:
		w.Header().Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
		http.MethodTrace:
		d := problem.New(problem.MethodNotAllowed, "The list of versions is read-only; use GET or HEAD.")
		d.Header = http.Header{"Allow": {allowed}}
		problem.Write(w, r, d)
	default: // RFC 9110 section 9.1
		problem.Write(w, r, problem.New(problem.NotImplemented,
			"The method is not implemented; use GET, HEAD or OPTIONS."))
	}
	return false
}

// document returns the list as JSON. Names and Successor depend on now, so the list agrees with
// what a request would select.
func (n *Negotiator) document(now time.Time) []byte {
	var list struct {
		Versions []listEntry `json:"versions"`
	}
	for _, c := range n.contracts {
		l := listEntry{Name: c.Name, Status: c.status(now), Default: c == n.defaultContract,
			Names:      n.names(c, now),
			Deprecated: c.Contract.Deprecated.UTC().Truncate(time.Second),
			Sunset:     c.Sunset.UTC().Truncate(time.Second),
			OpenAPI:    c.OpenAPI, Changes: c.changes}
		// A retired contract has none. Clients need not distinguish null from an empty list.
		if l.Names == nil {
			l.Names = []string{}
		}
		if next := n.next(c, now); next != nil {
			l.Successor = next.Name
		}
		if c.remote != nil && !c.Proxy {
			l.URL = c.remote.base.String()
		}
		if c.DeprecationLink != "" || c.SunsetLink != "" {
			l.Links = &listLinks{c.DeprecationLink, c.SunsetLink}
		}
		list.Versions = append(list.Versions, l)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(list) // cannot fail: years have been checked by checkDates
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
