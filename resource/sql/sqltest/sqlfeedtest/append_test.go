package sqlfeedtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestLogAppendsTogether: events that are appended in one call take few statements, and come in the order in which they were
// given, whatever of them shares a statement.
func TestLogAppendsTogether(t *testing.T) {
	const mebibyte = 1 << 20
	tests := []struct {
		name       string
		events     int
		bytes      int // of each
		statements int
	}{
		{"one", 1, 2, 1},
		{"some", 3, 2, 3},
		{"as many as a statement takes", 100, 2, 1},
		{"one more", 101, 2, 2},
		{"all sizes", 248, 2, 2 + 2 + 2},
		{"a chunk of an import", 500, 2, 5},
		{"large", 10, mebibyte, 4},
		{"larger than a statement should be", 3, 5 * mebibyte, 3},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		log := sqlfeed.New(db, nil)
		if err := log.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				at, err := log.Head(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				events := make([]*feed.Event, tt.events)
				want := make([]string, tt.events)
				for i := range events {
					document := fmt.Sprintf("%-*d", tt.bytes-1, i)
					events[i] = &feed.Event{Kind: feed.Updated, Collection: "orders", ID: fmt.Sprint(i), Rev: "r", Before: []byte("0"), After: []byte(document)}
					want[i] = fmt.Sprint(i, "0", len(document), strings.TrimSpace(document))
				}
				ran, _ := records.During(func() { err = log.Append(t.Context(), events...) })
				if err != nil {
					t.Fatal(err)
				}
				if n := strings.Count(enginetest.Texts(ran), "INSERT"); n != tt.statements {
					t.Errorf("%d statements, want %d", n, tt.statements)
				}
				var got []string
				for len(got) < len(want) && !t.Failed() {
					for _, e := range step(t, log, &at) {
						got = append(got, fmt.Sprint(e.ID, string(e.Before), len(e.After), strings.TrimSpace(string(e.After))))
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestLogAppendsAllOrNothing: if one event of a call is rejected, none of the call is appended,
// also without a transaction of the caller.
func TestLogAppendsAllOrNothing(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, log := openLog(t, e, nil)
		start, err := log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, "CREATE UNIQUE INDEX once ON events (item)")
		events := make([]*feed.Event, 130)
		for i := range events {
			events[i] = &feed.Event{Kind: feed.Created, Collection: "orders", ID: fmt.Sprint(min(i, 128))}
		}
		if err := log.Append(t.Context(), events...); db.Dialect().Fault(err).Kind != sqltx.Unique {
			t.Fatalf("Append of the same twice, as the database does not let it: %v", err)
		}
		if err := log.Append(t.Context(), &feed.Event{Kind: feed.Created, Collection: "orders", ID: "behind"}); err != nil {
			t.Fatal(err)
		}
		if got := step(t, log, &start); len(got) != 1 || got[0].ID != "behind" {
			t.Errorf("%d events, of which the first is about %s, want only what was appended behind them", len(got), got[0].ID)
		}
		if _, _, err := log.Tail(t.Context(), start, 1); errors.Is(err, feed.ErrExpired) {
			t.Error(err)
		}
	})
}
