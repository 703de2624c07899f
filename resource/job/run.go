package job

// The execution of one job, from its start to its stored outcome.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// execution is a job that runs in this process.
type execution struct {
	id       string
	started  bool            // the job is stored and runs; guarded by Jobs.mu, like id
	ctx      context.Context // context of the job; canceled by Drain or if the lease is lost
	cancel   context.CancelCauseFunc
	storeCtx context.Context // context of store calls; not canceled with ctx
	done     chan struct{}   // closed after the outcome has been stored
}

// Causes of the cancellation of a job's context.
var (
	errStopped = errors.New("job: process is shutting down")
	errLost    = errors.New("job: lease expired and was taken over by another process")
)

// errExited is the error of a job if its function has ended the goroutine.
var errExited = errors.New("job: function called runtime.Goexit")

// Start stores a job as running and calls do in a new goroutine; see [command.Jobs]. do receives a
// context with the values of ctx that is not canceled with it. It is canceled when [Jobs.Drain]
// stops waiting, or when another process has reported the job as failed. Inside a transaction, the
// job starts after the commit, and never after a rollback.
//
// The error is [resource.ErrUnavailable] if Options.Limit is reached or Drain has been called, and
// otherwise that of the store. An error of do is stored as the problem that [resource.Problem]
// returns for it; a panic and [runtime.Goexit] are stored as internal errors. done is closed when the
// outcome has been stored.
func (j *Jobs) Start(
	ctx context.Context, command string, do func(ctx context.Context) (jsontext.Value, error),
) (id string, done <-chan struct{}, err error) {
	r := &execution{storeCtx: context.WithoutCancel(tx.Without(ctx)), done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(r.storeCtx)
	if j.ops.Insert != nil {
		r.id = newID(j.now())
	}
	if !j.reserve(ctx, r) {
		return "", nil, resource.ErrUnavailable
	}
	inserted := false
	defer func() {
		if !inserted { // an error, a panic or runtime.Goexit
			j.release(r)
		}
	}()
	if id, err = j.insert(ctx, r.id, command); err != nil {
		return "", nil, err
	}
	inserted = true
	tx.AfterRollback(ctx, func() { j.release(r) })
	tx.AfterCommit(ctx, func() {
		j.markStarted(r, id)
		go j.execute(r, do)
		if !j.opts.Alone {
			go j.renew(r)
		}
	})
	return id, r.done, nil
}

// reserve reports whether a job may start, and counts it against the limit. In a transaction it counts
// until markStarted or release. Neither is called if the outcome of the transaction is unknown, so it
// counts for one lease at most. Drain does not wait for it.
func (j *Jobs) reserve(ctx context.Context, r *execution) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(j.reserved, func(_ *execution, until time.Time) bool { return until.Before(now) })
	if j.closed || len(j.running)+len(j.reserved) >= j.opts.Limit {
		return false
	}
	if tx.Active(ctx) {
		j.reserved[r] = now.Add(j.opts.Lease)
	} else {
		j.running[r] = true
	}
	return true
}

// markStarted registers a stored job as running. If Drain was called in between, the job is
// canceled before it starts.
func (j *Jobs) markStarted(r *execution, id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.id, r.started = id, true
	if j.stopped || j.closed && !j.running[r] {
		r.cancel(errStopped)
	}
	j.running[r] = true
	delete(j.reserved, r)
}

// release removes the job from those that count against the limit.
func (j *Jobs) release(r *execution) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, r)
	delete(j.reserved, r)
	j.signalIdle()
}

// signalIdle ends Drain if no job is running. The caller holds the lock.
func (j *Jobs) signalIdle() {
	if !j.closed || len(j.running) > 0 {
		return
	}
	select {
	case <-j.idle:
	default:
		close(j.idle)
	}
}

// insert stores the job as running, under an id unless the store assigns it.
func (j *Jobs) insert(ctx context.Context, id, command string) (string, error) {
	now := j.now()
	v := Job{ID: id, Command: command, State: Running, CreatedAt: now, Owner: j.owner,
		Lease: now.Add(j.opts.Lease)}
	if j.opts.Principal != nil {
		v.By = j.opts.Principal(ctx)
	}
	if j.ops.Insert == nil {
		item, err := j.ops.Create(ctx, v)
		return cmp.Or(item.ID, item.Value.ID), err
	}
	_, err := j.ops.Insert(ctx, id, v)
	return id, err
}

// newID returns a UUID of version 7 (RFC 9562 section 5.7).
func newID(now time.Time) string {
	var b [16]byte
	rand.Read(b[8:])
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:8])
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// execute runs the job and stores its outcome.
func (j *Jobs) execute(r *execution, do func(ctx context.Context) (jsontext.Value, error)) {
	defer close(r.done)
	defer j.release(r)
	defer r.cancel(nil)
	var doc jsontext.Value
	err := r.ctx.Err()
	defer func() { // also after runtime.Goexit
		if err != nil {
			j.finishRetrying(r, Failed, j.problemOf(r, err).Append(nil))
			return
		}
		j.finishRetrying(r, Succeeded, doc)
	}()
	if err == nil {
		err = errExited // unless call returns
		doc, err = j.call(r.ctx, do)
	}
}

// call calls do and returns a panic as an error.
func (j *Jobs) call(
	ctx context.Context, do func(ctx context.Context) (jsontext.Value, error),
) (doc jsontext.Value, err error) {
	err = safe.Call(func() error {
		doc, err = do(ctx)
		return err
	})
	return doc, err
}

// problemOf returns the problem of a failed job. Internal errors are logged with the problem's
// instance, unless the problem already has one and has been logged.
func (j *Jobs) problemOf(r *execution, err error) *problem.Details {
	var p *safe.PanicError
	if context.Cause(r.ctx) == errStopped && !errors.As(err, &p) {
		return interrupted()
	}
	d := *resource.Problem(err)
	if d.StatusCode() == http.StatusInternalServerError && d.Instance == "" {
		d.Instance = "urn:uuid:" + newID(j.now())
		j.logError(r.storeCtx, "stoa: job failed", err, "instance", d.Instance, "job", r.id)
	}
	return &d
}

// finishRetrying stores the outcome of a job. It retries until it succeeds, so that an unavailable
// store does not lose the outcome, and gives up when the job's context is canceled; another process
// then reports the job by its lease. If the store rejects the outcome itself, U+0000 in it becomes
// U+FFFD, because PostgreSQL does not store U+0000. If it still does, the job is stored as failed
// without its outcome.
func (j *Jobs) finishRetrying(r *execution, state State, doc jsontext.Value) {
	pause := 100 * time.Millisecond
	for {
		_, err := j.finish(r.storeCtx, r.id, state, doc, nil)
		if err == nil || errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) {
			return
		}
		if resource.Problem(err).StatusCode() < http.StatusInternalServerError {
			clean := escape.ReplaceAllFunc(doc, withoutNUL)
			if bytes.Equal(clean, doc) {
				state, clean = Failed, outcomeLost().Append(nil)
			}
			doc = clean
		}
		j.logError(r.storeCtx, "stoa: job outcome not stored", err, "job", r.id)
		select {
		case <-time.After(pause):
			pause = min(2*pause, j.opts.Lease/3)
		case <-r.ctx.Done():
			return
		}
	}
}

// escape matches an escape sequence in JSON, or the first part of one.
var escape = regexp.MustCompile(`\\(u0000|.)`)

// withoutNUL returns an escape sequence, and that of U+FFFD for U+0000.
func withoutNUL(sequence []byte) []byte {
	if string(sequence) == `\u0000` {
		return []byte(`\ufffd`)
	}
	return sequence
}

// finish stores the outcome of a job: its result or its problem. It does nothing and returns false
// if the job has ended or if still, which may be nil, reports that it is running.
func (j *Jobs) finish(
	ctx context.Context, id string, state State, doc jsontext.Value, still func(v *Job) bool,
) (bool, error) {
	return j.change(ctx, id, func(v *Job) bool {
		if v.State != Running || still != nil && still(v) {
			return false
		}
		now := j.now()
		v.State, v.FinishedAt = state, &now
		if state == Succeeded {
			v.Result = doc
		} else {
			v.Problem = doc
		}
		return true
	})
}

// change updates a job with compare-and-swap and reports whether it did. It does nothing if change
// returns false.
func (j *Jobs) change(
	ctx context.Context, id string, change func(v *Job) bool,
) (changed bool, err error) {
	for {
		err = safe.Call(func() error {
			item, err := j.ops.Get(ctx, id)
			if err != nil {
				return err
			}
			item.Value.ID = id
			if changed = change(&item.Value); changed {
				_, err = j.ops.Replace(ctx, id, item.Rev, item.Value)
			}
			return err
		})
		// conflicts are rare, because only its owner and a recovering process write a job
		if !errors.Is(err, resource.ErrStale) {
			return changed && err == nil, err
		}
	}
}
