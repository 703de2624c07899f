package fetch

import (
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// located adds to an error how its pointers lead to arguments: base is the argument that the content came from, and empty
// if its members are arguments themselves. nil stays nil.
func located(err error, inputs []*model.Input, base string) error {
	if err == nil {
		return nil
	}
	return &gqlerror.InputError{Err: err, Argument: func(pointer string) string {
		return argument(inputs,
			base, pointer)
	}}
}

// unescape undoes the escapes in a step of a JSON Pointer (RFC 6901, section 4).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// argument turns a JSON Pointer into the place of an argument: /lines/0/qty is input.lines[0].qty, each name as GraphQL
// has it. What the model does not know, such as what is inside of a scalar or not in the schema at all, keeps its name.
func argument(inputs []*model.Input, base, pointer string) string {
	at := base
	var list *model.Ref // what the next step is an index of
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

// below returns what a value of a type is made of: members, or elements.
func below(t *model.Ref) (inputs []*model.Input, list *model.Ref) {
	if t.Elem != nil {
		return nil, t
	}
	return t.Type.Inputs, nil
}

// named finds an input by the name that it has in content.
func named(inputs []*model.Input, name string) *model.Input {
	for _, in := range inputs {
		if jsonName(in) == name {
			return in
		}
	}
	return nil
}
