package rest

// Blobs: bytes of any media type, stored unchanged. Called by route.go. blob_get.go serves reads
// and blob_write.go serves writes. They call blob.Collection.

import (
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/problem"
)

// serveBlobs serves the path of the collection. GET lists the metadata if the store is a
// [blob.Lister].
func (c *call) serveBlobs() error {
	switch b := c.route.blobs; {
	case c.route.resource != nil && (c.r.Method == http.MethodGet || c.r.Method == http.MethodHead):
		return c.getList()
	case c.route.resource != nil && c.r.Method == methodQuery:
		return c.onHeap((*call).queryList)
	// POST to a read-only collection is 405.
	case c.r.Method == http.MethodPost && !b.Options().ReadOnly && c.isForm():
		return c.onHeap((*call).postForm)
	case c.r.Method == http.MethodPost && !b.Options().ReadOnly:
		return c.postBlob()
	case c.r.Method == http.MethodOptions:
		if !b.Options().ReadOnly {
			c.w.Header()["Accept-Post"] = []string{postedTypes(b)}
		}
		return c.options(c.route.allowList)
	}
	return notAllowed(c.route.allowList)
}

// serveBlob serves a request for one file.
func (c *call) serveBlob(id string) error {
	c.onItem = true
	// 404 for all methods: no request can ever create a blob with this id, so PUT must not return
	// an error that a client could correct.
	if !c.route.blobs.ValidID(id) {
		return problem.New(problem.NotFound, "The path does not end with a valid id.")
	}
	writable := !c.route.blobs.Options().ReadOnly
	switch {
	case c.r.Method == http.MethodGet, c.r.Method == http.MethodHead:
		return c.getBlob(id)
	case c.r.Method == http.MethodPut && writable:
		return c.putBlob(id)
	case c.r.Method == http.MethodDelete && writable:
		return c.deleteBlob(id)
	case c.r.Method == http.MethodOptions:
		c.w.Header()["Accept-Ranges"] = byteRanges
		return c.options(c.route.allowItem)
	}
	return notAllowed(c.route.allowItem)
}

// refuseBlobQuery rejects all query parameters, unless the client prefers handling=lenient.
func (c *call) refuseBlobQuery() error {
	if c.r.URL.RawQuery == "" {
		return nil
	}
	return c.refuseQuery(c.lenient(c.prefer()))
}

// acceptedTypes returns the accepted media types in the syntax of Accept.
func acceptedTypes(b *blob.Collection) string {
	if types := b.Options().MediaTypes; types != nil {
		return strings.Join(types, ", ")
	}
	return "*/*"
}

// postedTypes returns the media types that POST accepts, which include a form.
func postedTypes(b *blob.Collection) string {
	if types := acceptedTypes(b); types != "*/*" {
		return types + ", " + mediaForm
	}
	return "*/*"
}
