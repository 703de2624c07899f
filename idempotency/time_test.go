package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestTimeOfAnOperation: Operation.Time extends the limits of Options and the time in flight, and
// never shortens them.
func TestTimeOfAnOperation(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		for _, tt := range []struct{ time, least, most time.Duration }{
			{0, 30 * time.Second, time.Minute},
			{time.Second, 30 * time.Second, time.Minute},
			{time.Hour, 50 * time.Minute, time.Hour},
		} {
			t.Run(level.String()+"/"+tt.time.String(), func(t *testing.T) {
				t.Parallel()
				d := newDesk(level, idempotency.Options{TransactionTimeout: time.Minute, WaitTimeout: -1})
				op := anOperation()
				op.Time = tt.time
				got := d.ask(t.Context(), op, func(ctx context.Context) (idempotency.Record, error) {
					until, ok := ctx.Deadline()
					if left := time.Until(until); !ok || left < tt.least || left > tt.most {
						t.Errorf("it has %v, want %v to %v", left, tt.least, tt.most)
					}
					if level == idempotency.AtMostOnce {
						d.now = d.now.Add(40 * time.Minute)
						another := idempotency.New(d.store,
							&idempotency.Options{Now: func() time.Time { return d.now }, Logger: quiet()})
						_, _, err := another.Do(t.Context(), op, level, nil, created)
						want := "outcome-unknown"
						if tt.time == time.Hour {
							want = "request-in-flight"
						}
						var p *problem.Details
						if !errors.As(err, &p) || string(p.Kind) != want {
							t.Errorf("another process gets %v, want %q", err, want)
						}
					}
					return created(ctx)
				})
				if got != "201" {
					t.Errorf("it is answered %s", got)
				}
			})
		}
	}
}
