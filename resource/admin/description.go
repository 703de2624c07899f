package admin

// The description of a catalog, from which the page makes its lists and forms. Called by New.

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/schema"
)

// description is the content of description.json.
type description struct {
	// Keyed reports whether the API has idempotency keys.
	Keyed     bool            `json:"keyed"`
	Resources []resourceEntry `json:"resources"`
	Files     []filesEntry    `json:"files"`
	Imports   []importEntry   `json:"imports"`
	Commands  []commandEntry  `json:"commands"`
}

// resourceEntry describes a resource, or the metadata of files.
type resourceEntry struct {
	Name   string       `json:"name"`
	Doc    string       `json:"doc,omitzero"`
	ID     string       `json:"id"` // the JSON name of the id field
	Fields []fieldEntry `json:"fields"`

	Relations []relationEntry       `json:"relations,omitempty"`
	Filter    map[string][]query.Op `json:"filter,omitempty"`
	Sort      []string              `json:"sort,omitempty"` // fields, and paths such as author.name
	Search    []string              `json:"search,omitempty"`

	// Operations are list, count, get, create, replace, patch, delete, restore and watch.
	Operations []string `json:"operations"`
	// TakesIDs reports that a client can choose the id of a new item, and AssignsIDs that it need not.
	TakesIDs    bool `json:"takesIds,omitzero"`
	AssignsIDs  bool `json:"assignsIds,omitzero"`
	PageSize    int  `json:"pageSize"`
	MaxPageSize int  `json:"maxPageSize"`
}

// relationEntry describes a relation. Field is the member that has the id of the related item; empty
// if no single member has it. Paged reports that the related items have pages.
type relationEntry struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Many   bool   `json:"many,omitzero"`
	Paged  bool   `json:"paged,omitzero"`
	Field  string `json:"field,omitzero"`

	// Operations are link and unlink. Changes is the path of the links of an item without its id, such
	// as product-categories?productSku=; empty if they cannot be followed.
	Operations []string `json:"operations,omitempty"`
	Changes    string   `json:"changes,omitzero"`
}

// filesEntry describes a collection of blobs. Listed reports that resources has an entry with its name.
type filesEntry struct {
	Name       string   `json:"name"`
	Listed     bool     `json:"listed,omitzero"`
	MediaTypes []string `json:"mediaTypes,omitempty"`
	MaxSize    int64    `json:"maxSize"` // in bytes
	Operations []string `json:"operations"`
}

// importEntry describes an import command. Target is the name of the resource.
type importEntry struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Atomic bool   `json:"atomic,omitzero"`
}

// commandEntry describes any other command. Job is the name of the resource of its jobs, if it has jobs.
type commandEntry struct {
	Name  string       `json:"name"`
	Doc   string       `json:"doc,omitzero"`
	Input []fieldEntry `json:"input"`
	Job   string       `json:"job,omitzero"`
}

// fieldEntry describes a member of an object, or an element of an array.
type fieldEntry struct {
	Name       string `json:"name,omitzero"`
	Type       string `json:"type"` // string, integer, number, boolean, object, array, map or any
	Format     string `json:"format,omitzero"`
	Doc        string `json:"doc,omitzero"`
	Deprecated string `json:"deprecated,omitzero"`

	Nullable  bool `json:"nullable,omitzero"`
	Required  bool `json:"required,omitzero"`
	ReadOnly  bool `json:"readOnly,omitzero"`
	WriteOnly bool `json:"writeOnly,omitzero"`
	Unique    bool `json:"unique,omitzero"`

	Default any   `json:"default,omitzero"`
	Enum    []any `json:"enum,omitempty"`

	MinLength *int   `json:"minLength,omitzero"`
	MaxLength *int   `json:"maxLength,omitzero"`
	MinItems  *int   `json:"minItems,omitzero"`
	MaxItems  *int   `json:"maxItems,omitzero"`
	Minimum   string `json:"minimum,omitzero"` // as text, because JavaScript would round large integers
	Maximum   string `json:"maximum,omitzero"`
	Pattern   string `json:"pattern,omitzero"`
	Precision int    `json:"precision,omitzero"` // digits of a decimal
	Scale     int    `json:"scale,omitzero"`     // those after the point

	Fields []fieldEntry `json:"fields,omitempty"` // of an object
	Items  *fieldEntry  `json:"items,omitzero"`   // of an array
}

// describe returns the description of a catalog. Parts of unknown types are left out, because REST
// does not serve them, and so are the commands of login, which have their own form.
func describe(catalog *resource.Catalog, login *Login) *description {
	d := &description{Keyed: catalog.Idempotency() != nil, Resources: []resourceEntry{},
		Files: []filesEntry{}, Imports: []importEntry{}, Commands: []commandEntry{}}
	for _, part := range resource.PartsOf[resource.Part](catalog) {
		switch p := part.(type) {
		case *resource.Resource:
			d.Resources = append(d.Resources, describeResource(p))
		case *blob.Collection:
			d.Files = append(d.Files, describeFiles(p))
			if items := p.Items(); items != nil {
				d.Resources = append(d.Resources, describeResource(items))
			}
		case *command.Command:
			if into := p.Into(); into != nil {
				d.Imports = append(d.Imports, importEntry{Name: p.Name(), Target: into.Name(),
					Atomic: into.Describe().Batches})
			} else if login == nil || p.Name() != login.Command && p.Name() != login.Logout {
				d.Commands = append(d.Commands, describeCommand(p))
			}
		}
	}
	return d
}

// describeCommand describes a command that is no import.
func describeCommand(c *command.Command) commandEntry {
	e := commandEntry{Name: c.Name(), Doc: c.Doc(), Input: []fieldEntry{}}
	if in := c.Input(); in != nil {
		e.Input = describeFields(in, nil)
	}
	if jobs := c.Jobs(); jobs != nil {
		e.Job = jobs.Name()
	}
	return e
}

// describeResource describes a resource in the names of its contract.
func describeResource(r *resource.Resource) resourceEntry {
	about := r.Describe()
	e := resourceEntry{Name: r.Name(), Doc: r.Type().Doc, ID: about.ID, Filter: about.Query.Filter,
		Sort: about.Query.Sort, Search: about.Query.Search, Operations: operationsOf(r),
		TakesIDs: about.TakesIDs, AssignsIDs: about.AssignsIDs, PageSize: about.PageSize,
		MaxPageSize: about.MaxPageSize}
	if !about.Query.Natural && !slices.Contains(e.Sort, about.ID) {
		e.Sort = append([]string{about.ID}, e.Sort...)
	}
	for _, name := range about.Relations {
		target, most := r.Related(name)
		rel := relationEntry{Name: name, Target: target.Name(), Many: most > 0,
			Paged: r.Paged(name)}
		if !rel.Many {
			rel.Field = r.KeyField(name)
		}
		describeLinks(r, &rel)
		e.Relations = append(e.Relations, rel)
	}
	e.Fields = describeFields(r.Type(), nil)
	return e
}

// describeLinks describes the links of a relation with Relation.Through, if the API can change them.
func describeLinks(r *resource.Resource, rel *relationEntry) {
	join, by := r.LinkedBy(rel.Name)
	if join == nil {
		return
	}
	about := join.Describe()
	if about.TakesIDs {
		rel.Operations = append(rel.Operations, "link")
	}
	if join.Can(resource.OpDelete) {
		rel.Operations = append(rel.Operations, "unlink")
	}
	if join.Watches() && slices.Contains(about.Query.Filter[by], query.Eq) {
		rel.Changes = join.Name() + "?" + by + "="
	}
}

// operationsOf returns the operations that the collection supports, whatever the policy.
func operationsOf(r *resource.Resource) []string {
	about := r.Describe()
	var out []string
	for _, o := range []struct {
		name string
		ok   bool
	}{
		{"list", r.Can(resource.OpList)}, {"count", about.Counts}, {"get", r.Can(resource.OpGet)},
		{"create", r.Can(resource.OpCreate)}, {"replace", r.Can(resource.OpReplace)},
		{"patch", r.Can(resource.OpPatch)}, {"delete", r.Can(resource.OpDelete)},
		{"restore", r.Can(resource.OpRestore)}, {"watch", r.Watches()},
	} {
		if o.ok {
			out = append(out, o.name)
		}
	}
	return out
}

// describeFiles describes a collection of blobs.
func describeFiles(p *blob.Collection) filesEntry {
	opts := p.Options()
	e := filesEntry{Name: p.Name(), Listed: p.Items() != nil, MediaTypes: opts.MediaTypes,
		MaxSize: opts.MaxSize, Operations: []string{"get"}}
	if !opts.ReadOnly {
		e.Operations = append(e.Operations, "create", "replace", "delete")
	}
	return e
}

// describeFields describes the members of an object. around are the types that contain t: a type
// that contains itself is any value, because the description is a tree.
func describeFields(t *schema.Type, around []*schema.Type) []fieldEntry {
	around = append(around, t)
	out := []fieldEntry{}
	for _, f := range t.Fields {
		e := describeType(f.Type, around)
		e.Name, e.Doc, e.Deprecated = f.Name, f.Doc, f.Deprecated
		e.Nullable, e.Required, e.WriteOnly = f.Nullable, f.Required, f.WriteOnly
		e.ReadOnly = f.ReadOnly || f.Key != nil
		e.Default, e.MinItems, e.MaxItems = f.Default, f.MinItems, f.MaxItems
		e.Unique = f.Unique
		limits := &e // of each element of an array
		if f.Type.Kind == schema.Array {
			limits = e.Items
		}
		limits.Enum, limits.MinLength, limits.MaxLength = f.Enum, f.MinLength, f.MaxLength
		limits.Minimum, limits.Maximum = f.Minimum, f.Maximum
		limits.Precision, limits.Scale = f.Precision, f.Scale
		if f.Format != "" {
			limits.Format = f.Format
		}
		if f.Pattern != nil {
			limits.Pattern = f.Pattern.String()
		}
		out = append(out, e)
	}
	return out
}

// describeType describes the values of a type, without a name and constraints.
func describeType(t *schema.Type, around []*schema.Type) fieldEntry {
	e := fieldEntry{Type: t.Kind.String(), Format: t.Format}
	switch t.Kind {
	case schema.Map:
		e.Type = "map"
	case schema.Array:
		items := describeType(t.Elem, around)
		items.Nullable = t.ElemNullable
		e.Items = &items
	case schema.Object:
		if slices.Contains(around, t) {
			return fieldEntry{Type: "any"}
		}
		e.Fields = describeFields(t, around)
	}
	return e
}
