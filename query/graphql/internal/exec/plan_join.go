package exec

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Fields that are always there and just one JSON value each are most of what is asked for. Those that stand one behind the
// other are written together by package schema, which saves three calls for each of them.

// joined is such a run at the position of its first op.
type joined struct {
	members *schema.Members
	tail    []byte // what stands behind the last member: names of types, which are the same for all objects
	more    int    // ops after the first one that it writes, too
}

// append appends the run for v. After an error, dst is as it was.
func (j *joined) append(dst []byte, v any) ([]byte, error) {
	out, err := j.members.Append(dst, v)
	if err != nil {
		return dst, err
	}
	return append(out, j.tail...), nil
}

// join finds the runs among the ops of a selection set. No member is twice in one: between two runs somebody looks at how long the
// answer is, and so it becomes too long by no more than an item is, however often its longest member is asked for.
func (s *selectionSet) join() {
	if s.typ.Go == nil {
		return
	}
	for i := 0; i < len(s.ops); {
		end := i
		seen := map[*schema.Field]bool{}
		for end < len(s.ops) && s.ops[end].joins() && !seen[s.ops[end].def.Member] {
			if m := s.ops[end].def.Member; m != nil { // else it is the name of the type
				seen[m] = true
			}
			end++
		}
		if end > i {
			s.ops[i].joined = join(s.typ.Go, s.ops[i:end])
		}
		if end == len(s.ops) && i == 0 && end > 0 {
			s.whole = s.ops[0].joined
		}
		i = max(end, i+1)
	}
}

func join(typ *schema.Type, steps []fieldOp) *joined {
	var list []schema.Labelled
	var front []byte
	for i := range steps {
		st := &steps[i]
		if front = append(front, st.label...); st.write == constant {
			continue // it is part of the label of the next one
		}
		list = append(list, schema.Labelled{Field: st.def.Member, Label: front, Quote: st.leaf.form == ident})
		front = nil
	}
	if len(list) == 0 {
		return nil
	}
	members, err := typ.Members(list...)
	if err != nil {
		return nil // then each of them says so
	}
	return &joined{members, front, len(steps) - 1}
}

// item appends one of some items. Those at the ends of relations mostly have nothing but members, and there are many.
func (r *run) item(n *field, entries []resource.Entry, i int) bool {
	if n.sub.whole != nil {
		start := len(r.dst)
		if out, err := n.sub.whole.append(r.dst, entries[i].Value); err == nil && len(out) <= r.most {
			out[start] = '{' // the comma of the first label
			r.dst = append(out, '}')
			return true
		}
	}
	return r.object(n.sub, parent{value: entries[i].Value, entries: entries, i: i})
}

// joins reports whether an op is always there, and a member of which nothing has to be looked at once it is written.
func (st *fieldOp) joins() bool {
	if st.when == 0 && st.write == constant {
		return true
	}
	if st.when != 0 || st.write != member || st.leaf.foreign {
		return false
	}
	switch st.leaf.form {
	case plain:
	case ident:
		if st.def.Member.Type.Kind != schema.Integer || st.def.Member.Quoted {
			return false
		}
	default:
		return false
	}
	return !st.nonNull || !st.def.Member.Nullable
}
