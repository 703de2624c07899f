package fetch

// Paths of violations, from JSON pointers to the names of arguments. Called by fetch.go, invoke.go
// and write.go, because the core validates JSON and reports pointers into it.

import (
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// located wraps err so that its JSON Pointers are reported as arguments. base is the argument that
// contains the content, or empty if its members are arguments themselves. It returns nil if err is
// nil. Pointers are converted when the error is written. A successful call only compares err with
// nil.
func located(err error, inputs []*model.Input, base string) error {
	if err == nil {
		return nil
	}
	return &gqlerror.InputError{Err: err,
		Argument: func(pointer string) string { return argument(inputs, base, pointer) }}
}

// unescape decodes a reference token of a JSON Pointer (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// argument converts a JSON Pointer to the path of an argument: /lines/0/qty becomes
// input.lines[0].qty, with the names of the schema. Members that the schema does not have keep
// their names. A pointer refers to the document that the function document has written, so each
// token is a member or an index.
func argument(inputs []*model.Input, base, pointer string) string {
	at := base
	var list *model.Ref // the type of the list that the next token is an index of
	for pointer != "" {
		step, rest, more := strings.Cut(pointer[1:], "/")
		if pointer = ""; more {
			pointer = "/" + rest
		}
		step = unescape.Replace(step)
		if list != nil {
			at += "[" + step + "]"
			inputs, list = below(list.Elem)
			continue
		}
		in := named(inputs, step)
		if in != nil {
			step = in.Name
			inputs, list = below(in.Type)
		} else {
			inputs = nil
		}
		if at != "" {
			at += "."
		}
		at += step
	}
	return at
}

// below returns the members of an input object, or the type of a list. Both are nil for a scalar,
// which has no members in the schema.
func below(t *model.Ref) (inputs []*model.Input, list *model.Ref) {
	if t.Elem != nil {
		return nil, t
	}
	return t.Type.Inputs, nil
}

// named returns the input that sets the member with this JSON name, or nil.
func named(inputs []*model.Input, name string) *model.Input {
	for _, in := range inputs {
		if jsonName(in) == name {
			return in
		}
	}
	return nil
}
