package query

// Match tells whether an item is among those f asks for. Value gives the item's fields by JSON name, nil for null.
// It is the reference for what each comparison means; a store that evaluates filters elsewhere must agree with it.
//
// A comparison of different kinds is like one against null: neither equal nor in any order. What cannot be read as a
// filter at all, such as an unknown Op, matches nothing, and so does its negation: a mistake in a filter that
// restricts what somebody may see must not show more.
func Match(f Filter, value func(field string) any) bool { return false }
