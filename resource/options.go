package resource

// Options of a resource and of its relations, with their defaults and checks. Called by
// resource.go.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/internal/stamps"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options configure a [Resource]. The zero value serves all capabilities of the collection, ordered
// by id and without filters, to every caller; the start-up report warns of that ([Catalog.Report]).
//
// Hooks are called concurrently. The values that their pointers refer to belong to the library:
// only Before may change the value of after.
//
// # Creation and modification
//
// Each write sets the fields that have the tag set, whatever the protocol. A creation sets all of them,
// and a change those of set:"modified" and set:"modifiedBy". Clients cannot write them; they may send the
// current value back. A PUT or PATCH that changes nothing sets nothing, and neither does a replay for an
// idempotency key.
//
// The times are in UTC, to the microsecond, and a later write never has an earlier time. The names are
// those of CatalogOptions.Principal. They are empty, or null in a *string, for an anonymous caller and
// for a Resource that is not in a [Catalog]. [NewCatalog] panics if a name is needed and Principal is
// nil.
//
// The fields are set before Before, which sees them and may set other values, such as the original time
// of an item that is copied from another system. Item.Modified remains the time of the store. If the
// store writes it to the same field, as sqltable does with Options.Modified, the field has the time of
// the store.
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
	// Query declares the fields that clients can filter, sort and group by, and the aggregates that
	// they can request. Zero means none. Groups need an [Aggregator] and, with Authorize, also
	// ScopeComplete: their values are those of all items that Scope selects.
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
	// runs after Authorize. It must not change the fields of a composite id, also on creation, because
	// the id has been computed from them; such a write is an internal error (500).
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
	//
	// A page of a list or of a relation is read on past hidden items until it and one more item are
	// complete, so its length and its cursors do not reveal them. At most 10,000 hidden items are read for
	// a page of a list, and 10,000 items for those of relations; more are 503, which reveals that there are
	// many. Scope has no such limit, and takes one read. Totals need ScopeComplete.
	Authorize func(ctx context.Context, op Op, before, after *T) error
	// Scope returns a filter that selects the items that the caller may see, in the field names of
	// the collection. It may use any field, but not a relation ([query.Some]), which is an internal error
	// (500): repeat the field, such as the tenant, in the item. Decimals and durations may be their
	// texts. The filter is added to every list and count, so pages, totals and cursors do not reveal
	// other items, and it hides single items. A write is forbidden if its result does not match the
	// filter. An error of Scope, such as [ErrUnauthenticated], is the response to every request,
	// whether the item exists or not.
	//
	// A filter that names no field, or has an operator that the field does not have or an operand of
	// another kind, is an internal error for every request, because its negation would select all
	// items. Such an operand is also null, which a program gets for a caller without the value;
	// return an error for that caller. New calls Scope once without a caller, for at most a second, and
	// panics for such a filter, except for null. It ignores errors and panics of the call.
	Scope func(ctx context.Context) (query.Filter, error)
	// ScopeComplete declares that Authorize permits [OpGet] of every item that Scope selects, so that it
	// restricts writes only. Without it, a resource with Authorize has no totals and cannot declare groups
	// in Query: the collection computes both, and they would reveal items that Authorize hides. Filters
	// through relations to the resource then read the items, so that Authorize is called, and are limited;
	// see [Joiner]. Setting it without Authorize is a mistake.
	ScopeComplete bool
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
	// also written without the Resource, because their events would be incomplete, and for data that must
	// not be logged.
	NoEvents bool

	// NoCache keeps the items out of CatalogOptions.Cache. Set it if their JSON depends on anything but
	// their id and revision, such as on the caller.
	NoCache bool

	// RequireIfMatch rejects changes and deletions without If-Match with 428 (RFC 6585 section 3).
	RequireIfMatch bool
	// AllowRecreate allows PUT, also in batches and imports, to create an item with the id of
	// a deleted one, if Insert does not return [ErrGone]. Otherwise PUT is 410. POST is 409 in any case.
	// If the collection is a [Restorer], the new item replaces the deleted one. PUT is then 404 for
	// callers that AuthorizeGone hides the deletion from.
	AllowRecreate bool
	// Restore serves the restoration of deleted items: POST of /orders/{id}/restore, and a mutation of
	// GraphQL. The collection must be a [Restorer] and a [Transactor]. Authorize gets [OpRestore] with
	// the item as it was deleted and as it will be.
	Restore bool
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
	// Now returns the current time, for fields with the tag set:"created" or set:"modified". It must be
	// safe for concurrent use. Default [time.Now].
	Now func() time.Time
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
	// Several fields, separated by commas as in "orderId,lineNo", have the key of a target with a
	// composite id, in its order.
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
	// not have it. null, an empty string and zero refer to no item as in Field.
	By string
	// Through is the name of a resource with an item for each link between an item and one of Target,
	// as for a join table: a relation from many to many. It must be in the catalog. By is then a field
	// of Through, which must declare it for query.Eq, and To is the field of Through that holds the id
	// of the target. The policy of Through applies to reading links, and that of Target to its items.
	//
	// If the id of Through is composed of By and To (tag id), clients can link and unlink items; see
	// [Resource.Link]. The items of Through are in the order of their ids.
	//
	// A link stays when its target is deleted, also if both happen at the same time, unless the store
	// refuses the deletion or deletes the link, as a foreign key does. Reads leave out its target, which
	// is linked again after [Resource.Restore].
	Through string
	// To is the JSON name, in the collection, of the field of Through that holds the id of the target.
	To string
	// Limit is the maximum number of related items of one item, for relations to many. Default 20.
	// Repeated keys count once. With Through it limits the links if they are read first, which include
	// links to items that are hidden from the caller; see [Joiner].
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
	if o.Now == nil {
		o.Now = time.Now
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
	if o.ScopeComplete && o.Authorize == nil {
		found = append(found, "Options.ScopeComplete is about Authorize, which is not set; remove it")
	}
	if wrong := idMistake(typ, o.ID); wrong != "" {
		found = append(found, wrong)
	}
	found = append(found, stamps.Mistakes(typ, o.ID)...)
	found = append(found, mistakes.OfSupport("Options.Query", withoutPaths(o.Query, typ), typ)...)
	found = append(found, o.relationMistakes(typ)...)
	found = append(found, relationQueryMistakes(o)...)
	found = append(found, o.pathMistakes(typ, pathSort)...)
	found = append(found, o.pathMistakes(typ, pathGroup)...)
	return append(found, o.sampleMistakes(typ)...)
}

// aggregateMistakes returns why the aggregates that Options.Query declares cannot be served.
func (o *Options[T]) aggregateMistakes(ops *Ops[T]) (found []string) {
	if !o.Query.CanAggregate() {
		return nil
	}
	if ops.Aggregate == nil {
		found = append(found, "Options.Query declares Group or Aggregate, but the collection is not an "+
			"Aggregator; implement Aggregate, or remove them")
	}
	if o.Authorize != nil && !o.ScopeComplete {
		found = append(found, "Options.Query declares Group or Aggregate, but groups would include "+
			"items that Options.Authorize hides; hide them by Options.Scope, and set Options.ScopeComplete")
	}
	return found
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
	if f.WriteOnly {
		return fmt.Sprintf("the id field %q is writeOnly, and responses have the id; remove the tag", id)
	}
	if f.IsDecimal() || f.IsDuration() {
		return fmt.Sprintf("the id field %q has the format %s, in which ids have several spellings; "+
			"remove it", id, f.Format)
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

// pathUse is a use of the paths of fields of related items.
type pathUse int

const (
	pathSort pathUse = iota
	pathGroup
	pathUses // the number of uses
)

// declared returns the list of s that has the paths for a use, and its name.
func (u pathUse) declared(s query.Support) (list string, names []string) {
	if u == pathGroup {
		return "Group", s.Group
	}
	return "Sort", s.Sort
}

// unsupported rejects a path that the catalog does not have.
func (u pathUse) unsupported(path string) error {
	if u == pathGroup {
		return &query.Error{Parameter: "group", Code: "unsupportedGroup",
			Detail: fmt.Sprintf("cannot group by %q", path)}
	}
	return &query.Error{Parameter: "sort", Code: "unsupportedSort",
		Detail: fmt.Sprintf("cannot sort by %q", path)}
}

// isPath reports whether a name is the path of a field of a related item. A field may have a name with a
// dot.
func isPath(name string, typ *schema.Type) bool {
	return strings.Contains(name, ".") && typ.Field(name) == nil
}

// withoutPaths returns s without the sort keys and groups that are fields of related items.
func withoutPaths(s query.Support, typ *schema.Type) query.Support {
	path := func(name string) bool { return isPath(name, typ) }
	for _, names := range []*[]string{&s.Sort, &s.Group} {
		if slices.ContainsFunc(*names, path) {
			*names = slices.DeleteFunc(slices.Clone(*names), path)
		}
	}
	return s
}
