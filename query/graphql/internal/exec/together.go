package exec

import (
	"github.com/stoa-go/stoa/resource/schema"
)

// Fields that are always there and just one JSON value each are most of what is asked for. Those that stand one behind the
// other are written together by package schema, which saves three calls for each of them.

// joined is such a run at the place of its first step.
type joined struct {
	members *schema.Members
	more    int // steps behind the first one that it writes, too
}

// join finds the runs among the steps of a set.
func (s *set) join() {
	if s.typ.Go == nil {
		return
	}
	for i := 0; i < len(s.steps); {
		end := i
		for end < len(s.steps) && s.steps[end].joins() {
			end++
		}
		if end > i {
			s.steps[i].joined = join(s.typ.Go, s.steps[i:end])
		}
		i = max(end, i+1)
	}
}

func join(typ *schema.Type, steps []step) *joined {
	list := make([]schema.Labelled, len(steps))
	for i, st := range steps {
		list[i] = schema.Labelled{Field: st.field.Member, Label: st.label, Quote: st.leaf.form == ident}
	}
	members, err := typ.Members(list...)
	if err != nil {
		return nil // then each of them says so
	}
	return &joined{members, len(steps) - 1}
}

// joins reports whether a step is always there, and a member of which nothing has to be looked at once it is written.
func (st *step) joins() bool {
	if st.when != 0 || st.write != member || st.leaf.foreign {
		return false
	}
	switch st.leaf.form {
	case plain:
	case ident:
		if st.field.Member.Type.Kind != schema.Integer || st.field.Member.Quoted {
			return false
		}
	default:
		return false
	}
	return !st.nonNull || !st.field.Member.Nullable
}
