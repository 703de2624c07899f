package version

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// refuse answers a request that is given to no contract.
func (n *Negotiator) refuse(w http.ResponseWriter, r *http.Request, d *problem.Details, now time.Time) {
	if d.Header == nil {
		d.Header = http.Header{}
	}
	if n.vary.line != nil {
		d.Header["Vary"] = n.vary.line
	}
	problem.Write(w, r, n.withSupported(d, now))
}

// withSupported adds to a refusal which contracts are served.
func (n *Negotiator) withSupported(d *problem.Details, now time.Time) *problem.Details {
	if d.Extensions == nil {
		d.Extensions = map[string]any{}
	}
	d.Extensions["supported-versions"] = n.supported(now)
	return d
}

// supported returns the names of the contracts that are not retired, newest first.
func (n *Negotiator) supported(now time.Time) []string {
	all := []string{}
	for _, c := range n.contracts {
		if !c.retired(now) {
			all = append(all, c.Name)
		}
	}
	return all
}

// refusal says the worst of what the places have said.
func (n *Negotiator) refusal(q *inquiry) *problem.Details {
	p, f := &n.places[q.worstAt], &q.worst
	switch f.kind {
	case problem.Misdirected:
		return problem.New(problem.Misdirected, "This server does not speak for the host of the request.")
	case problem.TooLarge:
		d := problem.New(problem.TooLarge,
			"The content is too long to look into it for a version. Name the version elsewhere.")
		d.Extensions = map[string]any{"limit": q.n.body.Limit}
		if q.request.ProtoMajor == 1 {
			d.Header = http.Header{"Connection": {"close"}} // the rest of the content is not read
		}
		return d
	case problem.AmbiguousVersion:
		if f.other != "" {
			return ambiguous(p, f.raw, p, f.other)
		}
		return ambiguous(&n.places[q.place], q.said, p, f.raw)
	}
	d := problem.New(f.kind, fmt.Sprintf("%q in %s is no version such as 1, 1.1 or 1.1.0.", cut(f.raw),
		p.label))
	code := "syntax" // a word for programs, as the codes of other violations are
	if f.kind == unsupported {
		d.Detail = fmt.Sprintf("Version %q in %s is not served.", cut(f.raw), p.label)
		code = "unsupported"
	}
	d.Status = p.status
	d.Errors = p.violation(code)
	if p.status == http.StatusUnsupportedMediaType {
		d.Header = n.accepted(q, f.media)
	}
	return d
}

// ambiguous says that two places name two contracts, or that one place does.
func ambiguous(p *place, said string, other *place, otherSaid string) *problem.Details {
	said, otherSaid = cut(said), cut(otherSaid)
	d := problem.New(problem.AmbiguousVersion,
		fmt.Sprintf("A request is of one version, but %s says %q and %s says %q.",
			p.label, said, other.label, otherSaid))
	d.Errors = p.violation("ambiguous")
	if other != p {
		d.Errors = append(d.Errors, other.violation("ambiguous")...)
	}
	type source struct {
		Source  string `json:"source"`
		Version string `json:"version"`
	}
	d.Extensions = map[string]any{"sources": []source{{p.label, said}, {other.label, otherSaid}}}
	return d
}

// required refuses a request that names no contract. Where only the path can, what it asks for is not there.
func (n *Negotiator) required() *problem.Details {
	var labels []string
	onlyPath := true
	for i := range n.places {
		labels = append(labels, n.places[i].label)
		onlyPath = onlyPath && n.places[i].kind == inPath
	}
	d := problem.New(problem.VersionRequired, "The request must name a version, in "+
		strings.Join(labels, " or in ")+".")
	if onlyPath {
		d.Status = http.StatusNotFound
	}
	return d
}

// accepted tells which types of content are understood (RFC 9110 section 15.5.16), in the words of the client as far as they
// make sense.
func (n *Negotiator) accepted(q *inquiry, name string) http.Header {
	var types []string
	if name == "" {
		types = append(types, n.media.prefix+"+json")
	}
	for _, c := range n.contracts {
		if name != "" && !c.retired(q.now) {
			types = append(types, c.media+name+"+json")
		}
	}
	line := []string{strings.Join(append(types, mediaJSON), ", ")}
	if q.request.Method == http.MethodPost {
		return http.Header{"Accept": line, "Accept-Post": slices.Clone(line)}
	}
	return http.Header{"Accept": line}
}

// violation points at the place. There is no way to point at a path or a host.
func (p *place) violation(code string) []problem.Violation {
	if p.parameter == "" && p.header == "" && p.pointer == "" {
		return nil
	}
	return []problem.Violation{{Parameter: p.parameter, Header: p.header, Pointer: p.pointer, Code: code}}
}

// cut bounds what a client is told of its own words.
func cut(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}
