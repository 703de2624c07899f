package rest_test

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
)

// The commands of the shop: login, and cancellation of unpaid orders.

type keyIn struct {
	Email    string `json:"email" required:"true" format:"email"`
	Password string `json:"password" required:"true" writeOnly:"true"`
}

type keyOut struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func letIn(_ context.Context, in keyIn) (keyOut, error) {
	if in.Email != "ann@example.com" || in.Password != "ann" {
		return keyOut{}, resource.ErrUnauthenticated
	}
	return keyOut{"ann", time.Date(2024, 3, 2, 8, 0, 0, 0, time.UTC)}, nil
}

type staleIn struct {
	OlderThan string `json:"olderThan" required:"true" doc:"A duration, such as 24h."`
}

type staleOut struct {
	Cancelled int `json:"cancelled"`
}

// cancelStale takes two seconds, as with many orders.
func cancelStale(orders *memory.Store[purchase]) func(context.Context, staleIn) (staleOut, error) {
	return func(ctx context.Context, in staleIn) (staleOut, error) {
		age, err := time.ParseDuration(in.OlderThan)
		if err != nil || age < 0 {
			return staleOut{}, resource.Invalid("olderThan", "duration")
		}
		time.Sleep(2 * time.Second)
		before := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC).Add(-age)
		stale := query.And(query.Where("status", query.Eq, "placed"), query.Where("createdAt", query.Lt, before))
		var out staleOut
		for item, err := range orders.List(ctx, query.Query{Filter: stale}) {
			if err != nil {
				return out, err
			}
			item.Value.Status = "cancelled"
			if _, err := orders.Replace(ctx, item.ID, item.Rev, item.Value); err != nil {
				return out, err
			}
			out.Cancelled++
		}
		return out, nil
	}
}

// goldenJobs are the jobs of the shop. Each is visible only to the caller that started it. Their
// clock starts at noon and advances only while a request waits.
func goldenJobs() *job.Jobs {
	opened := time.Now()
	clock := func() time.Time { return time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Since(opened)) }
	store := memory.New(&memory.Options[job.Job]{Now: clock})
	return job.New("jobs", resource.OpsOf(store), &job.Options{Alone: true, Now: clock, Principal: caller})
}
