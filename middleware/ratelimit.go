package middleware

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// RateLimitOptions adjust [RateLimit]. The zero value is meaningful; nil is the zero value.
type RateLimitOptions struct {
	// Name of the policy, in fields and problems; "" is "default". It is printable ASCII.
	Name string
	// Key names who is counted, such as a tenant. Nil counts by [Principal], and nobody in particular by the address of the
	// client, of which for IPv6 the first 64 bits count. "" is counted as one caller.
	Key func(r *http.Request) string
	// Skip says which requests are not counted, such as those of a health check. Nil counts all.
	Skip func(r *http.Request) bool
	// Callers is how many are remembered at once; 100,000 if zero. If there are more within a window, those not seen for
	// the longest time begin anew. Each takes about 50 bytes, whatever its name.
	Callers int
	// Legacy adds X-RateLimit-Limit, X-RateLimit-Remaining and X-RateLimit-Reset (seconds), for clients that know nothing
	// newer.
	Legacy bool
}

// RateLimit returns a middleware that lets every caller do something as often as the rate says, and tells it how often it
// still may (draft-ietf-httpapi-ratelimit-headers-11):
//
//	RateLimit-Policy: "default";q=100;w=60
//	RateLimit: "default";r=50;t=30
//
// More is refused with 429, of the registered type quota-exceeded that names the policy, and a Retry-After that is the t of
// RateLimit: the earliest time at which one more request is let through. Where some are left, t is the time after which all are.
//
// It counts by the generic cell rate algorithm: the whole quota may be used at once, and what was used comes back evenly, one
// request every Window/Quota. So a window that begins with the whole quota has room for nearly twice as much. Nobody is told of
// a new window at the same second as everybody else. It counts in this process: of n behind one balancer each gives the quota.
//
// A zero rate is no limit: then the middleware changes nothing. Several may stand in each other, if their names differ. opts may
// be nil. RateLimit panics if the rate is none that [ParseRate] would have returned, or the name is none.
func RateLimit(rate Rate, opts *RateLimitOptions) func(http.Handler) http.Handler {
	if rate == (Rate{}) {
		return same
	}
	l := newRateLimit(rate, opts)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if l.opts.Skip != nil && l.opts.Skip(r) {
				next.ServeHTTP(w, r)
				return
			}
			left := l.buckets.take(l.key(r), time.Since(l.start))
			l.tell(w.Header(), left)
			if !left.ok {
				l.refuse(w, r, left)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

type rateLimit struct {
	opts    RateLimitOptions
	rate    Rate
	start   time.Time // from which times are counted, so that a clock that is set back does nothing
	buckets *buckets
	// What is the same in every response. None of these slices is ever changed, and appending copies them.
	quoted string
	policy []string
	limit  []string
}

func newRateLimit(rate Rate, opts *RateLimitOptions) *rateLimit {
	if !rate.valid() {
		panic(fmt.Sprintf("middleware: RateLimit cannot count %d in %v: it wants a quota, and whole seconds",
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
		panic("middleware: the name of a RateLimit is printable ASCII")
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

// key names who is asking.
func (l *rateLimit) key(r *http.Request) uint64 {
	if l.opts.Key != nil {
		return l.buckets.hash('k', l.opts.Key(r))
	}
	if name := Principal(r.Context()); name != "" {
		return l.buckets.hash('p', name)
	}
	return l.buckets.hashAddr(Client(r))
}

// tell adds the fields.
func (l *rateLimit) tell(h http.Header, left left) {
	var buf [64]byte
	b := append(buf[:0], l.quoted...)
	b = strconv.AppendInt(append(b, ";r="...), int64(left.remaining), 10)
	b = strconv.AppendInt(append(b, ";t="...), left.seconds, 10)
	if h["Ratelimit-Policy"] == nil {
		h["Ratelimit-Policy"] = l.policy
		h["Ratelimit"] = []string{string(b)}
	} else { // another one is outside
		h["Ratelimit-Policy"] = append(h["Ratelimit-Policy"], l.policy...)
		h["Ratelimit"] = append(h["Ratelimit"], string(b))
	}
	if l.opts.Legacy {
		h["X-Ratelimit-Limit"] = l.limit
		h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(left.remaining)}
		h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(left.seconds, 10)}
	}
}

func (l *rateLimit) refuse(w http.ResponseWriter, r *http.Request, left left) {
	d := problem.New(problem.TooManyRequests, "More requests than the quota allows.")
	d.Extensions = map[string]any{"violated-policies": []string{l.opts.Name}}
	d.Header = http.Header{"Retry-After": {strconv.FormatInt(left.seconds, 10)}}
	problem.Write(w, r, d)
}
