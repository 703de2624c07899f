package schema

// Composite keys: the tag id, and ids that are computed from several fields. Called by structs.go for
// the tag, by text.go for the id as text, and by the decoder for documents.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// An id is the texts of the fields of its key, separated by commas. Within a text "~" is "~0" and ","
// is "~1", as JSON Pointer escapes (RFC 6901 section 3). Each id has one spelling.

var keyEscaper = strings.NewReplacer("~", "~0", ",", "~1")

// applyID applies the tag id: the JSON names of the fields of the key. compileKey looks them up, when
// all fields of the struct are known.
func (f *Field) applyID(value string) error {
	f.keyNames = strings.Split(value, ",")
	switch {
	case len(f.keyNames) < 2:
		return fmt.Errorf("write the JSON names of at least two fields, as in id:\"orderId,lineNo\"")
	case f.Type.op != opString || f.pointer:
		return fmt.Errorf("it applies to a string, which receives the id, and the field is %s",
			f.Type.describe())
	case !f.ReadOnly:
		return fmt.Errorf("the id is computed from other fields; add readOnly:\"true\"")
	case f.OmitZero || f.OmitEmpty:
		return fmt.Errorf("the id is never absent; remove omitzero and omitempty")
	}
	return nil
}

// compileKey sets the key of the field with the tag id, if there is one.
func (t *Type) compileKey() error {
	var mistakes []error
	for _, f := range t.Fields {
		if f.keyNames == nil {
			continue
		}
		at := structName(t.GoType) + "." + f.GoName + ": tag id: "
		if t.id != nil {
			mistakes = append(mistakes, join(at, fmt.Errorf("field %s has this tag, too; remove one of them",
				t.id.GoName)))
			continue
		}
		t.id = f
		for _, name := range f.keyNames {
			part, err := t.keyField(f, name)
			mistakes = append(mistakes, join(at, err))
			if err == nil {
				f.Key = append(f.Key, part)
				part.inKey = true
				// A new item without the member would have another id than the client expects.
				part.Required = part.Default == nil
			}
		}
	}
	return join("", mistakes...)
}

// keyField returns the field of a key with this JSON name. It is immutable in each item, and its text
// is never empty.
func (t *Type) keyField(id *Field, name string) (*Field, error) {
	f := t.byName[name]
	if f == nil {
		return nil, fmt.Errorf("%q is not the JSON name of a field", name)
	}
	problem := ""
	switch {
	case f == id || slices.Contains(id.Key, f):
		problem = "occurs twice"
	case f.Nullable:
		problem = "is nullable; use a type that is not a pointer"
	case f.Type.op != opString && f.Type.op != opText && f.Type.op != opInt && f.Type.op != opUint,
		f.Format == "decimal", f.Format == "duration":
		problem = "is neither a string nor an integer"
	case f.WriteOnly:
		problem = "is writeOnly, so the id would reveal it"
	case f.ReadOnly:
		problem = "is readOnly, but clients choose the key of a new item; remove readOnly"
	case f.StoreDefault:
		problem = "has default:\"db\", but the id is computed before the item is stored; remove the tag"
	case f.OmitZero || f.OmitEmpty:
		problem = "is omitzero or omitempty, but a key is never absent"
	}
	if problem != "" {
		return nil, fmt.Errorf("field %s %s", name, problem)
	}
	return f, nil
}

// Compose sets the field of v, a pointer to the struct, to the id that its key has, and returns the
// id. It returns "" if the text of a field of the key is empty, because then v has no id yet. For a
// field without a Key it is [Field.Text].
func (f *Field) Compose(v any) string {
	if f.Key == nil {
		return f.Text(v)
	}
	s, ok := f.structOf(v)
	if !ok {
		return ""
	}
	id := f.compose(s)
	f.in(s).SetString(id)
	return id
}

// compose returns the id of the struct s.
func (f *Field) compose(s reflect.Value) string {
	texts := make([]string, len(f.Key))
	for i, part := range f.Key {
		texts[i] = part.Type.formatText(part.in(s))
	}
	return JoinKey(texts)
}

// JoinKey returns the composite id of the texts of the fields of a key, in their order. It returns ""
// if one of them is empty.
func JoinKey(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		switch {
		case text == "":
			return ""
		case strings.ContainsAny(text, "~,"):
			text = keyEscaper.Replace(text)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text)
	}
	return b.String()
}

// ParseKey parses an id into the canonical values of the fields of Key. It accepts the one spelling
// that [Field.Text] returns. For a field without a Key it returns the value of [Field.Parse].
func (f *Field) ParseKey(id string) ([]any, error) {
	if f.Key == nil {
		v, err := f.Parse(id)
		return []any{v}, err
	}
	texts, err := f.splitKey(id)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(texts))
	for i, text := range texts {
		if values[i], err = f.Key[i].Parse(text); err != nil {
			return nil, f.keyError()
		}
	}
	return values, nil
}

// splitKey returns the texts of the fields of the key.
func (f *Field) splitKey(id string) ([]string, error) {
	texts := strings.Split(id, ",")
	if len(texts) != len(f.Key) {
		return nil, f.keyError()
	}
	for i, text := range texts {
		plain, ok := unescapeKey(text)
		if !ok {
			return nil, f.keyError()
		}
		texts[i] = plain
	}
	return texts, nil
}

// unescapeKey decodes one text of an id. An empty text and an unknown escape are not valid.
func unescapeKey(text string) (plain string, ok bool) {
	if strings.IndexByte(text, '~') < 0 {
		return text, text != ""
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '~' {
			i++
			switch {
			case i < len(text) && text[i] == '0':
			case i < len(text) && text[i] == '1':
				c = ','
			default:
				return "", false
			}
		}
		b = append(b, c)
	}
	return string(b), true
}

// keyError returns the error of an id that has another form. It is a predicate, as for Parse.
func (f *Field) keyError() error {
	return errors.New("must be the texts of " + strings.Join(f.keyNames, " and ") + ", separated by commas")
}

// setKey sets the fields of the key, and the id, in v.
func (f *Field) setKey(v any, id string) error {
	s, ok := f.structOf(v)
	if !ok {
		return errWrongStruct
	}
	if _, err := f.ParseKey(id); err != nil {
		return err
	}
	texts, _ := f.splitKey(id) // ParseKey has parsed it
	for i, part := range f.Key {
		if err := part.SetText(v, texts[i]); err != nil {
			return err
		}
	}
	f.in(s).SetString(id)
	return nil
}

// copyKey copies the id and the fields of its key from one struct to another.
func (f *Field) copyKey(to, from reflect.Value) {
	for _, part := range f.Key {
		part.in(to).Set(part.in(from))
	}
	f.in(to).Set(f.in(from))
}

// beginKey prepares the decoder for the id of the outermost object v of type t. The key cannot change
// if there is a base, or if DecodeOptions.Key has one.
func (d *decoder) beginKey(t *Type, v, base reflect.Value) error {
	if d.depth != 1 || t.id == nil || d.opts.Mode == Stored {
		return nil
	}
	d.id = t.id
	if d.fixed = base; !base.IsValid() && d.opts.Key != nil {
		fixed, err := t.target(d.opts.Key)
		if err != nil {
			return err
		}
		d.fixed = fixed
	}
	if d.fixed.IsValid() {
		t.id.copyKey(v, d.fixed)
	}
	return nil
}

// isKey reports whether a member of the current object is the id or a part of its key.
func (d *decoder) isKey(f *Field) bool {
	return d.id != nil && d.depth == 1 && (f == d.id || f.inKey)
}

// decodeKey decodes the id or a part of its key into the struct s.
func (d *decoder) decodeKey(f *Field, s reflect.Value) error {
	if f != d.id && !d.fixed.IsValid() {
		return d.decodeField(f, f.in(s), reflect.Value{})
	}
	given, was := reflect.New(f.in(s).Type()).Elem(), reflect.Value{}
	if d.fixed.IsValid() {
		was = f.in(d.fixed)
	}
	before := len(d.found)
	if err := d.decodeField(f, given, was); err != nil {
		return err
	}
	switch {
	case len(d.found) > before:
	case !d.fixed.IsValid(): // endKey compares it, when the key is known
		d.givenID = append(d.givenID, given.String())
	case f.equal(given, f.in(d.fixed)):
	case f == d.id && d.opts.Mode != Create:
		d.add(codeReadOnly, "is set by the server and must not be changed")
	case d.opts.Mode == Create:
		d.add(codeMismatch, "must be equal to that of the id in the path")
	default:
		d.add(codeImmutable, "is part of the id and must not be changed")
	}
	return nil
}

// endKey sets the id of a new value, and checks it.
func (d *decoder) endKey(t *Type, s reflect.Value) {
	if d.id == nil || d.depth != 1 || d.fixed.IsValid() {
		return
	}
	id := t.id.compose(s)
	t.id.in(s).SetString(id)
	if id == "" {
		for _, part := range t.id.Key {
			if part.Type.formatText(part.in(s)) == "" {
				d.addAbsent(part)
			}
		}
		return
	}
	for _, given := range d.givenID {
		if given != id {
			d.addAt(d.pointerTo(t.id), codeMismatch, "must be omitted, or the id that the item gets")
		}
	}
}

// addAbsent adds a violation for an empty part of the key, unless the member has one.
func (d *decoder) addAbsent(part *Field) {
	at := d.pointerTo(part)
	if !slices.ContainsFunc(d.found, func(v Violation) bool { return v.Pointer == at }) {
		d.addAt(at, codeMinLength, "is part of the id and must not be empty")
	}
}
