package history

// Operation is a request to one item and its result. Begin and End are times of one logical clock: an operation that ended
// before another began has happened before it.
type Operation struct {
	Begin, End int64
	Do         Action
	Token      string // the value that a Put writes
	Result     Result
	Saw        string // the token that a Get returned
}

// Action is what an Operation does.
type Action byte

const (
	Put Action = iota // creates the item, if it does not exist
	Delete
	Get
)

// Result is the response to an Operation.
type Result byte

const (
	Done    Result = iota
	Exists         // refused: the item exists
	Missing        // refused: the item does not exist
	Gone           // refused: the item was deleted
	Open           // unknown: it may happen at any time after Begin, or never
)

// state is the state of an item.
type state struct {
	token   string // empty if it does not exist
	deleted bool   // it existed before
}

// after returns the state after an operation, and whether the operation can have its result in s. A server may allow that a
// deleted item is created again, or not.
func (o Operation) after(s state) (state, bool) {
	there := s.token != ""
	switch o.Do {
	case Put:
		switch o.Result {
		case Done, Open:
			return state{o.Token, s.deleted}, !there
		case Exists:
			return s, there
		case Gone:
			return s, !there && s.deleted
		}
	case Delete:
		if o.Result == Done || o.Result == Open {
			return state{deleted: true}, there
		}
		return s, o.absent(s)
	case Get:
		if o.Result == Done {
			return s, there && s.token == o.Saw
		}
		return s, o.absent(s)
	}
	return s, false
}

func (o Operation) absent(s state) bool {
	return s.token == "" && (o.Result == Gone && s.deleted || o.Result == Missing && !s.deleted)
}

// Linearizable reports whether the operations can have happened one after the other, each at some time between its Begin and
// its End. It takes at most 64 operations.
func Linearizable(operations []Operation) bool {
	tried := map[search]bool{}
	var from func(search) bool
	from = func(at search) bool {
		if tried[at] {
			return false
		}
		tried[at] = true
		limit := earliestEnd(operations, at.happened)
		if limit == never {
			return true // the operations left are open, and need not happen
		}
		for i, o := range operations {
			if at.happened&(1<<i) != 0 || o.Begin > limit {
				continue
			}
			if s, ok := o.after(at.state); ok && from(search{at.happened | 1<<i, s}) {
				return true
			}
		}
		return false
	}
	return from(search{})
}

// search is a prefix of an order: the operations that have happened, and the state after them.
type search struct {
	happened uint64
	state    state
}

const never = int64(1) << 62

// earliestEnd returns the time by which the next operation has to happen.
func earliestEnd(operations []Operation, happened uint64) int64 {
	limit := never
	for i, o := range operations {
		if happened&(1<<i) == 0 && o.Result != Open {
			limit = min(limit, o.End)
		}
	}
	return limit
}
