package version

import (
	"net/http"
	"time"
)

// Contract is one version of an API, and what serves it.
type Contract struct {
	// Name is MAJOR.MINOR.PATCH, all three, in decimal and without leading zeros: 1.1.0.
	Name string
	// Handler serves it. It sees requests as if there were no versions: without the path marker, the query parameter and
	// the member of the content that named the contract. It may be nil for a contract whose Sunset has passed.
	Handler http.Handler
	// Preview marks a contract that may still change. Short names and successor links never lead to it; it must be named
	// in full.
	Preview bool
	// Deprecated is since when, or from when on, the contract should not be used for anything new: it is sent as
	// Deprecation (RFC 9745), and changes nothing else. Zero means that it is not deprecated.
	Deprecated time.Time
	// Sunset is the instant from which the contract is answered with 410, without a restart. It is sent as Sunset
	// (RFC 8594) before and after. Zero means that none is planned. It is not earlier than Deprecated (RFC 9745 section 4).
	Sunset time.Time
	// Brownouts are times in which the contract is answered as after its Sunset, so that those who still use it find out
	// while there is a way back. Only a contract with a Sunset has them, and they are over before it.
	Brownouts []Window
	// Successor is the name of the contract to move to. If empty, it is the newest later one that is neither preview,
	// deprecated nor retired, for a contract that is deprecated or has a Sunset; else there is none. Each response links to
	// the same path in it, without the query, whose names and cursors are those of this contract.
	Successor string
	// DeprecationLink is the URL of a page, in HTML, that says what to do about the deprecation, and SunsetLink of one about
	// the sunset policy. They are sent as Link (RFC 9745 section 3, RFC 8594 section 6) whenever they are set, also
	// before there are dates.
	DeprecationLink, SunsetLink string
	// OpenAPI is the URL of the OpenAPI 3.1 document of this contract, in JSON, sent as Link with rel service-desc
	// (RFC 8631).
	OpenAPI string
}

// Window is a span of time: from From, and up to but without Until.
type Window struct{ From, Until time.Time }

// Status is where a contract is in its life.
type Status string

// The statuses of a contract, in the order in which it goes through them.
const (
	Preview    Status = "preview"    // may still change
	Current    Status = "current"    // to be used
	Deprecated Status = "deprecated" // works as ever, and will not do so for ever
	Retired    Status = "retired"    // answers 410
)

// contract is a Contract with all that can be said of it before there are requests. The header values are shared by all
// responses.
type contract struct {
	Contract
	name        name
	echo        []string
	deprecation []string // nil where there is no date
	sunset      []string
	links       []string
	media       string // what its media types begin with; "" if there are none
	used        usage
}

// status returns where the contract is in its life at an instant.
func (c *contract) status(now time.Time) Status {
	switch {
	case c.retired(now):
		return Retired
	case c.Preview:
		return Preview
	case c.deprecated(now):
		return Deprecated
	}
	return Current
}

func (c *contract) retired(now time.Time) bool {
	return !c.Sunset.IsZero() && !now.Before(c.Sunset)
}

func (c *contract) deprecated(now time.Time) bool {
	return !c.Contract.Deprecated.IsZero() && !now.Before(c.Contract.Deprecated)
}

// brownout returns how long the contract is still away for a while; zero if it is not.
func (c *contract) brownout(now time.Time) time.Duration {
	for _, w := range c.Brownouts {
		if !now.Before(w.From) && now.Before(w.Until) {
			return w.Until.Sub(now)
		}
	}
	return 0
}
