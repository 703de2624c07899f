package graphql

import (
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// checkBody checks the header fields of a POST, before its body is read: Content-Type,
// Content-Encoding and the declared length. An HTML form of another site cannot send
// application/json without a CORS preflight request, so no other type is accepted.
func (x *exchange) checkBody() error {
	media, ok := httpbody.MediaType(x.r)
	if !ok || media != mediaJSON && !contract.From(x.r.Context()).Content(mediaName) {
		return httpbody.UnsupportedType(x.r, "Content-Type must be "+mediaJSON+", in UTF-8.", mediaJSON)
	}
	return httpbody.Check(x.r, x.h.opts.Limits.Body)
}
