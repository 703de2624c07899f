package server

import (
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/tx"
)

// DieField is the field of a request that names the step at which the process kills itself.
const DieField = "X-Die"

// The steps of a write, in their order.
const (
	BeforeClaim    = "before the claim"
	AfterClaim     = "after the claim"
	BeforeEffect   = "before the effect"
	AfterEffect    = "after the effect"
	BeforeFinish   = "before the finish"
	AfterFinish    = "after the finish, before the commit"
	DuringCommit   = "during the commit"
	AfterCommit    = "after the commit, before the response"
	DuringResponse = "in the middle of the response"
	AfterResponse  = "after the response"
)

// Steps are all steps.
var Steps = [...]string{BeforeClaim, AfterClaim, BeforeEffect, AfterEffect, BeforeFinish, AfterFinish, DuringCommit, AfterCommit,
	DuringResponse, AfterResponse}

type stepKey struct{}

// reach kills the process if the request of ctx names this step.
func reach(ctx context.Context, step string) {
	if at, _ := ctx.Value(stepKey{}).(string); at == step {
		die()
	}
}

// die kills the process. No deferred function runs, no transaction is rolled back, no connection is closed.
func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// withSteps runs the effect of a write.
func withSteps[T any](ctx context.Context, do func() (T, error)) (T, error) {
	reach(ctx, BeforeEffect)
	v, err := do()
	if err == nil {
		reach(ctx, AfterEffect)
	}
	return v, err
}

// mortalRecords is a store of records that reaches steps.
type mortalRecords struct{ *sqlrecords.Store }

func (s mortalRecords) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	reach(ctx, BeforeClaim)
	prior, err := s.Store.Claim(ctx, id, c)
	if err == nil {
		reach(ctx, AfterClaim)
	}
	return prior, err
}

// Finish precedes the commit of its own transaction, or of the one around it.
func (s mortalRecords) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	reach(ctx, BeforeFinish)
	if at, _ := ctx.Value(stepKey{}).(string); at == DuringCommit {
		time.AfterFunc(rand.N(2*time.Millisecond), die)
	}
	err := s.Store.Finish(ctx, id, token, r, expires)
	if err == nil {
		reach(ctx, AfterFinish)
		tx.AfterCommit(ctx, func() { reach(ctx, AfterCommit) })
	}
	return err
}

// dieAt reads [DieField].
func dieAt(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step := r.Header.Get(DieField)
		if step == "" {
			next.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), stepKey{}, step))
		next.ServeHTTP(&dying{w, step}, r)
		if step == AfterResponse {
			http.NewResponseController(w).Flush()
			die()
		}
	})
}

// dying sends half of a response at the step DuringResponse.
type dying struct {
	http.ResponseWriter
	step string
}

func (d *dying) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *dying) Write(content []byte) (int, error) {
	if d.step == DuringResponse {
		d.ResponseWriter.Write(content[:len(content)/2])
		d.end()
	}
	return d.ResponseWriter.Write(content)
}

// WriteHeader sends the whole of a response without content.
func (d *dying) WriteHeader(status int) {
	d.ResponseWriter.WriteHeader(status)
	if d.step == DuringResponse && status == http.StatusNoContent {
		d.end()
	}
}

func (d *dying) end() {
	http.NewResponseController(d.ResponseWriter).Flush()
	die()
}
