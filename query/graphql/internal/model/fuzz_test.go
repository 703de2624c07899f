package model_test

import (
	"cmp"
	"context"
	"regexp"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// FuzzNames checks that Reflect returns a valid schema or an error for any names.
func FuzzNames(f *testing.F) {
	part := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*$`)
	f.Fuzz(func(t *testing.T, list, typ, media, relation, lookup, area, action, custom string) {
		for _, name := range []string{list, lookup, area, action} {
			if !part.MatchString(name) {
				return
			}
		}
		if relation == "" || relation == "id" || relation == "text" ||
			regexp.MustCompile(`[,.]`).MatchString(relation) || list == lookup {
			return
		}
		keys := func(*note) []string { return nil }
		notes := noteOps().Resource(list, &resource.Options[note]{
			Relations: []resource.Relation[note]{{Name: relation, Target: list, Keys: keys}}})
		find := func(context.Context, empty) (string, error) { return "", nil }
		c := resource.NewCatalog(nil, notes, resource.NewLookup(lookup, list, find),
			newCommand[note, note](area+"/"+action))
		s, err := model.Reflect(c, &model.Options{Names: map[string]string{list: cmp.Or(typ, media)},
			Fields: []*model.CustomField{{On: "Query", Name: custom, Out: schema.For[[]note]()}}})
		if (s == nil) == (err == nil) {
			t.Fatalf("schema %v and error %v", s, err)
		}
		if err == nil {
			sound(t, s)
		}
	})
}
