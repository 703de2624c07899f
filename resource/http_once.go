package resource

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Requests that write and have an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07). The key is looked up when
// all has been judged that does not depend on what is stored, and the content has been read, since its meaning is part of
// what a key stands for. What is refused from there on is nothing that was done, so it is not remembered. What is answered
// again is made anew of the record, for the contract, the form and the part that this request asks for.

// key returns the Idempotency-Key of the request; "" if it has none, or if no keys are kept.
func (x *call) key() (string, error) {
	if x.c.opts.Once == nil {
		return "", nil
	}
	key, err := x.c.opts.Once.Key(x.r.Header)
	if err != nil || key == "" {
		return "", err
	}
	if x.principal() == "" {
		const detail = "a key is of no use to a caller who is not known"
		d := problem.New(problem.InvalidHeader, detail)
		d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: "anonymous", Detail: detail}}
		return "", d
	}
	return key, nil
}

// keyed is one request with a key.
type keyed struct {
	x      *call
	op     idempotency.Operation
	level  idempotency.Level
	runner tx.Runner
	whole  bool  // what is refused may have been done in part, and is to be taken back
	kept   error // the refusal that is remembered; nil for none
}

// under begins what is done under the key of a write. meaning is what the content says, whatever its spelling and its
// contract. create tells what creates an item with an id that is ours to choose.
func (x *call) under(w *writeRequest, id string, create bool, meaning []byte) *keyed {
	rt := x.route
	k := &keyed{x: x, level: rt.guaranteed.Others, runner: rt.runner()}
	if create {
		k.level = rt.guaranteed.Create
	}
	target := rt.name
	if x.onItem {
		target += "/" + id
	}
	k.op = idempotency.Operation{
		Principal: x.principal(), Method: x.r.Method, Target: target, Key: w.key,
		Fingerprint: fingerprintOf(meaning, x.r.Method, target, x.canonicalQuery(), w.media),
	}
	return k
}

// fingerprintOf is [idempotency.Fingerprint] in memory that is used again.
func fingerprintOf(meaning []byte, parts ...string) [32]byte {
	buf := getBuffer()
	defer putBuffer(buf)
	for _, part := range parts {
		*buf = append(binary.AppendUvarint(*buf, uint64(len(part))), part...)
	}
	*buf = append(binary.AppendUvarint(*buf, uint64(len(meaning))), meaning...)
	return sha256.Sum256(*buf)
}

// canonicalQuery is the query in one spelling. What names the contract is not in it any more.
func (x *call) canonicalQuery() string {
	if x.r.URL.RawQuery == "" {
		return ""
	}
	return x.r.URL.Query().Encode() // what it cannot read has been refused
}

// newID is the id of what is created under the key, where the level asks for one. It follows from the content, too: a key
// that is used again after its record has expired must not find what another request has made.
func (k *keyed) newID(ctx context.Context, name string) string {
	if k.level != idempotency.ByIdentity {
		return ""
	}
	return idempotency.DerivedID(ctx, name+"/"+hex.EncodeToString(k.op.Fingerprint[:]))
}

// once has a write done, unless it has been: then it returns the record of that, and else nil.
func (k *keyed) once(do func(ctx context.Context) (idempotency.Record, error)) (before *idempotency.Record, err error) {
	rec, replayed, err := k.x.c.Do(k.x.r.Context(), k.op, k.level, k.runner, func(ctx context.Context) (idempotency.Record, error) {
		k.kept = nil
		rec, err := do(ctx)
		if err != nil && k.keeps(ctx, err) {
			k.kept = err
			return keep(Problem(err)), nil
		}
		return rec, err
	})
	switch {
	case err != nil:
		return nil, err
	case replayed && rec.Status >= http.StatusBadRequest:
		return nil, &keptError{&rec}
	case replayed:
		return &rec, nil
	}
	return nil, k.kept
}

// keeps reports whether a refusal is to be given again: since somebody asked for it, and nothing has to be taken back; or
// since something was done before.
func (k *keyed) keeps(ctx context.Context, err error) bool {
	if errors.Is(err, tx.ErrOutcomeUnknown) || Problem(err).StatusCode() >= http.StatusInternalServerError {
		return false
	}
	return errors.As(err, new(*unfinishedError)) || idempotency.Kept(ctx) && !k.whole
}

// detached is ctx without the end of a client that goes away: what is begun outside of a transaction and given up halfway
// leaves nobody any wiser. Its deadline stays.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	ctx = context.WithoutCancel(ctx)
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline)
}

const mediaProblem = "application/problem+json"

// keep makes a record of a refusal that is to be given again.
func keep(d *problem.Details) idempotency.Record {
	rec := idempotency.Record{Status: d.StatusCode(), Media: mediaProblem, Result: d.Append(nil)}
	for _, name := range []string{"Retry-After", "Www-Authenticate"} {
		if lines := d.Header[name]; lines != nil {
			if rec.Header == nil {
				rec.Header = http.Header{}
			}
			rec.Header[name] = lines
		}
	}
	return rec
}

// keptError is a refusal that was given before.
type keptError struct{ rec *idempotency.Record }

func (e *keptError) Error() string { return "it was refused before" }

// refuseAgain answers with a refusal that was given before.
func (x *call) refuseAgain(rec *idempotency.Record) {
	h := x.w.Header()
	for name, lines := range rec.Header {
		h[name] = lines
	}
	h["Vary"] = x.vary()
	h["Cache-Control"] = noStore
	h["Content-Type"] = []string{mediaProblem}
	x.replayed(rec)
	validators{length: len(rec.Result)}.set(h)
	_ = x.respond(rec.Status, rec.Result)
}

var isTrue = []string{"true"}

// replayed says that what is answered was answered before.
func (x *call) replayed(rec *idempotency.Record) {
	h := x.w.Header()
	h[idempotency.ReplayedField] = isTrue
	if rec.Reference() {
		h[idempotency.ResultField] = []string{"reference"}
	}
}

// noteModified has a record say when its item was modified, to the second, as the answer does; a zero time is not known.
func noteModified(rec *idempotency.Record, modified time.Time) {
	if !modified.IsZero() {
		rec.Header = http.Header{"Last-Modified": {modified.UTC().Format(http.TimeFormat)}}
	}
}

// notedModified returns what noteModified has noted; zero if that is nothing.
func notedModified(rec *idempotency.Record) time.Time {
	modified, _ := time.Parse(http.TimeFormat, rec.Header.Get("Last-Modified")) // zero for what is none
	return modified
}
