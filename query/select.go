package query

// Select answers q from items: those that match the filter, in the order asked for, behind the position, up to the
// limit. It makes a store out of a slice. Field gives an item's fields by JSON name, as [FieldOf] does.
//
// Items with equal keys stay in the order they have in items, and with no keys at all items is the order. A position
// that has not one value for each key of the sort selects nothing. Token and Fields are not looked at. The result is a
// new slice; items is not changed.
func Select[E any](q Query, items []E, field func(e *E, name string) any) []E { return nil }
