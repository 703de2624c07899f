package idempotency

// Level is the guarantee of a keyed operation.
type Level uint8

// The levels, from the weakest to the strongest.
const (
	// AtMostOnce means that the record is claimed before the effect and completed after it. If the
	// process crashes in between, the outcome is unknown, and a repetition receives 409
	// outcome-unknown.
	AtMostOnce Level = iota
	// ByIdentity means that a created item has an id derived from the key ([DeriveID]), so a second
	// creation finds the first. An operation that was not finished runs again. A second creation that
	// is spelled differently, or in another contract, derives another id, unless the claim of the
	// first still exists.
	ByIdentity
	// ExactlyOnce means that the record and the effect commit in one transaction.
	ExactlyOnce
)

// String returns a name for reports, such as "exactly once".
func (l Level) String() string {
	switch l {
	case AtMostOnce:
		return "at most once"
	case ByIdentity:
		return "once by identity"
	case ExactlyOnce:
		return "exactly once"
	}
	return "unknown level"
}

// Guarantee describes the level of the writes of one part of a catalog, and the reason for it.
type Guarantee struct {
	// the resource, command or blob collection; "graphql" for operations that affect several
	Name   string
	Create Level // for creations with an id that the store assigns; Others for all other writes
	Others Level
	Reason string // a sentence for reports, such as "the write has no transaction"
}
