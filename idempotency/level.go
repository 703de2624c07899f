package idempotency

// Level is what a key is worth.
type Level uint8

// The levels, from the weakest.
const (
	// AtMostOnce: the record is claimed before the effect and completed behind it. If the process dies in between, the
	// outcome is unknown, and the answer to a repetition says so (409, outcome-unknown).
	AtMostOnce Level = iota
	// ByIdentity: what is created has an id that follows from the key ([DeriveID]), so that creating it again finds it.
	// What was begun and not finished is therefore done again.
	ByIdentity
	// ExactlyOnce: record and effect are written in one transaction.
	ExactlyOnce
)

// String returns the name of the level for people, such as "exactly once".
func (l Level) String() string {
	switch l {
	case AtMostOnce:
		return "at most once"
	case ByIdentity:
		return "once by identity"
	case ExactlyOnce:
		return "exactly once"
	}
	return "no level"
}

// Guarantee is what a key is worth for the writes of one part of a catalog, and why.
type Guarantee struct {
	Name   string // of the resource, command or collection of bytes; "graphql" for operations that touch several
	Create Level  // of what creates with an id chosen by the store; Others for everything else
	Others Level
	Reason string // a sentence for people, such as "it shares its transactions with the records"
}
