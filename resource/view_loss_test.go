package resource_test

import (
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// person has two names. Its first contract has one, so conversion to it and back loses the boundary.
type person struct {
	ID     int64  `json:"id" readOnly:"true"`
	Given  string `json:"given"`
	Family string `json:"family"`
	Cost   int64  `json:"cost"`
	Notes  string `json:"notes"`
}

type personV1 struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name"`
	Cost int64  `json:"cost"`
}

// personV0 is a view of personV1.
type personV0 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Label string `json:"label"`
	Cost  int64  `json:"cost"`
}

func personToV1(p person) (personV1, error) {
	return personV1{ID: p.ID, Name: p.Given + " " + p.Family, Cost: p.Cost}, nil
}

func personFromV1(v personV1, base person) (person, error) {
	base.Given, base.Family, _ = strings.Cut(v.Name, " ")
	base.Cost = v.Cost
	return base, nil
}

func personToV0(p personV1) (personV0, error) {
	return personV0{ID: p.ID, Label: strings.ToUpper(p.Name), Cost: p.Cost}, nil
}

func personFromV0(v personV0, base personV1) (personV1, error) {
	base.Name, base.Cost = v.Label, v.Cost
	return base, nil
}

// peopleOf returns people in three contracts, the oldest first.
func peopleOf(t *testing.T, store *memory.Store[person], v1 *resource.ViewOptions) ([3]*resource.Resource, *resource.Catalog) {
	t.Helper()
	all := resource.New("people", store, &resource.Options[person]{
		Samples: []person{{ID: 1, Given: "Mary Ann", Family: "Lee"}}})
	older := resource.View(all, personToV1, personFromV1, v1)
	c := resource.NewCatalog(nil, older)
	oldest := resource.View(older, personToV0, personFromV0, nil)
	return [3]*resource.Resource{oldest, older, all}, c
}

// TestViewKeepsUnchangedFields: a write through a view stores only the fields that the client has
// changed, although conversion to the view loses information.
func TestViewKeepsUnchangedFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		contract   int
		reset      bool
		doc        string
		change     func(*person)
	}{
		{"merge of another member", "patch 1", 1, false, `{"cost":1}`,
			func(p *person) { p.Cost = 1 }},
		{"patch of another member", "patch 1", 1, false,
			`[{"op":"replace","path":"/cost","value":1}]`, func(p *person) { p.Cost = 1 }},
		{"put with the same name", "put 1", 1, false, `{"name":"Mary Ann Lee","cost":1}`,
			func(p *person) { p.Cost = 1 }},
		{"merge of the name", "patch 1", 1, false, `{"name":"Ada King Lee"}`,
			func(p *person) { p.Given, p.Family = "Ada", "King Lee" }},
		{"merge of a part of the name", "patch 1", 1, false, `{"name":"Mary Jones"}`,
			func(p *person) { p.Given, p.Family = "Mary", "Jones" }},
		{"put that resets hidden fields", "put 1", 1, true,
			`{"name":"Mary Ann Lee","cost":1}`, func(p *person) { p.Cost, p.Notes = 1, "" }},
		{"merge through a view of the view", "patch 1", 0, false, `{"cost":1}`,
			func(p *person) { p.Cost = 1 }},
		{"merge without a change", "patch 1", 1, false, `{"cost":7}`, func(*person) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			before := person{Given: "Mary Ann", Family: "Lee", Cost: 7, Notes: "vip"}
			store := stocked(t, before)
			r, _ := peopleOf(t, store, &resource.ViewOptions{ResetHidden: tt.reset})
			wantDone(t, do(t.Context(), t, r[tt.contract], tt.line, tt.doc))
			before.ID = 1
			tt.change(&before)
			same(t, "in the store", before, stored(t, store, "1"))
		})
	}
}

// TestViewReportsLoss: the start-up report names the fields of samples that conversion changes.
func TestViewReportsLoss(t *testing.T) {
	t.Parallel()
	_, c := peopleOf(t, stocked[person](t), nil)
	if report := c.Report(); !strings.Contains(report, "view: personV1, with loss of given family") {
		t.Errorf("the report does not name the fields:\n%s", report)
	}
}
