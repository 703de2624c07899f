package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestImport(t *testing.T) {
	t.Parallel()
	const two = `{"id":"utopia","name":"Utopia","country":"XX"}` + "\n" + `{"id":"264371","name":"Athina","country":"GR"}` + "\n"
	const bad = `{"id":"nowhere","name":"Nowhere"}` + "\n"
	const athens, athina = `{"items":[{"id":"264371","name":"Athens"}]}`, `{"items":[{"id":"264371","name":"Athina"},{"id":"utopia","name":"Utopia"}]}`
	tests := []struct {
		name, target, body string
		status             int
		answer             string // "" accepts any response
		after              string
	}{
		{"good lines", "/places/import", two, 200, `{"created":1,"replaced":1,"rejected":[]}`, athina},
		{"all of them", "/places/import?atomic=true", two, 200, `{"created":1,"replaced":1,"rejected":[]}`,
			athina},
		{"in an old contract", "/v1/places/import", two, 200, `{"created":1,"replaced":1,"rejected":[]}`,
			athina},
		{"without one", "/places/import", two + bad, 200, "", athina},
		{"all but one is none", "/places/import?atomic=true", two + bad, 422, "", athens},
	}
	for _, tt := range tests {
		for name, open := range databases() {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := openShopOn(t, settings{db: open(t)})
				w := ask(t, s, "POST", tt.target, tt.body, "Content-Type: application/x-ndjson")
				if w.Code != tt.status {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
				if diff := cmp.Diff(tt.answer, w.Body.String()); tt.answer != "" && diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				got := ask(t, s, "GET", "/places?id.in=264371,utopia,nowhere&fields=id,name",
					"").Body.String()
				if diff := cmp.Diff(tt.after, got); diff != "" {
					t.Errorf("afterwards (-want +got):\n%s", diff)
				}
			})
		}
	}
}
