package resource

import (
	"context"

	"github.com/stoa-go/stoa/query"
)

// Counter is a collection that can count without listing. It serves "total" where a client asks for it.
type Counter interface {
	// Count returns how many items q.Filter selects. The rest of q is zero.
	Count(ctx context.Context, q query.Query) (int, error)
}
