package resource

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/jsondiff"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options.Samples are checked before anything is served: an example that is wrong, and a view that loses what clients
// write, are found at start-up and not by clients.

// checkSamples panics if a sample is not what a collection could hold.
func (h *core) checkSamples() {
	for i, sample := range h.samples {
		if bad := h.typ.Validate(sample); len(bad) > 0 {
			panic(fmt.Sprintf("resource: %s: Options.Samples[%d] is not valid: %v", h.name, i, schema.Violations(bad)))
		}
	}
}

// checkSamples panics if a sample that a view expresses does not come back as it was.
func (r *Resource) checkSamples() {
	for i, sample := range r.core.samples {
		if !r.projection.expresses(sample) {
			continue
		}
		if err := r.roundTrip(sample); err != nil {
			panic(fmt.Sprintf("resource: View %s of %s: Options.Samples[%d] %v", r.projection.name, r.Name(), i, err))
		}
	}
}

// roundTrip takes a sample down, up onto a copy of itself, and down again.
func (r *Resource) roundTrip(sample any) error {
	s, h := r.projection, r.core
	first, err := s.fromStored(sample)
	if err != nil {
		return fmt.Errorf("cannot be shown: %w", err)
	}
	if bad := s.typ.Validate(first); len(bad) > 0 {
		return fmt.Errorf("is shown as what is not valid: %w", schema.Violations(bad))
	}
	if r.Can(OpCreate) {
		if err := r.checkNewStored(sample); err != nil {
			return err
		}
	}
	raised, err := r.storedCopy(sample)
	if err != nil {
		return fmt.Errorf("does not go up: %w", err)
	}
	if bad := h.typ.Validate(raised); len(bad) > 0 {
		return fmt.Errorf("goes up as what is not valid: %w", schema.Violations(bad))
	}
	if !s.expresses(raised) {
		return errors.New("goes up as what Where leaves out")
	}
	second, err := s.fromStored(raised)
	if err != nil {
		return fmt.Errorf("cannot be shown when it has gone up: %w", err)
	}
	if !s.typ.Equal(first, second) {
		return fmt.Errorf("does not come back: %s", s.differences(first, second))
	}
	return s.checkAssumed(sample, first)
}

// checkAssumed compares what a view and its parent have in fields that are taken for the same. Where they differ, a filter
// would ask for the one and the client see the other.
func (s *projection) checkAssumed(sample, shown any) error {
	above, err := s.parent.fromStored(sample)
	if err != nil {
		return err
	}
	for _, f := range s.assumed {
		if !f.Comparable() {
			continue
		}
		was, is := s.parent.typ.Field(f.Name).Get(above), f.Get(shown)
		if query.Compare(was, is) != 0 {
			return fmt.Errorf("has %v in %q and is shown with %v: list %q in Fields, with \"\" if it is another thing than the "+
				"field of that name, else with that name", was, f.Name, is, f.Name)
		}
	}
	return nil
}

// storedCopy is what up makes of a sample as it is shown. All of its arguments are new, since it may keep and change them.
func (r *Resource) storedCopy(sample any) (any, error) {
	another := func() (any, error) { return r.core.clone(sample) }
	v, err := another()
	if err == nil {
		v, err = r.projection.fromStored(v)
	}
	if err != nil {
		return nil, err
	}
	return r.projection.toStored(v, another, false)
}

// checkNewStored makes a new item of a sample as it is shown. up may refuse that, but it must not count on what is not there
// yet: to panic is its commonest mistake.
func (r *Resource) checkNewStored(sample any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("makes up panic when it is new, and base is blank: %v", v)
		}
	}()
	v, err := r.core.clone(sample)
	if err != nil {
		return err
	}
	if v, err = r.projection.fromStored(v); err == nil {
		_, _ = r.projection.toStored(v, nil, false)
	}
	return err
}

// clone returns a copy of a value of the core that shares nothing with it that JSON can see.
func (h *core) clone(v any) (any, error) {
	doc, err := h.typ.AppendFull(nil, v)
	if err != nil {
		return nil, err
	}
	return h.typ.Decode(doc, &schema.DecodeOptions{Mode: schema.Replace, Base: v})
}

// differences tells a person how two values of the shape differ, by JSON Pointers.
func (s *projection) differences(was, is any) string {
	a, err := s.typ.AppendFull(nil, was)
	if err != nil {
		return err.Error()
	}
	b, err := s.typ.AppendFull(nil, is)
	if err != nil {
		return err.Error()
	}
	return strings.Join(jsondiff.Lines(a, b), "; ")
}
