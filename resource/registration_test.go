package resource_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Mistakes in a program are reported at start, and the message contains the fix.

// Stores with a method that almost implements a capability.
type (
	creates      struct{ readOnly[thing] }
	inserts      struct{ readOnly[thing] }
	replaces     struct{ readOnly[thing] }
	deletes      struct{ readOnly[thing] }
	remembers    struct{ readOnly[thing] }
	counts       struct{ readOnly[thing] }
	aggregator   struct{ readOnly[thing] }
	searches     struct{ readOnly[thing] }
	getsMany     struct{ readOnly[thing] }
	listsBy      struct{ readOnly[thing] }
	countsBy     struct{ readOnly[thing] }
	transacts    struct{ readOnly[thing] }
	watches      struct{ readOnly[thing] }
	limits       struct{ readOnly[thing] }
	byPointer    struct{ readOnly[thing] }
	createsOther struct{ readOnly[thing] }
)

func (creates) Create(context.Context, *thing) error                        { return nil }
func (inserts) Insert(context.Context, thing) (resource.Item[thing], error) { panic("not called") }
func (replaces) Replace(context.Context, string, thing) (resource.Item[thing], error) {
	panic("not called")
}
func (deletes) Delete(context.Context, string) error                               { return nil }
func (remembers) Deleted(context.Context, string) (bool, error)                    { return false, nil }
func (counts) Count(context.Context) (int, error)                                  { return 0, nil }
func (aggregator) Aggregate(context.Context, query.Query) (int, error)             { return 0, nil }
func (searches) Search(context.Context, string) error                              { return nil }
func (getsMany) GetMany(context.Context, ...string) ([]thing, error)               { return nil, nil }
func (countsBy) CountByKeys(context.Context, string, []string) (int, error)        { return 0, nil }
func (limits) CheckSupport(string) error                                           { return nil }
func (listsBy) ListByKeys(string, []string) iter.Seq2[resource.Item[thing], error] { return nil }
func (transacts) Transactions() *memory.DB                                         { return nil }
func (watches) Watch(context.Context) iter.Seq2[*feed.Event, error]                { return nil }
func (*byPointer) Delete(context.Context, string, resource.Rev) error              { return nil }
func (createsOther) Create(context.Context, book) (resource.Item[book], error)     { panic("not called") }

// other names are allowed
func (createsOther) Purge(context.Context) {}

var (
	_ resource.Deleter    = (*byPointer)(nil)
	_ resource.Transactor = (*memory.Store[thing])(nil)
	_ tx.Runner           = (*memory.DB)(nil)
)

func TestNearMisses(t *testing.T) {
	t.Parallel()
	const pkg = "github.com/stoa-go/stoa/resource_test"
	method := func(c any, name, is, must string) string {
		return fmt.Sprintf("resource: method %s of %T has the wrong signature: it is %s, but must be\n\t%s", name, c, is, must)
	}
	tests := []struct {
		c    resource.Collection[thing]
		want string
	}{
		{creates{}, method(creates{}, "Create", "func(context.Context, *resource_test.thing) error",
			"func(context.Context, resource_test.thing) (resource.Item["+pkg+".thing], error)")},
		{createsOther{}, method(createsOther{}, "Create",
			"func(context.Context, resource_test.book) (resource.Item["+pkg+".book], error)",
			"func(context.Context, resource_test.thing) (resource.Item["+pkg+".thing], error)")},
		{inserts{}, method(inserts{}, "Insert",
			"func(context.Context, resource_test.thing) (resource.Item["+pkg+".thing], error)",
			"func(context.Context, string, resource_test.thing) (resource.Item["+pkg+".thing], error)")},
		{replaces{}, method(replaces{}, "Replace",
			"func(context.Context, string, resource_test.thing) (resource.Item["+pkg+".thing], error)",
			"func(context.Context, string, resource.Rev, resource_test.thing) (resource.Item["+pkg+".thing], error)")},
		{deletes{}, method(deletes{}, "Delete", "func(context.Context, string) error",
			"func(context.Context, string, resource.Rev) error")},
		{remembers{}, method(remembers{}, "Deleted", "func(context.Context, string) (bool, error)",
			"func(context.Context, string) (time.Time, error)")},
		{counts{}, method(counts{}, "Count", "func(context.Context) (int, error)",
			"func(context.Context, query.Query) (int, error)")},
		{aggregator{}, method(aggregator{}, "Aggregate", "func(context.Context, query.Query) (int, error)",
			"func(context.Context, query.Aggregation) iter.Seq2[github.com/stoa-go/stoa/query.Group,error]")},
		{searches{}, method(searches{}, "Search", "func(context.Context, string) error",
			"func(context.Context, query.Query) "+
				"iter.Seq2[github.com/stoa-go/stoa/resource.Item["+pkg+".thing],error]")},
		{getsMany{}, method(getsMany{}, "GetMany", "func(context.Context, ...string) ([]resource_test.thing, error)",
			"func(context.Context, []string) iter.Seq2[github.com/stoa-go/stoa/resource.Item["+pkg+".thing],error]")},
		{listsBy{}, method(listsBy{}, "ListByKeys",
			"func(string, []string) iter.Seq2[github.com/stoa-go/stoa/resource.Item["+pkg+".thing],error]",
			"func(context.Context, string, []string, query.Query) "+
				"iter.Seq2[github.com/stoa-go/stoa/resource.Item["+pkg+".thing],error]")},
		{countsBy{}, method(countsBy{}, "CountByKeys", "func(context.Context, string, []string) (int, error)",
			"func(context.Context, string, []string, query.Query) (map[string]int, error)")},
		{transacts{}, method(transacts{}, "Transactions", "func() *memory.DB", "func() tx.Runner")},
		{watches{}, method(watches{}, "Watch", "func(context.Context) iter.Seq2[*github.com/stoa-go/stoa/resource/feed.Event,error]",
			"func(context.Context, feed.Cursor) iter.Seq2[*github.com/stoa-go/stoa/resource/feed.Change["+pkg+".thing],error]")},
		{limits{}, method(limits{}, "CheckSupport", "func(string) error", "func(query.Support) error")},
		{byPointer{},
			"resource: resource_test.byPointer has method Delete only on its pointer; pass a *resource_test.byPointer"},
		{nil, "resource: collection is nil; pass a Collection"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%T", tt.c), func(t *testing.T) {
			t.Parallel()
			wantPanic(t, tt.want, func() { resource.New("things", tt.c, nil) })
			wantPanic(t, tt.want, func() { resource.OpsOf(tt.c) })
		})
	}
	resource.New[thing]("things", &byPointer{}, nil)
	resource.New[thing]("things", readOnly[thing]{}, nil)
}

func newThing(o resource.Options[thing]) func() {
	return func() { resource.New[thing]("things", readOnly[thing]{}, &o) }
}

func related(rel ...resource.Relation[thing]) func() {
	return newThing(resource.Options[thing]{Relations: rel})
}

func namedThing(name string) func() {
	return func() { resource.New[thing](name, readOnly[thing]{}, nil) }
}

func noKeys(*thing) []string { return nil }

func TestOptionsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	type hidden struct {
		ID    string   `json:"id"`
		Pin   string   `json:"pin" writeOnly:"true"`
		Tags  []string `json:"tags"`
		Rows  [][]int  `json:"rows"`
		Total string   `json:"total" format:"decimal"`
	}
	ask := func(s query.Support) func() {
		return func() { resource.New[hidden]("hidden", readOnly[hidden]{}, &resource.Options[hidden]{Query: s}) }
	}
	by := func(field string) map[string][]query.Op { return map[string][]query.Op{field: {query.Eq}} }
	tests := []struct {
		want string
		do   func()
	}{
		{`resource: invalid resource name ""; use letters, digits and -_.~`, namedThing("")},
		{`resource: invalid resource name "a/b"; use letters, digits and -_.~`, namedThing("a/b")},
		{`resource: invalid resource name ".."; use letters, digits and -_.~`, namedThing("..")},
		{`resource: invalid resource name "a b"; use letters, digits and -_.~`, namedThing("a b")},
		{`resource: things: Ops.Get and Ops.List must be set`, func() { resource.Ops[thing]{}.Resource("things", nil) }},
		{`resource: things: resource_test.thing has no field with the JSON name "key"; ` +
			`set Options.ID to the JSON name of the id field`, newThing(resource.Options[thing]{ID: "key"})},
		{`resource: floats: the id field "id" must be a string or an integer`, func() {
			type float struct {
				ID float64 `json:"id"`
			}
			resource.New[float]("floats", readOnly[float]{}, nil)
		}},
		{`resource: decimals: the id field "id" has the format decimal, in which ids have several spellings; remove it`,
			func() {
				type decimal struct {
					ID string `json:"id" format:"decimal"`
				}
				resource.New[decimal]("decimals", readOnly[decimal]{}, nil)
			}},
		{`resource: secrets: the id field "id" is writeOnly, and responses have the id; remove the tag`, func() {
			type secret struct {
				ID string `json:"id" writeOnly:"true"`
			}
			resource.New[secret]("secrets", readOnly[secret]{}, nil)
		}},
		{`resource: pointers: the id field "id" must be a string or an integer`, func() {
			type pointer struct {
				ID *string `json:"id"`
			}
			resource.New[pointer]("pointers", readOnly[pointer]{}, nil)
		}},
		{`resource: things: Options.PageSize -1 is not between 1 and MaxPageSize 200`,
			newThing(resource.Options[thing]{PageSize: -1})},
		{`resource: things: Options.PageSize 9 is not between 1 and MaxPageSize 8`,
			newThing(resource.Options[thing]{PageSize: 9, MaxPageSize: 8})},
		{`resource: hidden: Options.Query has both Natural and Sort; set one of them`,
			ask(query.Support{Natural: true, Sort: []string{"id"}})},
		{`resource: hidden: Options.Query.Filter names "ID", which is a Go name; use the JSON name "id"`,
			ask(query.Support{Filter: by("ID")})},
		{`resource: hidden: Options.Query.Sort names "name", which is not the JSON name of a field of hidden`,
			ask(query.Support{Sort: []string{"name"}})},
		{`resource: hidden: Options.Query.Filter["tags"] has the operator "eq", which does not apply to lists; ` +
			`use query.Contains or query.IsNull`, ask(query.Support{Filter: by("tags")})},
		{`resource: hidden: Options.Query.Sort names "tags", which is a list and has no order`,
			ask(query.Support{Sort: []string{"tags"}})},
		{`resource: hidden: Options.Query.Filter names "rows", which is neither a single value nor a list of them`,
			ask(query.Support{Filter: by("rows")})},
		{`resource: hidden: Options.Query.Filter["total"] has the operator "contains", which applies to strings, ` +
			`and the field is a decimal; remove it`,
			ask(query.Support{Filter: map[string][]query.Op{"total": {query.Contains}}})},
		{`resource: hidden: Options.Query.Filter["tags"] has the operator "like", which does not exist; ` +
			`use query.Contains`, ask(query.Support{Filter: map[string][]query.Op{"tags": {"like"}}})},
		{`resource: hidden: Options.Query.Sort names "pin", which is writeOnly; filters and sort orders would reveal it`,
			ask(query.Support{Sort: []string{"pin"}})},
		{`resource: things: a relation needs both Name and Target`,
			related(resource.Relation[thing]{Name: "x", Keys: noKeys})},
		{`resource: things: a relation needs both Name and Target`,
			related(resource.Relation[thing]{Target: "x", Keys: noKeys})},
		{`resource: things: relation "name" needs a unique name without comma and dot`,
			related(resource.Relation[thing]{Name: "name", Target: "x", Keys: noKeys})},
		{`resource: things: relation "a,b" needs a unique name without comma and dot`,
			related(resource.Relation[thing]{Name: "a,b", Target: "x", Keys: noKeys})},
		{`resource: things: relation "x" needs a unique name without comma and dot`, related(
			resource.Relation[thing]{Name: "x", Target: "x", Keys: noKeys},
			resource.Relation[thing]{Name: "x", Target: "y", Keys: noKeys})},
		{`resource: things: relation "x" needs Field, Keys or By`, related(resource.Relation[thing]{Name: "x", Target: "x"})},
		{`resource: things: relation "x" has both Field and Keys; set one of them`, related(
			resource.Relation[thing]{Name: "x", Target: "x", Keys: noKeys, Field: "name"})},
		{`resource: things: relation "x": Field names "nope", which is not the JSON name of a field`, related(
			resource.Relation[thing]{Name: "x", Target: "x", Field: "nope"})},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, tt.want, tt.do)
		})
	}
	for _, name := range []string{"a", "A-b_c.d~1", "9"} {
		namedThing(name)()
	}
}

func TestCatalogsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	plain := resource.New[thing]("things", readOnly[thing]{}, nil)
	leads := func(rel resource.Relation[thing]) *resource.Resource {
		o := &resource.Options[thing]{Relations: []resource.Relation[thing]{rel}}
		return resource.New[thing]("leads", readOnly[thing]{}, o)
	}
	lookup := resource.NewLookup("best", "things", func(context.Context, struct{}) (string, error) { return "", nil })
	astray := resource.NewLookup("astray", "nowhere", func(context.Context, struct{}) (string, error) { return "", nil })
	tests := []struct {
		want  string
		opts  *resource.CatalogOptions
		parts []resource.Part
	}{
		{`resource: two parts of the catalog have the name "things"; rename one of them`, nil, []resource.Part{plain, plain}},
		{`resource: relation x of leads: the catalog has no resource "nowhere"; pass it to NewCatalog`, nil,
			[]resource.Part{leads(resource.Relation[thing]{Name: "x", Target: "nowhere", Keys: noKeys})}},
		{`resource: relation x of leads: the catalog has no resource "best"; pass it to NewCatalog`, nil,
			[]resource.Part{plain, lookup, leads(resource.Relation[thing]{Name: "x", Target: "best", Keys: noKeys})}},
		{`resource: relation x of leads: things does not declare "n" for query.Eq`, nil,
			[]resource.Part{plain, leads(resource.Relation[thing]{Name: "x", Target: "things", By: "n"})}},
		{`resource: relation x of leads: things does not declare "nothing" for query.Eq`, nil,
			[]resource.Part{plain, leads(resource.Relation[thing]{Name: "x", Target: "things", By: "nothing"})}},
		{`resource: lookup astray: the catalog has no resource "nowhere"; pass it to NewCatalog`, nil,
			[]resource.Part{plain, astray}},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, tt.want, func() { resource.NewCatalog(tt.opts, tt.parts...) })
		})
	}
	c := resource.NewCatalog(nil, lookup, plain, leads(resource.Relation[thing]{Name: "x", Target: "things", Keys: noKeys}))
	var names []string
	for _, r := range c.Resources() {
		names = append(names, r.Name())
	}
	same(t, "resources", []string{"things", "leads"}, names)
	same(t, "relations", []string{"x"}, c.Resources()[1].Describe().Relations)
}

func TestViewsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	type other struct {
		ID int64 `json:"id"`
	}
	books := resource.New[book]("books", readOnly[book]{}, nil)
	down := func(book) (bookV0, error) { return bookV0{}, nil }
	up := func(bookV0, book) (book, error) { return book{}, nil }
	fields := func(f map[string]string) func() {
		return func() { resource.View(books, down, up, &resource.ViewOptions{Fields: f}) }
	}
	tests := []struct {
		want string
		do   func()
	}{
		{`resource: View bookV0 of books has no id field; map one to "id" in Fields`, fields(nil)},
		{`resource: View bookV0 of books: Fields maps "label" to "id", which is of another kind`,
			fields(map[string]string{"label": "id"})},
		{`resource: View bookV0 of books: Fields maps "number" to "isbn"; both must be fields`,
			fields(map[string]string{"number": "isbn"})},
		{`resource: View bookV0 of books: Fields maps "isbn" to "id"; both must be fields`,
			fields(map[string]string{"isbn": "id"})},
		{`resource: View bookV0 of books: Where names "isbn", which is no field of book`, func() {
			resource.View(books, down, up, &resource.ViewOptions{Where: query.Where("isbn", query.Eq, "x")})
		}},
		{`resource: View bookV0 of books: Where compares the list "sequels" with eq; ` +
			`use query.Contains or query.IsNull`, func() {
			resource.View(books, down, up, &resource.ViewOptions{
				Where: query.Or(query.Where("id", query.Eq, int64(1)), query.Not(query.Where("sequels", query.Eq, "x")))})
		}},
		{`resource: View of books: ViewOptions.Name "book" is the name of another view; choose another name`, func() {
			resource.View(books, down, up, &resource.ViewOptions{Name: "book"})
		}},
		{`resource: View of books: down takes resource_test.thing, but the type of the resource is resource_test.book`, func() {
			resource.View(books, func(thing) (other, error) { return other{}, nil },
				func(other, thing) (thing, error) { return thing{}, nil }, nil)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) { // not parallel: views are made one after another, at program start
			wantPanic(t, tt.want, tt.do)
		})
	}
}

func TestLookupsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	type lists struct {
		IDs []string `json:"ids"`
	}
	wantPanic(t, `resource: invalid lookup name "a/b"; use letters, digits and -_.~`, func() {
		resource.NewLookup("a/b", "things", func(context.Context, struct{}) (string, error) { return "", nil })
	})
	wantPanic(t, `resource: lookup best: field "ids" is not a string, a number or a boolean`, func() {
		resource.NewLookup("best", "things", func(context.Context, lists) (string, error) { return "", nil })
	})
}

// TestSentinelsAreFoundInside: stores may wrap sentinel errors.
func TestSentinelsAreFoundInside(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want problem.Kind
	}{
		{resource.ErrNotFound, problem.NotFound}, {resource.ErrGone, problem.Gone},
		{resource.ErrUnavailable, problem.Unavailable}, {errors.New("x"), problem.Internal},
	} {
		ops := resource.OpsOf[thing](readOnly[thing]{})
		ops.Get = func(context.Context, string) (resource.Item[thing], error) {
			return resource.Item[thing]{}, fmt.Errorf("table things: %w", errors.Join(tt.err, errors.New("at 7")))
		}
		wantProblem(t, do(t.Context(), t, ops.Resource("things", nil), "get a", ""), tt.want)
	}
}

// TestRevisionsAreNew: all revisions differ, and none needs escapes in a tag.
func TestRevisionsAreNew(t *testing.T) {
	t.Parallel()
	seen := map[resource.Rev]bool{}
	letters := regexp.MustCompile(`^[A-Za-z0-9_-]{24}$`)
	for range 10000 {
		rev := resource.NewRev()
		if seen[rev] || !letters.MatchString(string(rev)) {
			t.Fatalf("%q has been seen, or is not made of 24 letters", rev)
		}
		seen[rev] = true
	}
}
