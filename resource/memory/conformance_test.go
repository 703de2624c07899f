package memory_test

import (
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
	Labels  map[string]string `json:"labels"`
	Scan    []byte            `json:"scan"`
	Site    *site             `json:"site"`
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
var allCapabilities = []string{"Creator", "Inserter", "Replacer", "Deleter", "Tombstoner", "Counter",
	"MultiGetter", "MultiInserter", "BatchLister",
	"Transactor"}

// comparisons are what a Store answers for a field that is no text.
var comparisons = []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt,
	query.Gte,
	query.IsNull}

// texts are what it answers for one that is.
var texts = append(comparisons[:len(comparisons):len(comparisons)], query.Contains, query.StartsWith)

func TestConformanceOfIntegerIDs(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{
			"id": comparisons, "label": texts, "genus": texts, "count": comparisons, "serial": comparisons,
			"weight": comparisons, "note": texts, "found": comparisons, "lost": comparisons,
			"alive": comparisons,
			"rank":  comparisons,
		},
		Sort: []string{"label", "genus", "count", "serial", "weight", "note", "found", "lost", "alive",
			"rank"},
	}
	tests := []struct {
		name  string
		index []string
	}{
		{"without an index", nil},
		{"indexed", []string{"genus", "weight", "note", "lost", "alive", "rank"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resourcetest.Run(t, func(*testing.T) resource.Collection[specimen] {
				return memory.New[specimen](&memory.Options[specimen]{Index: tt.index})
			}, &resourcetest.Options[specimen]{Support: support, Require: allCapabilities})
		})
	}
}

func TestConformanceOfStringIDs(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{"id": texts, "title": texts, "stars": comparisons, "done": comparisons},
		Sort:   []string{"title", "stars", "done"},
	}
	for _, recreate := range []bool{false, true} {
		name := map[bool]string{false: "gone for ever", true: "recreated"}[recreate]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			resourcetest.Run(t, func(*testing.T) resource.Collection[memo] {
				return memory.New[memo](&memory.Options[memo]{Recreate: recreate})
			}, &resourcetest.Options[memo]{Support: support, Require: allCapabilities, Recreates: recreate})
		})
	}
}
