package sqltable

// Plans of ListJSON: which columns are selected, and how each is encoded.

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
)

// jsonPlan is the plan of the lists with the same members. It is immutable and shared by all lists.
type jsonPlan struct {
	typ       *schema.Type
	selecting string // the beginning of the SELECT
	columns   []jsonColumn
	rows      sync.Pool // of *jsonRow

	idField   *schema.Field
	composite bool   // the id is composed of the columns of the key
	hasID     bool   // the members include the composite id
	plainID   bool   // it is encoded as a string without options
	idLabel   []byte // before its value
	setID     func(scratch any, id string)

	// last has the members after those of the last column, and lastID is the place of the composite
	// id among them, or -1.
	last   []byte
	lastID int

	// err is the error of the first member without a column, the field at errAt, if its zero value
	// cannot be encoded.
	err   error
	errAt int
}

// jsonPlans caches the plans of a table by their members.
type jsonPlans struct {
	mu   sync.Mutex
	list map[string]*jsonPlan
}

// maxJSONPlans limits the plans of a table, because clients choose the members.
const maxJSONPlans = 100

// planOf returns the plan for the members in fields, and for all members if fields is nil.
func (t *untyped) planOf(fields []string) *jsonPlan {
	key := make([]byte, (len(t.typ.Fields)+7)/8)
	for i, f := range t.typ.Fields {
		if wants(fields, f) {
			key[i/8] |= 1 << (i % 8)
		}
	}
	t.plansJSON.mu.Lock()
	defer t.plansJSON.mu.Unlock()
	p := t.plansJSON.list[string(key)]
	if p == nil {
		if t.plansJSON.list == nil || len(t.plansJSON.list) >= maxJSONPlans {
			t.plansJSON.list = map[string]*jsonPlan{}
		}
		p = t.newJSONPlan(fields)
		t.plansJSON.list[string(key)] = p
	}
	return p
}

// newJSONPlan makes a plan. Members without a column are constants: they are the zero values of their
// fields, and are appended together with the member of the next column.
func (t *untyped) newJSONPlan(fields []string) *jsonPlan {
	p := &jsonPlan{typ: t.typ, idField: t.idField, composite: t.idField.Key != nil, lastID: -1}
	p.setID = func(scratch any, id string) {
		reflect.ValueOf(scratch).Elem().FieldByIndex(t.idField.Index).SetString(id)
	}
	var selected []*column
	var before []byte
	idAt := -1
	for at, f := range t.typ.Fields {
		wanted, c := wants(fields, f), t.byField[f.Name]
		switch {
		case f.Key != nil:
			if p.composite && f == t.idField && wanted {
				idAt, p.hasID = len(before), true
				p.plainID, p.idLabel = isPlainText(f) && !f.OmitZero && !f.OmitEmpty, label(f.Name)
			}
		case c == nil && wanted:
			var err error
			if before, err = t.typ.AppendMember(before, f, t.newValue()); err != nil && p.err == nil {
				p.err, p.errAt = err, at
			}
		case c != nil && (wanted || t.isKey(c)):
			j := t.newJSONColumn(c, at, wanted)
			j.before, j.idAt = before, idAt
			p.columns = append(p.columns, j)
			selected = append(selected, c)
			before, idAt = nil, -1
		}
	}
	p.last, p.lastID = before, idAt
	p.selecting = t.selecting(selected)
	p.rows.New = func() any { return t.newJSONRow(p) }
	return p
}

// newJSONRow returns a row, with the order of [Table.selected].
func (t *untyped) newJSONRow(p *jsonPlan) *jsonRow {
	scratch := reflect.New(t.typ.GoType)
	r := &jsonRow{plan: p, scratch: scratch.Interface(), keys: make([]string, len(t.key))}
	switch {
	case t.rev.system:
		r.dests = append(r.dests, xminScanner{&r.xmin}, &r.rev)
	case t.rev.expr != "":
		r.dests = append(r.dests, &r.rev)
	}
	if t.modified != nil {
		r.dests = append(r.dests, timeScanner{t.modified, &r.modified, &r.bad})
	}
	value := scratch.Elem()
	for i := range p.columns {
		c := p.columns[i]
		slow := c.column.scanner(value.FieldByIndex(c.column.field.Index))
		cell := &jsonCell{jsonColumn: c, row: r, slow: slow}
		cell.slow.bad = &r.bad
		r.cells = append(r.cells, cell)
		r.dests = append(r.dests, cell.dest())
	}
	return r
}

// newJSONColumn chooses the encoder of a column. at is the position of its field in the schema.
func (t *untyped) newJSONColumn(c *column, at int, wanted bool) jsonColumn {
	f := c.field
	isPointer := f.Nullable && t.typ.GoType.FieldByIndex(f.Index).Type.Kind() == reflect.Pointer
	j := jsonColumn{
		column: c, at: at, wanted: wanted, key: slices.Index(t.key, c),
		label: label(f.Name), encoder: c.chooseEncoder(), bits: f.Type.Bits, quoted: f.Quoted,
		converted: c.converted(), isReal: c.typ.Name == sqltype.Real, omitsZero: f.OmitZero && !isPointer,
	}
	j.refusesNull = c.refusesNull() && t.typ.GoType.FieldByIndex(f.Index).Type == reflect.TypeFor[string]()
	j.omitsEmpty = f.OmitEmpty || j.omitsZero
	if f.OmitZero && f.Type.GoType == reflect.TypeFor[time.Time]() {
		j.omitsZero = true // by the method IsZero, which a pointer has as well
	}
	j.quote = append(slices.Clip(j.label), '"')
	if f.Quoted {
		j.label = append(j.label, '"')
	}
	// NULL sets the zero value, or nil.
	zero := t.newValue()
	j.nullKey = f.Text(zero)
	if wanted {
		var err error
		if j.null, err = t.typ.AppendMember(nil, f, zero); err != nil {
			j.encoder = jsonSlow
			j.nullFails = true
		}
	}
	return j
}
