package resource

import (
	"context"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options say how a collection is served. The zero value serves everything the collection can do, ordered by id and
// without filters, to everybody, and the start-up report says so ([Catalog.Report]).
//
// Hooks are called from many goroutines at once. The pointers they are given are the library's: Before may change what
// after points to, and nobody else may change anything.
type Options[T any] struct {
	// ID is the JSON name of the id field, "id" if empty. The field is a string or an integer.
	ID string
	// Query is what the collection can filter and sort by.
	Query query.Support
	// Relations lead from items to items of other resources.
	Relations []Relation[T]
	// Samples are items as they could be, ids and all. The first is the example in descriptions of the API, and [View]
	// checks itself with all of them: what goes up and comes down again must be what it was. Give one for everything in
	// which items differ, since a sample finds only what it has.
	Samples []T

	// Before runs when an item is about to be written: on creation before is nil, on deletion after is nil. It may fill
	// in fields of after, and it may refuse, with [Invalid] for instance. What is behind a pointer, slice or map of a field
	// that clients cannot write is shared with before: to change it, put another in its place. Where a write is attempted again because
	// another came between, it runs again, so it must not have effects of its own. It runs in front of Authorize, which judges
	// what it has made of after; on deletion, where there is nothing to make, behind it.
	Before func(ctx context.Context, op Op, before, after *T) error
	// After runs once when the write has happened and its transaction, if there is one, has been committed.
	After func(ctx context.Context, op Op, before, after *T)
	// Authorize is asked about every item on every way to it: before is the item as it is (nil on creation), after as
	// it would be (nil unless it is written). Whoever asks to write is asked for [OpGet] first. On OpGet
	// [ErrForbidden] and [ErrNotFound] hide the item: 404, and no place in lists. On other operations ErrForbidden is 403.
	// [ErrUnauthenticated] is 401; from here it tells that there is such an item, so who must say who they are for
	// everything is better told by Scope, or by a handler in front. Any other error is an internal one, 500.
	Authorize func(ctx context.Context, op Op, before, after *T) error
	// Scope returns what the caller may see at all, in the collection's field names. It is added to every list and
	// count, so that pages, totals and cursors do not leak, and it hides single items as well. It may use any field. Its
	// error, such as [ErrUnauthenticated], is the answer to everything, whether there is such an item or not. A
	// write that would put an item outside of it is forbidden.
	Scope func(ctx context.Context) (query.Filter, error)
	// AuthorizeGone says whether the caller may know that an item with this id existed, which makes the difference
	// between 410 and 404. Where it is nil everyone may, unless Authorize or Scope is set: then nobody may, since the
	// deleted item is no longer there to be judged.
	AuthorizeGone func(ctx context.Context, id string) error
	// Public declares that there is no Authorize and no Scope on purpose.
	Public bool
	// NoEvents keeps the writes out of CatalogOptions.Feed, and then nobody can listen to them, unless the collection tells of
	// them by itself. It is for what is written by other ways than a Resource, which listeners would wait for in vain, and for
	// what no log should remember.
	NoEvents bool

	// RequireIfMatch refuses to change or delete an item for a client that does not say, by If-Match, which revision it
	// has seen: 428, RFC 6585 section 3.
	RequireIfMatch bool
	// AllowRecreate lets PUT bring back an id that was deleted, if the collection can ([ErrGone] from Insert says no).
	AllowRecreate bool
	// PageSize is how many items a list has where the client does not say, 50 if zero, and MaxPageSize how many it may
	// ask for, 200 if zero.
	PageSize, MaxPageSize int
}

// Relation leads from an item to others. Exactly one item follows from a field such as customerId; many follow from a
// list of ids, or from a field of theirs that points back.
type Relation[T any] struct {
	// Name is the member that holds the related item or items where they are asked for: ?expand=customer.
	Name string
	// Target is the name of the resource they are in, looked up in the catalog that serves the request.
	Target string
	// Field is the member that holds the id of the related item, such as customerId of an order, or with Many their ids:
	// by JSON name, in the collection itself. It is a single value or a list of strings or integers. With By it holds
	// values of that field instead. None follows from null and from an empty string; from a zero number none does only
	// if the member is omitzero or omitempty.
	//
	// Say it here rather than in Keys wherever a field can: then doors know which field of an item is needed to follow
	// the relation, and no strings are made of it.
	Field string
	// Keys returns what Field would hold, where no field does. Exactly one of the two is given; with By neither may be,
	// and then it is the id of the item itself.
	Keys func(v *T) []string
	// Many says that there may be more than one, so that the member is a list. It is implied by By.
	Many bool
	// By is the field of the target that points back, by JSON name, such as customerId of orders for the orders of a
	// customer. The target must declare it for query.Eq. It is the name in the collection itself, whatever a [View] of
	// the target calls it or whether it shows it.
	By string
	// Limit is how many items follow at most for each item where there may be more than one; 0 means 20. A key that is
	// given again counts once.
	Limit int
}

// settle fills in defaults and panics on what cannot be meant.
func (o *Options[T]) settle(name string, typ *schema.Type) {
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
	if o.PageSize < 1 || o.PageSize > o.MaxPageSize {
		panic(fmt.Sprintf("resource: %s: Options.PageSize is not between 1 and MaxPageSize", name))
	}
	o.checkSupport(name, typ)
	o.checkRelations(name, typ)
}

func (o *Options[T]) checkSupport(name string, typ *schema.Type) {
	if o.Query.Natural && len(o.Query.Sort) > 0 {
		panic(fmt.Sprintf("resource: %s: Options.Query is Natural and has Sort: a store has one order or is asked for one",
			name))
	}
	check := func(list, field string) {
		f := typ.Field(field)
		switch {
		case f == nil:
			panic(fmt.Sprintf("resource: %s: Options.Query.%s names %q, which is no JSON name of a field of %s",
				name, list, field, typ.Name))
		case !f.Comparable():
			panic(fmt.Sprintf("resource: %s: Options.Query.%s names %q, which is no single value", name, list, field))
		case f.WriteOnly:
			panic(fmt.Sprintf("resource: %s: Options.Query.%s names %q, which is writeOnly: answers would reveal it",
				name, list, field))
		}
	}
	for field := range o.Query.Filter {
		check("Filter", field)
	}
	for _, field := range o.Query.Sort {
		check("Sort", field)
	}
}

func (o *Options[T]) checkRelations(name string, typ *schema.Type) {
	seen := map[string]bool{}
	for _, rel := range o.Relations {
		switch {
		case rel.Name == "" || rel.Target == "":
			panic(fmt.Sprintf("resource: %s: a relation needs a Name and a Target", name))
		case strings.ContainsAny(rel.Name, ",.") || seen[rel.Name] || typ.Field(rel.Name) != nil:
			panic(fmt.Sprintf("resource: %s: relation %q needs a name of its own", name, rel.Name))
		}
		checkKeys(name, typ, &rel)
		seen[rel.Name] = true
	}
}
