package resource

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
)

// Grouper is a collection that can list for many keys at once: the first items of each. Relations to many are then
// resolved with one call for a whole page.
type Grouper[T any] interface {
	// ListBy returns, for each of keys, the first q.Limit items (all, if q.Limit is zero) which q.Filter selects and
	// whose field holds that key, in the order of q.Sort within a key and in any order between keys. field is one that
	// query.Support declares for query.Eq, and the keys are distinct, in text form.
	ListBy(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
}
