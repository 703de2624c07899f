package oracle

// The data of the differential tests. Each item has one property that executors treat differently:
// an error for a nullable, a non-null or a nested field, a value out of range, or a hidden item.
//
// Package exec and graphql-go resolve its fields through the catalog. execute.mjs in .ci/clients
// resolves them for graphql-js with code of its own, from the items of Dump. A change of a
// relation, a lookup or a custom field has to be made there, too.

import (
	"context"
	"errors"
	"iter"
	"math"
	"reflect"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// Mood is a string. Its value "bad" cannot be marshaled. It is the source of errors in the middle
// of a response.
type Mood string

// MarshalText returns an error for "bad".
func (m Mood) MarshalText() ([]byte, error) {
	if m == "bad" {
		return nil, errors.New("a bad mood cannot be written")
	}
	return []byte(m), nil
}

// UnmarshalText accepts every text. Clients can therefore store a value that cannot be read.
func (m *Mood) UnmarshalText(text []byte) error {
	*m = Mood(text)
	return nil
}

// Author has members of most kinds, and relations of every kind. Its ids are integers that the
// store assigns.
type Author struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name" required:"true" minLength:"1" maxLength:"40"`
	// The stored value of an enum may be unknown, and a Rating may be NaN. Fans exceeds the
	// integers that a JavaScript number represents.
	Country string  `json:"country" enum:"FR,GB,JP" default:"FR"`
	Born    int32   `json:"born"`
	Fans    int64   `json:"fans"`
	Rating  float64 `json:"rating" minimum:"-10" maximum:"10"`
	// The name in GraphQL is isAlive.
	Alive bool    `json:"is-alive"`
	Note  *string `json:"note" maxLength:"20"`
	// A Mood may be an error: in a non-null and in a nullable field, and in a list with elements of
	// either kind.
	Mood  Mood     `json:"mood"`
	Whim  *Mood    `json:"whim"`
	Tags  []string `json:"tags,omitempty" maxItems:"4"`
	Moods []Mood   `json:"moods,omitempty"`
	Whims []*Mood  `json:"whims,omitempty"`
	// Home is nullable. Extra is any JSON, or a value that has no JSON.
	Home  *Place `json:"home"`
	Extra any    `json:"extra,omitempty"`
	// The foreign keys of the relations best and friends.
	Best    *string `json:"bestId"`
	Friends []int64 `json:"friendIds,omitempty"`
	Secret  string  `json:"secret,omitempty" writeOnly:"true"`
}

// Place is an object in an author. It contains other places. Zone is null if it is empty, because
// the enum has no empty value.
type Place struct {
	City  string  `json:"city" required:"true" minLength:"1"`
	Zone  string  `json:"zone,omitempty" enum:"north,south"`
	Steps int16   `json:"steps" default:"3" minimum:"0"`
	Near  []Place `json:"near,omitempty" maxItems:"3"`
	Mood  *Mood   `json:"mood"`
}

// Book has an id that clients choose. The zero value of Author refers to no author. Serial is a
// String, because it is quoted in JSON, and Words is of the scalar JSON.
type Book struct {
	ID       string            `json:"id"`
	Title    string            `json:"title" required:"true" maxLength:"30"`
	Author   int64             `json:"authorId,omitzero"`
	Price    float64           `json:"price"`
	Pages    int               `json:"pages" minimum:"0" maximum:"2000"`
	Printed  time.Time         `json:"printed,omitzero"`
	Serial   int64             `json:"serial,string"`
	Shelf    *Place            `json:"shelf"`
	Chapters []Chapter         `json:"chapters,omitempty" maxItems:"5"`
	Words    map[string]string `json:"words,omitempty"`
}

// Chapter is an object in a book. An error in it is several levels below a root field.
type Chapter struct {
	Title string `json:"title" required:"true"`
	Pages int32  `json:"pages" default:"1" minimum:"1"`
	Mood  Mood   `json:"mood"`
}

// Vault is an item of a store that always fails. Relations to vaults are fields that fail although
// their parent is valid.
type Vault struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// World is a catalog with its items, and its schema in both forms. Two worlds differ only in entity
// tags and in the instances of errors.
type World struct {
	Catalog *resource.Catalog
	Model   *model.Schema  // for package exec, with introspection types
	Schema  graphql.Schema // for graphql-go

	// The stores, which New fills and eldest reads without the policy of the resource.
	authors *memory.Store[Author]
	books   *memory.Store[Book]
}

// New returns a World. Mutations change its items, so a test of mutations uses a World for each
// executor. Queries can share one.
func New() (*World, error) {
	var made atomic.Int64
	newID := func() string { return "n" + strconv.FormatInt(made.Add(1), 10) } // the same ids in every World
	w := &World{authors: memory.New[Author](nil), books: memory.New(&memory.Options[Book]{NewID: newID})}
	if err := w.fill(); err != nil {
		return nil, err
	}
	// The stores are filled directly, because the resources would reject the items that violate
	// their schemas.
	w.Catalog = resource.NewCatalog(nil,
		resource.New("authors", w.authors, &resource.Options[Author]{
			Query: query.Support{Filter: authorFilters(),
				Sort: []string{"name", "born", "fans", "country", "rating"}},
			// Author 4 is hidden by its name and cannot be changed. No author can get the name
			// Forbidden.
			Authorize: func(_ context.Context, op resource.Op, before, after *Author) error {
				if before != nil && before.Name == "Nobody" || after != nil && after.Name == "Forbidden" {
					return resource.ErrForbidden
				}
				return nil
			},
			// The relations have each form: a reverse reference, one id, several ids, and keys of a
			// function. Limits are below the number of related items of some authors.
			Relations: []resource.Relation[Author]{
				{Name: "books", Target: "books", By: "authorId", Limit: 2},
				{Name: "best", Target: "books", Field: "bestId"},
				{Name: "friends", Target: "authors", Field: "friendIds", Many: true, Limit: 3},
				// Fails for every item; custom explains why.
				{Name: "lost", Target: "vaults", Keys: func(*Author) []string { return []string{"v"} }},
				{Name: "losses", Target: "vaults", Keys: func(*Author) []string { return []string{"v", "w"} },
					Many: true},
			},
			// Pages are small, so that most lists have several.
			PageSize: 3, MaxPageSize: 10,
		}),
		resource.New("books", w.books, &resource.Options[Book]{
			Query:     query.Support{Filter: bookFilters(), Sort: []string{"title", "price", "printed"}},
			Public:    true,
			Relations: []resource.Relation[Book]{{Name: "author", Target: "authors", Field: "authorId"}},
			PageSize:  4, MaxPageSize: 10,
		}),
		resource.New("vaults", vaults{}, nil),
		resource.NewLookup("eldest", "authors", w.eldest),
		command.New("tools/echo", func(_ context.Context, in Echo) (Echo, error) { return in, nil },
			nil),
		command.New("tools/fail", fail, nil),
		command.New("tools/ping", func(context.Context, struct{}) (struct{},
			error) {
			return struct{}{}, nil
		}, nil),
	)
	var err error
	// Both executors get one model, so a difference of their responses is not one of schemas.
	if w.Model, err = model.Reflect(w.Catalog, &model.Options{Fields: custom()}); err != nil {
		return nil, err
	}
	introspect.Extend(w.Model)
	w.Schema, err = Schema(w.Model, w.Catalog)
	return w, err
}

// all returns the operators that every scalar supports, and more.
func all(more ...query.Op) []query.Op {
	return append([]query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt,
		query.Gte}, more...)
}

// authorFilters declares all filters of authors. Fewer operators than the type permits give a
// member a filter type of its own.
func authorFilters() map[string][]query.Op {
	return map[string][]query.Op{
		"id": all(), "name": all(query.Contains, query.StartsWith), "country": {query.Eq, query.In},
		"born": all(),
		"fans": all(), "rating": all(), "is-alive": {query.Eq}, "note": {query.Eq, query.IsNull},
	}
}

// bookFilters declares all filters of books. The id is a string here, so it supports contains.
func bookFilters() map[string][]query.Op {
	return map[string][]query.Op{
		"id": all(query.Contains, query.StartsWith), "title": {query.StartsWith}, "authorId": all(),
		"pages":   all(),
		"printed": all(), "serial": {query.Eq, query.Gt},
	}
}

// fill stores the items. Some violate their schemas. It uses the stores and not the resources,
// which would reject these.
func (w *World) fill() error {
	for i := range authors {
		a := author(i + 1)
		if _, err := w.authors.Create(context.Background(), a); err != nil {
			return err
		}
	}
	for i := range books {
		b := book(i + 1)
		if _, err := w.books.Insert(context.Background(), b.ID, b); err != nil {
			return err
		}
	}
	return nil
}

// The number of items. Expected responses in tests depend on it.
const (
	authors = 9
	books   = 14
)

// pointer returns a pointer to v.
func pointer[T any](v T) *T { return &v }

// author returns the author with an id. Each one has another unusual value. Names and countries
// repeat, so that filters match several authors and sort keys have ties. The friends include the
// author, a hidden author and an id that does not exist.
func author(id int) Author {
	a := Author{
		ID: int64(id), Name: "Author " + strconv.Itoa(id%7), Country: []string{"FR", "GB", "JP"}[id%3],
		Born: int32(1900 + id*7%40),
		Fans: int64(id) * 1_000_000_000_000_000_003, Rating: float64(id)/4 - 1, Alive: id%2 == 0,
		Mood: "fair",
		Home: place(id), Best: pointer("b" + strconv.Itoa(id*3)),
		Friends: []int64{int64(id%authors + 1), 4, int64(id), 77, 2},
	}
	switch id {
	case 1: // strings that must be escaped, and nested JSON
		a.Note, a.Tags, a.Whim = pointer("a \"note\"\n\u2028\U0001F600"), []string{"x", "", "é"},
			pointer(Mood("fine"))
		a.Extra = map[string]any{"b": []any{1.5, nil, "x"}, "a": map[string]any{}}
	case 2: // the same error for a nullable and a non-null field; no relations
		a.Mood, a.Whim, a.Best, a.Friends = "bad", pointer(Mood("bad")), nil, nil
	case 3: // an unknown enum value; a nullable list with an error and a null
		a.Country, a.Whims = "XX", []*Mood{pointer(Mood("a")), nil, pointer(Mood("bad"))}
	case 4: // hidden by Authorize in New
		a.Name = "Nobody"
	case 5: // a list of non-null elements with an error; NaN; an empty foreign key
		a.Moods, a.Rating, a.Best = []Mood{"a", "bad", "b"}, math.NaN(), pointer("")
	case 6: // a value that JSON cannot represent, for a nullable field
		a.Extra, a.Whims, a.Moods = math.Inf(1), []*Mood{pointer(Mood("a"))}, []Mood{"c"}
	case 7: // the smallest int64; no home
		a.Extra, a.Home, a.Fans = "text", nil, math.MinInt64
	case 8: // an unknown enum value in a nested nullable field
		a.Home.Near[0].Zone, a.Extra = "east", 12
	}
	return a
}

// place returns a place with up to two places near it. The place of author 5 has errors on two
// levels: in itself and in one near it.
func place(id int) *Place {
	// The recursion is one level deep: the places near it have none.
	p := &Place{City: "City " + strconv.Itoa(id), Zone: "north", Steps: int16(id)}
	for i := range id % 3 {
		p.Near = append(p.Near, Place{City: "Village " + strconv.Itoa(i), Mood: pointer(Mood("calm"))})
	}
	if id == 5 {
		p.Near[1].Mood, p.Mood = pointer(Mood("bad")), pointer(Mood("bad"))
	}
	return p
}

// book returns the book with an id. Every sixth book refers to author 0, which does not exist.
// Prices are not exact in binary, and serials exceed 32 bits.
func book(id int) Book {
	b := Book{
		ID: "b" + strconv.Itoa(id), Title: "Title " + strconv.Itoa(id*5%9), Author: int64(id % 6),
		Price: float64(id) * 1.1,
		Pages: id * 100, Printed: time.Date(1950+id, 3, 1, 12, 0, 0, id*1000, time.UTC),
		Serial: int64(id) << 40,
	}
	for i := range id % 4 {
		b.Chapters = append(b.Chapters, Chapter{Title: "Chapter " + strconv.Itoa(i), Pages: int32(i + 1),
			Mood: "fair"})
	}
	switch id {
	case 3: // an error in a list of objects; null propagates to the list
		b.Chapters[1].Mood = "bad"
	case 5: // outside the range of Int
		b.Pages, b.Shelf = math.MaxInt32+1, place(2)
	case 7: // infinity, and the zero time
		b.Price, b.Printed = math.Inf(1), time.Time{}
	case 9: // a map, which has no order in Go
		b.Words = map[string]string{"b": "2", "a": "1"}
	}
	return b
}

// errVault is an internal error, which clients must not see.
var errVault = errors.New("the vault is closed")

// vaults is a store that always fails. It also implements List, which every collection needs.
type vaults struct{}

// Get returns errVault.
func (vaults) Get(context.Context, string) (resource.Item[Vault], error) {
	return resource.Item[Vault]{}, errVault
}

// List yields errVault.
func (vaults) List(context.Context, query.Query) iter.Seq2[resource.Item[Vault], error] {
	return func(yield func(resource.Item[Vault], error) bool) { yield(resource.Item[Vault]{}, errVault) }
}

// Eldest is the input of the lookup.
type Eldest struct {
	Country string `json:"country" required:"true" enum:"FR,GB,JP"`
	After   int32  `json:"born-after" minimum:"1900"`
}

// eldest returns the id of the author of a country with the earliest year of birth. For JP this
// author may be hidden. Lookup then finds no item, although the function returned an id.
func (w *World) eldest(ctx context.Context, in Eldest) (string, error) {
	// One argument makes the lookup fail with an internal error.
	if in.After == 1913 {
		return "", errVault
	}
	// The id is the last sort key, so that the result does not depend on the store.
	q := query.Query{Filter: query.And(query.Where("country", query.Eq, in.Country),
		query.Where("born", query.Gt, in.After)),
		Sort: []query.Order{{Field: "born"}, {Field: "id"}}, Limit: 1}
	for item, err := range w.authors.List(ctx, q) {
		return strconv.FormatInt(item.Value.ID, 10), err
	}
	return "", nil
}

// Echo is the input and the output of a command. It tests that coerced input has the same value as
// output, for each kind of type.
type Echo struct {
	Text string `json:"text" required:"true" maxLength:"30"`
	// A list that may be absent, an enum with a default, and a scalar with its own coercion.
	Times []int32    `json:"times,omitempty"`
	Size  string     `json:"the-size" enum:"small,large" default:"small"`
	When  *time.Time `json:"when"`
	// Values that nest: an input object, any JSON, and a list of lists.
	Home *Place    `json:"home"`
	Any  any       `json:"any,omitempty"`
	Grid [][]int64 `json:"grid,omitempty"`
	// A float of 32 bits. Its shortest digits differ from those of the same float64.
	Much float32 `json:"much"`
}

// Failure is the input of a command that fails. It selects the error.
type Failure struct {
	How string `json:"how" required:"true" enum:"missing,forbidden,taken,invalid,hard,not"`
}

// fail returns the error that the input selects. Each of them has its own form in a response, and
// "not" selects success.
func fail(_ context.Context, in Failure) (Failure, error) {
	switch in.How {
	case "missing":
		return in, resource.ErrNotFound
	case "forbidden":
		return in, resource.ErrForbidden
	case "taken":
		return in, resource.Taken("how")
	case "invalid":
		return in, resource.Invalid("how", "wrong")
	case "hard":
		return in, errVault
	}
	return in, nil
}

// Sum has the arguments of the custom fields. The name b-too becomes bToo, and A is required.
type Sum struct {
	A    int64   `json:"a" required:"true" minimum:"0"`
	B    int64   `json:"b-too" default:"2"`
	More []int32 `json:"more,omitempty" maxItems:"3"`
}

// custom returns the custom fields. A field that fails does so for all items: some executors call
// it once for all items of a level, others once for each item.
func custom() []*model.CustomField {
	number, text, place := schema.For[int64](), schema.For[string](), schema.For[Place]()
	// each lifts a function for one author to one for all authors of a list.
	each := func(fn func(a *Author, in *Sum) any) func(context.Context, []any, any) ([]any, error) {
		return func(_ context.Context, items []any, in any) ([]any, error) {
			out := make([]any, len(items))
			for i, item := range items {
				out[i] = fn(item.(*Author), in.(*Sum))
			}
			return out, nil
		}
	}
	// sum depends on every argument, so that a wrong coercion changes the result.
	sum := func(in *Sum) int64 {
		n := in.A + in.B
		for _, m := range in.More {
			n += int64(m)
		}
		return n
	}
	// of returns a computed field of authors without its function.
	of := func(name string, out *schema.Type, nullable bool) *model.CustomField {
		return &model.CustomField{On: "authors", Name: name, In: schema.For[Sum](), Out: out,
			Nullable: nullable,
			Parent:   reflect.TypeFor[Author](), Cost: 1}
	}
	shifted := of("shifted", number, false)
	shifted.Each = each(func(a *Author, in *Sum) any { return pointer(a.ID + sum(in)) })
	odd := of("odd", text, true)
	odd.Each = each(func(a *Author, in *Sum) any {
		if a.ID%2 == 0 {
			return nil
		}
		return pointer("odd")
	})
	// broken is nullable and shattered is not, so the null of the second propagates to its author.
	broken := of("broken", text, true)
	broken.Each = func(context.Context, []any, any) ([]any, error) { return nil, errVault }
	shattered := of("shattered", place, false)
	shattered.Each = broken.Each
	// root returns a custom field of Query.
	root := func(name string, out *schema.Type, fn func(in *Sum) (any, error)) *model.CustomField {
		return &model.CustomField{On: "Query", Name: name, In: schema.For[Sum](), Out: out, Cost: 1,
			Root: func(_ context.Context, in any) (any, error) { return fn(in.(*Sum)) }}
	}
	return []*model.CustomField{shifted, odd, broken, shattered,
		root("add", number, func(in *Sum) (any, error) { return pointer(sum(in)), nil }),
		root("around", place, func(in *Sum) (any, error) {
			if in.A == 0 {
				return nil, nil
			}
			return &Place{City: "Rome", Near: []Place{*author(int(in.A%authors) + 1).homeOr()}}, nil
		}),
		root("crash", place, func(*Sum) (any, error) { return nil, errVault }),
	}
}

// homeOr returns the home of an author, or the first place if the author has none. Dump includes
// the first place for this reason.
func (a Author) homeOr() *Place {
	if a.Home == nil {
		return place(1)
	}
	return a.Home
}
