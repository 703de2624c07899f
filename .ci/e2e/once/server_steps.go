package main

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

// dieField is the field of a request that names the step at which the process dies of it.
const dieField = "X-Die"

// The steps of a write, in their order. Each is a moment between two others.
const (
	asked     = "before the claim"
	claimed   = "after the claim"
	effecting = "before the effect"
	effected  = "after the effect"
	finishing = "before the finish"
	finished  = "after the finish, before the commit"
	commit    = "during the commit"
	committed = "after the commit, before the answer"
	halfway   = "in the middle of the answer"
	answered  = "after the answer"
)

// points are all steps. A step of its own for events comes when there are events.
var points = [...]string{asked, claimed, effecting, effected, finishing, finished, commit, committed, halfway, answered}

type pointKey struct{}

// reach ends the process, as the end of the machine would, if the request of ctx dies at this step.
func reach(ctx context.Context, point string) {
	if at, _ := ctx.Value(pointKey{}).(string); at == point {
		die()
	}
}

// die does not return. Nothing of the process runs any more: no deferred function, no rollback, no goodbye to the database.
func die() {
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// around has a step before an effect, and one behind it.
func around[T any](ctx context.Context, do func() (T, error)) (T, error) {
	reach(ctx, effecting)
	v, err := do()
	if err == nil {
		reach(ctx, effected)
	}
	return v, err
}

// steps is a store of records with steps.
type steps struct{ *sqlrecords.Store }

func (s steps) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	reach(ctx, asked)
	prior, err := s.Store.Claim(ctx, id, c)
	if err == nil {
		reach(ctx, claimed)
	}
	return prior, err
}

// Finish is followed by the commit, be it its own or that of the transaction around it.
func (s steps) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	reach(ctx, finishing)
	if at, _ := ctx.Value(pointKey{}).(string); at == commit {
		time.AfterFunc(rand.N(2*time.Millisecond), die)
	}
	err := s.Store.Finish(ctx, id, token, r, expires)
	if err == nil {
		reach(ctx, finished)
		tx.AfterCommit(ctx, func() { reach(ctx, committed) })
	}
	return err
}

// mortal lets a request name the step at which the process dies.
func mortal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		point := r.Header.Get(dieField)
		if point == "" {
			next.ServeHTTP(w, r)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), pointKey{}, point))
		next.ServeHTTP(&dying{w, point}, r)
		if point == answered {
			http.NewResponseController(w).Flush()
			die()
		}
	})
}

// dying is an answer of which half is sent.
type dying struct {
	http.ResponseWriter
	point string
}

func (d *dying) Unwrap() http.ResponseWriter { return d.ResponseWriter }

func (d *dying) Write(content []byte) (int, error) {
	if d.point == halfway {
		d.ResponseWriter.Write(content[:len(content)/2])
		d.end()
	}
	return d.ResponseWriter.Write(content)
}

// WriteHeader of an answer without content is the whole of it.
func (d *dying) WriteHeader(status int) {
	d.ResponseWriter.WriteHeader(status)
	if d.point == halfway && status == http.StatusNoContent {
		d.end()
	}
}

func (d *dying) end() {
	http.NewResponseController(d.ResponseWriter).Flush()
	die()
}
