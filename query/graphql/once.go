package graphql

// Mutations with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-08). A key applies
// to the whole operation. Writes in the database of the records run in one transaction with the
// record, so that an error of any field rolls back all of them. A write that cannot be rolled back
// must be the only one.
//
// The record contains the response, because only the response has the selection, aliases and order
// of the request. once_replay.go restores it.

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// keyedMutation is a mutation with an idempotency key. It implements [resource.KeyedWrite].
type keyedMutation struct {
	k        *work
	prepared *exec.Prepared
	writes   []exec.Write
	key      *resource.Key
	level    idempotency.Level
	runner   tx.Runner
	content  [32]byte
	start    int    // position of the response in dst
	dst      []byte // response of the last attempt, appended to the buffer of the caller
}

// answerOnce executes a mutation with a key, or appends its stored response.
func (k *work) answerOnce(ctx context.Context, plan *exec.Plan, q *parsedRequest, key string,
	dst []byte) ([]byte, outcome, error) {
	prepared, errs := k.h.engine.Prepare(plan, q.variables)
	if errs != nil {
		return gqlerror.Answer(dst, errs...), refused, nil
	}
	defer prepared.End()
	e := &keyedMutation{k: k, prepared: prepared, writes: prepared.Writes(), start: len(dst), dst: dst}
	if !slices.ContainsFunc(e.writes, isKept) { // no response may be stored
		k.fresh += len(e.writes)
		dst, _ = prepared.Run(ctx, nil, dst)
		return dst, done, nil
	}
	principal := k.h.catalog.Principal(ctx)
	if principal == "" {
		return dst, refused, badKey("invalid", "a request with an idempotency key must be authenticated")
	}
	if err := e.checkLevels(); err != nil {
		return dst, refused, err
	}
	document, variables := prepared.Meaning()
	e.content = idempotency.Fingerprint(document, idempotency.CanonicalJSON(variables))
	// The version is part of the key, because it decides the meaning of a document. The path is
	// not, because the handler may have several.
	e.key = k.h.catalog.Key("", idempotency.Operation{Principal: principal, Method: "mutation",
		Target: "graphql", Key: key},
		contract.From(ctx).Name())
	e.key.SetLevel(e.level, e.runner, e.resources()...)
	e.key.Atomic = true
	return e.answer(e.key.Do(ctx, e))
}

// answer returns the response. A field error is part of it. An error of the key, the records or the
// database has a status code of its own, in either media type, so that clients know when to retry.
func (e *keyedMutation) answer(err error) ([]byte, outcome, error) {
	var failed *failure
	switch {
	case err == nil && e.key.Replayed() != nil:
		return e.dst, done, nil
	// If the database is unavailable, field errors may not state what happened.
	case err == nil, errors.As(err, &failed) &&
		!(e.level == idempotency.ExactlyOnce && errors.Is(err, tx.ErrUnavailable)):
		e.k.fresh++
		return e.dst, done, nil
	}
	return e.dst[:e.start], refused, err
}

// Content returns a hash of the document and the variables. The contract is part of the key.
func (e *keyedMutation) Content(context.Context) resource.KeyedContent {
	return resource.KeyedContent{Sent: e.content[:]}
}

// Creates returns false, because checkLevels has determined the guarantee of all writes.
func (e *keyedMutation) Creates() bool { return false }

// failure is an error after which the writes did not happen or their outcome is unknown. The
// response that reports it has been written.
type failure struct{ error }

// Unwrap returns the field error.
func (f *failure) Unwrap() error { return f.error }

// Do executes the mutation. In a transaction it may be called again after a rollback, so each call
// writes a new response.
//
// It returns an error if no write happened or, below ExactlyOnce, if the outcome is unknown. Below
// ExactlyOnce an error of a selected field is not an error of Do: the write remains and is recorded
// with the response.
func (e *keyedMutation) Do(ctx context.Context) error {
	opts := &exec.Attempt{Whole: e.level == idempotency.ExactlyOnce}
	if e.level == idempotency.ByIdentity {
		opts.NewID = e.key.NewID(ctx, e.writes[0].Field.Resource.Name())
	}
	var result exec.Result
	e.dst, result = e.prepared.Run(ctx, opts, e.dst[:e.start])
	// A rejection of one of several writes is not recorded, because the others are rolled back.
	kept := len(e.writes) == 1 && refusal(result.First) && idempotency.RecordsRefusal(ctx)
	switch {
	case kept:
	case opts.Whole && result.Err != nil:
		return &failure{result.Err}
	case !opts.Whole && result.First != nil:
		if !result.Begun { // such as invalid arguments or a timeout
			result.First = errors.Join(result.First, idempotency.ErrNothingDone)
		}
		return &failure{result.First}
	}
	return nil
}

// refusal reports whether err is a client error.
func refusal(err error) bool {
	return err != nil && resource.Problem(err).StatusCode() < http.StatusInternalServerError
}

// Record returns the record of the response. It is a copy, unless the response is too large to be
// stored.
func (e *keyedMutation) Record() (idempotency.Record, error) {
	answer := e.dst[e.start:]
	if len(answer) <= e.k.h.once.Options().MaxResult {
		answer = append(e.notes(), answer...)
	}
	return idempotency.Record{Status: http.StatusOK, Media: mediaResponse, Result: answer}, nil
}

// checkLevels determines the guarantee of the key for all writes together. It rejects a write that
// cannot be rolled back if there are others. Otherwise the write would remain if another one fails.
func (e *keyedMutation) checkLevels() error {
	for i := range e.writes {
		w := &e.writes[i]
		e.level, e.runner = e.k.h.guarantee(w.Field, w.NamesID)
		if !isKept(*w) {
			return problem.New(problem.BadRequest,
				"The result of "+w.Key+
					" is secret and not stored for a key. Send it in a request of its own.")
		}
		if len(e.writes) > 1 && e.level != idempotency.ExactlyOnce {
			return problem.New(problem.BadRequest,
				"The mutations of one key are executed all or not at all, and "+w.Key+
					" cannot be rolled back ("+e.level.String()+"). Send it alone, or without a key.")
		}
	}
	return nil
}

// resources returns the resources of the writes.
func (e *keyedMutation) resources() (list []*resource.Resource) {
	for _, w := range e.writes {
		if w.Field.Resource != nil {
			list = append(list, w.Field.Resource)
		}
	}
	return list
}

// isKept reports whether the response of a write may be stored.
func isKept(w exec.Write) bool { return w.Field.Source != model.Invoke || !w.Field.Command.Secret() }

// guarantee returns the idempotency level of a mutation field and the Runner of its transactions.
// namesID reports that the client chooses the id of a created item.
func (h *Handler) guarantee(f *model.Field, namesID bool) (idempotency.Level, tx.Runner) {
	switch {
	case f.Source == model.Custom:
		return h.once.LevelFor(f.Custom.Transactions), f.Custom.Transactions
	// in GraphQL the command is invoked directly and not as a job
	case f.Source == model.Invoke && f.Command.Jobs() != nil:
		return idempotency.AtMostOnce, nil
	case f.Source == model.Link || f.Source == model.Unlink:
		join, _ := f.Resource.LinkedBy(f.Relation)
		return h.catalog.Guarantee(join.Name(), false)
	case f.Source == model.Invoke:
		return h.catalog.Guarantee(f.Command.Name(), false)
	}
	return h.catalog.Guarantee(f.Resource.Name(), f.Source == model.Create && !namesID)
}

// key returns the idempotency key of a mutation, or "" if there is none. It is in the header, or in
// the extensions of the request. A request of a batch has the key of the batch with its index,
// because the requests are executed one by one, and a retry continues after the last one.
func (k *work) key(q *parsedRequest) (string, error) {
	once, key := k.h.once, q.key
	if q.keyed {
		if err := once.Check(key); err != nil {
			return "", err
		}
	}
	if !q.keyed || len(k.header[idempotency.KeyField]) > 0 {
		value, err := once.Key(k.header)
		if err != nil {
			return "", err
		}
		if q.keyed && value != key {
			return "",
				badKey("different",
					"differs from extensions.idempotencyKey; send one of them, or the same key in both")
		}
		key = value
	}
	if key != "" && q.place > 0 {
		key += "/" + strconv.Itoa(q.place-1)
	}
	return key, nil
}

// badKey returns the error for an invalid key. It does not contain the key.
func badKey(code, detail string) error {
	d := problem.New(problem.InvalidHeader, "The idempotency key is not valid.")
	d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: code, Detail: detail}}
	return d
}

// setReplayed sets the header for a replayed response. For a batch, all mutations must be replayed.
func (x *exchange) setReplayed() {
	if x.replayed == 0 || x.fresh > 0 {
		return
	}
	h := x.w.Header()
	h[idempotency.ReplayedField] = []string{"true"}
	if x.reference {
		h[idempotency.ResultField] = []string{"reference"}
	}
}
