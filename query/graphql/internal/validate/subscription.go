package validate

// The rule that a subscription has one root field. Called by selections.go for each subscription.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// subscription checks that a subscription has a single root field (section 5.2.4.1). Each root
// field would need a source stream of its own (section 6.2.3.1).
func (v *validator) subscription(op *operation) {
	r := rootFields{v: v, root: op.root, visit: v.nextVisit(), byKey: map[string][]*parser.Location{}}
	r.collect(op.set)
	operation := "Anonymous Subscription"
	if op.node.Name != nil {
		operation = `Subscription "` + op.node.Name.Value + `"`
	}
	if len(r.keys) > 1 {
		var extra []*parser.Location
		for _, key := range r.keys[1:] {
			extra = append(extra, r.byKey[key]...)
		}
		v.report("SingleFieldSubscriptions", operation+" must select only one top level field.", extra...)
	}
	for _, key := range r.introspection {
		v.report("SingleFieldSubscriptions", operation+" must not select an introspection top level field.",
			r.byKey[key]...)
	}
	if len(r.conditions) > 0 {
		v.report("SingleFieldSubscriptions",
			operation+
				" must not use `@skip` or `@include` directives in the top level selection.",
			r.conditions...)
	}
}

// rootFields collects the root fields of a subscription by response key. Fields with one key are
// merged, so each key is one root field.
type rootFields struct {
	v     *validator
	root  *model.Type
	visit int

	keys          []string                      // response keys in the order of their first use
	byKey         map[string][]*parser.Location // locations of the fields of each key
	introspection []string                      // keys of fields such as __typename
	conditions    []*parser.Location            // locations of @skip and @include
}

// collect implements CollectSubscriptionFields (section 5.2.4.1). It differs from the collection
// during execution, which evaluates directives: here variables have no values.
func (r *rootFields) collect(set *parser.SelectionSet) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			r.condition(s.Directives)
			r.field(s)
		case *parser.InlineFragment:
			r.condition(s.Directives)
			if s.TypeCondition == nil || r.applies(r.v.schema.Type(s.TypeCondition.Name.Value)) {
				r.collect(s.SelectionSet)
			}
		case *parser.FragmentSpread:
			r.condition(s.Directives)
			if f := r.v.byName[s.Name.Value]; f != nil && f.visit != r.visit {
				f.visit = r.visit
				if r.applies(f.on) {
					r.collect(f.set)
				}
			}
		}
	}
}

// field records a field with its response key.
func (r *rootFields) field(f *parser.Field) {
	key := responseKey(f)
	if len(r.byKey[key]) == 0 {
		r.keys = append(r.keys, key)
		if strings.HasPrefix(f.Name.Value, "__") {
			r.introspection = append(r.introspection, key)
		}
	}
	r.byKey[key] = append(r.byKey[key], f.Loc)
}

// condition records the first @skip or @include directive in list. The specification does not allow
// them, because the root field would depend on variables.
func (r *rootFields) condition(list []*parser.Directive) {
	i := slices.IndexFunc(list, func(d *parser.Directive) bool {
		return d.Name.Value == "skip" ||
			d.Name.Value == "include"
	})
	if i >= 0 {
		r.conditions = append(r.conditions, list[i].Loc)
	}
}

// applies reports whether a fragment with type condition t applies to the root type. A type
// condition that does not exist has been reported, and its fields are left out.
func (r *rootFields) applies(t *model.Type) bool {
	return t != nil && (t == r.root || t.Includes(r.root))
}

// responseKey returns the alias of a field, or its name if it has none. The members of a response
// have this key (section 2.8), so it decides which fields are merged.
func responseKey(f *parser.Field) string {
	if f.Alias != nil {
		return f.Alias.Value
	}
	return f.Name.Value
}
