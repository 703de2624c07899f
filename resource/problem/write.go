package problem

// Sending of problem documents.

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// MediaType is the media type of problem details (RFC 9457 section 6.1).
const MediaType = "application/problem+json"

// Write writes the problem as the response to r. The content is application/problem+json regardless
// of the Accept field (RFC 9457 section 3). A response to HEAD has the same header fields and no
// content. The response has Cache-Control: no-store, unless d.Header sets Cache-Control.
//
// Write keeps the fields that w.Header already has, except those that describe a representation
// (Content-*, digests, Accept-Ranges, ETag, Last-Modified). It then merges d.Header: Vary and Link
// are added to existing values, and other fields replace them.
//
// The caller must set WWW-Authenticate for an [Unauthenticated] problem and Allow for a
// [MethodNotAllowed] problem in d.Header (RFC 9110 sections 15.5.2 and 15.5.6).
func Write(w http.ResponseWriter, r *http.Request, d *Details) {
	body := d.Append(make([]byte, 0, 512))
	header := w.Header()
	for _, name := range representationFields {
		header.Del(name)
	}
	header.Set("Cache-Control", "no-store")
	merge(header, d.Header)
	// The following fields describe the content, so d.Header must not override them.
	header.Del("Content-Encoding")
	header.Set("Content-Type", MediaType)
	// net/http sets Content-Length for short content, but not for HEAD.
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(d.StatusCode())
	if r.Method != http.MethodHead {
		// A write error means that the client has disconnected.
		_, _ = w.Write(body)
	}
}

// representationFields are the fields of the representation that the handler was about to send,
// such as the entity tag of an item. They do not apply to the problem.
var representationFields = [...]string{
	"Accept-Ranges", "Content-Digest", "Content-Disposition", "Content-Encoding", "Content-Language",
	"Content-Location", "Content-Md5", "Content-Range", "Digest", "Etag", "Last-Modified", "Repr-Digest",
}

// merge merges the fields of more into header.
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

// joinVary returns one list with the members of both lists and without duplicates, or "*" if a list
// contains it, because "*" includes every field (RFC 9110 section 12.5.5).
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
