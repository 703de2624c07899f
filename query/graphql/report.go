package graphql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Report returns a summary of the handler in plain text, to be logged at start-up: the size of the
// schema, limits, and settings that weaken security. It complements [resource.Catalog.Report].
func (h *Handler) Report() string {
	var b strings.Builder
	o, l := &h.opts, &h.opts.Limits
	// without introspection types
	types, fields := 0, 0
	for _, t := range h.schema.Types {
		if t.Kind == model.Object && !strings.HasPrefix(t.Name, "__") {
			types++
			fields += len(t.Fields)
		}
	}
	fmt.Fprintf(&b, "GraphQL  %d fields of %d types\n", fields, types)
	fmt.Fprintf(&b, "    limits: %d tokens, %d levels, %d fields, cost %d, %d at a time", l.Tokens, l.Depth,
		l.Fields, l.Cost,
		l.Parallel)
	if o.Timeout > 0 {
		fmt.Fprintf(&b, ", %v", o.Timeout)
	}
	b.WriteByte('\n')
	if o.Batch > 0 {
		fmt.Fprintf(&b, "    batches: up to %d requests\n", o.Batch)
	}
	if h.trusted != nil {
		fmt.Fprintf(&b, "    documents: only the %d of Trusted\n", len(o.Trusted))
	}
	h.reportKeys(&b)
	h.reportSubscriptions(&b)
	for _, warning := range h.weaknesses() {
		fmt.Fprintf(&b, "    weak: %s\n", warning)
	}
	return b.String()
}

// reportKeys lists which mutations may be combined in an operation with an idempotency key. The
// report of the catalog has the guarantee of each.
func (h *Handler) reportKeys(b *strings.Builder) {
	if h.once == nil || h.schema.Mutation == nil {
		return
	}
	var together, alone []string
	for _, f := range h.schema.Mutation.Fields {
		name := f.Name
		switch {
		case f.Resource != nil:
			name = f.Resource.Name()
		case f.Command != nil && f.Command.Secret():
			continue // its response is not stored
		case f.Command != nil:
			name = f.Command.Name()
		}
		list := &alone
		if level, _ := h.guarantee(f, false); level == idempotency.ExactlyOnce {
			list = &together
		}
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	if together != nil {
		fmt.Fprintf(b, "    keys: exactly once, several in one transaction: %s\n",
			strings.Join(together, " "))
	}
	if alone != nil {
		fmt.Fprintf(b, "    keys: one per request, because it cannot be rolled back: %s\n",
			strings.Join(alone, " "))
	}
}

// reportSubscriptions lists the resources with subscriptions and the protocols.
func (h *Handler) reportSubscriptions(b *strings.Builder) {
	if h.schema.Subscription == nil {
		return
	}
	var of []string
	for _, f := range h.schema.Subscription.Fields {
		of = append(of, f.Resource.Name())
	}
	way := "over WebSocket and SSE"
	if h.opts.Socket.None {
		way = "over SSE"
	}
	fmt.Fprintf(b, "    subscriptions: %s, %s\n", strings.Join(of, " "), way)
}

// weaknesses returns settings that weaken security.
func (h *Handler) weaknesses() []string {
	o := &h.opts
	var weak []string
	if h.trusted == nil {
		weak = append(weak,
			"no Trusted: every GraphQL document is executed")
	}
	if !o.NoIntrospection {
		weak = append(weak, "introspection is on: every caller can read the schema")
	}
	if o.Timeout < 0 {
		weak = append(weak, "no Timeout")
	}
	if strings.Contains(o.Cache, "public") {
		weak = append(weak, "Cache is public: shared caches send responses to other callers")
	}
	return weak
}
