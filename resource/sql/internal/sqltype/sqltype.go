// Package sqltype parses the SQL types of columns, which come from struct tags and from Check.
// Packages sqlquery and sqltable use it.
package sqltype

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Type is the type of a column. The zero Type is no type.
type Type struct {
	// Name is one of the constants, and for another type, such as an enum, its SQL.
	Name string
	// Known reports whether Name is one of the constants.
	Known bool
	// Size and Scale are the arguments of the type, and -1 without them: numeric(Size,Scale) and
	// varchar(Size).
	Size, Scale int
	Array       bool
	// SQL is the type as in a statement. Names that are not known are quoted.
	SQL string
}

// The names of known types.
const (
	SmallInt    = "smallint"
	Integer     = "integer"
	BigInt      = "bigint"
	Numeric     = "numeric"
	Real        = "real"
	Double      = "double precision"
	Boolean     = "boolean"
	Text        = "text"
	VarChar     = "varchar"
	Char        = "char"
	CIText      = "citext"
	Inet        = "inet"
	CIDR        = "cidr"
	UUID        = "uuid"
	Bytes       = "bytea"
	JSON        = "json"
	JSONB       = "jsonb"
	Date        = "date"
	Time        = "time"
	TimeTZ      = "timetz"
	Timestamp   = "timestamp"
	TimestampTZ = "timestamptz"
	Interval    = "interval"
)

// names maps each spelling of a known type to its name.
var names = map[string]string{
	"int2": SmallInt, "int": Integer, "int4": Integer, "int8": BigInt, "decimal": Numeric,
	"float4": Real, "float8": Double, "bool": Boolean, "character varying": VarChar, "character": Char,
	"time without time zone": Time, "time with time zone": TimeTZ,
	"timestamp without time zone": Timestamp, "timestamp with time zone": TimestampTZ,
}

// arguments has the number of arguments that a type may have.
var arguments = map[string]int{
	Numeric: 2, VarChar: 1, Char: 1, Time: 1, TimeTZ: 1, Timestamp: 1, TimestampTZ: 1, Interval: 1,
}

func init() {
	for _, name := range []string{
		SmallInt, Integer, BigInt, Numeric, Real, Double, Boolean, Text, VarChar, Char, CIText, Inet, CIDR,
		UUID, Bytes, JSON, JSONB, Date, Time, TimeTZ, Timestamp, TimestampTZ, Interval,
	} {
		names[name] = name
	}
}

// known matches the types of PostgreSQL with their arguments, as format_type writes them too:
// timestamp(3) without time zone.
var known = regexp.MustCompile(
	`^([a-z][a-z0-9 ]*?) ?(?:\( ?(\d{1,4}) ?(?:, ?(\d{1,4}) ?)?\))?( with(?:out)? time zone)?$`)

// identifier matches the parts of other names. They are quoted, so it rejects only characters that
// are probably a mistake.
var identifier = regexp.MustCompile(`^[^\s\x00-\x1f"'` + "`" + `()\[\],;.\\]+$`)

// Parse parses a type, such as numeric(12,2), text[] or shop.customer_tier. A name that is not known
// is that of another type in the database, in the spelling of its catalog; at most one schema may
// precede it.
func Parse(text string) (Type, error) {
	name, array := strings.CutSuffix(strings.TrimSpace(text), "[]")
	t, ok, err := parseKnown(strings.ToLower(strings.Join(strings.Fields(name), " ")))
	if err != nil {
		return Type{}, err
	}
	if !ok {
		t, ok = parseNamed(name)
	}
	if !ok {
		return Type{}, fmt.Errorf("%q is no SQL type", text)
	}
	if array {
		t.Array, t.SQL = true, t.SQL+"[]"
	}
	return t, nil
}

// Of returns a known type without arguments.
func Of(name string) Type { return Type{Name: name, Known: true, Size: -1, Scale: -1, SQL: name} }

// parseKnown parses a known type. The spelling of SQL is that of its name, so DDL is uniform.
func parseKnown(text string) (t Type, ok bool, err error) {
	m := known.FindStringSubmatch(text)
	if m == nil || names[m[1]+m[4]] == "" {
		return t, false, nil
	}
	t = Of(names[m[1]+m[4]])
	list := ""
	for i, arg := range []*int{&t.Size, &t.Scale} {
		if m[2+i] != "" {
			*arg, _ = strconv.Atoi(m[2+i])
			list += "," + strconv.Itoa(*arg)
		}
	}
	most := arguments[t.Name]
	if t.Size >= 0 && most == 0 || t.Scale >= 0 && most < 2 {
		return t, false, fmt.Errorf("%q has too many arguments", text)
	}
	if t.Name == Numeric && t.Size >= 0 && t.Scale < 0 {
		t.Scale = 0 // as in SQL
	}
	if list != "" {
		t.SQL += "(" + list[1:] + ")"
	}
	return t, true, nil
}

// parseNamed parses the name of another type. The type citext belongs to an extension, which may be
// in any schema.
func parseNamed(text string) (t Type, ok bool) {
	parts := strings.Split(text, ".")
	for i, part := range parts {
		if !identifier.MatchString(part) || i > 1 {
			return t, false
		}
		parts[i] = `"` + part + `"`
	}
	t = Type{Size: -1, Scale: -1, SQL: strings.Join(parts, ".")}
	t.Name = t.SQL
	if len(parts) == 2 && parts[1] == `"citext"` {
		t.Name, t.Known = CIText, true
	}
	return t, true
}

// Elem returns the type of the elements of an array.
func (t Type) Elem() Type {
	if t.Array {
		t.Array, t.SQL = false, strings.TrimSuffix(t.SQL, "[]")
	}
	return t
}
