package model_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

func noLookup(context.Context, empty) (string, error) { return "", nil }

func served[T any](name string) *resource.Resource { return asked[T](name, query.Support{}) }

func asked[T any](name string, s query.Support) *resource.Resource {
	return readOnly[T]().Resource(name, &resource.Options[T]{Query: s})
}

func related[T any](name string, relations ...string) *resource.Resource {
	var list []resource.Relation[T]
	for _, r := range relations {
		list = append(list, resource.Relation[T]{Name: r, Target: name,
			Keys: func(*T) []string { return nil }})
	}
	return resource.New(name, memory.New[T](nil), &resource.Options[T]{Relations: list})
}

type underscored struct {
	ID  string `json:"id"`
	Odd string `json:"__odd"`
}

type digit struct {
	ID  string `json:"id"`
	Two string `json:"2x"`
	Uml string `json:"straße"`
}

type twice struct {
	ID     string `json:"id"`
	Dashed string `json:"created-at"`
	Camel  string `json:"createdAt"`
}

type connective struct {
	ID  string `json:"id"`
	And string `json:"and"`
	Or  string `json:"or"`
	Not string `json:"not"`
}

type literal struct {
	ID   string `json:"id"`
	True bool   `json:"true"`
	Null string `json:"null"`
}

type tagged struct {
	ID   string `json:"id"`
	Etag string `json:"etag"`
}

type parents struct {
	ID    string `json:"id"`
	Child Odd    `json:"child"`
}

type Odd struct {
	A string `json:"a-b"`
	B string `json:"aB"`
}

// Line and other.Line are two Go types with the same name.
type lines struct {
	ID    string    `json:"id"`
	One   Line      `json:"one"`
	Other otherLine `json:"other"`
}

type otherLine = struct_[int]

type struct_[T any] struct {
	X T `json:"x"`
}

// The filter of Notes has the name of a Go type.
type filters struct {
	ID string     `json:"id"`
	In NoteFilter `json:"in"`
}

type NoteFilter struct {
	Text string `json:"text"`
}

type reservedName struct {
	ID string   `json:"id"`
	In PageInfo `json:"in"`
}

type PageInfo struct {
	Text string `json:"text"`
}

type enums struct {
	ID   string    `json:"id"`
	Kind string    `json:"partKind" enum:"x,y"`
	Part enumsPart `json:"part"`
}

type enumsPart struct {
	Kind string `json:"kind" enum:"a,b"`
}

type straße struct {
	A string `json:"a"`
}

type umlaut struct {
	ID string `json:"id"`
	In straße `json:"in"`
}

func TestErrors(t *testing.T) {
	t.Parallel()
	const badName = "a GraphQL name has ASCII letters, digits and underscores, and does not begin with a " +
		"digit or two underscores"
	names := func(pairs ...string) *model.Options {
		o := &model.Options{Names: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			o.Names[pairs[i]] = pairs[i+1]
		}
		return o
	}
	custom := func(fields ...*model.CustomField) *model.Options { return &model.Options{Fields: fields} }
	text := schema.For[note]().Field("text").Type
	tests := []struct {
		name  string
		parts []resource.Part
		opts  *model.Options
		want  []string
	}{
		{
			name: "nothing to query",
			want: []string{"the schema has no queries; add a resource to the catalog or a custom field " +
				"of Query to Options"},
		},
		{
			name:  "commands are nothing to query",
			parts: []resource.Part{login()},
			want: []string{"the schema has no queries; add a resource to the catalog or a custom field " +
				"of Query to Options"},
		},
		{
			name:  "name of introspection",
			parts: []resource.Part{served[underscored]("odds")},
			want: []string{`resource odds: the member "__odd" cannot be a field: ` + badName +
				`; give it another JSON name`},
		},
		{
			name:  "names that no camel makes",
			parts: []resource.Part{served[digit]("digits")},
			want: []string{
				`resource digits: the member "2x" cannot be a field: ` + badName +
					`; give it another JSON name`,
				`resource digits: the member "straße" cannot be a field: ` + badName +
					`; give it another JSON name`,
			},
		},
		{
			name:  "members of one name",
			parts: []resource.Part{served[twice]("twices")},
			want: []string{`resource twices: the members "created-at" and "createdAt" would both be the ` +
				`field createdAt; give one of ` +
				`them another JSON name`},
		},
		{
			name:  "members of one name in a part, reported once",
			parts: []resource.Part{resource.New("p", memory.New[parents](nil), nil)},
			want: []string{`Go type model_test.Odd: the members "a-b" and "aB" would both be the field ` +
				`aB; give one of them another ` +
				`JSON name`},
		},
		{
			name: "members that join filters",
			parts: []resource.Part{asked[connective]("c", query.Support{Filter: map[string][]query.Op{
				"and": {query.Eq}, "or": {query.Eq}, "id": {query.Eq}}})},
			want: []string{
				`resource c: the member "and" cannot be a filter, because and combines filters; give it ` +
					`another JSON name, or take it out ` +
					`of Options.Query.Filter`,
				`resource c: the member "or" cannot be a filter, because or combines filters; give it ` +
					`another JSON name, or take it out ` +
					`of Options.Query.Filter`,
			},
		},
		{
			name:  "members that are values",
			parts: []resource.Part{asked[literal]("l", query.Support{Sort: []string{"true", "null"}})},
			want: []string{
				`resource l: the member "true" cannot be a sort field, because true is not a valid enum ` +
					`value; ` +
					`give it another JSON name, or ` +
					`take it out of Options.Query.Sort`,
				`resource l: the member "null" cannot be a sort field, because null is not a valid enum ` +
					`value; ` +
					`give it another JSON name, or ` +
					`take it out of Options.Query.Sort`,
			},
		},
		{
			name:  "member and entity tag",
			parts: []resource.Part{resource.New("t", memory.New[tagged](nil), nil)},
			want: []string{`the member "etag" and the entity tag would both be the field etag of Tagged; ` +
				`give the member "etag" ` +
				`another JSON name`},
		},
		{
			name:  "relation and entity tag",
			parts: []resource.Part{related[note]("notes", "etag")},
			want: []string{`the entity tag and the relation "etag" would both be the field etag of Note; ` +
				`give the relation "etag" ` +
				`another name`},
		},
		{
			name:  "relation and member, relation and relation",
			parts: []resource.Part{related[note]("notes", "te-xt", "see-also", "seeAlso", "__x")},
			want: []string{
				`the relation "see-also" and the relation "seeAlso" would both be the field seeAlso of ` +
					`Note; give the relation ` +
					`"see-also" another name, or give the relation "seeAlso" another name`,
				`the relation "__x" cannot be the field "__x" of Note: ` + badName +
					`; give the relation "__x" another name`,
			},
		},
		{
			name:  "relation that becomes a member",
			parts: []resource.Part{related[twiceLess]("notes", "created-at")},
			want: []string{`the member "createdAt" and the relation "created-at" would both be the field ` +
				`createdAt of TwiceLess; give ` +
				`the member "createdAt" another JSON name, or give the relation "created-at" another name`},
		},
		{
			name:  "two resources of one type",
			parts: []resource.Part{served[note]("notes"), served[note]("old-notes")},
			want: []string{"resources notes and old-notes: the items of both have the type Note; give " +
				"one of them another name in " +
				"Options.Names"},
		},
		{
			name:  "item and list of one name",
			parts: []resource.Part{served[note]("note")},
			want: []string{"the item of the resource note and the list of the resource note would both " +
				"be the field note of Query; " +
				"give the resource note another name in Options.Names, or rename the resource note"},
		},
		{
			name:  "list without a name",
			parts: []resource.Part{served[note]("2notes")},
			want: []string{`the list of the resource 2notes cannot be the field "2notes" of Query: ` +
				badName + `; rename the resource 2notes`},
		},
		{
			name:  "item, lookup and custom field of one name",
			parts: []resource.Part{served[note]("notes"), resource.NewLookup("note", "notes", noLookup)},
			opts:  custom(&model.CustomField{On: "Query", Name: "notes", Out: text}),
			want: []string{
				"the item of the resource notes and the lookup note would both be the field note of " +
					"Query; give the resource notes " +
					"another name in Options.Names, or rename the lookup note",
				"the list of the resource notes and the custom field notes would both be the field notes " +
					"of Query; rename the resource " +
					"notes, or rename the custom field notes",
			},
		},
		{
			name: "write and command of one name",
			parts: []resource.Part{resource.New("notes", memory.New[note](nil), nil),
				newCommand[empty, empty]("create/note")},
			want: []string{"a write of the resource notes and the command create/note would both be the " +
				"field createNote of Mutation; " +
				"give the resource notes another name in Options.Names, or rename the command create/note"},
		},
		{
			name: "commands of one name and of none",
			parts: []resource.Part{served[note]("notes"), newCommand[note, empty]("a/b-c"),
				newCommand[empty, empty]("a-b/c"), newCommand[empty, empty]("1/a")},
			want: []string{
				"the command a/b-c and the command a-b/c would both be the field aBC of Mutation; rename " +
					"the command a/b-c, or rename " +
					"the command a-b/c",
				`the command 1/a cannot be the field "1A" of Mutation: ` + badName +
					`; rename the command 1/a`,
			},
		},
		{
			name: "inputs of one name",
			parts: []resource.Part{resource.New("notes", memory.New[note](nil), nil),
				newCommand[note, empty]("create-note/x"), newCommand[note, empty]("create/Note")},
			want: []string{
				"the input of createNote of the resource notes and the input of the command create/Note " +
					"would both be the type " +
					"CreateNoteInput; give the resource notes another name in Options.Names, or rename " +
					"the command create/Note",
				"a write of the resource notes and the command create/Note would both be the field " +
					"createNote of Mutation; give the " +
					"resource notes another name in Options.Names, or rename the command create/Note",
			},
		},
		{
			name:  "type of a resource's own and Go type",
			parts: []resource.Part{asked[note]("notes", everything[note]()), served[filters]("f")},
			want: []string{"the filter of the resource notes and the Go type model_test.NoteFilter would " +
				"both be the type NoteFilter; " +
				"give the resource notes another name in Options.Names, or give the Go type " +
				"model_test.NoteFilter another name in Options.Names"},
		},
		{
			name:  "types of two resources",
			parts: []resource.Part{served[note]("notes"), served[Thing]("things")},
			opts:  names("things", "NoteEdge"),
			want: []string{"the edges of the resource notes and the items of the resource things would " +
				"both be the type NoteEdge; give " +
				"the resource notes another name in Options.Names, or give the resource things another " +
				"name in Options.Names"},
		},
		{
			name:  "Go type of a shared name",
			parts: []resource.Part{served[reservedName]("r")},
			want: []string{"a type that every schema may have and the Go type model_test.PageInfo would " +
				"both be the type PageInfo; " +
				"give the Go type model_test.PageInfo another name in Options.Names"},
		},
		{
			name:  "Go type without a name",
			parts: []resource.Part{served[umlaut]("u")},
			want: []string{`the Go type model_test.straße cannot have the type name "Straße": ` + badName +
				`; give the Go type ` +
				`model_test.straße another name in Options.Names`},
		},
		{
			name:  "enums of one name",
			parts: []resource.Part{served[enums]("e")},
			want: []string{`the enum of the member "partKind" of Enums and the enum of the member "kind" ` +
				`of EnumsPart would both be the ` +
				`type EnumsPartKind; give the member "partKind" another JSON name, or give the member ` +
				`"kind" another JSON name`},
		},
		{
			name:  "Names",
			parts: []resource.Part{served[note]("notes"), served[Thing]("things"), served[Order]("orders")},
			opts:  names("notes", "a-b", "things", "String", "orders", "__Order", "users", "User"),
			want: []string{
				`resource notes: its items cannot have the type "a-b": ` + badName +
					`; give the resource another name in Options.Names`,
				`resource things: its items cannot have the type String, which is a type that every ` +
					`schema may have; give the resource ` +
					`another name in Options.Names`,
				`resource orders: its items cannot have the type "__Order": ` + badName +
					`; give the resource another name in Options.Names`,
				`Options.Names has a name for "users", which is neither a resource of the catalog nor a nested ` +
					`Go type of the schema`,
			},
		},
		{
			name:  "custom fields",
			parts: []resource.Part{served[note]("notes")},
			opts: custom(nil,
				&model.CustomField{On: "users", Name: "age", Out: text},
				&model.CustomField{On: "notes", Name: "length", Out: text, Parent: reflect.TypeFor[Thing]()},
				&model.CustomField{On: "notes", Name: "words", Parent: reflect.TypeFor[note]()},
				&model.CustomField{On: "Query", Name: "two words", Out: text},
				&model.CustomField{On: "Query", Name: "in", In: text, Out: text},
				&model.CustomField{On: "Mutation", Name: "__do"}),
			want: []string{
				"Options.Fields[0] is the zero value",
				`custom field age: "users" is not a resource of the catalog`,
				"custom field length: its function takes items of the Go type model_test.Thing, but " +
					"those of the resource notes are of " +
					"model_test.note",
				"custom field words of the resource notes: its function returns nothing",
				"custom field in: its arguments must be a struct, not string",
				`the custom field two words cannot be the field "two words" of Query: ` + badName +
					`; rename the custom field two words`,
				`the custom field __do cannot be the field "__do" of Mutation: ` + badName +
					`; rename the custom field __do`,
			},
		},
		{
			name:  "custom field and member",
			parts: []resource.Part{related[note]("notes", "next")},
			opts: custom(&model.CustomField{On: "notes", Name: "text", Out: text,
				Parent: reflect.TypeFor[note]()},
				&model.CustomField{On: "notes", Name: "next", Out: text, Parent: reflect.TypeFor[note]()}),
			want: []string{
				`the member "text" and the custom field text would both be the field text of Note; give ` +
					`the member "text" another JSON ` +
					`name, or rename the custom field text`,
				`the relation "next" and the custom field next would both be the field next of Note; ` +
					`give the relation "next" another ` +
					`name, or rename the custom field next`,
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := model.Reflect(resource.NewCatalog(nil, tt.parts...), tt.opts)
			if err == nil {
				t.Fatalf("it is accepted:\n%s", dump(s, false))
			}
			if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

type twiceLess struct {
	ID    string `json:"id"`
	Camel string `json:"createdAt"`
}

// TestNoCollision has names that are similar and do not collide.
func TestNoCollision(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		parts []resource.Part
		opts  *model.Options
	}{
		{"two resources of one Go type", []resource.Part{served[Order]("orders"),
			served[Order]("order-archive")},
			&model.Options{Names: map[string]string{"order-archive": "ArchivedOrder"}}},
		{"a member etag where there is no entity tag", []resource.Part{served[tagged]("t")}, nil},
		{"members that join filters and are not filtered by", []resource.Part{served[connective]("c")}, nil},
		{"members that are values and are not sorted by", []resource.Part{served[literal]("l")}, nil},
		{"a Go type in two resources", []resource.Part{resource.New("l", memory.New[lines](nil), nil),
			related[Order]("orders")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sound(t, reflected(t, resource.NewCatalog(nil, tt.parts...), tt.opts))
		})
	}
}
