package model_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// sound checks the rules that hold for each schema (section 3.1 and following).
func sound(t testing.TB, s *model.Schema) {
	t.Helper()
	known := map[string]*model.Type{}
	for i, typ := range s.Types {
		if i > 0 && s.Types[i-1].Name >= typ.Name {
			t.Errorf("%s follows %s", typ.Name, s.Types[i-1].Name)
		}
		known[typ.Name] = typ
	}
	c := checker{t, known, map[string]bool{}}
	for _, root := range []*model.Type{s.Query, s.Mutation, s.Subscription} {
		if root != nil {
			c.reach(root, "a root")
		}
	}
	for name := range known {
		if !c.reached[name] {
			t.Errorf("nothing leads to %s", name)
		}
	}
}

type checker struct {
	t       testing.TB
	known   map[string]*model.Type
	reached map[string]bool
}

// reach checks a type and all types that it refers to.
func (c checker) reach(typ *model.Type, from string) {
	if c.reached[typ.Name] {
		if c.known[typ.Name] != typ {
			c.t.Errorf("%s is another %s than that of the schema", from, typ.Name)
		}
		return
	}
	c.reached[typ.Name] = true
	if c.known[typ.Name] != typ {
		c.t.Errorf("%s is of the type %s, which the schema does not have", from, typ.Name)
	}
	c.name(typ.Name, "a type")
	parts := [...]int{model.Scalar: 0, model.Object: len(typ.Fields), model.InputObject: len(typ.Inputs),
		model.Enum: len(typ.Values)}
	all := len(typ.Fields) + len(typ.Inputs) + len(typ.Values)
	if parts[typ.Kind] != all || all == 0 && typ.Kind != model.Scalar {
		c.t.Errorf("%s is of the kind %v and has %d fields, %d inputs, %d values", typ.Name, typ.Kind,
			len(typ.Fields),
			len(typ.Inputs), len(typ.Values))
	}
	c.fields(typ)
	c.inputs(typ.Inputs, typ.Name)
	c.values(typ)
}

func (c checker) fields(typ *model.Type) {
	names := map[string]bool{}
	for _, f := range typ.Fields {
		at := typ.Name + "." + f.Name
		c.unique(names, f.Name, at)
		c.inputs(f.Args, at)
		if k := f.Type.Named().Kind; k == model.InputObject {
			c.t.Errorf("%s shows an input", at)
		}
		if f.Doc == "" && f.Source != model.Member && f.Source != model.Custom && f.Source != model.Computed {
			c.t.Errorf("%s does not say what it is", at)
		}
		c.reach(f.Type.Named(), at)
	}
}

func (c checker) inputs(inputs []*model.Input, of string) {
	names := map[string]bool{}
	for _, in := range inputs {
		at := of + "." + in.Name
		c.unique(names, in.Name, at)
		named := in.Type.Named()
		if named.Kind == model.Object {
			c.t.Errorf("%s takes an object", at)
		}
		if in.Deprecated != "" && in.Type.NonNull && !in.HasDefault {
			c.t.Errorf("%s is deprecated and required", at)
		}
		if in.HasDefault && named.Kind == model.Enum &&
			!slices.ContainsFunc(named.Values, func(v *model.Value) bool { return v.Go == in.Default }) {
			c.t.Errorf("%s has the default %v, which is no value of %s", at, in.Default, named.Name)
		}
		if in.Member == nil && in.Doc == "" {
			c.t.Errorf("%s does not say what it is", at)
		}
		c.reach(named, at)
	}
}

func (c checker) values(typ *model.Type) {
	names := map[string]bool{}
	for _, v := range typ.Values {
		c.unique(names, v.Name, typ.Name+"."+v.Name)
		if slices.Contains([]string{"true", "false", "null"}, v.Name) {
			c.t.Errorf("%s has the value %s", typ.Name, v.Name)
		}
	}
}

func (c checker) unique(names map[string]bool, name, at string) {
	c.name(name, at)
	if names[name] {
		c.t.Errorf("%s is there twice", at)
	}
	names[name] = true
}

func (c checker) name(name, at string) {
	const letters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	rest := strings.TrimLeft(name, letters)
	if name == "" || rest == name || strings.Trim(rest, letters+"0123456789") != "" ||
		strings.HasPrefix(name, "__") {
		c.t.Errorf("%s is called %q", at, name)
	}
}

// catalogs returns the catalogs of the other tests.
func catalogs(t testing.TB) map[string]*resource.Catalog {
	all := shop(t)
	all["things"] = things()
	return all
}

func TestSchemaRules(t *testing.T) {
	t.Parallel()
	all := catalogs(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reflected(t, all[name], nil)
			sound(t, s)
			introspect.Extend(s)
			if _, err := oracle.Schema(s, nil); err != nil {
				t.Errorf("graphql-go does not take it: %v", err)
			}
		})
	}
}

// TestDeterministic checks that Reflect is deterministic.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	for name, c := range catalogs(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := dump(reflected(t, c, nil), true)
			for range 8 {
				if got := dump(reflected(t, c, nil), true); got != want {
					t.Fatal("the second is not as the first")
				}
			}
			if again := dump(reflected(t, catalogs(t)[name], nil), true); again != want {
				t.Error("another catalog of the same parts has another schema")
			}
		})
	}
}
