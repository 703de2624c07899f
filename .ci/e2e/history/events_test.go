package history_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	deletions := func(acknowledged bool, versions ...int) *history.Item {
		it := history.NewItem("", 0, 3, "")
		for _, n := range versions {
			it.Deleted(n, acknowledged)
		}
		return it
	}
	tests := []struct {
		name string
		item *history.Item
		left int
		want history.Life // the zero value is an error
	}{
		{"exists", deletions(true), 3, history.Life{N: 3}},
		{"exists, newer than known", deletions(true), 4, history.Life{N: 4}},
		{"exists, and older", deletions(true), 2, history.Life{}},
		{"deleted", deletions(true, 3), 0, history.Life{N: 3, Deleted: true}},
		{"deleted, newer than known", deletions(true, 4), 0, history.Life{N: 4, Deleted: true}},
		{"deleted, and exists", deletions(true, 3), 3, history.Life{}},
		{"an older version deleted", deletions(true, 2), 0, history.Life{}},
		{"deleted with unknown outcome", deletions(false, 3, 2), 0, history.Life{N: 3, Deleted: true}},
		{"deleted by one of two", deletions(false, 4, 3), 0, history.Life{N: 3, Deleted: true, Others: []int{4}}},
		{"lost", deletions(true), 0, history.Life{}},
		{"exists, and a deletion has an unknown outcome", deletions(false, 3), 3, history.Life{N: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.item.Settle(tt.left)
			if wrong := tt.want.N == 0; (err != nil) != wrong {
				t.Fatalf("Settle = %v", err)
			} else if wrong {
				return
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("Settle (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExpected(t *testing.T) {
	t.Parallel()
	const created, updated, deleted = client.Created, client.Updated, client.Deleted
	l := history.Life{Lane: 2, N: 3, Deleted: true}
	tests := []struct {
		name string
		view client.View
		want []history.Change
	}{
		{"everything", client.View{}, []history.Change{{created, 1}, {updated, 2}, {updated, 3}, {deleted, 0}}},
		{"its lane", client.View{Lane: 2}, []history.Change{{created, 1}, {updated, 2}, {updated, 3}, {deleted, 0}}},
		{"another lane", client.View{Lane: 1}, nil},
		{"open", client.View{Open: true}, []history.Change{{created, 1}, {deleted, 0}, {created, 3}, {deleted, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, l.Expected(tt.view)); diff != "" {
				t.Errorf("Expected (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckDeliveries mutates the events of a correct subscription. Each mutant has to be found.
func TestCheckDeliveries(t *testing.T) {
	t.Parallel()
	event := func(cursor, kind string, n int) client.Event {
		return client.Event{Cursor: cursor, Kind: kind, ID: "a", N: n}
	}
	one, two, three := event("1", client.Created, 1), event("2", client.Updated, 2), event("3", client.Deleted, 0)
	again := event("4", client.Updated, 2)
	tests := []struct {
		name   string
		events []client.Event
		want   string
	}{
		{"correct", []client.Event{one, two, three}, "no violations"},
		{"an event is missing", []client.Event{one, three}, "1 lost"},
		{"an event is received twice", []client.Event{one, two, two, three}, "1 repeated"},
		{"an event is received twice, with two cursors", []client.Event{one, two, again, three}, "1 duplicate"},
		{"two events are swapped", []client.Event{two, one, three}, "1 out of order"},
		{"an event of another version", []client.Event{one, two, event("5", client.Updated, 9), three}, "1 surplus"},
		{"an event of another item", []client.Event{one, two, three, {Cursor: "6", Kind: client.Created, ID: "b", N: 1}}, "1 surplus"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := history.CheckDeliveries("s", client.View{}, map[string]history.Life{"a": {ID: "a", N: 2, Deleted: true}}, tt.events)
			if d.Expected != 3 || d.String() != tt.want {
				t.Errorf("%d expected, %s, want %s", d.Expected, d, tt.want)
			}
		})
	}
}
