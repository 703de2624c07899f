package main

import "testing"

func TestPossible(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		events []event
		want   bool
	}{
		{"nothing", nil, true},
		{"created and read", []event{{1, 2, put, "a", done, ""}, {3, 4, get, "", done, "a"}}, true},
		{"read before it was created", []event{{1, 2, get, "", done, "a"}, {3, 4, put, "a", done, ""}}, false},
		{"read while it is created", []event{{1, 3, get, "", done, "a"}, {2, 4, put, "a", done, ""}}, true},
		{"another one read", []event{{1, 2, put, "a", done, ""}, {3, 4, get, "", done, "b"}}, false},
		{"lost", []event{{1, 2, put, "a", done, ""}, {3, 4, get, "", missing, ""}}, false},
		{"created twice", []event{{1, 4, put, "a", done, ""}, {2, 3, put, "b", done, ""}}, false},
		{"one of two is refused", []event{{1, 4, put, "a", done, ""}, {2, 3, put, "b", exists, ""}}, true},
		{"refused by nobody", []event{{1, 2, put, "b", exists, ""}, {3, 4, put, "a", done, ""}}, false},
		{"refused by one that is open", []event{{1, 2, put, "b", open, ""}, {3, 4, put, "a", exists, ""},
			{5, 6, get, "", done, "b"}}, true},
		{"open and never happened", []event{{1, 2, put, "b", open, ""}, {3, 4, get, "", missing, ""}}, true},
		{"open and happened late", []event{{1, 2, put, "b", open, ""}, {3, 4, get, "", missing, ""},
			{5, 6, get, "", done, "b"}}, true},
		{"open and happened before it began", []event{{1, 2, get, "", done, "b"}, {3, 4, put, "b", open, ""}}, false},
		{"open and undone", []event{{1, 2, put, "b", open, ""}, {3, 4, get, "", done, "b"},
			{5, 6, get, "", missing, ""}}, false},
		{"deleted", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", done, ""}, {5, 6, get, "", gone, ""}}, true},
		{"deleted and there", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", done, ""},
			{5, 6, get, "", done, "a"}}, false},
		{"deleted and never there", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", done, ""},
			{5, 6, get, "", missing, ""}}, false},
		{"deleted twice", []event{{1, 2, put, "a", done, ""}, {3, 5, remove, "", done, ""},
			{4, 6, remove, "", done, ""}}, false},
		{"deleted once", []event{{1, 2, put, "a", done, ""}, {3, 5, remove, "", done, ""},
			{4, 6, remove, "", gone, ""}}, true},
		{"deletion that found nothing", []event{{1, 2, remove, "", missing, ""}, {3, 4, put, "a", done, ""}}, true},
		{"deletion that overlooked it", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", missing, ""}}, false},
		{"open deletion", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", open, ""},
			{5, 6, get, "", gone, ""}}, true},
		{"created again", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", done, ""},
			{5, 6, put, "b", done, ""}, {7, 8, get, "", done, "b"}}, true},
		{"gone for ever", []event{{1, 2, put, "a", done, ""}, {3, 4, remove, "", done, ""},
			{5, 6, put, "b", gone, ""}}, true},
		{"gone without a life", []event{{1, 2, put, "b", gone, ""}}, false},
		{"a put of no such result", []event{{1, 2, put, "b", missing, ""}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := possible(tt.events); got != tt.want {
				t.Errorf("possible = %v, want %v", got, tt.want)
			}
		})
	}
}
