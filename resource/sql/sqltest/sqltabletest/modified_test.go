package sqltabletest

import (
	"context"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestModifiedInOneSecond writes several times in one second, and sets the clock back. The date of the new version is
// after that of the old one in whole seconds, which clients have.
func TestModifiedInOneSecond(t *testing.T) {
	type note struct {
		ID      int64     `json:"id"`
		Text    string    `json:"text"`
		Touched time.Time `json:"touched" readOnly:"true"`
	}
	kinds := map[string]sqltable.Options{
		"a column":          {Modified: "changed_at"},
		"a field":           {Modified: "touched"},
		"a count":           {Modified: "changed_at", CountRev: true},
		"content":           {Modified: "changed_at", Rev: sqltable.Content},
		"content and field": {Modified: "touched", Rev: sqltable.Content},
		"recreated":         {Modified: "changed_at", Recreate: true, ClientIDs: true},
		"restored":          {Modified: "changed_at", SoftDelete: "deleted_at"},
		"replaced rows":     {Modified: "touched", SoftDelete: "deleted_at", Recreate: true, ClientIDs: true},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for name, opts := range kinds {
			t.Run(name, func(t *testing.T) {
				start := time.Date(2026, time.November, 23, 12, 0, 0, 400e6, time.UTC)
				now := start
				opts.Now = func() time.Time { return now }
				table := sqltable.New[note](e.OpenSchema(t), "notes", &opts)
				if err := table.CreateTable(t.Context()); err != nil {
					t.Fatal(err)
				}
				ops := table.Ops()
				create := ops.Create
				if create == nil {
					create = func(ctx context.Context, v note) (resource.Item[note], error) { return ops.Insert(ctx, "1", v) }
				}
				it, err := create(t.Context(), note{ID: 1, Text: "new"})
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range []struct {
					clock, want time.Duration
				}{
					{100 * time.Millisecond, 600 * time.Millisecond},
					{200 * time.Millisecond, 600*time.Millisecond + time.Microsecond},
					{time.Second, 1600 * time.Millisecond},
					{2 * time.Second, 2600 * time.Millisecond},
					{4 * time.Second, 4 * time.Second},
					{-time.Hour, 4600 * time.Millisecond},
					{-time.Minute, 4600 * time.Millisecond},
					{6 * time.Second, 6 * time.Second},
				} {
					now = start.Add(step.clock)
					stale := it.Rev
					it, err = ops.Replace(t.Context(), it.ID, it.Rev, note{ID: it.Value.ID, Text: step.clock.String()})
					if err != nil {
						t.Fatal(err)
					}
					if want := start.Add(step.want); !it.Modified.Equal(want) || it.Value.Text != step.clock.String() {
						t.Errorf("at %v it is modified at %v, want %v: %+v", now, it.Modified, want, it.Value)
					}
					if _, err := ops.Replace(t.Context(), it.ID, stale, note{ID: it.Value.ID}); err != resource.ErrStale {
						t.Errorf("Replace of the old revision: %v, want ErrStale", err)
					}
				}
				if ops.Insert == nil && ops.Restore == nil {
					return
				}
				want := start.Add(6600 * time.Millisecond)
				for range 2 {
					if err := ops.Delete(t.Context(), it.ID, it.Rev); err != nil {
						t.Fatal(err)
					}
					if ops.Insert != nil {
						it, err = ops.Insert(t.Context(), it.ID, note{ID: it.Value.ID, Text: "again"})
					} else {
						it, err = ops.Restore(t.Context(), it.ID)
					}
					if err != nil || it.Modified.Before(want) || it.Modified.After(want.Add(time.Millisecond)) {
						t.Errorf("after a deletion it is modified at %v, want %v: %v", it.Modified, want, err)
					}
				}
			})
		}
	})
}
