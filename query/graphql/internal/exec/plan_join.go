package exec

// A faster path for items with only plain members selected. Called by plan_collect.go at compile
// time and by write.go. Its output equals that of the general path, which also reports the errors
// of both.

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// joined is a sequence of consecutive unconditional fields that are one JSON value each, stored
// with the first of them. Such fields are the most frequent ones. Package schema writes the
// sequence with one call, which saves three calls per field.
type joined struct {
	index   int // in run.encoders
	members *schema.Members
	tail    []byte // labels after the last member: __typename fields, which are constant
	closing []byte // tail, and the brace that ends an object
	more    int    // number of ops after the first
}

// encoder returns the encoder for j, which the run has until its end.
func (r *run) encoder(j *joined) *schema.MembersEncoder {
	if e := r.encoders[j.index]; e != nil {
		return e
	}
	e := j.members.Encoder()
	r.encoders[j.index] = e
	return e
}

// appendJoined appends the fields of j for v. After an error, r.dst is unchanged.
func (r *run) appendJoined(j *joined, v any) error {
	out, err := r.encoder(j).Append(r.dst, v)
	if err == nil {
		r.dst = append(out, j.tail...)
	}
	return err
}

// join finds sequences among the ops of a selection set. A sequence contains each member once,
// because the size of the response is checked between sequences. Therefore a response exceeds its
// limit by at most one item.
func (c *compiler) join(s *selectionSet) {
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
			if j := joinOps(s.typ.Go, s.ops[i:end]); j != nil {
				j.index = c.to.joins
				c.to.joins++
				c.bytes += 400 + 160*(1+j.more) // with an idle encoder
				s.ops[i].joined = j
			}
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
	closing := append(slices.Clip(front), '}')
	return &joined{members: members, tail: front, closing: closing, more: len(steps) - 1}
}

// item appends an item. It uses the joined form of the whole object if there is one. After an
// error, or if the response becomes too long, the object is written again by the general path.
func (r *run) item(n *field, entries []resource.Entry, i int) bool {
	return r.whole(n.sub, entries[i].Value) ||
		r.object(n.sub, parent{value: entries[i].Value, entries: entries, i: i})
}

// whole appends an object by the joined form of all its fields. It appends nothing and returns false
// if there is no such form, after an error, or if the response becomes too long.
func (r *run) whole(s *selectionSet, v any) bool {
	if s.whole == nil {
		return false
	}
	start := len(r.dst)
	out, err := r.encoder(s.whole).Append(r.dst, v)
	if err != nil || len(out) > r.most {
		r.dst = out[:start] // with the memory that Append may have allocated
		return false
	}
	out[start] = '{' // replaces the comma of the first label
	r.dst = append(out, s.whole.closing...)
	return true
}

// wholeList appends the list of some entries by the joined form of all their fields. It appends nothing and
// returns false in the cases of whole.
func (r *run) wholeList(s *selectionSet, entries []resource.Entry, ends []int32) bool {
	if s.whole == nil {
		return false
	}
	e, first := r.encoder(s.whole), len(r.dst)
	out := append(r.dst, '[')
	for i, end := range ends {
		if i > 0 {
			out = append(out, ',')
		}
		if i == sample && len(ends) > 4*sample {
			out = r.grownForList(out, first+1, len(ends))
		}
		var err error
		start := len(out)
		if out, err = e.Append(out, entries[end].Value); err != nil || len(out) > r.most {
			r.dst = out[:first] // with the memory that was allocated
			return false
		}
		out[start] = '{'
		out = append(out, s.whole.closing...)
	}
	r.dst = append(out, ']')
	return true
}

// joins reports whether an op can be part of a sequence: it is unconditional, and its value needs
// no check after it is written. A nullable value of a non-null field is excluded, because null must
// be found while it is written.
func (st *fieldOp) joins() bool {
	if st.when == 0 && st.write == constant {
		return true
	}
	if st.when != 0 || st.write != member || st.leaf.foreign || st.def.ZeroNull {
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
