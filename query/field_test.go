package query_test

import (
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

type address struct {
	City string `json:"city"`
	Zip  string
}

// Audit is exported, because JSON cannot set the fields of a nil pointer to an unexported embedded
// type.
type Audit struct {
	Created time.Time `json:"created"`
	ID      string    `json:"id"` // hidden by the field of person
	City    string    `json:"city"`
}

type deeper struct {
	Depth int
	Name  string // hidden by Title, a shallower field with this name in its tag

	Shared string // hidden by two fields that hide each other
}

type base struct {
	deeper
	Shared string
}

type other struct {
	Shared string
	Alias  string `json:"label"`
}

type fourth struct {
	Chosen string
	Winner string `json:"chosen2"`
}

type fifth struct {
	Chosen string `json:"Chosen"`
}

type person struct {
	ID      int64   `json:"id"`
	Title   string  `json:"Name,omitempty"`
	Plain   string  // its Go name
	Note    *string `json:"note"`
	Secret  string  `json:"-"`
	private string
	Home    address `json:"home"`
	Away    address `json:",embed"`
	base
	other
	fourth
	fifth
	*Audit
	Self *person `json:"self"`
}

func TestFieldOf(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	full := person{
		ID: 7, Title: "Ada", Plain: "p", Note: new("n"), Secret: "s", private: "x",
		Home:   address{City: "London"},
		Away:   address{Zip: "W1"},
		base:   base{deeper: deeper{Depth: 3, Name: "deep", Shared: "0"}, Shared: "1"},
		other:  other{Shared: "2", Alias: "a"},
		fourth: fourth{Chosen: "untagged", Winner: "w"},
		fifth:  fifth{Chosen: "tagged"},
		Audit:  &Audit{Created: created, ID: "audit", City: "Rome"},
	}
	tests := []struct {
		name  string
		v     any
		field string
		want  any
	}{
		{"tagged", full, "id", int64(7)},
		{"pointer to struct", &full, "id", int64(7)},
		{"tag with options", full, "Name", "Ada"},
		{"Go name is not the name", full, "Title", nil},
		{"untagged", full, "Plain", "p"},
		{"pointer field", full, "note", "n"},
		{"nil pointer field", person{}, "note", nil},
		{"left out", full, "Secret", nil},
		{"left out, by its tag", full, "-", nil},
		{"unexported", full, "private", nil},
		{"struct", full, "home", nil},
		{"embedded", full, "Depth", int64(3)},
		{"embedded by tag", full, "Zip", "W1"},
		{"embedded by pointer", full, "created", created},
		{"embedded by nil pointer", person{}, "created", nil},
		{"two of one name", full, "Shared", nil},
		{"tagged embedded", full, "label", "a"},
		{"two tags of one name", full, "city", nil},
		{"one tag among two", full, "Chosen", "tagged"},
		{"renamed embedded", full, "chosen2", "w"},
		{"no such field", full, "nope", nil},
		{"case matters", full, "ID", nil},
		{"empty name", full, "", nil},
		{"nil", nil, "id", nil},
		{"nil pointer", (*person)(nil), "id", nil},
		{"no struct", 5, "id", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, query.FieldOf(tt.v, tt.field)); diff != "" {
				t.Errorf("FieldOf(%q) (-want +got):\n%s", tt.field, diff)
			}
		})
	}
}

// TestFieldOfAgreesWithJSON compares names with the JSON encoder.
func TestFieldOfAgreesWithJSON(t *testing.T) {
	t.Parallel()
	full := person{
		ID:     7,
		Title:  "Ada",
		Plain:  "p",
		Note:   new("n"),
		Secret: "s",
		Away:   address{Zip: "W1"},
		base: base{
			deeper: deeper{Depth: 3},
		},
		fifth:  fifth{Chosen: "tagged"},
		fourth: fourth{Winner: "w"},
		Audit:  &Audit{},
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatalf("Marshal: %v", err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatalf("Unmarshal: %v", err)
	}
	if len(members) < 8 {
		t.Fatalf("only %d members in %s", len(members), text)
	}
	names := append(slices.Collect(maps.Keys(members)), "Title", "Secret", "private", "Shared", "label",
		"Label", "city", "City", "ID", "Winner", "base", "Audit")
	for _, name := range names {
		member := members[name]
		if _, ok := member.(map[string]any); ok {
			member = nil // objects are not scalars
		}
		if got := query.FieldOf(&full, name); (got == nil) != (member == nil) {
			t.Errorf("FieldOf(%q) = %v, in JSON it is %v", name, got, member)
		}
	}
}

// TestFieldOfThreeOfOneName: two tags with one name exclude each other and also hide an untagged
// field.
func TestFieldOfThreeOfOneName(t *testing.T) {
	t.Parallel()
	type tagged struct {
		City string `json:"City"`
	}
	type alsoTagged struct {
		City string `json:"City"`
	}
	type untagged struct{ City string }
	v := struct {
		A tagged     `json:",embed"`
		B alsoTagged `json:",embed"`
		C untagged   `json:",embed"`
	}{tagged{"a"}, alsoTagged{"b"}, untagged{"c"}}
	if got := query.FieldOf(v, "City"); got != nil {
		t.Errorf("FieldOf = %v, want nil", got)
	}
}

// TestFieldOfRecursiveType: a type may embed a pointer to itself.
func TestFieldOfRecursiveType(t *testing.T) {
	t.Parallel()
	type node struct {
		Value int
		Next  *node `json:",embed"`
	}
	if got := query.FieldOf(node{Value: 1, Next: &node{Value: 2}}, "Value"); got != int64(1) {
		t.Errorf("FieldOf = %v, want the outer value", got)
	}
}

func TestFieldOfConcurrently(t *testing.T) {
	t.Parallel()
	type local struct{ A, B int }
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := query.FieldOf(&local{1, 2}, "B"); got != int64(2) {
				t.Errorf("FieldOf = %v, want 2", got)
			}
		})
	}
	wg.Wait()
}
