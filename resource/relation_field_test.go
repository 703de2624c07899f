package resource_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// label is a string with its own encoding.
type label struct{ text string }

func (l label) MarshalText() ([]byte, error) { return []byte(strings.ToLower(l.text)), nil }
func (l *label) UnmarshalText(b []byte) error {
	l.text = strings.ToUpper(string(b))
	return nil
}

type tagID string

// pointing has a member for each way to hold keys.
type pointing struct {
	ID      string    `json:"id"`
	Text    string    `json:"text"`
	Named   tagID     `json:"named"`
	Maybe   *string   `json:"maybe"`
	Number  int       `json:"number"`
	Small   uint8     `json:"small"`
	NoZero  int64     `json:"noZero,omitzero"`
	Perhaps *int64    `json:"perhaps"`
	Label   label     `json:"label"`
	Texts   []string  `json:"texts"`
	Numbers []int32   `json:"numbers"`
	Some    []*string `json:"some"`
	Labels  []label   `json:"labels"`
	Pair    [2]uint64 `json:"pair"`
	Hidden  string    `json:"hidden" writeOnly:"true"`
	Flags   []bool    `json:"flags"`
	Inner   thing     `json:"inner"`
}

func TestRelationField(t *testing.T) {
	t.Parallel()
	text, empty, zero := "a", "", int64(0)
	full := pointing{ID: "full", Text: "a", Named: "b", Maybe: &text, Number: -1, Small: 7, NoZero: 7, Perhaps: &zero,
		Label: label{"A"}, Texts: []string{"b", "a", "b", "", "zz", "a"}, Numbers: []int32{7, 0, 7},
		Some: []*string{nil, &text, &empty}, Labels: []label{{"B"}, {"A"}}, Pair: [2]uint64{7, 7}}
	tests := []struct {
		field       string
		many        bool
		full, empty string // the related ids, for the item above and for the zero value
	}{
		{"text", false, "a", ""},
		{"named", false, "b", ""},
		{"maybe", false, "a", ""},
		{"number", false, "-1", "0"},
		{"small", false, "7", "0"},
		{"noZero", false, "7", ""},
		{"perhaps", false, "0", ""},
		{"label", false, "a", ""},
		{"text", true, "a", ""},
		{"texts", true, "b a", ""},
		{"numbers", true, "7 0", ""},
		{"some", true, "a", ""},
		{"labels", true, "b a", ""},
		{"pair", true, "7", "0"},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			from := resource.New("from", pointers(t, full, pointing{ID: "empty"}), &resource.Options[pointing]{Relations: []resource.Relation[pointing]{
				{Name: "to", Target: "things", Field: tt.field, Many: tt.many},
				{Name: "backward", Target: "things", By: "name", Field: tt.field}}})
			h := newCatalog(t, from, resource.New("things", keyed(t, "a", "b", "-1", "0", "7"), &resource.Options[thing]{
				Query: query.Support{Filter: map[string][]query.Op{"name": {query.Eq}}}}))
			from = h.Resource("from")
			entries := listAll(t, from).Entries
			for _, relation := range []string{"to", "backward"} {
				p, err := from.Follow(t.Context(), relation, entries, nil)
				if err != nil {
					t.Fatal(err)
				}
				want := []string{tt.empty, tt.full}
				if diff := cmp.Diff(want, []string{ends(&p, 0), ends(&p, 1)}); diff != "" {
					t.Errorf("%s (-want +got):\n%s", relation, diff)
				}
				p.Release()
			}
			if got := from.KeyField("to"); got != tt.field {
				t.Errorf("KeyField is %q, want %q", got, tt.field)
			}
		})
	}
}

func TestRelationFieldThatCannotBe(t *testing.T) {
	t.Parallel()
	tests := []struct{ field, why string }{
		{"nope", "which is not the JSON name of a field"},
		{"hidden", "which is writeOnly, so responses would reveal it"},
		{"texts", "which is a list; set Many"},
		{"flags", "which is a list; set Many"},
		{"inner", "which is neither a single value nor a list of them"},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, `resource: from: relation "to": Field names "`+tt.field+`", `+tt.why, func() {
				resource.New("from", stocked[pointing](t), &resource.Options[pointing]{Relations: []resource.Relation[pointing]{
					{Name: "to", Target: "things", Field: tt.field}}})
			})
		})
	}
	wantPanic(t, `resource: from: relation "to": Field names "flags", which is not a list of strings or integers`, func() {
		resource.New("from", stocked[pointing](t), &resource.Options[pointing]{Relations: []resource.Relation[pointing]{
			{Name: "to", Target: "things", Field: "flags", Many: true}}})
	})
}
