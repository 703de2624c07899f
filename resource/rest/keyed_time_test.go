package rest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
)

// Lines that are stored while they are received have the time of their request, and so does an
// atomic import. Lines that are already in memory have the time limit of keys.
func TestKeyedStreamsHaveTime(t *testing.T) {
	t.Parallel()
	const line = `{"title":"a"}`
	digest := "Content-Digest: sha-256=:" + digestOf(line) + ":"
	for _, tt := range []struct {
		name, target, digest string
		level                idempotency.Level
		least, most          time.Duration
	}{
		{"lines that are here", "/memos/import", "", idempotency.AtMostOnce, 30 * time.Second, time.Minute},
		{"lines on their way", "/memos/import", digest, idempotency.AtMostOnce, 50 * time.Minute, time.Hour},
		{"all or nothing that is here", "/memos/import?atomic=true", "", idempotency.ExactlyOnce, 50 * time.Minute, time.Hour},
		{"all or nothing on its way", "/memos/import?atomic=true", digest, idempotency.ExactlyOnce, 50 * time.Minute, time.Hour},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				d, asked := newDesk(t, tt.level), 0
				d.opts.Before = func(ctx context.Context, _ resource.Op, _, _ *memo) error {
					asked++
					until, ok := ctx.Deadline()
					if left := time.Until(until); !ok || left < tt.least || left > tt.most {
						t.Errorf("it has %v, want %v to %v", left, tt.least, tt.most)
					}
					return nil
				}
				lines := []string{asAnn, keyField("k"), linesBody}
				if tt.digest != "" {
					lines = append(lines, tt.digest)
				}
				want(t, send(t, d.withParts(t), "POST "+tt.target, append(lines, "", line)...), 200)
				if asked != 1 {
					t.Errorf("the hook was asked %d times, want 1", asked)
				}
			})
		})
	}
}
