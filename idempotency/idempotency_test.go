package idempotency_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	for _, level := range []idempotency.Level{0, 1, 2} {
		k := idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil)
		n := 0
		op := idempotency.Operation{Principal: "ann", Key: "k"}
		refuse := true
		for i := range 4 {
			rec, replayed, err := k.Do(t.Context(), op, level, db, func(ctx context.Context) (idempotency.Record, error) {
				if refuse {
					return idempotency.Record{}, problem.New(problem.Conflict, "")
				}
				n++
				return idempotency.Record{Status: 201, ID: idempotency.DerivedID(ctx, "x")}, nil
			})
			t.Log(i, rec, replayed, err)
			refuse = false
		}
		if n != 1 {
			t.Error(level, n)
		}
		op.Fingerprint[0] = 1
		_, _, err := k.Do(t.Context(), op, level, db, nil)
		var d *problem.Details
		if !errors.As(err, &d) || d.StatusCode() != 422 {
			t.Error(err)
		}
	}
}
