package graphql

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
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
	"github.com/stoa-go/stoa/version"
)

// Mutations with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07). A key belongs to all that the operation
// does. What is in the database of the records is done in one transaction with the record, so that an error of any field takes
// back all of it; what is not, and nobody can take back, has to be alone.
//
// The record is the answer itself, since nothing else has the selection, the aliases and the order that were asked for. See
// once_replay.go for how it is given again.

// errand is a mutation with a key. It is a [resource.KeyedWrite].
type errand struct {
	k        *work
	prepared *exec.Prepared
	writes   []exec.Write
	key      *resource.Key
	level    idempotency.Level
	runner   tx.Runner
	content  [32]byte
	start    int    // where the answer begins in dst
	dst      []byte // of the last attempt
}

// answerOnce executes a mutation that has a key, or appends the answer that it got before.
func (k *work) answerOnce(ctx context.Context, plan *exec.Plan, q *request, key string,
	dst []byte) ([]byte, outcome, error) {
	prepared, errs := k.h.engine.Prepare(plan, q.variables)
	if errs != nil {
		return gqlerror.Answer(dst, errs...), refused, nil
	}
	defer prepared.End()
	e := &errand{k: k, prepared: prepared, writes: prepared.Writes(), start: len(dst), dst: dst}
	if !slices.ContainsFunc(e.writes, isKept) { // nothing is done, or nothing that may be kept
		k.fresh += len(e.writes)
		dst, _ = prepared.Run(ctx, nil, dst)
		return dst, done, nil
	}
	principal := k.h.catalog.Principal(ctx)
	if principal == "" {
		return dst, refused, badKey("invalid", "a key is of no use to a caller who is not known")
	}
	if err := e.judge(); err != nil {
		return dst, refused, err
	}
	document, variables, err := prepared.Meaning()
	if err != nil {
		return dst, refused, err
	}
	e.content = idempotency.Fingerprint(document, variables)
	// The contract is part of the key, since documents mean what its schema says. The path is not: the handler may be mounted
	// under several.
	e.key = k.h.catalog.Key("", idempotency.Operation{Principal: principal, Method: "mutation",
		Target: "graphql", Key: key},
		version.From(ctx).Contract())
	e.key.SetLevel(e.level, e.runner)
	e.key.Atomic = true
	return e.answer(e.key.Do(ctx, e))
}

// answer returns the answer. An error of a field is in the answer that there is. One of the key, of the records or of the
// database is not, and has a status code of its own, in either media type, so that clients know when to retry.
func (e *errand) answer(err error) ([]byte, outcome, error) {
	var failed *failure
	switch {
	case err == nil && e.key.Replayed() != nil:
		return e.dst, done, nil
	// A database that gave up may or may not have made the fields fail: then what they report is not what has happened.
	case err == nil, errors.As(err, &failed) &&
		!(e.level == idempotency.ExactlyOnce && errors.Is(err, tx.ErrUnavailable)):
		e.k.fresh++
		return e.dst, done, nil
	}
	return e.dst[:e.start], refused, err
}

// Content returns the fingerprint of document and variables.
func (e *errand) Content() []byte { return e.content[:] }

// Creates is false: judge has found out the guarantee of all writes together.
func (e *errand) Creates() bool { return false }

// failure is an error by which nothing was done, or nobody knows what: the answer that tells of it is there already.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// Do executes the mutation. In a transaction it may be called again, and what it did before has been rolled back by then: only
// the answer is kept here, and each time anew.
//
// An error means that nothing was done or, below ExactlyOnce, that the outcome is unknown. There an error of what is selected
// from the write is none: the write stands, and is recorded with the answer that has the error.
func (e *errand) Do(ctx context.Context) error {
	opts := &exec.Attempt{Whole: e.level == idempotency.ExactlyOnce}
	if e.level == idempotency.ByIdentity {
		opts.NewID = e.key.NewID(ctx, e.writes[0].Field.Resource.Name())
	}
	var result exec.Result
	e.dst, result = e.prepared.Run(ctx, opts, e.dst[:e.start])
	// Of several, a refusal that is kept would leave the others behind: all or nothing goes first.
	kept := len(e.writes) == 1 && refusal(result.First) && idempotency.RecordsRefusal(ctx)
	switch {
	case kept:
	case opts.Whole && result.Err != nil:
		return &failure{result.Err}
	case !opts.Whole && result.First != nil:
		if !result.Begun { // such as arguments that are wrong, or an operation that had no time left
			result.First = errors.Join(result.First, idempotency.ErrNothingDone)
		}
		return &failure{result.First}
	}
	return nil
}

// refusal reports whether an error says that the client is not to have what it asked for.
func refusal(err error) bool {
	return err != nil && resource.Problem(err).StatusCode() < http.StatusInternalServerError
}

// Record returns the record of the answer. It has memory of its own, unless it is too large to be kept anyway.
func (e *errand) Record() (idempotency.Record, error) {
	answer := e.dst[e.start:]
	if len(answer) <= e.k.h.once.Options().MaxResult {
		answer = append(e.notes(), answer...)
	}
	return idempotency.Record{Status: http.StatusOK, Media: mediaResponse, Result: answer}, nil
}

// judge finds out what the key is worth for the writes, together. Where one of several cannot be taken back, a failure of
// another would leave it behind, and the key would tell of a whole that never was.
func (e *errand) judge() error {
	for i := range e.writes {
		w := &e.writes[i]
		e.level, e.runner = e.k.h.guarantee(w.Field, w.NamesID)
		if !isKept(*w) {
			return problem.New(problem.BadRequest,
				"What "+w.Key+" answers is not kept under a key: send it by itself.")
		}
		if len(e.writes) > 1 && e.level != idempotency.ExactlyOnce {
			return problem.New(problem.BadRequest, "Under one key all is done or nothing, and "+w.Key+
				" cannot be taken back ("+e.level.String()+"): send it by itself, or without a key.")
		}
	}
	return nil
}

// isKept reports whether what a write answers may be kept, so that a key means something to it.
func isKept(w exec.Write) bool { return w.Field.Source != model.Invoke || !w.Field.Command.Secret() }

// guarantee returns what a key is worth for a field of Mutation, and in whose transactions it happens. namesID says that
// the id of what is created is the client's.
func (h *Handler) guarantee(f *model.Field, namesID bool) (idempotency.Level, tx.Runner) {
	switch {
	case f.Source == model.Custom:
		return h.once.LevelFor(f.Custom.Transactions), f.Custom.Transactions
	// in GraphQL it is done at once, and not noted as a job
	case f.Source == model.Invoke && f.Command.Jobs() != nil:
		return idempotency.AtMostOnce, nil
	case f.Source == model.Invoke:
		return h.catalog.Guarantee(f.Command.Name(), false)
	}
	return h.catalog.Guarantee(f.Resource.Name(), f.Source == model.Create && !namesID)
}

// key returns the key of a mutation; "" for none. It may stand in the header or in the request itself, which is how it
// comes where a connection has many requests. Each request of a batch has the key of all with its place, as they are done one
// by one, and a batch that broke off goes on where it did.
func (k *work) key(q *request) (string, error) {
	once, key := k.h.once, q.key
	if q.keyed {
		if err := once.Check(key); err != nil {
			return "", err
		}
	}
	if !q.keyed || len(k.header[idempotency.KeyField]) > 0 {
		said, err := once.Key(k.header)
		if err != nil {
			return "", err
		}
		if q.keyed && said != key {
			return "",
				badKey("different",
					"it is not the key in extensions.idempotencyKey: give one of them, or both alike")
		}
		key = said
	}
	if key != "" && q.place > 0 {
		key += "/" + strconv.Itoa(q.place-1)
	}
	return key, nil
}

// badKey refuses a key. It does not repeat it.
func badKey(code, detail string) error {
	d := problem.New(problem.InvalidHeader, "The key cannot be used.")
	d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: code, Detail: detail}}
	return d
}

// setReplayed says in the header that the answer was given before. Of several in a batch all must have been.
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
