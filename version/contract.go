package version

import (
	"net/http"
	"time"
)

// Contract is one version of an API and the handler that serves it.
type Contract struct {
	// Name is MAJOR.MINOR.PATCH in decimal without leading zeros, such as 1.1.0. All three parts
	// are required.
	Name string
	// Handler serves the contract. It receives requests without the version: the path segment, the
	// query parameter and the body member that named the contract have been removed. It is nil if At
	// is set, and may be nil if Sunset has passed.
	Handler http.Handler
	// At is the URL of the contract on another server, such as https://api-v1.example.com or
	// https://example.com/api/v1, with http or https and without query. The path of a request, as
	// Handler would receive it, and its query are appended. Requests are answered with 308 and that
	// Location, and the URL is in the list of versions and in successor links. Empty means that
	// Handler serves the contract.
	At string
	// Proxy forwards requests to At, without a redirect. Clients do not see At, so it may be an
	// internal URL. Everything except the URL is forwarded as received: the header fields and the
	// body that name the contract, too. X-Forwarded-For, X-Forwarded-Host and X-Forwarded-Proto are
	// the address, host and scheme of the client, as [middleware.ClientAddress] has found them. The
	// other server must trust these fields from this server only.
	Proxy bool
	// Preview marks a contract that may still change. Only its full name selects it, and successor
	// links never point to it.
	Preview bool
	// Deprecated is the time from which clients should no longer adopt the contract; it may be in
	// the past or in the future. It is sent as Deprecation (RFC 9745) and has no other effect. Zero
	// means not deprecated.
	Deprecated time.Time
	// Sunset is the time from which requests to the contract are rejected with 410. No restart is
	// needed. It is sent as Sunset (RFC 8594) before and after that time. It must not be earlier
	// than Deprecated (RFC 9745 section 4), and [Options.MinDeprecation] applies. Zero means that no
	// end is planned.
	Sunset time.Time
	// Brownouts are periods in which requests to the contract are rejected as they are after
	// Sunset. They make remaining clients visible while the contract can still be used again. They
	// require a Sunset and must end before it.
	Brownouts []Window
	// Successor is the full name of the contract that replaces this one. If it is empty and the
	// contract is deprecated or has a Sunset, the successor is the newest later contract that is
	// neither preview, deprecated nor retired. Each response links to the same path in the
	// successor. The link has no query, because cursors and field names belong to one contract.
	Successor string
	// DeprecationLink is the URL of an HTML page about the deprecation, such as that of
	// [Negotiator.Changelog], and SunsetLink of one about
	// the sunset policy. If they are set, each response has them as Link (RFC 9745 section 3, RFC
	// 8594 section 6), even if there are no dates yet.
	DeprecationLink, SunsetLink string
	// OpenAPI is the URL of the contract's OpenAPI 3.1 document in JSON. It is sent as Link with
	// rel service-desc (RFC 8631).
	OpenAPI string
}

// Window is a period of time. From is included, Until is not.
type Window struct{ From, Until time.Time }

// Status is a stage in the life cycle of a contract.
type Status string

// The statuses of a contract, in the order of its life cycle.
const (
	Preview    Status = "preview"    // may still change
	Current    Status = "current"    // supported
	Deprecated Status = "deprecated" // supported, but not for new clients
	Retired    Status = "retired"    // no longer served: 410
)

// contract is a Contract with everything that can be computed before the first request. All
// responses share its header values.
type contract struct {
	Contract
	name        versionName
	echoValue   []string
	deprecation []string // nil if there is no date
	sunset      []string
	links       []string
	mediaPrefix string  // prefix of its media types; "" without MediaType
	remote      *remote // nil without At
	usage       counters
	changes     *contractChanges // since the previous contract; nil if unknown
}

// served reports whether there is something to serve the contract: a handler or another server.
func (c *contract) served() bool { return c.Handler != nil || c.remote != nil }

// status returns the status of the contract at the time now.
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

// brownout returns the remaining time of the current brownout; zero if there is none.
func (c *contract) brownout(now time.Time) time.Duration {
	for _, w := range c.Brownouts {
		if !now.Before(w.From) && now.Before(w.Until) {
			return w.Until.Sub(now)
		}
	}
	return 0
}
