package middleware

// The rate limit with the fields RateLimit and RateLimit-Policy of the IETF draft.

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// RateLimitOptions configures [RateLimit]. Nil means the zero value.
type RateLimitOptions struct {
	// Name is the name of the policy in header fields and problems. It must be printable ASCII.
	// Default "default".
	Name string
	// Key returns the key that requests are counted by, such as a tenant. All requests with the key
	// "" share one quota. Nil counts by [Principal], and anonymous requests by client address, for
	// IPv6 by its /64 network.
	Key func(r *http.Request) string
	// Skip reports whether a request is not counted, such as a health check. Nil counts all
	// requests.
	Skip func(r *http.Request) bool
	// Callers limits how many callers are stored. Default 100,000. If there are more within a
	// window, those that were idle longest get their quota back. Each uses about 50 bytes.
	Callers int
	// Legacy adds X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset (in seconds) for
	// older clients. Default false.
	Legacy bool
}

// RateLimit returns a middleware that limits the requests of each caller to the given rate.
// Responses contain the remaining quota (draft-ietf-httpapi-ratelimit-headers-11):
//
//	RateLimit-Policy: "default";q=100;w=60
//	RateLimit: "default";r=50;t=30
//
// Further requests are rejected with 429, the registered problem type quota-exceeded and
// Retry-After. Its value is the t of RateLimit: the number of seconds until the next request is
// allowed. If r is not zero, t is the time until the whole quota is available.
//
// The algorithm is the generic cell rate algorithm: the whole quota can be used at once, and one
// request becomes available every Window/Quota. A window can therefore contain nearly twice the
// quota, but there is no common reset at which all clients retry. Each process counts separately:
// with n processes, a caller has n times the quota.
//
// A zero rate returns a middleware that does nothing. Several rate limits can be combined if their
// names differ. opts may be nil. RateLimit panics if the rate is not valid for [ParseRate] or the
// name is not printable ASCII.
func RateLimit(rate Rate, opts *RateLimitOptions) func(http.Handler) http.Handler {
	if rate == (Rate{}) {
		return identity
	}
	l := newRateLimit(rate, opts)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if l.opts.Skip != nil && l.opts.Skip(r) {
				next.ServeHTTP(w, r)
				return
			}
			a := l.buckets.take(l.callerKey(r), time.Since(l.start))
			l.setHeader(w.Header(), a)
			if !a.allowed {
				l.refuse(w, r, a)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

type rateLimit struct {
	opts    RateLimitOptions
	rate    Rate
	start   time.Time // times are measured from start on the monotonic clock
	buckets *buckets
	// These are shared by all responses. They have no spare capacity, so append copies them.
	quoted string
	policy []string
	limit  []string
}

// newRateLimit checks the options and prepares the field values that never change.
func newRateLimit(rate Rate, opts *RateLimitOptions) *rateLimit {
	if !rate.valid() {
		panic(fmt.Sprintf("middleware: RateLimit: invalid rate of %d per %v; use 1 or more per whole seconds",
			rate.Quota, rate.Window))
	}
	l := &rateLimit{rate: rate, start: time.Now()}
	if opts != nil {
		l.opts = *opts
	}
	if l.opts.Name == "" {
		l.opts.Name = "default"
	}
	if !isPlain(l.opts.Name) {
		panic(fmt.Sprintf("middleware: RateLimitOptions.Name %q is not printable ASCII", l.opts.Name))
	}
	if l.opts.Callers <= 0 {
		l.opts.Callers = 100_000
	}
	l.buckets = newBuckets(rate, l.opts.Callers)
	l.quoted = `"` + quotable(l.opts.Name) + `"`
	l.policy = []string{l.quoted + ";q=" + strconv.Itoa(rate.Quota) + ";w=" +
		strconv.Itoa(int(rate.Window/time.Second))}
	l.limit = []string{strconv.Itoa(rate.Quota)}
	return l
}

// callerKey returns the key of the caller of r.
func (l *rateLimit) callerKey(r *http.Request) uint64 {
	if l.opts.Key != nil {
		return l.buckets.hash('k', l.opts.Key(r))
	}
	if name := Principal(r.Context()); name != "" {
		return l.buckets.hash('p', name)
	}
	return l.buckets.hashAddr(Client(r))
}

// setHeader adds the RateLimit fields.
func (l *rateLimit) setHeader(h http.Header, a allowance) {
	var buf [64]byte
	b := append(buf[:0], l.quoted...)
	b = strconv.AppendInt(append(b, ";r="...), int64(a.remaining), 10)
	b = strconv.AppendInt(append(b, ";t="...), a.seconds, 10)
	if h["Ratelimit-Policy"] == nil {
		h["Ratelimit-Policy"] = l.policy
		h["Ratelimit"] = []string{string(b)}
	} else { // an outer RateLimit has set them
		h["Ratelimit-Policy"] = append(h["Ratelimit-Policy"], l.policy...)
		h["Ratelimit"] = append(h["Ratelimit"], string(b))
	}
	if l.opts.Legacy {
		h["X-Ratelimit-Limit"] = l.limit
		h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(a.remaining)}
		h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(a.seconds, 10)}
	}
}

// refuse sends 429 with the seconds until the next request is allowed.
func (l *rateLimit) refuse(w http.ResponseWriter, r *http.Request, a allowance) {
	d := problem.New(problem.TooManyRequests,
		fmt.Sprintf("The rate limit %q of %v is exceeded; retry after %ds.",
			l.opts.Name, l.rate, a.seconds))
	d.Extensions = map[string]any{"violated-policies": []string{l.opts.Name}}
	d.Header = http.Header{"Retry-After": {strconv.FormatInt(a.seconds, 10)}}
	problem.Write(w, r, d)
}
