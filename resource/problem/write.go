package problem

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// MediaType is the media type of a problem.
const MediaType = "application/problem+json"

// Write answers the request with the problem, as application/problem+json whatever the request's Accept says
// (RFC 9457 section 3). The answer to HEAD has the same header fields and no content. It is not to be stored
// (Cache-Control: no-store) unless d.Header says otherwise.
//
// Fields that are already in w.Header stay, except those that describe the representation which is now not sent
// (Content-*, ETag, Last-Modified). d.Header is merged over them: Vary and Link are added to, others replaced.
// An [Unauthenticated] problem needs a WWW-Authenticate there, a [MethodNotAllowed] one an Allow (RFC 9110 sections
// 15.5.2 and 15.5.6): only the caller knows them.
func Write(w http.ResponseWriter, r *http.Request, d *Details) {
	body := d.Append(make([]byte, 0, 512))
	header := w.Header()
	for _, name := range representationFields {
		header.Del(name)
	}
	header.Set("Cache-Control", "no-store")
	merge(header, d.Header)
	// The rest describes the body written below, which no caller can know better.
	header.Del("Content-Encoding")
	header.Set("Content-Type", MediaType)
	// net/http would count short bodies by itself, but not for HEAD.
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(d.StatusCode())
	if r.Method != http.MethodHead {
		// A client that has gone cannot be told so.
		_, _ = w.Write(body)
	}
}

// representationFields describe a representation that was about to be sent; left in place they would describe the
// problem, and wrongly: an attachment's name, the range of a file, the tag of an item.
var representationFields = [...]string{
	"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range", "Etag",
	"Last-Modified",
}

// merge puts the fields of more into header.
func merge(header, more http.Header) {
	for name, lines := range more {
		name = textproto.CanonicalMIMEHeaderKey(name)
		switch name {
		case "Vary":
			if vary := joinVary(header[name], lines); vary != "" {
				header.Set(name, vary)
			}
		case "Link":
			header[name] = append(header[name], lines...)
		default:
			header[name] = append([]string(nil), lines...)
		}
	}
}

// joinVary returns one list with the members of both, each once, and only "*" where that is among them: it says more
// than any list (RFC 9110 section 12.5.5).
func joinVary(have, more []string) string {
	var members []string
	seen := make(map[string]bool)
	for _, lines := range [][]string{have, more} {
		for member := range strings.SplitSeq(strings.Join(lines, ","), ",") {
			member = strings.TrimSpace(member)
			if member == "*" {
				return member
			}
			if key := strings.ToLower(member); member != "" && !seen[key] {
				seen[key] = true
				members = append(members, member)
			}
		}
	}
	return strings.Join(members, ", ")
}
