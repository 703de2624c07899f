package resource

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource/problem"
)

func (b *Blobs) addTo(*Catalog) *route {
	vary := []string{"Accept, Accept-Encoding"}
	rt := &route{name: b.name, blobs: b, varyItem: vary, varyList: vary,
		allowItem: []string{"GET, HEAD, PUT, DELETE, OPTIONS"}, allowList: []string{"POST, OPTIONS"}}
	if b.opts.ReadOnly {
		rt.allowItem, rt.allowList = []string{"GET, HEAD, OPTIONS"}, []string{"OPTIONS"}
	}
	return rt
}

// serveBlobs answers on the path of the whole. There is no list: a [BlobStore] need not have one.
func (x *call) serveBlobs() error {
	switch b := x.route.blobs; {
	case x.r.Method == http.MethodPost && !b.opts.ReadOnly:
		return x.postBlob()
	case x.r.Method == http.MethodOptions:
		if !b.opts.ReadOnly {
			x.w.Header()["Accept-Post"] = []string{b.accepted()}
		}
		return x.options(x.route.allowList)
	}
	return notAllowed(x.route.allowList)
}

// serveBlob answers on the path of one.
func (x *call) serveBlob(id string) error {
	x.onItem = true
	if !validBlobID(id) {
		return problem.New(problem.NotFound, "Nothing can have this name.")
	}
	writable := !x.route.blobs.opts.ReadOnly
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

// maxBlobID is the longest id in bytes, which is that of a file name nearly everywhere.
const maxBlobID = 255

// validBlobID refuses what could be mistaken for a place in a tree by whatever the store is built on.
func validBlobID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxBlobID && utf8.ValidString(id) &&
		!strings.ContainsRune(id, '/') && !strings.ContainsFunc(id, unicode.IsControl)
}

// noParams refuses parameters: there are none here.
func (x *call) noParams() error {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	return x.noParameters(x.lenient(x.prefer()))
}

// fault adds the place to an error.
func (b *Blobs) fault(op Op, id string, err error) error {
	return &Error{Op: op, Resource: b.name, ID: id, Err: err}
}

// newUUID returns a random UUID of version 7, RFC 9562 section 5.7.
func newUUID() string {
	var u [16]byte
	rand.Read(u[6:]) // never fails: crypto/rand
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	text := hex.EncodeToString(u[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

func (b *Blobs) report(to *strings.Builder) {
	rt := b.addTo(nil)
	fmt.Fprintf(to, "/%s  %s\n", b.name, rt.allowList[0])
	fmt.Fprintf(to, "/%s/{id}  %s\n", b.name, rt.allowItem[0])
	o := b.Options()
	fmt.Fprintf(to, "    bytes: %s, at most %d bytes each\n", b.accepted(), o.MaxSize)
	if o.Authorize == nil && !o.Public {
		to.WriteString("    weak: everybody may do everything: give Authorize, or say Public\n")
	}
	if o.Authorize != nil && strings.Contains(o.Cache, "public") {
		to.WriteString("    weak: Cache-Control is public, though not everybody may see everything\n")
	}
}
