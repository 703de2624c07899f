package model_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
)

// note is a minimal item.
type note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

func noteOps() resource.Ops[note] { return resource.OpsOf(memory.New[note](nil)) }

// TestCapabilities checks which fields a collection has for each set of capabilities.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	deny := func(context.Context, resource.Op, *note, *note) error { return resource.ErrForbidden }
	scope := func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	tests := []struct {
		name  string
		ops   func(*resource.Ops[note])
		opts  resource.Options[note]
		wants string // fields of Mutation, of Note and of NoteConnection, and the input of createNote
	}{
		{
			name: "all of it",
			wants: "createNote replaceNote patchNote deleteNote | id text etag | edges nodes pageInfo " +
				"totalCount | id:ID text:String",
		},
		{
			name:  "read alone",
			ops:   func(o *resource.Ops[note]) { *o = resource.Ops[note]{Get: o.Get, List: o.List} },
			wants: " | id text | edges nodes pageInfo | there is none",
		},
		{
			name: "ids are assigned",
			ops:  func(o *resource.Ops[note]) { o.Insert, o.InsertMany = nil, nil },
			wants: "createNote replaceNote patchNote deleteNote | id text etag | edges nodes pageInfo " +
				"totalCount | text:String",
		},
		{
			name: "ids are given",
			ops:  func(o *resource.Ops[note]) { o.Create = nil },
			wants: "createNote replaceNote patchNote deleteNote | id text etag | edges nodes pageInfo " +
				"totalCount | id:ID! text:String",
		},
		{
			name:  "nothing is changed", // PUT creates items only, so there is no replaceNote
			ops:   func(o *resource.Ops[note]) { o.Replace, o.Delete = nil, nil },
			wants: "createNote | id text | edges nodes pageInfo totalCount | id:ID text:String",
		},
		{
			name: "deleted alone",
			ops: func(o *resource.Ops[note]) {
				*o = resource.Ops[note]{Get: o.Get, List: o.List,
					Delete: o.Delete}
			},
			wants: "deleteNote | id text etag | edges nodes pageInfo | there is none",
		},
		{
			name: "no total with a scope that is not complete",
			opts: resource.Options[note]{Authorize: deny, Scope: scope},
			wants: "createNote replaceNote patchNote deleteNote | id text etag | edges nodes pageInfo | " +
				"id:ID text:String",
		},
		{
			name: "a total within the scope",
			opts: resource.Options[note]{Authorize: deny, Scope: scope, ScopeComplete: true},
			wants: "createNote replaceNote patchNote deleteNote | id text etag | edges nodes pageInfo " +
				"totalCount | id:ID text:String",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := noteOps()
			ops.CheckSupport = nil // a store in memory has no natural order
			if tt.ops != nil {
				tt.ops(&ops)
			}
			s := reflected(t, resource.NewCatalog(nil, ops.Resource("notes", &tt.opts)), nil)
			got := fieldNames(s.Mutation) + " | " + fieldNames(typeOf(s, "Note")) + " | " +
				fieldNames(typeOf(s, "NoteConnection")) + " | " + short(typeOf(s, "CreateNoteInput"))
			if diff := cmp.Diff(tt.wants, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func fieldNames(t *model.Type) string {
	if t == nil {
		return ""
	}
	var names []string
	for _, f := range t.Fields {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}

// TestFiltersAndSort checks that filters and sort keys are those of Options.Query.
func TestFiltersAndSort(t *testing.T) {
	t.Parallel()
	const pages = "first:Int after:String last:Int before:String"
	tests := []struct {
		name    string
		support query.Support
		args    string
		filter  string // fields of the list's filter
		text    string // operators of the member text
		sort    string
	}{
		{
			name: "nothing", args: "orderBy:[NoteSort!] " + pages,
			filter: "there is none", text: "there is none", sort: "id",
		},
		{
			name:    "in an order of its own",
			support: query.Support{Natural: true, Filter: map[string][]query.Op{"text": {query.Eq}}},
			args:    "filter:NoteFilter first:Int after:String",
			filter:  "text:NoteTextFilter and:[NoteFilter!] or:[NoteFilter!] not:NoteFilter",
			text:    "eq:String", sort: "there is none",
		},
		{
			name: "some of it, in no order",
			support: query.Support{Filter: map[string][]query.Op{"text": {query.IsNull, query.StartsWith,
				query.In, query.Eq}},
				Sort: []string{"text"}},
			args:   "filter:NoteFilter orderBy:[NoteSort!] " + pages,
			filter: "text:NoteTextFilter and:[NoteFilter!] or:[NoteFilter!] not:NoteFilter",
			text:   "eq:String in:[String!] startsWith:String isNull:Boolean", sort: "id text",
		},
		{
			name:    "all of it",
			support: everything[note](),
			args:    "filter:NoteFilter orderBy:[NoteSort!] " + pages,
			filter:  "id:StringIDFilter text:StringFilter and:[NoteFilter!] or:[NoteFilter!] not:NoteFilter",
			text: "eq:String ne:String in:[String!] notIn:[String!] lt:String lte:String gt:String " +
				"gte:String contains:String " +
				"startsWith:String", sort: "id text",
		},
		{
			name:    "an empty list of comparisons is none",
			support: query.Support{Filter: map[string][]query.Op{"text": {}, "id": {query.Eq}}},
			args:    "filter:NoteFilter orderBy:[NoteSort!] " + pages,
			filter:  "id:NoteIdFilter and:[NoteFilter!] or:[NoteFilter!] not:NoteFilter",
			text:    "there is none", sort: "id",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := noteOps()
			ops.CheckSupport = nil // a store in memory has no natural order
			s := reflected(t, resource.NewCatalog(nil,
				ops.Resource("notes", &resource.Options[note]{Query: tt.support})), nil)
			if diff := cmp.Diff(tt.args, short(
				&model.Type{Inputs: s.Query.Field("notes").Args})); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			filter := typeOf(s, "NoteFilter")
			if diff := cmp.Diff(tt.filter, short(filter)); diff != "" {
				t.Errorf("NoteFilter (-want +got):\n%s", diff)
			}
			var text *model.Type
			if filter != nil && filter.Input("text") != nil {
				text = filter.Input("text").Type.Named()
			}
			if diff := cmp.Diff(tt.text, short(text)); diff != "" {
				t.Errorf("the filter for text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.sort, short(typeOf(s, "NoteSortField"))); diff != "" {
				t.Errorf("NoteSortField (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRenamed checks that a field with another name than its JSON member refers to that member.
func TestRenamed(t *testing.T) {
	t.Parallel()
	s := reflected(t, things(), nil)
	if f := typeOf(s, "Thing").Field("dashedName"); f.Member.Name != "dashed-name" {
		t.Errorf("the field shows %q", f.Member.Name)
	}
	if in := typeOf(s, "ThingFilter").Input("dashedName"); in.Member.Name != "dashed-name" {
		t.Errorf("the filter is for %q", in.Member.Name)
	}
	values := typeOf(s, "ThingSortField").Values
	i := slices.IndexFunc(values, func(v *model.Value) bool { return v.Name == "dashedName" })
	if i < 0 || values[i].Go != "dashed-name" {
		t.Errorf("it is not sorted by its JSON name")
	}
}

// TestPageSizes checks that descriptions contain the limits of a list.
func TestPageSizes(t *testing.T) {
	t.Parallel()
	notes := noteOps().Resource("notes",
		&resource.Options[note]{PageSize: 7, MaxPageSize: 30, RequireIfMatch: true})
	s := reflected(t, resource.NewCatalog(nil, notes), nil)
	if doc := s.Query.Field("notes").Arg("first").Doc; !strings.Contains(doc, "at most 30. Default 7.") {
		t.Errorf("first has the description %q", doc)
	}
	if doc := s.Query.Field("notes").Arg("last").Doc; !strings.Contains(doc, "at most 30.") {
		t.Errorf("last has the description %q", doc)
	}
	if doc := s.Mutation.Field("deleteNote").Arg("ifMatch").Doc; !strings.HasSuffix(doc, "It is required.") {
		t.Errorf("ifMatch has the description %q", doc)
	}
}

// TestRelations checks the types of relations to one and to many items.
func TestRelations(t *testing.T) {
	t.Parallel()
	keys := func(*note) []string { return nil }
	notes := noteOps().Resource("notes", &resource.Options[note]{
		Query: query.Support{Filter: map[string][]query.Op{"text": {query.Eq}}},
		Relations: []resource.Relation[note]{
			{Name: "next", Target: "notes", Keys: keys},
			{Name: "see-also", Target: "notes", Keys: keys, Many: true},
			{Name: "same", Target: "notes", By: "text", Limit: 5},
			{Name: "things", Target: "things", Keys: keys, Many: true, Limit: 3},
		}})
	thing := resource.New("things", memory.New[Thing](nil), nil)
	s := reflected(t, resource.NewCatalog(nil, notes, thing), nil)
	tests := []struct {
		field, typ, relation, target string
		limit                        int
	}{
		{"next", "Note", "next", "notes", 1},
		{"seeAlso", "[Note!]!", "see-also", "notes", 20},
		{"same", "[Note!]!", "same", "notes", 5},
		{"things", "[Thing!]!", "things", "things", 3},
		{"seeAlsoConnection", "NoteConnection", "see-also", "notes", 20},
		{"sameConnection", "NoteConnection", "same", "notes", 5},
		{"thingsConnection", "ThingConnection", "things", "things", 3},
	}
	if diff := cmp.Diff("id text etag next seeAlso same things seeAlsoConnection sameConnection thingsConnection",
		fieldNames(typeOf(s, "Note"))); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for _, tt := range tests {
		f := typeOf(s, "Note").Field(tt.field)
		source := model.Related
		if strings.HasSuffix(tt.field, "Connection") {
			source = model.RelatedPage
		}
		if f.Source != source || f.Type.String() != tt.typ || f.Relation != tt.relation ||
			f.Resource.Name() != tt.target || f.Limit != tt.limit {
			t.Errorf("%s is %v of %s by %s, at most %d", tt.field, f.Type, f.Resource.Name(), f.Relation,
				f.Limit)
		}
	}
}

type episode struct {
	Episode string `json:"episode" required:"true" enum:"NEWHOPE,EMPIRE" doc:"Which film."`
	Rank    int    `json:"rank" default:"1" maximum:"9" minimum:"1"`
}

// TestLookups checks that the arguments of a lookup are the fields of its input.
func TestLookups(t *testing.T) {
	t.Parallel()
	find := func(context.Context, episode) (string, error) { return "", nil }
	c := resource.NewCatalog(nil, noteOps().Resource("notes", nil),
		resource.NewLookup("best-hero", "notes", find))
	s := reflected(t, c, nil)
	f := s.Query.Field("bestHero")
	if f == nil || f.Source != model.Lookup || f.Lookup != resource.PartsOf[*resource.Lookup](c)[0] || f.Resource.Name() != "notes" {
		t.Fatalf("the lookup is not there: %s", fieldNames(s.Query))
	}
	got := f.Type.String() + " " + short(&model.Type{Inputs: f.Args})
	if diff := cmp.Diff("Note episode:BestHeroEpisode! rank:Int=1", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if f.Arg("episode").Doc != "Which film." || f.Arg("episode").Member.Name != "episode" {
		t.Error("the argument does not say what it is")
	}
}

type empty struct{}

type fixedOnly struct {
	At string `json:"at" readOnly:"true"`
}

// TestCommands checks the input and output types of commands.
func TestCommands(t *testing.T) {
	t.Parallel()
	notes := noteOps().Resource("notes", nil)
	c := resource.NewCatalog(nil, notes,
		newCommand[empty, empty]("auth/logout"), newCommand[note, empty]("notes/send-all"),
		newCommand[empty, note]("notes/newest"),
		newCommand[Part, fixedOnly]("x_y/z.w"), newCommand[fixedOnly, empty]("a/b"),
		command.NewImport("notes/import", notes))
	s := reflected(t, c, nil)
	var got []string
	for _, f := range s.Mutation.Fields {
		if f.Source == model.Invoke {
			got = append(got, f.Name+" "+short(
				&model.Type{Inputs: f.Args})+" -> "+f.Type.String()+" "+f.Command.Name())
		}
	}
	want := []string{
		"authLogout  -> Boolean auth/logout",
		"notesSendAll input:NotesSendAllInput! -> Boolean notes/send-all",
		"notesNewest  -> NoteValue notes/newest",
		"xYZW input:XYZWInput! -> FixedOnly x_y/z.w",
		"aB  -> Boolean a/b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// The input type of a command differs from that of a struct with the same Go type.
	if diff := cmp.Diff("name:String! kind:XYZWKind=big hidden:String! parts:[PartInput!] of:PartInput",
		short(typeOf(s, "XYZWInput"))); diff != "" {
		t.Errorf("XYZWInput (-want +got):\n%s", diff)
	}
	if doc := s.Mutation.Field("authLogout").Doc; doc != "Executes the command `auth/logout`." {
		t.Errorf("authLogout has the description %q", doc)
	}
}

func newCommand[In, Out any](name string) resource.Part {
	return command.New(name, func(context.Context, In) (out Out, err error) { return out, nil }, nil)
}

// TestNames checks the sources of type names: the Go type, media types and Options.Names.
func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		part resource.Part
		opts *model.Options
		want string // fields of Query
		typ  string
	}{
		{"Go type", noteOps().Resource("notes", nil), nil, "note notes", "Note"},
		{"exported Go type", resource.New("old-things", memory.New[Thing](nil), nil), nil, "thing oldThings",
			"Thing"},
		{"options", noteOps().Resource("notes", nil),
			&model.Options{Names: map[string]string{"notes": "Remark"}},
			"remark notes", "Remark"},
		{"options as they are", noteOps().Resource("notes", nil),
			&model.Options{Names: map[string]string{"notes": "x_Y"}},
			"x_Y notes", "x_Y"},
		{"resource", noteOps().Resource("My.notes~2", nil), nil, "note myNotes2", "Note"},
		{"view", resource.View(resource.New("line-items", memory.New[LineItem](nil), nil),
			down[LineItem, lineItemV1],
			up[lineItemV1, LineItem], nil), nil, "lineItem lineItems", "LineItem"},
		{"generic", resource.New("pages", memory.New[of[note]](nil), nil),
			&model.Options{Names: map[string]string{"pages": "Page"}},
			"page pages", "Page"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := reflected(t, resource.NewCatalog(nil, tt.part), tt.opts)
			if got := fieldNames(s.Query); got != tt.want {
				t.Errorf("Query has %q, want %q", got, tt.want)
			}
			for _, name := range []string{tt.typ, tt.typ + "Connection", tt.typ + "Edge", tt.typ + "Sort",
				"Create" + tt.typ + "Input"} {
				if typeOf(s, name) == nil {
					t.Errorf("there is no type %s", name)
				}
			}
		})
	}
}

// LineItem has a name of two words, and lineItemV1 is an older version of it.
type LineItem struct {
	ID  string `json:"id"`
	Qty int    `json:"qty"`
}

type lineItemV1 struct {
	ID string `json:"id"`
}

type of[T any] struct {
	ID string `json:"id"`
	Is T      `json:"is"`
}

// TestReadOnlyMembers checks an item type that clients cannot write: it is created without input and
// cannot be changed.
func TestReadOnlyMembers(t *testing.T) {
	t.Parallel()
	type ticket struct {
		ID int64 `json:"id" readOnly:"true"`
	}
	ops := resource.OpsOf(memory.New[ticket](nil))
	ops.Insert, ops.InsertMany = nil, nil
	s := reflected(t, resource.NewCatalog(nil, ops.Resource("tickets", nil)), nil)
	if diff := cmp.Diff("createTicket deleteTicket", fieldNames(s.Mutation)); diff != "" {
		t.Errorf("Mutation (-want +got):\n%s", diff)
	}
	if args := s.Mutation.Field("createTicket").Args; len(args) != 0 {
		t.Errorf("createTicket takes %s", args[0].Name)
	}
}
