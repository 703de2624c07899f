package history_test

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/history"
)

func TestLinearizable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		operations []history.Operation
		want       bool
	}{
		{"nothing", nil, true},
		{"created and read", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Get, "", history.Done, "a"}}, true},
		{"read before it was created", []history.Operation{{1, 2, history.Get, "", history.Done, "a"}, {3, 4, history.Put, "a", history.Done, ""}}, false},
		{"read while it is created", []history.Operation{{1, 3, history.Get, "", history.Done, "a"}, {2, 4, history.Put, "a", history.Done, ""}}, true},
		{"another one read", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Get, "", history.Done, "b"}}, false},
		{"lost", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Get, "", history.Missing, ""}}, false},
		{"created twice", []history.Operation{{1, 4, history.Put, "a", history.Done, ""}, {2, 3, history.Put, "b", history.Done, ""}}, false},
		{"one of two is refused", []history.Operation{{1, 4, history.Put, "a", history.Done, ""}, {2, 3, history.Put, "b", history.Exists, ""}}, true},
		{"refused without a reason", []history.Operation{{1, 2, history.Put, "b", history.Exists, ""}, {3, 4, history.Put, "a", history.Done, ""}}, false},
		{"refused by one that is open", []history.Operation{{1, 2, history.Put, "b", history.Open, ""}, {3, 4, history.Put, "a", history.Exists, ""},
			{5, 6, history.Get, "", history.Done, "b"}}, true},
		{"open and never happened", []history.Operation{{1, 2, history.Put, "b", history.Open, ""}, {3, 4, history.Get, "", history.Missing, ""}}, true},
		{"open and happened late", []history.Operation{{1, 2, history.Put, "b", history.Open, ""}, {3, 4, history.Get, "", history.Missing, ""},
			{5, 6, history.Get, "", history.Done, "b"}}, true},
		{"open and happened before it began", []history.Operation{{1, 2, history.Get, "", history.Done, "b"}, {3, 4, history.Put, "b", history.Open, ""}}, false},
		{"open and undone", []history.Operation{{1, 2, history.Put, "b", history.Open, ""}, {3, 4, history.Get, "", history.Done, "b"},
			{5, 6, history.Get, "", history.Missing, ""}}, false},
		{"deleted", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Done, ""}, {5, 6, history.Get, "", history.Gone, ""}}, true},
		{"deleted and there", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Done, ""},
			{5, 6, history.Get, "", history.Done, "a"}}, false},
		{"deleted and never there", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Done, ""},
			{5, 6, history.Get, "", history.Missing, ""}}, false},
		{"deleted twice", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 5, history.Delete, "", history.Done, ""},
			{4, 6, history.Delete, "", history.Done, ""}}, false},
		{"deleted once", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 5, history.Delete, "", history.Done, ""},
			{4, 6, history.Delete, "", history.Gone, ""}}, true},
		{"deletion that found nothing", []history.Operation{{1, 2, history.Delete, "", history.Missing, ""}, {3, 4, history.Put, "a", history.Done, ""}}, true},
		{"deletion that did not find it", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Missing, ""}}, false},
		{"open deletion", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Open, ""},
			{5, 6, history.Get, "", history.Gone, ""}}, true},
		{"created again", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Done, ""},
			{5, 6, history.Put, "b", history.Done, ""}, {7, 8, history.Get, "", history.Done, "b"}}, true},
		{"gone for good", []history.Operation{{1, 2, history.Put, "a", history.Done, ""}, {3, 4, history.Delete, "", history.Done, ""},
			{5, 6, history.Put, "b", history.Gone, ""}}, true},
		{"gone, never created", []history.Operation{{1, 2, history.Put, "b", history.Gone, ""}}, false},
		{"a result that Put cannot have", []history.Operation{{1, 2, history.Put, "b", history.Missing, ""}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := history.Linearizable(tt.operations); got != tt.want {
				t.Errorf("Linearizable = %v, want %v", got, tt.want)
			}
		})
	}
}
