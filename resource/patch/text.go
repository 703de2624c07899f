package patch

// Canonical JSON, in which equal documents have equal text.

import (
	"bytes"
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// This file has the functions that split JSON texts into members and elements. Except canonical and
// canonicalPatch they require canonical texts (see the package comment) and do not validate them.

// canonical returns data in canonical form, in new memory. The error is a *jsontext.SyntacticError.
func canonical(data []byte) ([]byte, error) {
	text, err := jsontext.AppendFormat(make([]byte, 0, len(data)), data)
	if err != nil {
		return nil, err
	}
	return text, nil
}

// canonicalPatch returns the canonical text of a patch. If the patch is an array, the error has the
// index of the invalid element.
func canonicalPatch(data []byte) ([]byte, *Error) {
	text, err := canonical(data)
	if err == nil {
		return text, nil
	}
	// The message of jsontext names Go packages, so the client receives only the position.
	var at jsontext.Pointer
	var offset int64
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, offset = syntax.JSONPointer, syntax.ByteOffset
	}
	e := malformed(codeSyntax, "", "the patch is not valid JSON at byte %d", offset)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		e = malformed(codeDuplicate, "", "the member name %s occurs twice", quoted(at.LastToken()))
	}
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("[")) {
		first, _, _ := strings.Cut(strings.TrimPrefix(string(at), "/"), "/")
		if i, err := strconv.Atoi(first); err == nil {
			e.Operation = i
		}
	}
	return nil, e
}

// skipString returns the offset after the string that begins at text[i].
func skipString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++ // skip the escaped character, which may be a quotation mark
		}
	}
	return i + 1
}

// skipValue returns the offset after the value that begins at text[i].
func skipValue(text []byte, i int) int {
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{', '[':
		return skipContainer(text, i)
	}
	for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' {
		i++
	}
	return i
}

// skipContainer returns the offset after the object or array that begins at text[i].
func skipContainer(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '"':
			i = skipString(text, i) // a string may contain brackets
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		i++
		if depth == 0 {
			return i
		}
	}
}

// depthOf returns the nesting depth of text: 0 for a scalar, 1 for an object or array of scalars.
func depthOf(text []byte) int {
	deepest, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// members yields the members of an object in order: the quoted name, and the value.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := 1; object[i] != '}'; {
			if object[i] == ',' {
				i++
			}
			colon := skipString(object, i)
			end := skipValue(object, colon+1)
			if !yield(object[i:colon], object[colon+1:end]) {
				return
			}
			i = end
		}
	}
}

// elements yields the elements of an array in order.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for i := 1; array[i] != ']'; {
			if array[i] == ',' {
				i++
			}
			end := skipValue(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = end
		}
	}
}

// unquote returns the value of a string.
func unquote(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text[1 : len(text)-1])
	}
	s, _ := jsontext.AppendUnquote(nil, text) // no error: canonical texts are valid
	return string(s)
}

// quote returns the canonical text of a string.
func quote(s string) []byte {
	text, _ := jsontext.AppendQuote(make([]byte, 0, len(s)+2), s) // no error: s is valid UTF-8
	return text
}
