package schema

// The tags that stores and the write path obey: set and unique. Called by tags.go and structs.go.

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
