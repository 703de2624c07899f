package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// run is a job that this process runs.
type run struct {
	id     string
	begun  bool            // id is set, and it runs; guarded by Jobs.mu
	ctx    context.Context // of the job; cancelled when nobody waits for it any more
	cancel context.CancelCauseFunc
	store  context.Context // for what is noted of it, which outlives ctx
	done   chan struct{}   // closed when it has ended, and that is noted
}

// Why the context of a job is cancelled.
var (
	errStopped = errors.New("job: the process is about to end")
	errLost    = errors.New("job: another process believes that this one is dead")
)

// Start notes a job as running and calls do in a goroutine of its own, as [resource.Jobs] says. do outlives ctx, of which
// it has the values; its context ends when [Jobs.Drain] does not wait any longer, or when another process has declared the
// job dead. Inside a transaction the job is begun when that has been committed, and never if it is rolled back.
//
// The error is [resource.ErrUnavailable] where too many jobs are running, or after Drain, and else that of the store. An
// error of do is noted as what [resource.Problem] makes of it; so is a panic, which is an internal one.
func (j *Jobs) Start(
	ctx context.Context, command string, do func(ctx context.Context) (jsontext.Value, error),
) (id string, done <-chan struct{}, err error) {
	r := &run{store: context.WithoutCancel(tx.Without(ctx)), done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(r.store)
	if !j.admit(r, !tx.Active(ctx)) {
		return "", nil, resource.ErrUnavailable
	}
	if id, err = j.note(ctx, command); err != nil {
		j.leave(r)
		return "", nil, err
	}
	tx.AfterCommit(ctx, func() {
		j.begin(r, id)
		go j.run(r, do)
		if !j.opts.Alone {
			go j.renew(r)
		}
	})
	return id, r.done, nil
}

// admit reports whether a job may run, and counts it if that is sure: a transaction may yet be rolled back.
func (j *Jobs) admit(r *run, sure bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || len(j.running) >= j.opts.Limit {
		return false
	}
	if sure {
		j.running[r] = true
	}
	return true
}

// begin lets a job that has been noted run. Where Drain has come between it is cancelled before it has done anything.
func (j *Jobs) begin(r *run, id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.id, r.begun = id, true
	if j.stopped || j.closed && !j.running[r] {
		r.cancel(errStopped)
	}
	j.running[r] = true
}

// leave ends what admit has begun.
func (j *Jobs) leave(r *run) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, r)
	j.settle()
}

// settle wakes Drain when nothing runs any more. The caller holds the lock.
func (j *Jobs) settle() {
	if !j.closed || len(j.running) > 0 {
		return
	}
	select {
	case <-j.idle:
	default:
		close(j.idle)
	}
}

// note stores the job as running.
func (j *Jobs) note(ctx context.Context, command string) (id string, err error) {
	now := j.now()
	v := Job{Command: command, State: Running, CreatedAt: now, Owner: j.owner, Lease: now.Add(j.opts.Lease)}
	if j.opts.Principal != nil {
		v.By = j.opts.Principal(ctx)
	}
	if j.ops.Insert == nil {
		item, err := j.ops.Create(ctx, v)
		return cmp.Or(item.ID, item.Value.ID), err
	}
	v.ID = newID(now)
	_, err = j.ops.Insert(ctx, v.ID, v)
	return v.ID, err
}

// newID makes a UUID of version 7, RFC 9562 section 5.7.
func newID(now time.Time) string {
	var b [16]byte
	rand.Read(b[8:])
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:8])
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// run does the job and notes what became of it.
func (j *Jobs) run(r *run, do func(ctx context.Context) (jsontext.Value, error)) {
	defer close(r.done)
	defer j.leave(r)
	defer r.cancel(nil)
	var doc jsontext.Value
	err := r.ctx.Err()
	if err == nil {
		doc, err = j.call(r.ctx, do)
	}
	if err != nil {
		j.finish(r, Failed, j.explain(r, err).Append(nil))
		return
	}
	j.finish(r, Succeeded, doc)
}

// call is do, with panics as errors.
func (j *Jobs) call(
	ctx context.Context, do func(ctx context.Context) (jsontext.Value, error),
) (doc jsontext.Value, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
			j.logger().ErrorContext(ctx, "stoa: panic", "error", err.Error(), "stack", string(debug.Stack()))
		}
	}()
	return do(ctx)
}

// explain returns what clients are told of an error, and logs what they are not, unless whoever made the problem has: then
// it has an instance.
func (j *Jobs) explain(r *run, err error) *problem.Details {
	if context.Cause(r.ctx) == errStopped {
		return interrupted()
	}
	d := *resource.Problem(err)
	if d.StatusCode() == http.StatusInternalServerError && d.Instance == "" {
		d.Instance = "urn:uuid:" + newID(j.now())
		j.logger().ErrorContext(r.store, "stoa: a job has failed", "instance", d.Instance, "job", r.id,
			"error", err.Error())
	}
	return &d
}

// finish notes the end of a job, as often as it takes: a store that is away for a while must not make a lie of it. It gives
// up when Drain does; then the job is found by whoever looks for the dead. What the store refuses, such as a text with
// characters that it does not take, it will refuse again, so there the end is noted without it.
func (j *Jobs) finish(r *run, state State, doc jsontext.Value) {
	pause := 100 * time.Millisecond
	for {
		_, err := j.end(r.store, r.id, state, doc, nil)
		if err == nil || errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) {
			return
		}
		if resource.Problem(err).StatusCode() < http.StatusInternalServerError {
			state, doc = Failed, unkept().Append(nil)
		}
		j.logger().ErrorContext(r.store, "stoa: the end of a job cannot be noted", "job", r.id, "error",
			err.Error())
		select {
		case <-time.After(pause):
			pause = min(2*pause, j.opts.Lease/3)
		case <-r.ctx.Done():
			return
		}
	}
}

// end notes the end of a job: its result, or the problem that it failed with. One that has ended stays as it is, and so does
// one of which still, which may be nil, says that it runs.
func (j *Jobs) end(
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

// change changes a job in the store, unless change returns false, and reports whether it has.
func (j *Jobs) change(ctx context.Context, id string, change func(v *Job) bool) (bool, error) {
	for {
		item, err := j.ops.Get(ctx, id)
		if err != nil || !change(&item.Value) {
			return false, err
		}
		item.Value.ID = id
		_, err = j.ops.Replace(ctx, id, item.Rev, item.Value)
		if !errors.Is(err, resource.ErrStale) { // those who write it do so seldom, so this ends
			return err == nil, err
		}
	}
}
