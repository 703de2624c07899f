package sqltabletest

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestModifiedDoesNotDecrease sets the clock back. The date of the new version is after that of the old one in whole
// seconds, which clients have, and is kept until the clock has caught up.
func TestModifiedDoesNotDecrease(t *testing.T) {
	type note struct {
		ID      int64     `json:"id" readOnly:"true"`
		Text    string    `json:"text"`
		Touched time.Time `json:"touched" readOnly:"true"`
	}
	kinds := map[string]sqltable.Options{
		"a column":          {Modified: "changed_at"},
		"a field":           {Modified: "touched"},
		"a count":           {Modified: "changed_at", CountRev: true},
		"content":           {Modified: "changed_at", Rev: sqltable.Content},
		"content and field": {Modified: "touched", Rev: sqltable.Content},
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
				it, err := ops.Create(t.Context(), note{Text: "new"})
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range []struct {
					clock, want time.Duration
				}{
					{time.Second, time.Second},
					{-time.Hour, 1600 * time.Millisecond},
					{-time.Minute, 1600 * time.Millisecond},
					{2 * time.Second, 2 * time.Second},
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
			})
		}
	})
}
