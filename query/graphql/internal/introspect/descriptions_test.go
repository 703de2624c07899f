package introspect_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestDescriptions checks that each element of a reflected schema has a description, although most
// members of the catalog have none. Custom fields are described by the application.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	catalog, opts := graphqltest.Catalog(memory.New[graphqltest.Port](nil),
		memory.New[graphqltest.Ship](nil), memory.New[graphqltest.Sailor](nil))
	s, err := model.Reflect(catalog, opts)
	if err != nil {
		t.Fatal(err)
	}
	introspect.Extend(s)
	if diff := cmp.Diff([]string(nil), undescribed(s)); diff != "" {
		t.Errorf("elements without description (-want +got):\n%s", diff)
	}
}

// undescribed returns the elements of s that have no description.
func undescribed(s *model.Schema) []string {
	var bare []string
	check := func(doc, format string, names ...any) {
		if doc == "" {
			bare = append(bare, fmt.Sprintf(format, names...))
		}
	}
	for _, typ := range s.Types {
		check(typ.Doc, "%s", typ.Name)
		for _, f := range typ.Fields {
			if f.Custom == nil {
				check(f.Doc, "%s.%s", typ.Name, f.Name)
			}
			for _, arg := range f.Args {
				check(arg.Doc, "%s.%s(%s:)", typ.Name, f.Name, arg.Name)
			}
		}
		for _, in := range typ.Inputs {
			check(in.Doc, "%s.%s", typ.Name, in.Name)
		}
		for _, v := range typ.Values {
			check(v.Doc, "%s.%s", typ.Name, v.Name)
		}
	}
	for _, d := range s.Directives {
		check(d.Doc, "@%s", d.Name)
		for _, arg := range d.Args {
			check(arg.Doc, "@%s(%s:)", d.Name, arg.Name)
		}
	}
	for _, f := range []*model.Field{s.TypeName, s.MetaSchema, s.MetaType} {
		check(f.Doc, "%s", f.Name)
	}
	return bare
}
