package resource

import (
	"context"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// An answer that is given again shows what its first reader saw, who may have lost the right to see it. Doors that keep whole
// answers ask policy here before they give one out.

// Remember returns what [Resource.Recall] will have to know of an item that an answer shows, as JSON without what is
// writeOnly, to be kept together with the answer. It reports false where everybody may see everything, and nothing has to be
// kept.
func (r *Resource) Remember(e *Entry) (doc []byte, guarded bool) {
	if !r.guarded() {
		return nil, false
	}
	if e.stored == nil {
		return nil, true
	}
	doc, err := r.core.typ.Append(nil, e.stored)
	if err != nil { // then it is asked about the item as it is
		return nil, true
	}
	return doc, true
}

// Recall returns an error if the caller may not see an item any more: as it is now or, where it has been deleted since, as it
// was when [Resource.Remember] returned remembered, which may be nil. The error is that of [Resource.Get].
func (r *Resource) Recall(ctx context.Context, id string, remembered []byte) error {
	if !r.guarded() {
		return nil
	}
	e := Entry{ID: id}
	if remembered != nil {
		e.stored = r.core.typ.New()
		if err := json.Unmarshal(remembered, e.stored); err != nil {
			return r.wrap(OpGet, id, err)
		}
	}
	if err := r.core.stillVisible(ctx, &e, false); err != nil {
		return r.wrap(OpGet, id, err)
	}
	return nil
}

// Permit asks Authorize whether the caller may do the command, without doing it: a pointer to the Go type of Input, nil where
// that is nothing. It is for answers that are given again, and its errors are those of [Command.Invoke].
func (c *Command) Permit(ctx context.Context, in any) error {
	if in == nil && c.Input() == nil {
		in = c.in.New()
	}
	if reflect.TypeOf(in) != reflect.PointerTo(c.in.GoType) {
		return c.wrap(fmt.Errorf("the input is a %T", in))
	}
	return c.permit(ctx, in)
}
