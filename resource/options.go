package resource

// Options of a resource and of its relations, with their defaults and checks. Called by
// resource.go.

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options configure a [Resource]. The zero value serves all capabilities of the collection, ordered
// by id and without filters, to every caller; the start-up report warns of that ([Catalog.Report]).
//
// Hooks are called concurrently. The values that their pointers refer to belong to the library:
// only Before may change the value of after.
//
// # Hooks that read other items
//
// If the collection is a [Transactor], a write is one transaction: it reads the item, calls
// Authorize and Before, and stores the new value. The ctx of the hooks carries the transaction. Reads
// of a hook from the same database with this ctx are part of it, and the isolation level decides
// whether their results still hold when the write commits:
//
//   - Serializable (SQLite, package memory, and PostgreSQL with sql.LevelSerializable): it does. Of
//     two writes that would invalidate what the other has read, one runs again.
//   - Repeatable read (the default on PostgreSQL): only for items that are read with [GetForUpdate],
//     which locks them until the transaction ends. Other reads are of one snapshot, which another
//     transaction may have changed by the time of the commit.
//   - Read committed: the same, and two reads may return different revisions.
//
// Without transactions nothing holds except for the written item: its revision is compared when it
// is stored.
type Options[T any] struct {
	// ID is the JSON name of the id field, a string or an integer. Default "id".
	ID string
	// Query declares the fields that clients can filter and sort by. Zero means none.
	Query query.Support
	// Relations connect items to items of other resources.
	Relations []Relation[T]
	// Samples are examples of items, including their ids. The first one is the example in
	// descriptions of the API. [View] checks its functions with all of them at registration: it
	// converts a sample down, up onto a copy and down again, and both values of the view must be
	// equal. Add a sample for each kind of item, because only kinds with a sample are checked.
	Samples []T

	// Before runs before an item is written. before is nil on creation, and after is nil on
	// deletion. Before may set fields of after, and may reject the write with an error such as
	// [Invalid]. It runs again if the write is retried, so it must not have side effects.
	//
	// Fields of after that clients cannot write may share memory with before: to change a pointer,
	// slice or map, replace it. Before runs before Authorize, which gets its result; on deletion it
	// runs after Authorize.
	Before func(ctx context.Context, op Op, before, after *T) error
	// After runs once after a write and, if that is part of a transaction, after the commit, before
	// the response. It does not run if nothing was written, as for an equal PUT or a replay. ctx
	// may be canceled. A panic becomes 500, although the write is committed.
	After func(ctx context.Context, op Op, before, after *T)
	// Authorize decides whether the caller may carry out op on an item. It is called for every item
	// in every protocol. before is the current item as it was read (nil on creation), and after the
	// new value (nil unless the item is written). A write of an existing item first calls it with
	// [OpGet].
	//
	// If it returns [ErrForbidden] or [ErrNotFound] for OpGet, the item is hidden: it is missing
	// from lists, and 404 by id. For other operations ErrForbidden is 403 and ErrNotFound 404.
	// [ErrUnauthenticated] is 401 and reveals that the item exists; to require authentication for
	// everything use Scope or an HTTP middleware. A [*problem.Details] is sent as it is. Any other
	// error is an internal error (500).
	Authorize func(ctx context.Context, op Op, before, after *T) error
	// Scope returns a filter that selects the items that the caller may see, in the field names of
	// the collection. It may use any field. The filter is added to every list and count, so pages,
	// totals and cursors do not reveal other items, and it hides single items. A write whose result
	// does not match the filter is forbidden. An error of Scope, such as [ErrUnauthenticated], is
	// the response to every request, whether the item exists or not.
	Scope func(ctx context.Context) (query.Filter, error)
	// AuthorizeGone returns an error if the caller may not know that an item with this id existed;
	// the response is then 404 in place of 410, whatever the error. If it is nil, every caller may
	// know, unless Authorize or Scope is set: then the response is always 404, because the deleted
	// item is no longer available to them.
	AuthorizeGone func(ctx context.Context, id string) error
	// HooksOutsideTx calls Before and Authorize outside of a transaction, unless the write is part of
	// one, such as a batch. Set it if they examine only before and after, or call another server. It
	// saves beginning and committing a transaction. [GetForUpdate] then fails.
	HooksOutsideTx bool
	// Public declares that Authorize and Scope are omitted on purpose. It removes the warning from
	// the start-up report. With one of them it is a mistake.
	Public bool
	// NoEvents disables events for the resource in CatalogOptions.Feed. Clients then cannot
	// subscribe to it, unless the collection is a [feed.Watcher]. Use it for collections that are
	// also written without the Resource, whose events would be incomplete, and for data that must
	// not be logged.
	NoEvents bool

	// RequireIfMatch rejects changes and deletions without If-Match with 428 (RFC 6585 section 3).
	RequireIfMatch bool
	// AllowRecreate allows PUT, also in batches and imports, to create an item whose id was
	// deleted, if Insert does not return [ErrGone]. Otherwise PUT is 410. POST is 409 in any case.
	AllowRecreate bool
	// RecentDeletes is how many deletions the process remembers if the collection is not a
	// [Tombstoner]: reads and changes of such an item are 410, and a repeated DELETE is not 404. The
	// collection is read first, and PUT can create the item again. Default 10,000; negative means
	// none. Other processes, and this one after a restart or more deletions, respond with 404. Use
	// [Ops.WithTombstones] if 410 must be reliable.
	RecentDeletes int
	// PageSize is the number of items of a page if the client does not set a limit. Default 50, or
	// MaxPageSize if that is less. MaxPageSize is the highest limit that a client can set;
	// protocols reject a higher one. Default 200, or PageSize if that is more.
	PageSize, MaxPageSize int
	// ReadTimeout limits a read of the collection: an item, a page of a list, a count, or the
	// related items of a page. Default 10s; negative means no limit. A read that takes longer is
	// 503 with Retry-After. It does not apply to exports ([Resource.Pages]), to reads inside a
	// transaction, and to collections in memory ([Ops].InMemory).
	ReadTimeout time.Duration
}

// Relation connects an item to other items. It is to one item if a field such as customerId holds
// its id. It is to many if a field holds a list of ids, or if a field of the other items refers to
// this one.
type Relation[T any] struct {
	// Name is the member that holds the related items if a request includes them, such as
	// ?expand=customer.
	Name string
	// Target is the name of the resource of the related items. It is looked up in the catalog that
	// serves the request.
	Target string
	// Field is the JSON name, in the collection, of the field that holds the id of the related item
	// or, with Many, their ids. It is a string, an integer or a list of them. With By it holds
	// values of that field in place of ids. null and an empty string refer to no item; zero does so
	// only if the field is omitzero or omitempty.
	//
	// Prefer Field to Keys: protocols then know which field is needed to resolve the relation, and
	// keys need no conversion to strings.
	Field string
	// Keys returns the ids, or the values of By, if no field holds them. Set either Field or Keys.
	// An integer is in decimal; a key that cannot be an id is ignored. A relation to one uses the
	// first key. With By both may be empty: then the key is the id of the item.
	Keys func(v *T) []string
	// Many makes the member a list. It is required if Field is a list; By implies it.
	Many bool
	// By is the JSON name of the field of the target that refers to this item, such as customerId
	// of orders for the orders of a customer. The target must declare it for query.Eq. It is the
	// name in the collection, whatever a [View] of the target calls it and even if the view does
	// not have it.
	By string
	// Limit is the maximum number of related items of one item, for relations to many. Default 20.
	// Repeated keys count once.
	Limit int
}

// settle sets defaults, and returns how the options contradict each other or the type.
func (o *Options[T]) settle(typ *schema.Type) (found []string) {
	if o.ID == "" {
		o.ID = "id"
	}
	if o.PageSize == 0 {
		o.PageSize = 50
		if o.MaxPageSize > 0 {
			o.PageSize = min(o.PageSize, o.MaxPageSize)
		}
	}
	if o.MaxPageSize == 0 {
		o.MaxPageSize = max(200, o.PageSize)
	}
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 10*time.Second)
	if o.PageSize < 1 || o.PageSize > o.MaxPageSize {
		found = append(found, fmt.Sprintf("Options.PageSize %d is not between 1 and MaxPageSize %d",
			o.PageSize, o.MaxPageSize))
	}
	if o.Public && (o.Authorize != nil || o.Scope != nil) {
		found = append(found,
			"Options.Public declares that there is no policy, but Authorize or Scope is set; remove Public")
	}
	if wrong := idMistake(typ, o.ID); wrong != "" {
		found = append(found, wrong)
	}
	found = append(found, mistakes.OfSupport("Options.Query", o.Query, typ)...)
	found = append(found, o.relationMistakes(typ)...)
	return append(found, o.sampleMistakes(typ)...)
}

// idMistake returns why Options.ID cannot name the id field, or "".
func idMistake(typ *schema.Type, id string) string {
	f := typ.Field(id)
	if f == nil {
		return fmt.Sprintf("%v has no field with the JSON name %q; "+
			"set Options.ID to the JSON name of the id field", typ.GoType, id)
	}
	if k := f.Type.Kind; f.Nullable || k != schema.String && k != schema.Integer {
		return fmt.Sprintf("the id field %q must be a string or an integer", id)
	}
	return ""
}

// relationMistakes returns which relations are incomplete or have a name that is taken.
func (o *Options[T]) relationMistakes(typ *schema.Type) (found []string) {
	seen := map[string]bool{}
	for _, rel := range o.Relations {
		switch {
		case rel.Name == "" || rel.Target == "":
			found = append(found, "a relation needs both Name and Target")
			continue
		case strings.ContainsAny(rel.Name, ",.") || seen[rel.Name] || typ.Field(rel.Name) != nil:
			found = append(found, fmt.Sprintf("relation %q needs a unique name without comma and dot",
				rel.Name))
		}
		if wrong := keysMistake(typ, &rel); wrong != "" {
			found = append(found, fmt.Sprintf("relation %q%s", rel.Name, wrong))
		}
		seen[rel.Name] = true
	}
	return found
}
