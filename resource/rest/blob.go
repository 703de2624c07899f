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
func (x *call) serveBlobs() error {
	switch b := x.route.blobs; {
	case x.route.resource != nil && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead):
		return x.getList()
	case x.route.resource != nil && x.r.Method == methodQuery:
		return x.onHeap((*call).queryList)
	// POST to a read-only collection is 405.
	case x.r.Method == http.MethodPost && !b.Options().ReadOnly && x.isForm():
		return x.onHeap((*call).postForm)
	case x.r.Method == http.MethodPost && !b.Options().ReadOnly:
		return x.postBlob()
	case x.r.Method == http.MethodOptions:
		if !b.Options().ReadOnly {
			x.w.Header()["Accept-Post"] = []string{postedTypes(b)}
		}
		return x.options(x.route.allowList)
	}
	return notAllowed(x.route.allowList)
}

// serveBlob serves a request for one file.
func (x *call) serveBlob(id string) error {
	x.onItem = true
	// 404 for all methods: no request can ever create a blob with this id, so PUT must not return
	// an error that a client could correct.
	if !x.route.blobs.ValidID(id) {
		return problem.New(problem.NotFound, "The path does not end with a valid id.")
	}
	writable := !x.route.blobs.Options().ReadOnly
	switch {
	case x.r.Method == http.MethodGet, x.r.Method == http.MethodHead:
		return x.getBlob(id)
	case x.r.Method == http.MethodPut && writable:
		return x.putBlob(id)
	case x.r.Method == http.MethodDelete && writable:
		return x.deleteBlob(id)
	case x.r.Method == http.MethodOptions:
		x.w.Header()["Accept-Ranges"] = byteRanges
		return x.options(x.route.allowItem)
	}
	return notAllowed(x.route.allowItem)
}

// refuseBlobQuery rejects all query parameters, unless the client prefers handling=lenient.
func (x *call) refuseBlobQuery() error {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	return x.refuseQuery(x.lenient(x.prefer()))
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
