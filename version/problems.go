package version

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// refuse responds with d and the list of supported versions. It adds Vary, because a cache may
// store errors too: another spelling of the request can succeed.
func (n *Negotiator) refuse(w http.ResponseWriter, r *http.Request, d *problem.Details, now time.Time) {
	if d.Header == nil {
		d.Header = http.Header{}
	}
	if n.vary.line != nil {
		d.Header["Vary"] = n.vary.line
	}
	problem.Write(w, r, n.withSupported(d, now))
}

// withSupported adds the names of the contracts that are served to d.
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

// failureProblem returns the problem for q.failure. f.raw is text of the client, so it is truncated
// and quoted.
func (n *Negotiator) failureProblem(q *negotiation) *problem.Details {
	p, f := &n.places[q.failedPlace], &q.failure
	switch f.kind {
	case problem.Misdirected:
		return problem.New(problem.Misdirected, fmt.Sprintf("The host %q is not served here.",
			truncate(f.raw)))
	case problem.TooLarge:
		d := problem.New(problem.TooLarge,
			fmt.Sprintf("The request body is longer than %d bytes, the limit for a version in member %q; "+
				"name the version outside the body.", q.n.body.Limit, q.n.body.Name))
		d.Extensions = map[string]any{"limit": q.n.body.Limit}
		if q.request.ProtoMajor == 1 {
			d.Header = http.Header{"Connection": {"close"}} // the rest of the body is not read
		}
		return d
	case problem.AmbiguousVersion:
		if f.otherRaw != "" {
			return ambiguousProblem(p, f.raw, p, f.otherRaw)
		}
		return ambiguousProblem(&n.places[q.place], q.raw, p, f.raw)
	}
	d := problem.New(f.kind,
		fmt.Sprintf("%q in %s is not a valid version; use a name such as 1, 1.1 or 1.1.0.", truncate(f.raw),
			p.label))
	code := "syntax" // stable code for programs, as in other violations
	if f.kind == unsupported {
		d.Detail = fmt.Sprintf("Version %q in %s is not supported; use one of supported-versions.",
			truncate(f.raw), p.label)
		code = "unsupported"
	}
	// The status depends on the place: 404 for a path, 406 for Accept, 415 for a Content-Type.
	d.Status = p.status
	d.Errors = p.violation(code)
	if p.status == http.StatusUnsupportedMediaType {
		d.Header = n.acceptHeader(q, f.media)
	}
	return d
}

// ambiguousProblem reports two different contracts, in two places or, if other is p, in one.
func ambiguousProblem(p *place, raw string, other *place, otherRaw string) *problem.Details {
	raw, otherRaw = truncate(raw), truncate(otherRaw)
	d := problem.New(problem.AmbiguousVersion,
		fmt.Sprintf("The request names two versions: %q in %s and %q in %s.",
			raw, p.label, otherRaw, other.label))
	d.Errors = p.violation("ambiguous")
	if other != p {
		d.Errors = append(d.Errors, other.violation("ambiguous")...)
	}
	type source struct {
		Source  string `json:"source"`
		Version string `json:"version"`
	}
	d.Extensions = map[string]any{"sources": []source{{p.label, raw}, {other.label, otherRaw}}}
	return d
}

// requiredProblem reports that the request names no contract. It is 404 if [Path] is the only
// strategy, because then the resource does not exist.
func (n *Negotiator) requiredProblem() *problem.Details {
	var labels []string
	onlyPath := true
	for i := range n.places {
		labels = append(labels, n.places[i].label)
		onlyPath = onlyPath && n.places[i].kind == inPath
	}
	d := problem.New(problem.VersionRequired, "The request names no version; name one in "+
		strings.Join(labels, " or in ")+".")
	if onlyPath {
		d.Status = http.StatusNotFound
	}
	return d
}

// acceptHeader returns Accept with the supported media types, and Accept-Post for a POST (RFC 9110
// section 15.5.16). The types have the representation name that the client used, if there was one.
func (n *Negotiator) acceptHeader(q *negotiation, name string) http.Header {
	var types []string
	if name == "" {
		types = append(types, n.media.prefix+"+json")
	}
	for _, c := range n.contracts {
		if name != "" && !c.retired(q.now) {
			types = append(types, c.mediaPrefix+name+"+json")
		}
	}
	line := []string{strings.Join(append(types, mediaJSON), ", ")}
	if q.request.Method == http.MethodPost {
		return http.Header{"Accept": line, "Accept-Post": slices.Clone(line)}
	}
	return http.Header{"Accept": line}
}

// violation returns the location of the error for the problem document; nil for a path or a host.
func (p *place) violation(code string) []problem.Violation {
	if p.parameter == "" && p.header == "" && p.pointer == "" {
		return nil
	}
	return []problem.Violation{{Parameter: p.parameter, Header: p.header, Pointer: p.pointer, Code: code}}
}

// truncate limits client input that is repeated in a problem document.
func truncate(s string) string {
	if len(s) > 64 {
		return s[:64] + "..."
	}
	return s
}
