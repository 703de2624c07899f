package godoc

// Which types are described, and the texts of their fields and constants.

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// method is the name of the method of schema.Describer.
const method = "SchemaDescription"

// text is a schema.Comment.
type text struct{ doc, deprecated string }

// description has the texts of a type.
type description struct {
	name   string
	params []string // names of the type parameters
	text
	fields, values []entry
}

// entry is the text of a field or of a constant.
type entry struct {
	key string
	text
}

func (d *description) isEmpty() bool {
	return d.text == text{} && len(d.fields)+len(d.values) == 0
}

// selectTypes returns the names of the types to describe, sorted: those in names, structs with
// struct tags, and the types of the package that these refer to.
func (p *pkg) selectTypes(names []string) ([]string, error) {
	selected := map[string]bool{}
	for _, name := range names {
		if p.decls[name] == nil {
			return nil, fmt.Errorf("package %s has no type %s", p.name, name)
		}
		p.selectType(name, selected)
	}
	for name, decl := range p.decls {
		if s, ok := decl.spec.Type.(*ast.StructType); ok && hasTags(s) {
			p.selectType(name, selected)
		}
	}
	return slices.Sorted(maps.Keys(selected)), nil
}

// hasTags reports whether a struct has struct tags.
func hasTags(s *ast.StructType) bool {
	return slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return f.Tag != nil })
}

// selectType adds a type and the types that it refers to.
func (p *pkg) selectType(name string, selected map[string]bool) {
	decl := p.decls[name]
	if decl == nil || selected[name] {
		return
	}
	selected[name] = true
	p.selectIn(decl.spec.Type, selected)
}

// selectIn adds the types in a type expression.
func (p *pkg) selectIn(expr ast.Expr, selected map[string]bool) {
	ast.Inspect(expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // its name is no reference, although it may be that of a type
			p.selectIn(n.Type, selected)
			return false
		case *ast.SelectorExpr, *ast.FuncType, *ast.InterfaceType:
			return false // of another package, or not JSON
		case *ast.Ident:
			p.selectType(n.Name, selected)
		}
		return true
	})
}

// describe returns the texts of a type. It is empty for a type that cannot have the method, or has
// it already.
func (p *pkg) describe(name string) description {
	decl := p.decls[name]
	d := description{name: name}
	if p.handmade[name] || decl.spec.Assign.IsValid() {
		return d
	}
	if named, ok := p.scope.Lookup(name).Type().(*types.Named); ok {
		switch named.Underlying().(type) {
		case *types.Pointer, *types.Interface:
			return d // the language allows no methods
		}
	}
	if params := decl.spec.TypeParams; params != nil {
		for _, group := range params.List {
			for _, id := range group.Names {
				d.params = append(d.params, id.Name)
			}
		}
	}
	d.text = p.textOf(decl.doc, decl.imports, name)
	d.fields = p.fieldsOf(decl, nil)
	d.values = p.valuesOf(name)
	return d
}

// fieldsOf returns the texts of the fields of a type. A type that is defined by another one of the
// package has the texts of that one. seen has the types that lead to decl.
func (p *pkg) fieldsOf(decl *typeDecl, seen []*typeDecl) []entry {
	typ := decl.spec.Type
	if index, ok := typ.(*ast.IndexExpr); ok { // type A B[string]
		typ = index.X
	}
	if id, ok := typ.(*ast.Ident); ok && p.decls[id.Name] != nil && !slices.Contains(seen, decl) {
		return p.fieldsOf(p.decls[id.Name], append(seen, decl))
	}
	var out []entry
	p.addFields(&out, "", typ, decl.imports)
	return out
}

// addFields adds the texts of the fields of a struct, and of unnamed structs in a pointer, slice,
// array or map of it. path is the path to it.
func (p *pkg) addFields(out *[]entry, path string, typ ast.Expr, imports map[string]string) {
	switch typ := typ.(type) {
	case *ast.ParenExpr:
		p.addFields(out, path, typ.X, imports)
	case *ast.StarExpr:
		p.addFields(out, path, typ.X, imports)
	case *ast.ArrayType:
		p.addFields(out, path, typ.Elt, imports)
	case *ast.MapType:
		p.addFields(out, path, typ.Value, imports)
	case *ast.StructType:
		for _, f := range typ.Fields.List {
			for _, name := range namesOf(f) {
				if t := p.fieldText(f, name, imports); t != (text{}) {
					*out = append(*out, entry{path + name, t})
				}
				p.addFields(out, path+name+".", f.Type, imports)
			}
		}
	}
}

// namesOf returns the Go names of the fields that can be members of the JSON.
func namesOf(f *ast.Field) (names []string) {
	if jsonTag(f) == "-" {
		return nil
	}
	for _, id := range f.Names {
		if id.IsExported() {
			names = append(names, id.Name)
		}
	}
	// An embedded struct is a member only if it has a JSON name.
	if name, _, _ := strings.Cut(jsonTag(f), ","); len(f.Names) == 0 && name != "" {
		names = append(names, embeddedName(f.Type))
	}
	return names
}

// embeddedName returns the name of an embedded field: that of its type without package, pointer and
// type arguments.
func embeddedName(typ ast.Expr) string {
	switch t := typ.(type) {
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.IndexExpr:
		return embeddedName(t.X)
	case *ast.IndexListExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// tagOf returns a struct tag of a field.
func tagOf(f *ast.Field, key string) (string, bool) {
	if f.Tag == nil {
		return "", false
	}
	raw, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return "", false
	}
	return reflect.StructTag(raw).Lookup(key)
}

func jsonTag(f *ast.Field) string {
	tag, _ := tagOf(f, "json")
	return tag
}

// memberName returns the JSON name of a field.
func memberName(f *ast.Field, goName string) string {
	if name, _, _ := strings.Cut(jsonTag(f), ","); name != "" {
		return name
	}
	return goName
}

// fieldText returns the text of a field. Tags have precedence, so what they set is left out.
func (p *pkg) fieldText(f *ast.Field, name string, imports map[string]string) text {
	comment := f.Doc
	if comment == nil {
		comment = f.Comment
	}
	t := p.textOf(comment, imports, name, memberName(f, name))
	if _, ok := tagOf(f, "doc"); ok {
		t.doc = ""
	}
	if _, ok := tagOf(f, "deprecated"); ok {
		t.deprecated = ""
	}
	return t
}

// valuesOf returns the texts of the constants of a type. The first of several constants with the
// same value has precedence.
func (p *pkg) valuesOf(name string) (out []entry) {
	seen := map[string]bool{}
	for _, decl := range p.consts {
		c, ok := p.scope.Lookup(decl.name).(*types.Const)
		if !ok || c.Val().Kind() == constant.Unknown {
			continue // _, or a value of another package
		}
		of, ok := c.Type().(*types.Named)
		if !ok || of.Obj().Name() != name || of.Obj().Pkg() != p.types {
			continue
		}
		t := p.textOf(decl.comment, decl.imports, decl.name)
		if value := c.Val().ExactString(); t != (text{}) && !seen[value] {
			seen[value] = true
			out = append(out, entry{decl.name, t})
		}
	}
	return out
}
