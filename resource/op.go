package resource

// Op is something that can be done to a resource, as hooks, errors and the start-up report name it.
type Op string

// The operations.
const (
	OpGet     Op = "get"     // look at one item: GET and HEAD of an item, each item of a list, each end of a relation
	OpList    Op = "list"    // list or count
	OpCreate  Op = "create"  // bring an item into being: POST, and PUT where there was none
	OpReplace Op = "replace" // put another value in its place: PUT
	OpPatch   Op = "patch"   // change parts: PATCH
	OpDelete  Op = "delete"  // remove it: DELETE
	OpInvoke  Op = "invoke"  // do a command; hooks of resources do not see it
)
