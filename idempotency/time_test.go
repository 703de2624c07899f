package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
)

// An operation that says how long it may take has that time, and is in flight as long; none has less than the options give.
func TestTimeOfAnOperation(t *testing.T) {
	t.Parallel()
	for _, level := range []idempotency.Level{idempotency.AtMostOnce, idempotency.ByIdentity, idempotency.ExactlyOnce} {
		for _, tt := range []struct{ time, least, most time.Duration }{
			{0, 30 * time.Second, time.Minute}, {time.Second, 30 * time.Second, time.Minute}, {time.Hour, 50 * time.Minute, time.Hour},
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
						another := idempotency.New(d.store, &idempotency.Options{Now: func() time.Time { return d.now }, Logger: quiet()})
						_, _, err := another.Do(t.Context(), op, level, nil, created)
						want := map[bool]string{true: "request-in-flight", false: "outcome-unknown"}[tt.time == time.Hour]
						var p *problem.Details
						if !errors.As(err, &p) || string(p.Kind) != want {
							t.Errorf("another process is told %v, want %q", err, want)
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
