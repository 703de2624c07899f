package schema

// The tags that stores and the write path obey: set, unique and key. Called by tags.go and structs.go.

import (
	"fmt"
	"slices"
	"strings"
)

// Values of the tag set; see [Field].Set.
const (
	setCreated    = "created"
	setModified   = "modified"
	setCreatedBy  = "createdBy"
	setModifiedBy = "modifiedBy"
)

// applySet applies the tag set. A type with text methods could reject the name of a principal, so only
// plain strings have one.
func (f *Field) applySet(value string) error {
	switch value {
	case setCreated, setModified:
		if f.Type.op != opTime {
			return fmt.Errorf("%s applies to time.Time and *time.Time, and the field is %s", value,
				f.Type.describe())
		}
	case setCreatedBy, setModifiedBy:
		if f.Type.op != opString {
			return fmt.Errorf("%s applies to string and *string, and the field is %s", value,
				f.Type.describe())
		}
	default:
		return fmt.Errorf("write created, modified, createdBy or modifiedBy, not %q", value)
	}
	f.Set, f.ReadOnly = value, true
	return nil
}

// applyUnique applies the tag unique: true, false, or the JSON names of the fields together with which
// the field is unique. checkUniqueWith looks them up when all fields are known.
func (f *Field) applyUnique(value string) error {
	if value == "true" || value == "false" {
		f.Unique = value == "true"
		return nil
	}
	if !f.Comparable() {
		return fmt.Errorf("a list of fields applies to strings, numbers, booleans and times, "+
			"and the field is %s", f.Type.describe())
	}
	names := strings.Split(value, ",")
	for i, name := range names {
		switch {
		case name == "" || strings.TrimSpace(name) != name:
			return fmt.Errorf("write true, false or JSON names separated by commas, not %q", value)
		case name == f.Name:
			return fmt.Errorf("%q is the field itself; name the other fields only", name)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("%q occurs twice", name)
		}
	}
	f.UniqueWith = names
	return nil
}

// checkUniqueWith returns an error if the tag unique names fields that a store cannot compare.
func (f *Field) checkUniqueWith(t *Type) error {
	for _, name := range f.UniqueWith {
		at := structName(t.GoType) + "." + f.GoName + ": tag unique: "
		switch other := t.byName[name]; {
		case other == nil:
			return fmt.Errorf("%sthe type has no field with the JSON name %q", at, name)
		case !other.Comparable():
			return fmt.Errorf("%s%q is %s; name strings, numbers, booleans or times", at, name,
				other.Type.describe())
		}
	}
	return nil
}

// applyElemKey applies the tag key. checkElemKeys looks up the member when the type of the elements
// is complete.
func (f *Field) applyElemKey(value string) error {
	if f.Type.Kind != Array || f.Type.Elem.op != opObject {
		return fmt.Errorf("it applies to arrays of objects, and the field is %s", f.Type.describe())
	}
	f.ElemKey = value
	return nil
}

// checkElemKeys sets the field of the tag key in the new types.
func (c *compiler) checkElemKeys() error {
	var mistakes []error
	for _, t := range c.fresh {
		for _, f := range t.Fields {
			if f.ElemKey == "" {
				continue
			}
			at := structName(t.GoType) + "." + f.GoName + ": tag key: "
			switch f.elemKey = f.Type.Elem.byName[f.ElemKey]; {
			case f.elemKey == nil:
				mistakes = append(mistakes,
					fmt.Errorf("%sthe elements have no member with the JSON name %q", at, f.ElemKey))
			case !f.elemKey.Comparable() || f.elemKey.WriteOnly:
				mistakes = append(mistakes, fmt.Errorf(
					"%s%q must be a string, number, boolean or time that clients can read", at, f.ElemKey))
			}
		}
	}
	slices.SortFunc(mistakes, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return join("", mistakes...)
}
