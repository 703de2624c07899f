package resource

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

func (c *Command) addTo(*Catalog) *route {
	vary := []string{"Accept, Accept-Encoding, Prefer"}
	return &route{name: c.name, command: c, allowList: []string{"POST, OPTIONS"}, varyItem: vary, varyList: vary}
}

// serveCommand answers on the path of a command.
func (x *exchange) serveCommand() error {
	return problem.New(problem.NotImplemented, "")
}

// reportOther describes what is no resource and no lookup.
func (rt *route) reportOther(b *strings.Builder) {
	switch {
	case rt.command != nil:
		rt.command.report(b)
	case rt.blobs != nil:
		rt.blobs.report(b)
	}
}

func (c *Command) report(b *strings.Builder) {
	fmt.Fprintf(b, "/%s  a command\n", c.name)
}
