package model

// Names of types and fields: their syntax, how they are derived from names of Go and JSON, and what
// is reported if two of them collide.

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

const (
	// The names of the root types, which are those that an SDL without a schema definition implies
	// (section 3.3.1).
	onQuery        = "Query"
	onMutation     = "Mutation"
	onSubscription = "Subscription"

	// badName explains the syntax of names in errors; see isName.
	badName = "a GraphQL name has ASCII letters, digits and underscores, and does not begin with a digit " +
		"or two underscores"
)

// reserved returns the names of types that each schema may contain. They are reserved even if a
// schema does not use them, so that adding a resource to a catalog never takes a name away.
func reserved() []string {
	names := []string{onQuery, onMutation, onSubscription, "PageInfo", "SortDirection", "ChangeKind",
		"StringIDFilter", "NullableStringIDFilter", "DurationFilter", "NullableDurationFilter"}
	for _, scalar := range []string{
		"Int", "Float", "String", "Boolean", "ID", "Int64", "Decimal", "DateTime", "JSON",
	} {
		names = append(names, scalar)
		for _, of := range []string{scalar, scalar + "List"} {
			names = append(names, of+"Filter", "Nullable"+of+"Filter")
		}
	}
	return names
}

// owner describes what has a name, and how to rename it, for error messages.
type owner struct{ what, fix string }

// ofResource returns the owner of a name that is derived from the type of a resource's items.
func ofResource(r *resource.Resource, part string) owner {
	return owner{part + " of the resource " + r.Name(), "give the resource " + r.Name() +
		" another name in Options.Names"}
}

// ofGo returns the owner of the name of a Go type.
func ofGo(t *schema.Type, part string) owner {
	return owner{part + t.GoType.String(), "give the Go type " + t.GoType.String() +
		" another name in Options.Names"}
}

// ofMember returns the owner of a field that has the name of a member.
func ofMember(f *schema.Field) owner {
	member := "the member " + strconv.Quote(f.Name)
	return owner{member, "give " + member + " another JSON name"}
}

// joinFixes joins two suggestions. Either may be empty.
func joinFixes(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + ", or " + b
}

// member is a struct member with its name in GraphQL.
type member struct {
	*schema.Field
	name string
}

// membersOf returns the members of a struct with valid, unique names, and reports the others.
// subject names the struct in errors.
func (b *builder) membersOf(t *schema.Type, subject string) []member {
	if known, ok := b.members[t]; ok {
		return known
	}
	var out []member
	// The result is remembered, because items, inputs and filters of a resource use the same
	// members.
	by := map[string]string{}
	for _, f := range t.Fields {
		name := fieldName(f.Name)
		// Clients that use global ids take each field id for one, also in a struct within an item.
		if b.opts.GlobalIDs && name == "id" {
			name = "rawId"
		}
		other, taken := by[name]
		switch {
		case !isName(name):
			b.fail("%s: the member %q cannot be a field: %s; give it another JSON name", subject, f.Name,
				badName)
		// Two JSON names can become one field, such as created-at and createdAt.
		case taken:
			b.fail("%s: the members %q and %q would both be the field %s; give one of them another JSON name",
				subject, other, f.Name, name)
		default:
			by[name] = f.Name
			out = append(out, member{f, name})
		}
	}
	b.members[t] = out
	return out
}

// baseOf returns the prefix for names that are derived from a struct within another: the name of
// its Go type in Options.Names, its own name, or hint if it has none. The first hint for a Go type remains in
// use, so that its nested types keep one name. If items or another Go type have the name, the name of the
// package precedes it, and a number follows if that is not enough.
func (b *builder) baseOf(t *schema.Type, hint string) string {
	if name := b.bases[t]; name != "" {
		return name
	}
	base := cmp.Or(b.givenName(t), hint)
	if base == hint && t.Name != "" {
		base = pascal(t.Name)
		if b.isBase(base) {
			pkg, _, _ := strings.Cut(t.GoType.String(), ".")
			base = pascal(pkg) + base
		}
		for first, i := base, 2; b.isBase(base); i++ {
			base = first + strconv.Itoa(i)
		}
	}
	b.bases[t] = base
	return base
}

// isBase reports whether the items of a resource or a Go type have this name, or Options.Names gives it.
func (b *builder) isBase(name string) bool {
	return b.isItemName(name) || slices.Contains(slices.Collect(maps.Values(b.bases)), name) ||
		slices.Contains(slices.Collect(maps.Values(b.opts.Names)), name)
}

// givenName returns the name of a Go type in Options.Names, and "" if it has none.
func (b *builder) givenName(t *schema.Type) string {
	goName := t.GoType.String()
	name := b.opts.Names[goName]
	if name != "" {
		b.used[goName] = true
	}
	return name
}

// valueName returns the name of the type of a struct within another. The item type of a resource
// has a second type for this use, because such a value has no relations, and the resource's
// authorization was not checked for it.
func (b *builder) valueName(t *schema.Type, hint string) (name, base string) {
	if r := b.itemOf[t]; r != nil && b.names[r] != "" && b.givenName(t) == "" {
		return b.names[r] + "Value", b.names[r]
	}
	base = b.baseOf(t, hint)
	return base, base
}

// idOf returns the JSON name of the id member of a Go type that is the item type of a resource, and
// "" otherwise.
func (b *builder) idOf(t *schema.Type) string {
	if r := b.itemOf[t]; r != nil {
		return r.Describe().ID
	}
	return ""
}

// isName reports whether s is a name that a schema may define (sections 2.1.8 and 4). Names that
// begin with two underscores belong to introspection.
func isName(s string) bool {
	for i, r := range []byte(s) {
		// r|0x20 is the lower case of an ASCII letter.
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "__")
}

// fieldName returns the name of the field for a member. A JSON name that is not a valid name is
// converted, such as created-at to createdAt. Names that begin with two underscores are not
// converted, so that they are reported.
func fieldName(json string) string {
	if isName(json) || strings.HasPrefix(json, "__") {
		return json
	}
	return camel(json)
}

// pascal converts a name to the form of type names: line-items becomes LineItems. Characters that
// are not valid in names remain if they are letters, so that they are reported.
func pascal(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// camel converts a name to the form of field names: line-items becomes lineItems. An uppercase
// acronym keeps all letters except the first: URL becomes uRL.
func camel(name string) string { return lowerFirst(pascal(name)) }

// lowerFirst returns name with its first letter in lower case.
func lowerFirst(name string) string {
	_, n := utf8.DecodeRuneInString(name)
	return lower(name[:n]) + name[n:]
}

func lower(s string) string { return strings.ToLower(s) }

// sentences joins sentences and ends each of them with a full stop. The text after one of several
// blocks is a paragraph of its own, because the last block may be a list or code.
func sentences(list ...string) string {
	var b strings.Builder
	separator := ""
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		b.WriteString(separator + s)
		if separator = " "; strings.Contains(s, "\n\n") {
			separator = "\n\n"
		} else if !strings.ContainsAny(s[len(s)-1:], ".!?:") {
			b.WriteByte('.')
		}
	}
	return b.String()
}
