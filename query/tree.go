package query

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth limits the nesting of connectives in a filter tree.
const maxDepth = 8

// tree parses a filter tree, the parameter treeName. It stops at an error in the JSON, and continues after an
// unsupported comparison.
func (p *parser) tree(text string) Filter {
	r := treeReader{parser: p, dec: jsontext.NewDecoder(strings.NewReader(text))}
	f, err := r.document()
	if err != nil {
		p.addError(p.treeName, err.Code, err.Detail)
		return Filter{}
	}
	return f
}

// treeReader parses the JSON of the parameter filter. Each method reads one construct from its
// first token to its last, and returns an error only if parsing cannot continue. It reads tokens
// instead of a decoded map, which would lose the order of members and the digits of numbers. The
// decoder rejects duplicate names and invalid UTF-8, which parsers may interpret differently (RFC
// 8259 section 4).
type treeReader struct {
	*parser
	dec *jsontext.Decoder
}

// document parses the whole text, which must be a single filter.
func (r treeReader) document() (Filter, *Error) {
	f, err := r.filter(r.root, 0)
	if err != nil {
		return Filter{}, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Filter{}, treeError("must be a single JSON object")
	}
	// Merging implicit Ands may have increased the depth.
	if depthOf(f) > maxDepth {
		return Filter{}, errDepth()
	}
	return f, nil
}

// filter parses an object of conditions that must all hold.
func (r treeReader) filter(in scope, depth int) (Filter, *Error) {
	// Limits the recursion, also for connectives that will be dropped.
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
		f, err := r.member(in, name.String(), depth)
		if err != nil {
			return Filter{}, err
		}
		all = append(all, f)
	}
	_, err := r.next()
	return And(all...), err
}

// member parses one member of a filter object. The names of connectives never denote a field here;
// such a field can be used in a parameter.
func (r treeReader) member(in scope, name string, depth int) (Filter, *Error) {
	switch Op(name) {
	case AndOp:
		fs, err := r.filters(in, name, depth+1)
		return And(fs...), err
	case OrOp:
		fs, err := r.filters(in, name, depth+1)
		return Or(fs...), err
	case NotOp:
		f, err := r.filter(in, depth+1)
		return Not(f), err
	}
	if _, declared := in.Support.Filter[name]; !declared {
		if to, ok := in.follow(name); ok {
			return r.relation(to, name, depth)
		}
	}
	return r.field(in, name)
}

// filters parses the operands of "or" or "and".
func (r treeReader) filters(in scope, name string, depth int) ([]Filter, *Error) {
	if err := r.open('[', name+" must be an array of filters"); err != nil {
		return nil, err
	}
	var fs []Filter
	for r.dec.PeekKind() != ']' {
		f, err := r.filter(in, depth)
		if err != nil {
			return nil, err
		}
		fs = append(fs, f)
	}
	_, err := r.next()
	return fs, err
}

// field parses the comparisons of one field.
func (r treeReader) field(in scope, name string) (Filter, *Error) {
	// Check the field first, because {"nope":{}} has no comparison to check.
	if _, declared := in.Support.Filter[name]; !declared {
		r.addFilterError(in.describe(in.Support.checkTerm(name, "")))
		return Filter{}, r.skip()
	}
	example := ` must be an object of comparisons, such as {"eq": 1}`
	if err := r.open('{', in.pathTo(name)+example); err != nil {
		return Filter{}, err
	}
	var all []Filter
	for r.dec.PeekKind() != '}' {
		op, err := r.next()
		if err != nil {
			return Filter{}, err
		}
		f, err := r.comparison(in, name, Op(op.String()))
		if err != nil {
			return Filter{}, err
		}
		all = append(all, f)
	}
	_, err := r.next()
	return And(all...), err
}

// comparison parses the operand of a comparison. The value of an unsupported comparison is skipped.
func (r treeReader) comparison(in scope, field string, op Op) (Filter, *Error) {
	if err := in.Support.checkTerm(field, op); err != nil {
		r.addFilterError(in.describe(err))
		return Filter{}, r.skip()
	}
	if err := r.countTerm(); err != nil {
		return Filter{}, err
	}
	f := Filter{Op: op, Field: field}
	var err *Error
	if op == In || op == NotIn {
		f.Value, err = r.list(in, field, op)
	} else {
		f.Value, err = r.scalar(in, field, op)
	}
	return f, err
}

// countTerm counts a comparison. Parsing stops at the limit, because a tree can have any number of them.
func (r treeReader) countTerm() *Error {
	if r.terms++; r.terms > r.opts.MaxTerms {
		return &Error{Code: tooMany, Detail: r.tooManyTerms()}
	}
	return nil
}

// list parses the values of In or NotIn. Unlike in a parameter, it may be empty.
func (r treeReader) list(in scope, field string, op Op) ([]any, *Error) {
	if err := r.open('[', in.pathTo(field)+"."+string(op)+" must be an array"); err != nil {
		return nil, err
	}
	list := []any{}
	for r.dec.PeekKind() != ']' {
		if len(list) == r.opts.MaxValues {
			return nil, &Error{Code: tooMany, Detail: in.pathTo(field) + ": " + r.tooManyValues()}
		}
		v, err := r.scalar(in, field, op)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := r.next()
	return list, err
}

// scalar parses one value from its text, so 5 and "5" are equal, as in a parameter.
func (r treeReader) scalar(in scope, field string, op Op) (any, *Error) {
	token, fault := r.next()
	if fault != nil {
		return nil, fault
	}
	switch token.Kind() {
	case '{', '[':
		return nil, treeError(in.pathTo(field) + "." + string(op) +
			" must be a string, a number, true or false")
	case 'n':
		r.addFilterError(errNull(in.pathTo(field)))
		return nil, nil
	}
	v, err := in.value(field, op, token.String())
	if err != nil && token.Kind() == '0' {
		// JSON does not distinguish 1.0, 1e0 and 1 (RFC 8259, section 6).
		if whole, ok := wholeNumber(token.String()); ok {
			v, err = in.value(field, op, whole)
		}
	}
	if err != nil {
		r.addError(r.treeName, invalidValue, in.pathTo(field)+": "+err.Error())
	}
	return v, nil
}

// wholeNumber returns the usual text of a JSON number that is an integer in another notation. Beyond
// 2^53 a float64 may be another integer, so ok is false.
func wholeNumber(text string) (whole string, ok bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

// addFilterError records an error after which parsing continues.
func (r treeReader) addFilterError(e *Error) {
	r.addError(r.treeName, e.Code, e.Detail)
}

// open parses the beginning of an object or array.
func (r treeReader) open(kind jsontext.Kind, otherwise string) *Error {
	// Kind 0 is invalid JSON, which next reports.
	if got := r.dec.PeekKind(); got != kind && got != 0 {
		return treeError(otherwise)
	}
	_, err := r.next()
	return err
}

// next reads a token. Its text is valid until the next call.
func (r treeReader) next() (jsontext.Token, *Error) {
	token, err := r.dec.ReadToken()
	return token, r.syntax(err)
}

// skip skips a value of any shape, but reports invalid JSON.
func (r treeReader) skip() *Error { return r.syntax(r.dec.SkipValue()) }

// syntax converts an error of the decoder to one for clients.
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

// treeError is an error in the structure of the tree, after which parsing stops.
func treeError(detail string) *Error { return &Error{Code: invalidFilter, Detail: detail} }

func errDepth() *Error {
	return &Error{
		Code:   tooMany,
		Detail: "and, or and not can be nested at most " + strconv.Itoa(maxDepth) + " deep",
	}
}

// depthOf returns the number of nested connectives above the deepest comparison of f.
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
