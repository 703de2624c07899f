package model

// The field for groups of a resource that declares aggregates in Options.Query. Called by roots.go. The
// values of a page have Go types that are made here, so package exec writes them like those of structs.

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Groups describes the result of a field with Source Aggregate: a struct with the fields Edges, Nodes and
// PageInfo. An edge has Cursor and Node, and PageInfo has HasNextPage and EndCursor.
type Groups struct {
	Page *schema.Type
	// Indexes has the index in the struct of a node, as in [reflect.Value.FieldByIndex], of each field by
	// which items can be grouped and of each aggregate, by the names of [query.Aggregation].
	Indexes map[string][]int
}

// groupBuilder builds the types of the groups of one resource.
type groupBuilder struct {
	*builder
	r      *resource.Resource
	name   string // the prefix of the types
	groups Groups
	keys   []groupKey
	// node and parts are the fields of the struct of a group, and of the structs of its functions.
	node  []reflect.StructField
	parts map[query.Func][]reflect.StructField
	// compared are those of a struct with all aggregates. Its fields have the names of aggregates.
	compared []reflect.StructField
	names    []*Value // what groups can be sorted by
}

// aggregate returns the field for the groups of a resource, or nil if it declares none.
func (b *builder) aggregate(r *resource.Resource) *Field {
	policy := r.Describe()
	support := policy.Query
	if !support.CanAggregate() {
		return nil
	}
	g := &groupBuilder{builder: b, r: r, name: b.names[r], parts: map[query.Func][]reflect.StructField{},
		groups: Groups{Indexes: map[string][]int{}}}
	f := &Field{Name: camel(r.Name()) + "Aggregate", Source: Aggregate, Resource: r, Groups: &g.groups,
		Doc: "Groups of the items of `" + r.Name() + "`, with counts and other aggregates. Without " +
			"`groupBy` there is one group, even if it has no items."}
	keys := g.addKeys()
	f.Type = refTo(g.connection(g.group()))
	if filter := b.filter(r); filter != nil {
		f.Args = append(f.Args, &Input{Name: "filter", Doc: "A filter for the items. Default: all items.",
			Type: refTo(filter)})
	}
	f.Args = append(f.Args, b.searchArg(r)...)
	if len(keys) > 0 {
		by := b.define(Enum, g.name+"GroupField", ofResource(r, "what is grouped by"))
		by.Doc, by.Values = "The members that `"+r.Name()+"` can be grouped by.", keys
		f.Args = append(f.Args, &Input{Name: "groupBy", Type: listOf(by, false),
			Doc: "The members that the items of a group have in common, at most 4."})
	}
	f.Args = append(f.Args, &Input{Name: "having", Doc: "A filter for the groups.", Type: refTo(g.having())},
		&Input{Name: "orderBy", Type: listOf(g.sort(), false), Doc: "The sort keys, at most 4: fields of " +
			"`groupBy` and aggregates. The last keys are the other fields of `groupBy`."},
		&Input{Name: "first", Type: refTo(b.scalar("Int")), Doc: "The number of groups from the start, or " +
			"after `after`: at most " + strconv.Itoa(policy.MaxPageSize) + ". Default " +
			strconv.Itoa(policy.PageSize) + "."},
		&Input{Name: "after", Doc: "Return groups after this cursor.", Type: refTo(b.scalar("String"))})
	return f
}

// structField returns the nth field of a struct of values.
func structField(n int, name string, t reflect.Type, isDecimal bool) reflect.StructField {
	tag := "json:" + strconv.Quote(name)
	if isDecimal {
		tag += ` format:"decimal"`
	}
	return reflect.StructField{Name: "F" + strconv.Itoa(n), Type: t, Tag: reflect.StructTag(tag)}
}

// goTypeOf returns the Go type for values of a field in groups, and whether it is a decimal.
func goTypeOf(f *schema.Field) (t reflect.Type, isDecimal bool) {
	switch {
	case f.IsDecimal():
		return reflect.TypeFor[*string](), true
	case f.Quoted:
	case f.Type.Kind == schema.Boolean:
		return reflect.TypeFor[*bool](), false
	case f.Type.Kind == schema.Number:
		return reflect.TypeFor[*float64](), false
	case f.Type.Kind == schema.Integer && f.Type.Unsigned:
		return reflect.TypeFor[*uint64](), false
	case f.Type.Kind == schema.Integer:
		return reflect.TypeFor[*int64](), false
	case f.Type.Format == "date-time":
		return reflect.TypeFor[*time.Time](), false
	}
	return reflect.TypeFor[*string](), false
}

// members returns the members that can be in groups.
func (g *groupBuilder) membersOfGroups() []member {
	return g.membersOf(g.r.Type(), "resource "+g.r.Name())
}

// positionOf returns the position of the values of a member.
func (g *groupBuilder) positionOf(m member) position {
	return position{m.Field, m.name, g.name, m.Name == g.r.Describe().ID}
}

// groupKey is a field by which items can be grouped: a member, or a field of a related item.
type groupKey struct {
	*Value          // Go is its name in query.Support.Group
	of     position // of its values
	null   string   // when it is null, other than in the items
	owner
}

// addKeys adds the fields by which items can be grouped, and returns their names.
func (g *groupBuilder) addKeys() (values []*Value) {
	support := g.r.Describe().Query
	for _, m := range g.membersOfGroups() {
		if !slices.Contains(support.Group, m.Name) {
			continue
		}
		if isLiteral(m.name) {
			g.fail("resource %s: the member %q cannot be in groups, because %s is not a valid enum value; "+
				"give it another JSON name, or take it out of Options.Query.Group",
				g.r.Name(), m.Name, m.name)
			continue
		}
		g.addKey(groupKey{Value: &Value{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Go: m.Name},
			of: g.positionOf(m), owner: ofMember(m.Field)})
	}
	for _, path := range support.Group {
		if g.r.Type().Field(path) == nil {
			g.addKey(g.relatedKey(path))
		}
	}
	for _, key := range g.keys {
		values = append(values, key.Value)
	}
	g.names = slices.Clone(values)
	return values
}

// addKey adds a field by which items can be grouped.
func (g *groupBuilder) addKey(key groupKey) {
	path := key.Go.(string)
	t, isDecimal := goTypeOf(key.of.f)
	g.groups.Indexes[path] = []int{len(g.node)}
	g.node = append(g.node, structField(len(g.node), path, t, isDecimal))
	g.keys = append(g.keys, key)
}

// relatedKey returns the key of a field of a related item, such as customer_country for customer.country.
func (g *groupBuilder) relatedKey(path string) groupKey {
	value, target := g.related(g.r, path)
	_, field, _ := strings.Cut(path, ".")
	return groupKey{Value: value, null: ", or if there is no such item that you are allowed to see",
		of: position{target.Type().Field(field), fieldName(field), g.builder.names[target],
			field == target.Describe().ID},
		owner: owner{"the field " + path + " of the related item", "take it out of Options.Query.Group"}}
}

// group defines the type of a group, with its structs.
func (g *groupBuilder) group() *Type {
	t := g.define(Object, g.name+"Group", ofResource(g.r, "the groups"))
	t.Doc = "A group of items of `" + g.r.Name() + "`."
	set := g.fieldsOf(t)
	for _, key := range g.keys {
		doc := "The `" + key.Name + "` of the items; null if it is not in `groupBy`" + key.null + "."
		set.add(&Field{Name: key.Name, Doc: doc, Type: refTo(g.leaf(key.of.f.Type, key.of)), Source: Member,
			Deprecated: key.Deprecated}, key.owner)
	}
	keys := len(t.Fields)
	for _, f := range query.Funcs() {
		if f == query.Count {
			g.addAggregate(set, query.Aggregate{Func: f}, member{name: string(f)}, "The number of items.")
			continue
		}
		if part := g.part(f); part != nil {
			set.add(&Field{Name: string(f), Type: nonNull(part), Source: Member, Doc: funcDoc(f)},
				owner{what: "the function " + string(f)})
			fields := reflect.StructOf(g.parts[f])
			g.node = append(g.node, structField(len(g.node), string(f), fields, false))
		}
	}
	g.bind(t, keys)
	return t
}

// bind makes the Go type of a group, and connects the types with its fields.
func (g *groupBuilder) bind(t *Type, keys int) {
	text := reflect.TypeFor[*string]()
	node := reflect.StructOf(g.node)
	edge := reflect.StructOf([]reflect.StructField{
		{Name: "Cursor", Type: text, Tag: `json:"cursor"`}, {Name: "Node", Type: node, Tag: `json:"node"`}})
	info := reflect.StructOf([]reflect.StructField{
		{Name: "HasNextPage", Type: reflect.TypeFor[bool](), Tag: `json:"hasNextPage"`},
		{Name: "EndCursor", Type: text, Tag: `json:"endCursor"`}})
	page, err := schema.Of(reflect.StructOf([]reflect.StructField{
		{Name: "Edges", Type: reflect.SliceOf(edge), Tag: `json:"edges"`},
		{Name: "Nodes", Type: reflect.SliceOf(node), Tag: `json:"nodes"`},
		{Name: "PageInfo", Type: info, Tag: `json:"pageInfo"`}}))
	if err != nil {
		g.fail("resource %s: its groups have no schema: %v", g.r.Name(), err)
		return
	}
	g.groups.Page = page
	t.Go = page.Field("nodes").Type.Elem
	for i, f := range t.Fields {
		f.Member = t.Go.Fields[i]
		if part := f.Type.Named(); i >= keys && part.Kind == Object {
			part.Go = f.Member.Type
			for j, value := range part.Fields {
				value.Member = part.Go.Fields[j]
			}
		}
	}
}

// part defines the type of the values of a function, or returns nil if no member has it.
func (g *groupBuilder) part(f query.Func) *Type {
	support := g.r.Describe().Query
	var of []member
	for _, m := range g.membersOfGroups() {
		if slices.Contains(support.Aggregate[m.Name], f) {
			of = append(of, m)
		}
	}
	if of == nil {
		return nil
	}
	t := g.define(Object, g.name+"Group"+pascal(string(f)), ofResource(g.r, "the function "+string(f)))
	t.Doc = funcDoc(f)
	set := g.fieldsOf(t)
	for _, m := range of {
		g.addAggregate(set, query.Aggregate{Func: f, Field: m.Name}, m, funcDoc(f))
	}
	return t
}

// funcDoc describes the values of a function.
func funcDoc(f query.Func) string {
	switch f {
	case query.Distinct:
		return "The number of different values that are not null."
	case query.Sum:
		return "The sum; null if there is no value."
	case query.Avg:
		return "The mean; null if there is no value."
	case query.Min:
		return "The least value; null if there is none."
	}
	return "The greatest value; null if there is none."
}

// addAggregate adds an aggregate to the group, or to the type of its function.
func (g *groupBuilder) addAggregate(set *fields, a query.Aggregate, m member, doc string) {
	var goType reflect.Type
	isDecimal, ref := false, (*Ref)(nil)
	switch {
	case a.Func == query.Count || a.Func == query.Distinct:
		goType, ref = reflect.TypeFor[int64](), nonNull(g.scalar("Int"))
	case a.Func == query.Min || a.Func == query.Max:
		goType, isDecimal = goTypeOf(m.Field)
		ref = refTo(g.leaf(m.Type, g.positionOf(m)))
	case !m.IsDecimal() && m.Type.Kind == schema.Number:
		goType, ref = reflect.TypeFor[*float64](), refTo(g.scalar("Float"))
	default: // also the sum of integers, which may be too large for an Int64
		goType, isDecimal, ref = reflect.TypeFor[*string](), true, refTo(g.scalar("Decimal"))
	}
	o := owner{what: "the number of items"}
	enum := string(a.Func)
	if m.Field != nil {
		o, enum = ofMember(m.Field), enum+"_"+m.name
	}
	set.add(&Field{Name: m.name, Type: ref, Source: Member, Aggregate: &a, Doc: doc}, o)
	if a.Func == query.Count {
		g.groups.Indexes[a.Name()] = []int{len(g.node)}
		g.node = append(g.node, structField(len(g.node), a.Name(), goType, false))
	} else {
		part := g.parts[a.Func]
		g.groups.Indexes[a.Name()] = []int{len(g.node), len(part)}
		g.parts[a.Func] = append(part, structField(len(part), m.Name, goType, isDecimal))
	}
	compared := structField(len(g.compared), a.Name(), goType, isDecimal)
	if (a.Func == query.Min || a.Func == query.Max) && goType == reflect.TypeFor[*string]() && !isDecimal &&
		m.Format != "" {
		compared.Tag += reflect.StructTag(" format:" + strconv.Quote(m.Format)) // checks operands
	}
	g.compared = append(g.compared, compared)
	g.names = append(g.names, &Value{Name: enum, Doc: doc, Go: a.Name()})
}

// connection defines the type of a page of groups.
func (g *groupBuilder) connection(group *Type) *Type {
	page := g.groups.Page
	if page == nil {
		return group // bind has reported why
	}
	text := g.scalar("String")
	edge := g.define(Object, group.Name+"Edge", ofResource(g.r, "the edges of groups"))
	edge.Doc, edge.Go = "A group of `"+g.r.Name()+"`, with its cursor.", page.Field("edges").Type.Elem
	edge.Fields = []*Field{
		{Name: "cursor", Doc: "The cursor of the group, for `after`.", Type: nonNull(text), Source: Member},
		{Name: "node", Doc: "The group.", Type: nonNull(group), Source: Member}}
	info := g.define(Object, group.Name+"PageInfo", ofResource(g.r, "the page info of groups"))
	info.Doc, info.Go = "The position of a page of groups.", page.Field("pageInfo").Type
	info.Fields = []*Field{
		{Name: "hasNextPage", Doc: "Whether more groups follow.", Type: nonNull(g.scalar("Boolean")),
			Source: Member},
		{Name: "endCursor", Doc: "The cursor of the last group; null if there is none.", Type: refTo(text),
			Source: Member}}
	t := g.define(Object, group.Name+"Connection", ofResource(g.r, "the pages of groups"))
	t.Doc, t.Go = "A page of groups of `"+g.r.Name()+"`.", page
	t.Fields = []*Field{
		{Name: "edges", Doc: "The groups with their cursors.", Type: listOf(edge, true), Source: Member},
		{Name: "nodes", Doc: "The groups.", Type: listOf(group, true), Source: Member},
		{Name: "pageInfo", Doc: "The position of the page.", Type: nonNull(info), Source: Member}}
	for _, t := range []*Type{edge, info, t} {
		for _, f := range t.Fields {
			f.Member = t.Go.Field(f.Name)
		}
	}
	return t
}

// sort defines the sort key of groups.
func (g *groupBuilder) sort() *Type {
	field := g.define(Enum, g.name+"GroupSortField", ofResource(g.r, "what groups are sorted by"))
	field.Doc, field.Values = "The keys that groups of `"+g.r.Name()+"` can be sorted by.", g.names
	t := g.define(InputObject, g.name+"GroupSort", ofResource(g.r, "the sort key of groups"))
	t.Doc = "A sort key of groups of `" + g.r.Name() + "`."
	direction := g.shared(Enum, "SortDirection", fillDirection)
	t.Inputs = []*Input{
		{Name: "field", Doc: "The member or aggregate to sort by.", Type: nonNull(field)},
		{Name: "direction", Doc: "The direction.", Type: refTo(direction),
			Default: "ASC", HasDefault: true}}
	return t
}

// having defines the filter of groups. It has the comparisons of each aggregate, below its function.
func (g *groupBuilder) having() *Type {
	ops := append(operators()[:8:8], query.IsNull)
	t := g.define(InputObject, g.name+"Having", ofResource(g.r, "the filter of groups"))
	t.Doc = "A filter for groups of `" + g.r.Name() + "`. All conditions must be true."
	compared, err := schema.Of(reflect.StructOf(g.compared))
	if err != nil {
		g.fail("resource %s: its groups have no schema: %v", g.r.Name(), err)
		return t
	}
	input := func(name string, a query.Aggregate) *Input {
		f := compared.Field(a.Name())
		of := position{f, name, g.name + "Having" + pascal(string(a.Func)), false}
		return &Input{Name: name, Member: f, Doc: funcDoc(a.Func), Type: refTo(g.comparisons(g.r, of, ops))}
	}
	count := input("count", query.Aggregate{Func: query.Count})
	count.Doc = "The number of items."
	t.Inputs = []*Input{count}
	for _, f := range query.Funcs()[1:] {
		var inputs []*Input
		for _, m := range g.membersOfGroups() {
			if a := (query.Aggregate{Func: f, Field: m.Name}); compared.Field(a.Name()) != nil {
				inputs = append(inputs, input(m.name, a))
			}
		}
		if inputs != nil {
			o := ofResource(g.r, "the filter of "+string(f))
			of := g.define(InputObject, g.name+"Having"+pascal(string(f)), o)
			of.Doc, of.Inputs = "Conditions on aggregates. All of them must be true.", inputs
			t.Inputs = append(t.Inputs, &Input{Name: string(f), Doc: funcDoc(f), Type: refTo(of)})
		}
	}
	t.Inputs = append(t.Inputs,
		&Input{Name: "and", Doc: "All of these filters match.", Type: listOfNullable(t)},
		&Input{Name: "or", Doc: "At least one of these filters matches.", Type: listOfNullable(t)},
		&Input{Name: "not", Doc: "The filter must not match.", Type: refTo(t)})
	return t
}
