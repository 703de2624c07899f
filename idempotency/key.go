package idempotency

import (
	"encoding/hex"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

const maxKey = 255 // bytes

// Key reads the Idempotency-Key of a request (draft-ietf-httpapi-idempotency-key-header-07 section 2.1): "" if it has none.
// The quoted and the bare spelling are the same key.
//
// The error is a *problem.Details: 400 for a field that is no key, that there is twice, that is required and missing, or
// that is too old, as the Options say.
func (k *Guard) Key(h http.Header) (string, error) {
	lines := h[KeyField]
	if len(lines) == 0 {
		if k.opts.Required {
			return "", missing()
		}
		return "", nil
	}
	key, quoted, err := header.String(lines)
	switch {
	case err != nil:
		return "", invalid(err.Error())
	case !quoted && k.opts.Strict:
		return "", invalid("a key has to be in quotation marks")
	}
	if err := k.Check(key); err != nil {
		return "", err
	}
	return key, nil
}

// Check returns an error unless a key that came by another way than the header, such as in the extensions of a GraphQL
// request, is one: 1 to 255 printable characters of ASCII and, where keys are TimeOrdered, of the right age. The error is a
// *problem.Details (400).
func (k *Guard) Check(key string) error {
	if key == "" || len(key) > maxKey {
		return invalid("a key has from 1 to 255 characters")
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return invalid("a key consists of printable characters of ASCII")
		}
	}
	if k.opts.TimeOrdered {
		return k.checkAge(key)
	}
	return nil
}

// checkAge refuses keys of which the record may be gone, and those that would be refused too late since they claim to be
// made in the future.
func (k *Guard) checkAge(key string) error {
	born, ok := bornAt(key)
	if !ok {
		return invalid("a key has to be a UUID of version 7")
	}
	switch age := k.opts.Now().Sub(born); {
	case age >= k.opts.TTL+k.opts.Skew: // when its record expires, if its clock was as far ahead as may be
		return expired(k.opts.TTL)
	case age < -k.opts.Skew:
		return invalid("the key is from the future: the clock that it was made by is wrong")
	}
	return nil
}

// bornAt returns when a UUID of version 7 was made (RFC 9562 section 5.7).
func bornAt(key string) (time.Time, bool) {
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

func invalid(detail string) error {
	return keyProblem(problem.InvalidHeader, "invalid", detail)
}

func missing() error {
	return keyProblem(problem.KeyMissing, "required", "a request that changes something needs an Idempotency-Key")
}

func expired(ttl time.Duration) error {
	return keyProblem(problem.KeyExpired, "expired", "the key is older than "+ttl.String()+
		": what it was used for may be forgotten. Find out what has happened, and use a new one")
}

// keyProblem is a refusal of a key. It never repeats the key: logs have no need of it.
func keyProblem(kind problem.Kind, code, detail string) *problem.Details {
	d := problem.New(kind, detail)
	d.Errors = []problem.Violation{{Header: KeyField, Code: code, Detail: detail}}
	return d
}
