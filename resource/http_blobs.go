package resource

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

func (b *Blobs) addTo(*Catalog) *route {
	vary := []string{"Accept"}
	return &route{name: b.name, blobs: b, varyItem: vary, varyList: vary}
}

// serveBlobs answers on the path of the whole.
func (x *exchange) serveBlobs() error { return problem.New(problem.NotImplemented, "") }

// serveBlob answers on the path of one.
func (x *exchange) serveBlob(id string) error {
	x.onItem = true
	return problem.New(problem.NotImplemented, id)
}

func (b *Blobs) report(to *strings.Builder) {
	fmt.Fprintf(to, "/%s  bytes\n", b.name)
}
