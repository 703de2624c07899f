package resource

// The check of views with samples at registration, called by options.go and view.go. It calls
// projection.go. clone is also used by writes through views.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/jsondiff"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options.Samples are checked at registration, so that an invalid example, or a view that loses
// data of clients, is found before the resource is served.

// sampleMistakes returns which of Options.Samples do not match the schema.
func (o *Options[T]) sampleMistakes(typ *schema.Type) (found []string) {
	for i := range o.Samples {
		if bad := typ.Validate(&o.Samples[i]); len(bad) > 0 {
			found = append(found, fmt.Sprintf("Options.Samples[%d] is not valid: %v",
				i, schema.Violations(bad)))
		}
	}
	return found
}

// checkSamples panics if the conversion of a sample to the view and back changes it.
func (r *Resource) checkSamples() {
	for i, sample := range r.core.samples {
		if !r.projection.expresses(sample) {
			continue
		}
		if err := r.roundTrip(sample); err != nil {
			panic(fmt.Sprintf("resource: View %s of %s: Options.Samples[%d] %v",
				r.projection.name, r.Name(), i, err))
		}
	}
}

// roundTrip converts a sample down, up onto a copy of itself, and down again.
func (r *Resource) roundTrip(sample any) error {
	p, c := r.projection, r.core
	first, err := p.fromStored(sample)
	if err != nil {
		return fmt.Errorf("cannot be converted down: %w", err)
	}
	if bad := p.typ.Validate(first); len(bad) > 0 {
		return fmt.Errorf("is not valid after conversion down: %w", schema.Violations(bad))
	}
	if r.Can(OpCreate) {
		if err := r.checkNewStored(sample); err != nil {
			return err
		}
	}
	raised, err := r.storedCopy(sample)
	if err != nil {
		return fmt.Errorf("cannot be converted up: %w", err)
	}
	if bad := c.typ.Validate(raised); len(bad) > 0 {
		return fmt.Errorf("is not valid after conversion up: %w", schema.Violations(bad))
	}
	if !p.expresses(raised) {
		return errors.New("does not match Where after conversion up")
	}
	second, err := p.fromStored(raised)
	if err != nil {
		return fmt.Errorf("cannot be converted down after conversion up: %w", err)
	}
	for _, f := range c.typ.Fields {
		if !f.Equal(sample, raised) && !slices.Contains(p.lossy, f.Name) {
			p.lossy = append(p.lossy, f.Name)
		}
	}
	if !p.typ.Equal(first, second) {
		return fmt.Errorf("changes when it is converted up and down: %s", p.differences(first, second))
	}
	return p.checkAssumed(sample, first)
}

// checkAssumed compares the values of fields that are mapped by name only. If they differ, a filter
// would apply to one value and the client would see the other.
func (p *projection) checkAssumed(sample, shown any) error {
	above, err := p.parent.fromStored(sample)
	if err != nil {
		return err
	}
	for _, f := range p.assumed {
		if !f.Comparable() {
			continue
		}
		was, is := p.parent.typ.Field(f.Name).Get(above), f.Get(shown)
		if query.Compare(was, is) != 0 {
			return fmt.Errorf(
				"has %v in %q and %v after conversion down: map %q in Fields to \"\" or to its own "+
					"name", was, f.Name, is, f.Name)
		}
	}
	return nil
}

// storedCopy converts a sample down and up. Every argument of up is a new copy, because up may keep
// and change it.
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

// checkNewStored converts a sample up as a new item. up may return an error, but it must not panic
// because base lacks data that stored items have.
func (r *Resource) checkNewStored(sample any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("makes up panic for a new item, for which base is the zero value: %v", v)
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

// clone returns a copy of a stored value, for samples and for each write through a view. Fields that
// clients can write are copied deeply; readOnly fields and those without JSON share memory with v.
// It fails if v violates the schema. A default does not replace a zero value that the encoding omits.
func (c *core) clone(v any) (any, error) {
	doc, err := c.typ.AppendFull(nil, v)
	if err != nil {
		return nil, err
	}
	return c.typ.Decode(doc, &schema.DecodeOptions{Mode: schema.Patched, Base: v})
}

// differences returns how two values of the view differ, as JSON Pointers for a log.
func (p *projection) differences(was, is any) string {
	a, err := p.typ.AppendFull(nil, was)
	if err != nil {
		return err.Error()
	}
	b, err := p.typ.AppendFull(nil, is)
	if err != nil {
		return err.Error()
	}
	return strings.Join(jsondiff.Lines(a, b), "; ")
}
