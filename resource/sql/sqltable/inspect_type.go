package sqltable

// Comparison of the types of PostgreSQL with those of fields. check.go calls postgresMismatch, and
// inspect_postgres.go setBase.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// enumType is the enum of a column, or of the elements of an array.
type enumType struct {
	schema, name string
	visible      bool // without the schema
	labels       []string
}

// tag returns the name in the tag sql.
func (e enumType) tag() string {
	if e.visible {
		return e.name
	}
	return e.schema + "." + e.name
}

// setBase sets the type without domains. Types that the tag sql cannot name, such as ranges, stay
// unknown and fit no field.
func (f *found) setBase(typ string, e enumType) {
	array := strings.HasSuffix(typ, "[]")
	if len(e.labels) > 0 {
		f.enum, typ = e, e.tag()
		if array {
			typ += "[]"
		}
	}
	f.base, _ = sqltype.Parse(typ)
}

// postgresMismatch is mismatch for PostgreSQL. The message names the tag that mends it, if one does.
func (c *column) postgresMismatch(f found) string {
	if c.fits(f) {
		return c.missingLabels(f.enum)
	}
	if mend := c.mend(f); mend != "" {
		return ": " + mend
	}
	want := c.typ.SQL
	if c.typ.Name == sqltype.TimestampTZ {
		want = "timestamp with time zone"
	}
	if c.form == jsonForm {
		want = "jsonb or json"
	}
	return ", but" + ofField(c) + " needs " + want
}

// fits reports whether the column's type stores every value of the field unchanged, and can be
// compared with the arguments of package sqlquery.
func (c *column) fits(f found) bool {
	want, is := c.typ, f.base
	if c.form == arrayForm {
		if !is.Array {
			return false
		}
		want, is = want.Elem(), is.Elem()
	} else if is.Array {
		return false
	}
	switch want.Name {
	case sqltype.JSONB:
		return is.Name == sqltype.JSONB || is.Name == sqltype.JSON && !c.spec.List
	case sqltype.SmallInt, sqltype.Integer, sqltype.BigInt:
		return c.fitsInteger(want, is)
	case sqltype.Numeric:
		return is.Name == want.Name && (is.Size < 0 || want.Size >= 0 && is.Scale >= want.Scale &&
			is.Size-is.Scale >= want.Size-want.Scale)
	case sqltype.Text, sqltype.VarChar:
		if want.Size >= 0 && c.form == arrayForm {
			return is.Name == sqltype.Text || is.Name == sqltype.VarChar && is.Size >= want.Size
		}
		// Pages of a column citext, which sorts in another way, would lack rows without the tag.
		return is.Name == sqltype.Text ||
			is.Name == sqltype.VarChar && (is.Size < 0 || c.form != arrayForm && c.longest() <= is.Size)
	case sqltype.Char:
		return is.Name == want.Name && is.Size >= want.Size
	case sqltype.Time, sqltype.TimeTZ, sqltype.Timestamp, sqltype.TimestampTZ:
		return is.Name == want.Name && (is.Size < 0 || is.Size == 6 || is.Size == want.Size)
	}
	if !want.Known {
		name := strings.Split(want.SQL, ".")
		return len(f.enum.labels) > 0 && name[len(name)-1] == `"`+f.enum.name+`"` &&
			(len(name) == 1 && f.enum.visible || len(name) == 2 && name[0] == `"`+f.enum.schema+`"`)
	}
	return is.Name == want.Name
}

// fitsInteger compares the sizes of integers. The tag sql promises that values fit, which argument
// checks.
func (c *column) fitsInteger(want, is sqltype.Type) bool {
	bits := map[string]int{sqltype.SmallInt: 16, sqltype.Integer: 32, sqltype.BigInt: 64}
	if want.Name != sqltype.BigInt || c.form == arrayForm {
		return bits[is.Name] >= bits[want.Name]
	}
	return bits[is.Name] > 0 && (c.field == nil || fits(c.field, bits[is.Name]))
}

// missingLabels reports values of the tag enum that the enum of the database does not have.
func (c *column) missingLabels(e enumType) string {
	if len(e.labels) == 0 || c.field == nil {
		return ""
	}
	var missing []string
	for _, value := range c.field.Enum {
		if text := fmt.Sprint(value); !slices.Contains(e.labels, text) {
			missing = append(missing, strconv.Quote(text))
		}
	}
	if missing == nil {
		return ""
	}
	return ", which lacks the label " + strings.Join(missing, ", ") + " of the tag enum of" + ofField(c)
}

// missingEnum returns the tag enum of a string that has none although the column is an enum. Without the
// tag, another text is an error of the database. A label with a comma cannot be in the tag.
func (c *column) missingEnum(e enumType) string {
	if len(e.labels) == 0 || c.field == nil || c.field.ReadOnly || len(c.field.Enum) > 0 ||
		strings.Contains(strings.Join(e.labels, ""), ",") {
		return ""
	}
	typ := c.field.Type
	if c.form == arrayForm {
		typ = typ.Elem
	}
	if typ.GoType.Kind() != reflect.String {
		return ""
	}
	return `enum:"` + strings.Join(e.labels, ",") + `"`
}

// mend returns the change of a field that makes the column suitable, or "".
func (c *column) mend(f found) string {
	if c.field == nil || f.base.SQL == "" || c.form == bytesForm {
		return ""
	}
	field, is := "the field "+c.field.GoName, f.base
	isString := c.form == scalarForm && (c.spec.Kind == sqlquery.Text || c.spec.Kind == sqlquery.UUID)
	switch {
	case isString && is.Name == sqltype.VarChar && c.typ.Name == sqltype.Text:
		return "tag " + field + ` with maxLength:"` + strconv.Itoa(is.Size) + `"`
	case is.Name == sqltype.Numeric && !is.Array &&
		(isString || c.scalar() && c.spec.Kind == sqlquery.Decimal):
		tag := `format:"decimal"`
		if is.Size >= 0 {
			tag += fmt.Sprintf(` precision:"%d,%d"`, is.Size, is.Scale)
		}
		return "tag " + field + " with " + tag
	case isString && !is.Array && formats[is.Name] != "":
		return "tag " + field + " with " + formats[is.Name]
	case isString && !is.Array && (is.Name == sqltype.Timestamp || is.Name == sqltype.TimestampTZ):
		return "make " + field + " a time.Time"
	case c.scalar() && c.spec.Kind == sqlquery.Number && is.Name == sqltype.Real:
		return "make " + field + ` a float32, or tag it with sql:"real", which rounds`
	}
	tag := strings.ReplaceAll(is.SQL, `"`, "")
	if len(f.enum.labels) > 0 {
		tag = f.enum.tag()
		if is.Array {
			tag += "[]"
		}
	}
	own := &column{field: c.field, form: c.form, spec: c.spec}
	if own.spec.Type = tag; own.form == arrayForm {
		own.form = jsonForm
	}
	if own.settle(sqltx.PostgreSQL) != nil || !own.translates() || !own.fits(f) {
		return ""
	}
	return "tag " + field + ` with sql:"` + tag + `"`
}

// formats has the tags of strings that other types than text store.
var formats = map[string]string{
	sqltype.Date: `format:"date"`, sqltype.Time: `format:"time-local"`, sqltype.UUID: `format:"uuid"`,
	sqltype.TimeTZ: `format:"time" sql:"timetz"`, sqltype.Interval: `format:"duration"`,
}

// translates reports whether package sqlquery accepts the column.
func (c *column) translates() (ok bool) {
	defer func() { ok = recover() == nil }()
	if c.filterable() {
		sqlquery.New(sqlquery.PostgreSQL, map[string]sqlquery.Column{c.field.Name: c.spec})
	}
	return true
}

// fits reports whether all values of a field fit into a signed integer of this size. An unsigned
// type needs one more bit. 64 bits always fit, because argument rejects larger values.
func fits(f *schema.Field, bits int) bool {
	own := f.Type.Bits
	if f.Type.Unsigned {
		own++
	}
	return own <= bits || bits == 64 || bounded(f, bits)
}
