package exec

// A faster path for items with only plain members selected. Called by plan_collect.go at compile
// time and by write.go. Its output equals that of the general path, which also reports the errors
// of both.

import (
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// joined is a sequence of consecutive unconditional fields that are one JSON value each, stored
// with the first of them. Such fields are the most frequent ones. Package schema writes the
// sequence with one call, which saves three calls per field.
type joined struct {
	members *schema.Members
	tail    []byte // labels after the last member: __typename fields, which are constant
	more    int    // number of ops after the first
}

// append appends the fields for v. After an error, dst is unchanged.
func (j *joined) append(dst []byte, v any) ([]byte, error) {
	out, err := j.members.Append(dst, v)
	if err != nil {
		return dst, err
	}
	return append(out, j.tail...), nil
}

// join finds sequences among the ops of a selection set. A sequence contains each member once,
// because the size of the response is checked between sequences. Therefore a response exceeds its
// limit by at most one item.
func (s *selectionSet) join() {
	// Types of the schema without a Go type, such as connections, have no members to join.
	if s.typ.Go == nil {
		return
	}
	for i := 0; i < len(s.ops); {
		end := i
		seen := map[*schema.Field]bool{}
		for end < len(s.ops) && s.ops[end].joins() && !seen[s.ops[end].def.Member] {
			if m := s.ops[end].def.Member; m != nil { // nil for __typename
				seen[m] = true
			}
			end++
		}
		if end > i {
			s.ops[i].joined = joinOps(s.typ.Go, s.ops[i:end])
		}
		if end == len(s.ops) && i == 0 && end > 0 {
			s.whole = s.ops[0].joined
		}
		i = max(end, i+1)
	}
}

// joinOps returns the joined form of ops, or nil if there are no members. The label of a member
// contains the constant fields before it.
func joinOps(typ *schema.Type, steps []fieldOp) *joined {
	var list []schema.Labelled
	var front []byte
	for i := range steps {
		st := &steps[i]
		if front = append(front, st.label...); st.write == constant {
			continue // becomes part of the next label
		}
		list = append(list, schema.Labelled{Field: st.def.Member, Label: front, Quote: st.leaf.form == ident})
		front = nil
	}
	if len(list) == 0 {
		return nil
	}
	members, err := typ.Members(list...)
	if err != nil {
		return nil // each field reports the error by itself
	}
	return &joined{members, front, len(steps) - 1}
}

// item appends an item. It uses the joined form of the whole object if there is one. After an
// error, or if the response becomes too long, the object is written again by the general path.
func (r *run) item(n *field, entries []resource.Entry, i int) bool {
	if n.sub.whole != nil {
		start := len(r.dst)
		if out, err := n.sub.whole.append(r.dst, entries[i].Value); err == nil && len(out) <= r.most {
			out[start] = '{' // replaces the comma of the first label
			r.dst = append(out, '}')
			return true
		}
	}
	return r.object(n.sub, parent{value: entries[i].Value, entries: entries, i: i})
}

// joins reports whether an op can be part of a sequence: it is unconditional, and its value needs
// no check after it is written. A nullable value of a non-null field is excluded, because null must
// be found while it is written.
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
