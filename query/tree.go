package query

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep connectives stand within each other in a filter tree.
const maxDepth = 8

// tree reads the parameter filter. After a fault in the JSON it stops; what is well written but not supported is
// noted, and the reading goes on.
func (p *parser) tree(text string) Filter {
	r := treeReader{parser: p, dec: jsontext.NewDecoder(strings.NewReader(text))}
	f, err := r.document()
	if err != nil {
		p.fault("filter", err.Code, err.Detail)
		return Filter{}
	}
	return f
}

// treeReader is a parser within the JSON of the parameter filter. Its methods read one thing each, from its first token
// to its last, and return an error only where reading cannot go on. It reads tokens, not a decoded map, because a map
// has lost the order of members and the digits of numbers; and the decoder refuses duplicate names and bad UTF-8, which
// two readers of one text could understand differently (RFC 8259, section 4).
type treeReader struct {
	*parser
	dec *jsontext.Decoder
}

// document reads the whole text, which is one filter and nothing behind it.
func (r treeReader) document() (Filter, *Error) {
	f, err := r.filter(0)
	if err != nil {
		return Filter{}, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Filter{}, treeError("must be a single JSON object")
	}
	// What was written flat may stand deeper now that the And between members is spelled out.
	if depthOf(f) > maxDepth {
		return Filter{}, errDepth()
	}
	return f, nil
}

// filter reads an object whose members are conditions, all of which must hold.
func (r treeReader) filter(depth int) (Filter, *Error) {
	// Also where nothing will remain of the connectives, since it is the reading that recurses.
	if depth > maxDepth {
		return Filter{}, errDepth()
	}
	if err := r.open('{', "a filter must be an object"); err != nil {
		return Filter{}, err
	}
	var all []Filter
	for r.dec.PeekKind() != '}' {
		name, err := r.next()
		if err != nil {
			return Filter{}, err
		}
		f, err := r.member(name.String(), depth)
		if err != nil {
			return Filter{}, err
		}
		all = append(all, f)
	}
	_, err := r.next()
	return And(all...), err
}

// member reads the value of one member of a filter object. A connective's name is never a field's here; such a field can
// be asked for in a parameter.
func (r treeReader) member(name string, depth int) (Filter, *Error) {
	switch Op(name) {
	case AndOp:
		fs, err := r.filters(name, depth+1)
		return And(fs...), err
	case OrOp:
		fs, err := r.filters(name, depth+1)
		return Or(fs...), err
	case NotOp:
		f, err := r.filter(depth + 1)
		return Not(f), err
	}
	return r.field(name)
}

// filters reads the alternatives of an or, or the parts of an and.
func (r treeReader) filters(name string, depth int) ([]Filter, *Error) {
	if err := r.open('[', name+" must be an array of filters"); err != nil {
		return nil, err
	}
	var fs []Filter
	for r.dec.PeekKind() != ']' {
		f, err := r.filter(depth)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	_, err := r.next()
	return fs, err
}

// field reads the comparisons of one field.
func (r treeReader) field(name string) (Filter, *Error) {
	// Before the comparisons are looked at, as there may be none: {"nope":{}} asks for nothing, but names a field.
	if _, declared := r.opts.Support.Filter[name]; !declared {
		r.refuse(r.opts.Support.checkTerm(name, ""))
		return Filter{}, r.skip()
	}
	if err := r.open('{', name+` must be an object of comparisons, such as {"eq": 1}`); err != nil {
		return Filter{}, err
	}
	var all []Filter
	for r.dec.PeekKind() != '}' {
		op, err := r.next()
		if err != nil {
			return Filter{}, err
		}
		f, err := r.comparison(name, Op(op.String()))
		if err != nil {
			return Filter{}, err
		}
		all = append(all, f)
	}
	_, err := r.next()
	return And(all...), err
}

// comparison reads what a field is compared with. A comparison that is not declared is skipped without its shape being
// judged, which nobody knows.
func (r treeReader) comparison(field string, op Op) (Filter, *Error) {
	if err := r.opts.Support.checkTerm(field, op); err != nil {
		r.refuse(err)
		return Filter{}, r.skip()
	}
	// Here reading ends at the bound, since a tree, unlike the names of parameters, can repeat itself without end.
	if r.terms++; r.terms > r.opts.MaxTerms {
		return Filter{}, &Error{Code: tooMany, Detail: r.tooManyTerms()}
	}
	f := Filter{Op: op, Field: field}
	var err *Error
	if op == In || op == NotIn {
		f.Value, err = r.list(field, op)
	} else {
		f.Value, err = r.scalar(field, op)
	}
	return f, err
}

// list reads the values of an In or NotIn. It may be empty, which a parameter cannot say.
func (r treeReader) list(field string, op Op) ([]any, *Error) {
	if err := r.open('[', field+"."+string(op)+" must be an array"); err != nil {
		return nil, err
	}
	list := []any{}
	for r.dec.PeekKind() != ']' {
		if len(list) == r.opts.MaxValues {
			return nil, &Error{Code: tooMany, Detail: field + ": " + r.tooManyValues()}
		}
		v, err := r.scalar(field, op)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.next()
	return list, err
}

// scalar reads one value by its text, so that 5 and "5" are alike, as they are in a parameter.
func (r treeReader) scalar(field string, op Op) (any, *Error) {
	token, fault := r.next()
	if fault != nil {
		return nil, fault
	}
	switch token.Kind() {
	case '{', '[':
		return nil, treeError(field + "." + string(op) + " takes a string, a number, true or false")
	case 'n':
		r.refuse(errNull(field))
		return nil, nil
	}
	v, err := r.value(field, op, token.String())
	if err != nil {
		r.fault("filter", invalidValue, field+": "+err.Error())
	}
	return v, nil
}

// refuse notes a fault that does not keep the rest from being read.
func (r treeReader) refuse(e *Error) {
	r.fault("filter", e.Code, e.Detail)
}

// open reads the beginning of an object or array.
func (r treeReader) open(kind jsontext.Kind, otherwise string) *Error {
	// Kind 0 is a fault in the JSON itself, which next words better.
	if got := r.dec.PeekKind(); got != kind && got != 0 {
		return treeError(otherwise)
	}
	_, err := r.next()
	return err
}

// next reads a token. Its text is valid only until the one after it is read.
func (r treeReader) next() (jsontext.Token, *Error) {
	token, err := r.dec.ReadToken()
	return token, r.syntax(err)
}

// skip passes over a value of any shape, and still finds the faults in its JSON.
func (r treeReader) skip() *Error { return r.syntax(r.dec.SkipValue()) }

// syntax words a fault of the decoder for clients.
func (r treeReader) syntax(err error) *Error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName):
		return treeError("an object has two members of the same name")
	}
	at := r.dec.InputOffset()
	if s := (*jsontext.SyntacticError)(nil); errors.As(err, &s) {
		at = s.ByteOffset
	}
	return treeError("is not valid JSON, at byte " + strconv.FormatInt(at, 10))
}

// treeError is a fault in the shape of the tree, after which reading stops.
func treeError(detail string) *Error { return &Error{Code: invalidFilter, Detail: detail} }

func errDepth() *Error {
	return &Error{Code: tooMany, Detail: "and, or and not can be nested at most " + strconv.Itoa(maxDepth) + " deep"}
}

// depthOf counts the connectives from the top of f down to its deepest comparison.
func depthOf(f Filter) int {
	deepest := 0
	for _, sub := range f.Filters {
		deepest = max(deepest, depthOf(sub))
	}
	if f.isConnective() {
		deepest++
	}
	return deepest
}
