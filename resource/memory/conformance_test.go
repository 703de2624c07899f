package memory_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// specimen has integer ids and a field of every kind.
type specimen struct {
	ID      int64             `json:"id" readOnly:"true"`
	Label   string            `json:"label" unique:"true"`
	Genus   string            `json:"genus" enum:"felis,canis,ursus"`
	Count   int32             `json:"count" minimum:"-5" maximum:"1000000"`
	Serial  uint64            `json:"serial"`
	Weight  float64           `json:"weight"`
	Note    *string           `json:"note"`
	Found   time.Time         `json:"found"`
	Lost    *time.Time        `json:"lost"`
	Alive   bool              `json:"alive"`
	Rank    *int16            `json:"rank"`
	Tags    []string          `json:"tags"`
	Sizes   []float32         `json:"sizes"`
	Price   string            `json:"price" format:"decimal"`
	Cost    *string           `json:"cost" format:"decimal" precision:"6,2" minimum:"0"`
	Lasts   *string           `json:"lasts" format:"duration"`
	Seen    string            `json:"seen" format:"date"`
	Opens   *string           `json:"opens" format:"time-local"`
	Light   float32           `json:"light"`
	Costs   *[]string         `json:"costs" format:"decimal"`
	Labels  map[string]string `json:"labels"`
	Scan    []byte            `json:"scan"`
	Site    *site             `json:"site"`
	Code    string            `json:"code" unique:"genus,rank"`
	Created time.Time         `json:"created" readOnly:"true"`
}

type site struct {
	Name  string    `json:"name" minLength:"1"`
	Shape []float64 `json:"shape"`
}

// memo has ids that are strings, and nothing that could be shared.
type memo struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Stars int    `json:"stars"`
	Done  bool   `json:"done"`
}

// allCapabilities are all capabilities that a Store has.
var allCapabilities = []string{"Creator", "Inserter", "Replacer", "Deleter", "Tombstoner", "Counter", "Aggregator",
	"Searcher",
	"MultiGetter", "MultiInserter", "BatchLister", "BatchCounter",
	"Transactor", "RevisionLister", "Revisioner"}

// comparisons are what a Store answers for a field that is no text.
var comparisons = []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt,
	query.Gte,
	query.IsNull}

// texts are what it answers for one that is.
var texts = append(comparisons[:len(comparisons):len(comparisons)], query.Contains, query.StartsWith)

// numbers are the aggregates of a field that is a number.
var numbers = query.Funcs()[1:]

// lists are what it answers for a list of single values.
var lists = []query.Op{query.Contains, query.IsNull}

func TestConformanceOfIntegerIDs(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{
			"id": comparisons, "label": texts, "genus": texts, "count": comparisons, "serial": comparisons,
			"weight": comparisons, "note": texts, "found": comparisons, "lost": comparisons,
			"alive": comparisons,
			"rank":  comparisons,
			"price": comparisons, "cost": comparisons, "lasts": comparisons, "seen": texts, "opens": texts,
			"light": comparisons, "tags": lists, "sizes": lists, "costs": lists,
		},
		Sort: []string{"label", "genus", "count", "serial", "weight", "note", "found", "lost", "alive",
			"rank", "price", "cost", "lasts", "seen", "opens", "light"},
		Group: []string{"genus", "note", "lost", "alive", "rank", "price", "cost", "seen", "light"},
		Aggregate: map[string][]query.Func{
			"count": numbers, "serial": numbers, "weight": numbers, "rank": numbers, "price": numbers,
			"cost": numbers, "light": numbers, "id": {query.Distinct}, "label": {query.Min, query.Max},
			"note": {query.Distinct, query.Max}, "found": {query.Min}, "lost": {query.Distinct, query.Min},
			"seen": {query.Max}, "alive": {query.Distinct},
		},
		Search: []string{"label", "note", "genus"},
	}
	tests := []struct {
		name       string
		index      []string
		search     []string
		softDelete bool
	}{
		{"without an index", nil, nil, false},
		{"indexed", []string{"genus", "weight", "note", "lost", "alive", "rank", "price", "lasts", "light"},
			[]string{"genus", "label", "note"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resourcetest.Run(t, func(*testing.T) resource.Collection[specimen] {
				return memory.New[specimen](&memory.Options[specimen]{Index: tt.index, Search: tt.search,
					SoftDelete: tt.softDelete})
			}, &resourcetest.Options[specimen]{Support: support, Require: allCapabilities})
		})
	}
}

func TestConformanceOfStringIDs(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{"id": texts, "title": texts, "stars": comparisons, "done": comparisons},
		Sort:   []string{"title", "stars", "done"},
		Search: []string{"title"},
	}
	tests := []struct {
		name                 string
		recreate, softDelete bool
	}{
		{name: "gone for ever"},
		{name: "recreated", recreate: true},
		{name: "kept", softDelete: true},
		{name: "kept and recreated", recreate: true, softDelete: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require := allCapabilities
			if tt.softDelete {
				require = append(slices.Clone(require), "Restorer")
			}
			resourcetest.Run(t, func(*testing.T) resource.Collection[memo] {
				return memory.New[memo](&memory.Options[memo]{Search: []string{"title"},
					Recreate: tt.recreate, SoftDelete: tt.softDelete})
			}, &resourcetest.Options[memo]{Support: support, Require: require, Recreates: tt.recreate})
		})
	}
}

// share has a composite id of a text and an integer.
type share struct {
	ID     string `json:"id" readOnly:"true" id:"fund,part"`
	Fund   string `json:"fund"`
	Part   int16  `json:"part"`
	Owner  string `json:"owner" unique:"true"`
	Amount int64  `json:"amount"`
}

func TestConformanceOfCompositeIDs(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{
			"id": {query.Eq, query.In}, "fund": texts, "part": comparisons, "amount": comparisons},
		Sort:   []string{"id", "fund", "part", "amount"},
		Search: []string{"owner", "fund"},
	}
	for _, recreate := range []bool{false, true} {
		resourcetest.Run(t, func(*testing.T) resource.Collection[share] {
			return memory.New[share](&memory.Options[share]{Recreate: recreate, SoftDelete: recreate})
		}, &resourcetest.Options[share]{Support: support, Recreates: recreate,
			Require: slices.DeleteFunc(slices.Clone(allCapabilities), func(name string) bool {
				return name == "Creator"
			})})
	}
}
