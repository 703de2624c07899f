package model

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

const (
	onQuery    = "Query"
	onMutation = "Mutation"
	// onSubscription is the root of what is listened to.
	onSubscription = "Subscription"

	badName = "a name in GraphQL has letters, digits and underscores of ASCII alone, and begins neither " +
		"with a digit nor " +
		"with two underscores"
)

// reserved are the names of types that have their meaning in every schema, whether it uses them or not: a catalog that
// grows does not take a name away from one of its types.
func reserved() []string {
	names := []string{onQuery, onMutation, onSubscription, "PageInfo", "SortDirection", "ChangeKind",
		"StringIDFilter", "NullableStringIDFilter"}
	for _, scalar := range []string{"Int", "Float", "String", "Boolean", "ID", "Int64", "DateTime", "JSON"} {
		names = append(names, scalar, scalar+"Filter", "Nullable"+scalar+"Filter")
	}
	return names
}

// owner is who a name belongs to, for errors: what it is, and how it gets another name.
type owner struct{ what, way string }

// ofResource is the owner of what is derived from the name of a resource's items.
func ofResource(r *resource.Resource, part string) owner {
	return owner{part + " of the resource " + r.Name(), "give the resource " + r.Name() +
		" another name in Options.Names"}
}

// ofGo is the owner of what is named for a Go type.
func ofGo(t *schema.Type, part string) owner {
	return owner{part + t.GoType.String(), "rename the Go type " + t.GoType.String()}
}

// ofMember is the owner of a field that is called as a member is.
func ofMember(f *schema.Field) owner {
	member := "the member " + strconv.Quote(f.Name)
	return owner{member, "give " + member + " another JSON name"}
}

// either joins two ways out.
func either(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return a + ", or " + b
}

// member is a field of a struct with its name in GraphQL.
type member struct {
	*schema.Field
	name string
}

// membersOf returns the members of a struct under their names. who is the struct in errors.
func (b *builder) membersOf(t *schema.Type, who string) []member {
	if known, ok := b.members[t]; ok {
		return known
	}
	var out []member
	by := map[string]string{}
	for _, f := range t.Fields {
		name := fieldName(f.Name)
		other, taken := by[name]
		switch {
		case !isName(name):
			b.fail("%s: the member %q cannot be a field: %s; give it another JSON name", who, f.Name, badName)
		case taken:
			b.fail("%s: the members %q and %q would both be the field %s; give one of them another JSON name",
				who, other, f.Name, name)
		default:
			by[name] = f.Name
			out = append(out, member{f, name})
		}
	}
	b.members[t] = out
	return out
}

// baseOf returns what the names of a struct that is part of something are made of: the name of its Go type, or where it
// has none, the hint.
func (b *builder) baseOf(t *schema.Type, hint string) string {
	if t.Name != "" {
		return pascal(t.Name)
	}
	if b.bases[t] == "" {
		b.bases[t] = hint
	}
	return b.bases[t]
}

// valueName returns what a struct that is part of something is called. One that a resource shows as its items is called
// like these, but is none of them: it has no relations, and nobody was asked whether it may be seen.
func (b *builder) valueName(t *schema.Type, hint string) (name, base string) {
	if r := b.shown[t]; r != nil && b.names[r] != "" {
		return b.names[r] + "Value", b.names[r]
	}
	base = b.baseOf(t, hint)
	return base, base
}

// idOf returns the JSON name of what the items of a Go type are asked for by; empty if no resource shows it.
func (b *builder) idOf(t *schema.Type) string {
	if r := b.shown[t]; r != nil {
		return r.ID()
	}
	return ""
}

// isName reports whether a name is one that a schema may define (sections 2.1.9 and 4).
func isName(s string) bool {
	for i, r := range []byte(s) {
		if r != '_' && (r|0x20 < 'a' || r|0x20 > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "__")
}

// fieldName returns the name of a member: its JSON name, unless that is none, as created-at, which becomes createdAt.
// Names of introspection are not repaired, since they are hardly meant.
func fieldName(json string) string {
	if isName(json) || strings.HasPrefix(json, "__") {
		return json
	}
	return camel(json)
}

// pascal writes a name as types are: line-items becomes LineItems. What it cannot make a name stays visible in it.
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

// camel writes a name as fields are: line-items becomes lineItems.
func camel(name string) string { return lowerFirst(pascal(name)) }

func lowerFirst(name string) string {
	_, n := utf8.DecodeRuneInString(name)
	return lower(name[:n]) + name[n:]
}

func lower(s string) string { return strings.ToLower(s) }

// sentences puts texts one after the other, each closed by a full stop.
func sentences(list ...string) string {
	var b strings.Builder
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		if !strings.ContainsAny(s[len(s)-1:], ".!?:") {
			b.WriteByte('.')
		}
	}
	return b.String()
}
