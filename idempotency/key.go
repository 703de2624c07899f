package idempotency

// The field Idempotency-Key: reading and checking it, and the problems for one that is not valid.

import (
	"encoding/hex"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

const maxKey = 255 // bytes

// Key returns the Idempotency-Key of a request (draft-ietf-httpapi-idempotency-key-header-08
// section 2.1), or "" if the request has none. A quoted and a bare spelling are the same key.
//
// The error is a *problem.Details (400) if the field is invalid, repeated, required but missing, or
// expired.
func (g *Guard) Key(h http.Header) (string, error) {
	lines := h[KeyField]
	if len(lines) == 0 {
		if g.opts.Required {
			return "", missing()
		}
		return "", nil
	}
	key, quoted, err := header.String(lines)
	switch {
	case err != nil:
		return "", invalid(err.Error())
	case !quoted && g.opts.Strict:
		return "", invalid(`the idempotency key must be a quoted string, such as "abc"`)
	}
	if err := g.Check(key); err != nil {
		return "", err
	}
	return key, nil
}

// Check validates a key that was not sent as a header field, such as one in the extensions of a
// GraphQL request. A key has 1 to 255 printable ASCII characters and, with Options.TimeOrdered, a
// valid age. The error is a *problem.Details (400).
func (g *Guard) Check(key string) error {
	if key == "" || len(key) > maxKey {
		return invalid("the idempotency key must have 1 to 255 characters")
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return invalid("the idempotency key must consist of printable ASCII characters")
		}
	}
	if g.opts.TimeOrdered {
		return g.checkAge(key)
	}
	return nil
}

// checkAge rejects keys with records that may have been purged, and keys from the future, because
// they would be rejected too late.
func (g *Guard) checkAge(key string) error {
	born, ok := uuidTime(key)
	if !ok {
		return invalid("the idempotency key must be a UUID of version 7")
	}
	switch age := g.opts.Now().Sub(born); {
	// the earliest expiry of its record, for a clock that is fast by Skew
	case age >= g.opts.TTL+g.opts.Skew:
		return expired(g.opts.TTL)
	case age < -g.opts.Skew:
		return invalid("the time of the idempotency key is in the future; check the clock of the client")
	}
	return nil
}

// uuidTime returns the creation time of a UUID of version 7 (RFC 9562 section 5.7).
func uuidTime(key string) (time.Time, bool) {
	if len(key) != 36 || key[8] != '-' || key[13] != '-' || key[18] != '-' || key[23] != '-' {
		return time.Time{}, false
	}
	var uuid [16]byte
	digits := key[:8] + key[9:13] + key[14:18] + key[19:23] + key[24:]
	if _, err := hex.Decode(uuid[:], []byte(digits)); err != nil {
		return time.Time{}, false
	}
	if uuid[6]>>4 != 7 || uuid[8]>>6 != 2 {
		return time.Time{}, false
	}
	var ms int64
	for _, b := range uuid[:6] {
		ms = ms<<8 | int64(b)
	}
	return time.UnixMilli(ms), true
}

// invalid returns the problem for a key that is not valid.
func invalid(detail string) error {
	return keyProblem(problem.InvalidHeader, "invalid", detail)
}

// missing returns the problem for a request without a key, if Required is set.
func missing() error {
	return keyProblem(problem.KeyMissing, "required", "this request needs an Idempotency-Key")
}

// expired returns the problem for a key that contains a time before the retention.
func expired(ttl time.Duration) error {
	return keyProblem(problem.KeyExpired, "expired", "the idempotency key is older than "+ttl.String()+
		"; check whether its request has taken effect before you use a new key")
}

// keyProblem returns a problem of the key. It does not contain the key, so logs of problems do not
// either.
func keyProblem(kind problem.Kind, code, detail string) *problem.Details {
	d := problem.New(kind, detail)
	d.Errors = []problem.Violation{{Header: KeyField, Code: code, Detail: detail}}
	return d
}
