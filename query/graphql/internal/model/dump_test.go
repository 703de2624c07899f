package model_test

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// dump prints a schema with the source of each field, for golden files. It includes descriptions if
// docs is set.
func dump(s *model.Schema, docs bool) string {
	d := &dumper{docs: docs}
	d.doc("", s.Doc)
	for _, t := range s.Types {
		d.typ(t)
	}
	return d.String()
}

type dumper struct {
	strings.Builder
	docs bool
}

func (d *dumper) line(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func (d *dumper) doc(indent, text string) {
	if d.docs && text != "" {
		d.line("%s# %s", indent, text)
	}
}

func (d *dumper) typ(t *model.Type) {
	d.doc("", t.Doc)
	head := strings.ToLower(t.Kind.String()) + " " + t.Name
	if t.Go != nil {
		head += " go=" + t.Go.GoType.String()
	}
	if t.Resource != nil {
		head += " resource=" + t.Resource.Name()
	}
	if t.SpecifiedBy != "" {
		head += " by=" + t.SpecifiedBy
	}
	d.line("%s", head)
	for _, f := range t.Fields {
		d.field(f)
	}
	for _, in := range t.Inputs {
		d.input("  ", in)
	}
	for _, v := range t.Values {
		d.doc("  ", v.Doc)
		d.line("  %s = %#v%s", v.Name, v.Go, deprecated(v.Deprecated))
	}
}

func (d *dumper) field(f *model.Field) {
	d.doc("  ", f.Doc)
	line := fmt.Sprintf("  %s: %s", f.Name, f.Type)
	line += " " + sources[f.Source]
	if f.Member != nil {
		line += " member=" + f.Member.Name
	}
	if f.Resource != nil {
		line += " resource=" + f.Resource.Name()
	}
	if f.Relation != "" {
		line += fmt.Sprintf(" relation=%s limit=%d", f.Relation, f.Limit)
	}
	if f.Lookup != nil {
		line += " lookup=" + f.Lookup.Name()
	}
	if f.Command != nil {
		line += " command=" + f.Command.Name()
	}
	if f.Custom != nil {
		line += " custom=" + f.Custom.Name
	}
	if f.ZeroNull {
		line += " zero=null"
	}
	d.line("%s%s", line, deprecated(f.Deprecated))
	for _, a := range f.Args {
		d.input("    ", a)
	}
}

func (d *dumper) input(indent string, in *model.Input) {
	d.doc(indent, in.Doc)
	line := fmt.Sprintf("%s(%s: %s", indent, in.Name, in.Type)
	if in.HasDefault {
		line += fmt.Sprintf(" = %T %v", in.Default, in.Default)
	}
	if in.Member != nil {
		line += " member=" + in.Member.Name
	}
	d.line("%s%s)", line, deprecated(in.Deprecated))
}

func deprecated(why string) string {
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" deprecated=%q", why)
}

var sources = map[model.Source]string{
	model.Member: "Member", model.Related: "Related", model.RelatedPage: "RelatedPage", model.Computed: "Computed", model.ETag: "ETag",
	model.Nodes: "Nodes",
	model.Edges: "Edges", model.PageInfo: "PageInfo", model.TotalCount: "TotalCount", model.Node: "Node",
	model.Cursor: "Cursor", model.HasNext: "HasNext", model.HasPrevious: "HasPrevious",
	model.StartCursor: "StartCursor",
	model.EndCursor:   "EndCursor", model.Get: "Get", model.List: "List", model.Lookup: "Lookup",
	model.Create:  "Create",
	model.Replace: "Replace", model.Patch: "Patch", model.Delete: "Delete", model.Restore: "Restore", model.Invoke: "Invoke",
	model.Custom: "Custom",
	model.Meta:   "Meta", model.EventCursor: "EventCursor", model.Watch: "Watch", model.ChangeKind: "ChangeKind",
	model.ChangeID:   "ChangeID",
	model.ChangeItem: "ChangeItem", model.ChangeCursor: "ChangeCursor",
}
