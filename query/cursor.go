package query

// Cursor is a place in a list, between two items, to be given to clients as an opaque text. It holds either the values
// of the sort keys (Query.After) or a store's own token (Query.Token). The zero Cursor holds neither and is a cursor
// too: the end of the list, seen from which its last items are "before".
type Cursor struct {
	Values []any
	Token  string
}

// Encode writes the cursor as a short text of letters, digits, minus and underscore. Binding is everything that makes
// the list the one it is: the resource, the contract, the filter, the sort. The text is valid for that binding only.
//
// A cursor is opaque, but neither secret nor signed: whoever cares to can read its values or make one up. So it must
// never be what decides who may see an item.
func (c Cursor) Encode(binding string) string { return "" }

// DecodeCursor reads what Encode wrote. A text that is damaged, was made up, or belongs to another list is an *[Error]
// with the code "invalidCursor", whose Parameter is for the caller to fill in.
func DecodeCursor(text, binding string) (Cursor, error) { return Cursor{}, nil }
