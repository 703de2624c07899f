package memory_test

import (
	"context"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestTombstones(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	stones := memory.NewTombstones()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	check := func(when string, want error) {
		t.Helper()
		got, err := stones.Deleted(ctx, "a")
		wantErr(t, when, err, want)
		if err == nil && !got.Equal(at) {
			t.Errorf("%s: deleted at %v, want %v", when, got, at)
		}
	}
	check("at first", resource.ErrNotFound)
	wantErr(t, "Mark", stones.Mark(ctx, "a", at), nil)
	check("after Mark", nil)
	_, err := stones.Deleted(ctx, "b")
	wantErr(t, "another id", err, resource.ErrNotFound)
	wantErr(t, "Unmark", stones.Unmark(ctx, "a"), nil)
	check("after Unmark", resource.ErrNotFound)
	wantErr(t, "Unmark of nothing", stones.Unmark(ctx, "a"), nil)

	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	wantErr(t, "Mark too late", stones.Mark(cancelled, "a", at), context.Canceled)
	wantErr(t, "Unmark too late", stones.Unmark(cancelled, "a"), context.Canceled)
	_, err = stones.Deleted(cancelled, "a")
	wantErr(t, "Deleted too late", err, context.Canceled)
	check("after calls that were too late", resource.ErrNotFound)
}

func TestTombstonesWaitForTheCommit(t *testing.T) {
	t.Parallel()
	stones, db := memory.NewTombstones(), memory.NewDB()
	for _, end := range []error{errUndo, nil} {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			wantErr(t, "Mark", stones.Mark(ctx, "a", time.Unix(1, 0)), nil)
			return end
		})
		wantErr(t, "InTx", err, end)
		want := resource.ErrNotFound
		if end == nil {
			want = nil
		}
		_, err = stones.Deleted(t.Context(), "a")
		wantErr(t, "Deleted", err, want)
	}
}
