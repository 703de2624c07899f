package openapi

// Idempotency-Key: its parameter, and the texts, statuses and header fields that it adds to
// operations. Without a Guard in the catalog, Options.IdempotencyKey only declares a middleware, of
// which no options are known.

import (
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
)

// Idempotency keys are described with the guarantees of the catalog, or without them if a
// middleware supports them.

// keyed reports whether requests may have an Idempotency-Key.
func (b *builder) keyed() bool { return b.o.IdempotencyKey || b.c.Idempotency() != nil }

// keyParameter describes Idempotency-Key; nil if it is not supported. It is required only if the
// Guard requires it; a retry without a key is executed again.
func (b *builder) keyParameter() []*parameter {
	if !b.keyed() {
		return nil
	}
	longest, one := 257, 1 // 255 characters and the quotation marks
	p := &parameter{Name: idempotency.KeyField, In: "header",
		Schema: &schemaObject{Type: typeNames{"string"}, MinLength: &one, MaxLength: &longest,
			Pattern: b.keyPattern()},
		Example: quote(`"8e03978e-40d5-43e8-bc93-6894a57f9324"`),
		Description: "A quoted string that is unique for each operation and repeated with each retry. " +
			"A retry receives the response to the first request, with `Idempotency-Replayed`. A key with a " +
			"different request is " +
			"rejected with 422, and a retry while the first request is in progress with 409."}
	if k := b.c.Idempotency(); k != nil {
		o := k.Options()
		p.Required = o.Required
		p.Description += " Keys are stored for " + brief(o.TTL) + "."
		if o.TimeOrdered {
			p.Description += " The key must be a UUID of version 7 that is not older (RFC 9562)."
			p.Example = quote(`"0193f2a4-7c1e-7d3b-9a55-2f6d1c0b8e11"`)
		}
	}
	return []*parameter{b.share("IdempotencyKey", p)}
}

// keyPattern returns the pattern of a key: a quoted string or, unless the Guard is strict, a bare
// word. The draft requires a String of structured fields (RFC 9651 section 3.3.3), but many clients
// send a bare UUID. The classes exclude quotation mark and backslash, and in a bare word also
// separators.
//
// A bare word must not be a value of another structured type: it begins with none of ? : @ % ( and
// is not a number. The pattern is simpler than that: after up to 32 digits it requires a character
// that is not part of a number. Strings with escapes and other bare words are accepted but not
// documented.
func (b *builder) keyPattern() string {
	quoted := `[ !#-\[\]-~]{1,255}`
	bare := `[!#$&')*+.\/<->A-\[\]-~][!#-+\x2d-:<-\[\]-~]{0,254}|` +
		`[0-9]{1,32}[!#-+\x2d\/:<-\[\]-~][!#-+\x2d-:<-\[\]-~]{0,222}`
	var o idempotency.Options
	if k := b.c.Idempotency(); k != nil {
		o = k.Options()
	}
	if o.TimeOrdered {
		// Version 7 and the variant of RFC 9562 section 4.1.
		quoted = `[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}`
		bare = quoted
	}
	if o.Strict {
		return `^"` + quoted + `"$`
	}
	return `^("` + quoted + `"|` + bare + `)$`
}

// brief formats a duration without trailing zeros: 24h. time.Duration writes 24h0m0s, which is
// unusual in text.
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// keyText describes the guarantee of a key for writes to a part of the catalog. For a creation with
// an id that the server chooses, create is true. The text depends on the store of the keys and on
// that of the items, see [resource.Catalog.Guarantee]. The default profile describes the parameter only.
func (b *builder) keyText(name string, create bool) string {
	if !b.keyed() || !b.full {
		return ""
	}
	const text = "With an `Idempotency-Key` the request can be retried safely"
	if b.c.Idempotency() == nil {
		return text
	}
	switch level, _ := b.c.Guarantee(name, create); level {
	case idempotency.ExactlyOnce:
		return text + ": it is executed exactly once"
	case idempotency.ByIdentity:
		return text + ": it is executed once, because the id is derived from the key"
	}
	return text + ": it is executed at most once. If the outcome is unknown, the response is 409 (`" +
		problem.OutcomeUnknown.URI() + "`)"
}

// withKeyErrors adds the error statuses of keys. 429 is that of the quota of keys for each
// principal, which only a Guard of the catalog has.
func (b *builder) withKeyErrors(statuses ...int) []int {
	if !b.keyed() {
		return statuses
	}
	more := []int{409, 422}
	if b.c.Idempotency() != nil {
		more = append(more, 429)
	}
	for _, status := range more {
		if !slices.Contains(statuses, status) {
			statuses = append(statuses, status)
		}
	}
	return statuses
}

// replayHeaders returns the header fields of a response that may be a replay. A replay of a
// response without content never needs Idempotency-Result.
func (b *builder) replayHeaders(content bool) []string {
	switch {
	case !b.keyed():
		return nil
	case content && b.c.Idempotency() != nil:
		return []string{idempotency.ReplayedField, idempotency.ResultField}
	}
	return []string{idempotency.ReplayedField}
}

// keyKinds returns the problems of keys with a status.
func (b *builder) keyKinds(status int) []problem.Kind {
	if !b.keyed() {
		return nil
	}
	switch status {
	case 400:
		return []problem.Kind{problem.KeyMissing, problem.KeyExpired}
	case 409:
		return []problem.Kind{problem.InFlight, problem.OutcomeUnknown}
	case 422:
		return []problem.Kind{problem.KeyReused}
	}
	return nil
}
