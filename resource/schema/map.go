package schema

// Maps, with their members in the order of names, so that equal maps have equal text.

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// This file handles maps. Their keys become member names.

// mapMember is a member of a map with its JSON name.
type mapMember struct {
	name  string
	value reflect.Value // addressable
}

// mapMembers returns the members of the map v, sorted by name.
func (t *Type) mapMembers(v reflect.Value) ([]mapMember, error) {
	n := v.Len()
	// Values in a map are not addressable, so copy all of them into one slice.
	values := reflect.MakeSlice(reflect.SliceOf(t.GoType.Elem()), n, n)
	all := make([]mapMember, 0, n)
	key := reflect.New(t.GoType.Key()).Elem()
	// The check of n prevents a panic if the map grows because of a data race in the application.
	for iter := v.MapRange(); iter.Next() && len(all) < n; {
		key.SetIterKey(iter)
		name, err := t.nameOfKey(key)
		if err != nil {
			return nil, err
		}
		value := values.Index(len(all))
		value.SetIterValue(iter)
		all = append(all, mapMember{name, value})
	}
	slices.SortFunc(all, func(a, b mapMember) int { return strings.Compare(a.name, b.name) })
	for i := range all {
		if i > 0 && all[i].name == all[i-1].name {
			return nil, fmt.Errorf("two keys have the same member name %q", all[i].name)
		}
	}
	return all, nil
}

// nameOfKey returns the member name for a key, which must be addressable.
func (t *Type) nameOfKey(key reflect.Value) (string, error) {
	var name string
	switch t.Key.op {
	case opInt:
		return strconv.FormatInt(key.Int(), 10), nil
	case opUint:
		return strconv.FormatUint(key.Uint(), 10), nil
	case opString:
		name = key.String()
	default:
		text, err := appendText(nil, key)
		if err != nil {
			return "", err
		}
		name = string(text)
	}
	if !utf8.ValidString(name) {
		return "", fmt.Errorf("the key %q is not valid UTF-8", name)
	}
	return name, nil
}

// setKey sets a key, which must be addressable, from a member name. Integers must be canonical, so
// that two names cannot denote one key.
func (t *Type) setKey(key reflect.Value, name string) error {
	switch t.Key.op {
	case opString:
		key.SetString(name)
		return nil
	case opText:
		return unmarshalText(key, []byte(name))
	}
	n, err := parseCanonical(name)
	if err != nil {
		return err
	}
	if t.Key.op == opInt {
		i, ok := n.signed(t.Key.Bits)
		if !ok {
			return errRange
		}
		key.SetInt(i)
		return nil
	}
	u, ok := n.unsigned(t.Key.Bits)
	if !ok {
		return errRange
	}
	key.SetUint(u)
	return nil
}

// appendMap appends a map with its members sorted by name. The order of a Go map is random, and a
// strong ETag requires the same bytes for the same value.
func (t *Type) appendMap(dst []byte, v reflect.Value, w encodeState) ([]byte, error) {
	dst = append(dst, '{')
	if v.Len() == 0 {
		return append(dst, '}'), nil
	}
	entries, err := t.mapMembers(v)
	if err != nil {
		return dst, err
	}
	for i, e := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = jsontext.AppendQuote(dst, e.name); err != nil {
			return dst, err
		}
		dst = append(dst, ':')
		if dst, err = t.appendElem(dst, e.value, w); err != nil {
			return dst, fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return append(dst, '}'), nil
}

// lookup returns an addressable copy of the value of a key in the map v, or the zero Value. A copy,
// because reflection cannot address a value in a map.
func (t *Type) lookup(v, key reflect.Value) reflect.Value {
	found := v.MapIndex(key)
	if !found.IsValid() {
		return found
	}
	value := reflect.New(t.GoType.Elem()).Elem()
	value.Set(found)
	return value
}
