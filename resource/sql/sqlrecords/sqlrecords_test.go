package sqlrecords_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

func TestNewPanics(t *testing.T) {
	t.Parallel()
	db := sqltx.New(sqltx.SQLite, sql.OpenDB(nowhere{}), nil)
	tests := []struct {
		name  string
		db    *sqltx.DB
		table string
		want  string
	}{
		{"no database", nil, "", "sqlrecords: New needs a database, and db is nil"},
		{
			"three names",
			db,
			"a.b.c",
			`sqlrecords: invalid Options.Table "a.b.c": use a table name, with or without a schema`,
		},
		{
			"no name after the schema",
			db,
			"a.",
			`sqlrecords: invalid Options.Table "a.": use a table name, with or without a schema`,
		},
		{"a NUL", db, "a\x00", `sqlrecords: invalid Options.Table "a\x00": use a table name, with or without a schema`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if diff := cmp.Diff(any(tt.want), recover()); diff != "" {
					t.Errorf("the panic (-want +got):\n%s", diff)
				}
			}()
			sqlrecords.New(tt.db, &sqlrecords.Options{Table: tt.table})
		})
	}
}

// claimBy returns a claim of an owner with a quota.
func claimBy(owner byte, quota int) idempotency.Claim {
	now := time.Unix(1_800_000_000, 0)
	return idempotency.Claim{
		Owner:   [32]byte{owner},
		Token:   "t",
		Now:     now,
		Until:   now.Add(time.Minute),
		Expires: now.Add(time.Hour),
		Quota:   quota,
	}
}

// TestCountsRarely claims for an owner while the table reports a number of records.
func TestCountsRarely(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		has    int64
		quota  int
		claims int
		want   int // counts
		over   bool
		first  string // of the first claim
	}{
		{"no quota", 0, 0, 100, 0, false, "INSERT"},
		{"far from it", 0, 10_000, 1_250, 1, false, "SELECT count INSERT"},
		{"far from it, for longer", 0, 10_000, 1_251, 2, false, "SELECT count INSERT"},
		{"near it", 9_995, 10_000, 5, 5, false, "SELECT count INSERT"},
		{"small", 0, 7, 7, 7, false, "SELECT count INSERT"},
		{"over it", 10_000, 10_000, 3, 3, true, "SELECT count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{answer: func(statement string) ([][]driver.Value, error) {
				switch {
				case strings.Contains(statement, "count(*)"):
					return [][]driver.Value{{tt.has}}, nil
				case strings.HasPrefix(statement, "SELECT"):
					return nil, nil
				}
				return [][]driver.Value{{}}, nil
			}}
			store, _ := f.store(t, sqltx.SQLite)
			want := map[bool]idempotency.State{false: idempotency.Fresh, true: idempotency.OverQuota}[tt.over]
			counts := 0
			for i := range tt.claims {
				prior, err := store.Claim(t.Context(), [32]byte{byte(i), byte(i >> 8)},
					claimBy('a', tt.quota))
				if err != nil || prior.State != want {
					t.Fatalf("claim %d: %v, %v, want %v", i, prior.State, err, want)
				}
				seen := f.seen()
				counts += strings.Count(seen, "count")
				if i == 0 && seen != tt.first {
					t.Errorf("the first claim made the statements %q, want %q", seen, tt.first)
				}
			}
			if counts != tt.want {
				t.Errorf("%d claims made %d counts, want %d", tt.claims, counts, tt.want)
			}
		})
	}
}

// TestCountsEachOwner: counts are cached per owner and quota.
func TestCountsEachOwner(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(statement string) ([][]driver.Value, error) {
		if strings.HasPrefix(statement, "SELECT fingerprint") {
			return nil, nil
		}
		return [][]driver.Value{{int64(0)}}, nil
	}}
	store, _ := f.store(t, sqltx.SQLite)
	for i, c := range []idempotency.Claim{claimBy('a', 100), claimBy('b', 100), claimBy('a', 200), claimBy('a', 100), claimBy('b', 100)} {
		if _, err := store.Claim(t.Context(), [32]byte{byte(i)}, c); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff("SELECT count INSERT SELECT count INSERT SELECT count INSERT INSERT INSERT",
		f.seen()); diff != "" {
		t.Errorf("the statements (-want +got):\n%s", diff)
	}
}

// TestKnownIsNotCounted: a claim of an existing record is not counted, even at the quota.
func TestKnownIsNotCounted(t *testing.T) {
	t.Parallel()
	claim := claimBy('a', 1)
	f := &fake{answer: func(statement string) ([][]driver.Value, error) {
		if strings.HasPrefix(statement, "SELECT fingerprint") {
			return [][]driver.Value{
				{claim.Fingerprint[:], nil, int64(0), claim.Now.UnixMicro() + 1, int64(204), "", nil},
			}, nil
		}
		return nil, nil
	}}
	store, _ := f.store(t, sqltx.SQLite)
	prior, err := store.Claim(t.Context(), [32]byte{}, claim)
	if err != nil || prior.State != idempotency.Finished || prior.Record.Status != 204 {
		t.Errorf("Claim is %+v, %v, want Finished with 204", prior, err)
	}
	if diff := cmp.Diff("SELECT INSERT SELECT", f.seen()); diff != "" {
		t.Errorf("the statements (-want +got):\n%s", diff)
	}
}

// state is an error with an SQLSTATE.
type state string

func (s state) Error() string    { return "SQLSTATE " + string(s) }
func (s state) SQLState() string { return string(s) }

// TestFaults fails all statements, outside and inside a transaction.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		err           error
		alone, within error // the error to match; nil for neither
		runs          int   // of the transaction
	}{
		{"lost on the way", io.ErrUnexpectedEOF, tx.ErrOutcomeUnknown, tx.ErrUnavailable, 1},
		{"not sent", fmt.Errorf("dial: %w", state("57P03")), tx.ErrUnavailable, tx.ErrUnavailable, 1},
		{"a conflict", state("40001"), nil, nil, 2},
		{"a mistake", state("42P01"), nil, nil, 1},
	}
	calls := map[string]func(ctx context.Context, s *sqlrecords.Store) error{
		"Claim": func(ctx context.Context, s *sqlrecords.Store) error {
			_, err := s.Claim(ctx, [32]byte{}, claimBy('a', 0))
			return err
		},
		"count": func(ctx context.Context, s *sqlrecords.Store) error {
			_, err := s.Claim(ctx, [32]byte{}, claimBy('a', 9))
			return err
		},
		"Finish": func(ctx context.Context, s *sqlrecords.Store) error {
			return s.Finish(ctx, [32]byte{}, "t", idempotency.Record{}, time.Time{})
		},
		"Release": func(ctx context.Context, s *sqlrecords.Store) error { return s.Release(ctx, [32]byte{}, "t") },
		"Purge": func(ctx context.Context, s *sqlrecords.Store) error {
			_, err := s.Purge(ctx, time.Time{}, 1)
			return err
		},
	}
	for _, tt := range tests {
		for name, call := range calls {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := &fake{answer: func(statement string) ([][]driver.Value, error) {
					if word, _, _ := strings.Cut(statement, " "); word == "BEGIN" || word == "COMMIT" ||
						word == "ROLLBACK" {
						return nil, nil
					}
					return nil, tt.err
				}}
				store, _ := f.store(t, sqltx.PostgreSQL)
				check := func(err, want error, when string) {
					for _, known := range []error{tx.ErrOutcomeUnknown, tx.ErrUnavailable} {
						if errors.Is(err, known) != (want == known) {
							t.Errorf("%s the error is %v, want %v", when, err, want)
						}
					}
					if !errors.Is(err, tt.err) {
						t.Errorf("%s the error is %v, in which there is no %v", when, err, tt.err)
					}
				}
				check(call(t.Context(), store), tt.alone, "by itself")
				runs := 0
				err := store.Transactions().InTx(t.Context(), func(ctx context.Context) error {
					if runs++; runs > 1 {
						return nil
					}
					return call(ctx, store)
				})
				if tt.runs == 1 {
					check(err, tt.within, "in a transaction")
				}
				if runs != tt.runs {
					t.Errorf("the transaction ran %d times, want %d", runs, tt.runs)
				}
			})
		}
	}
}

// TestUnreadable: a row of another writer is an error.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(statement string) ([][]driver.Value, error) {
		if !strings.HasPrefix(statement, "SELECT") {
			return nil, nil
		}
		return [][]driver.Value{
			{make([]byte, 32), int64(0), int64(1 << 60), int64(200), "nonsense", nil},
		}, nil
	}}
	store, _ := f.store(t, sqltx.SQLite)
	if prior, err := store.Claim(t.Context(), [32]byte{}, claimBy('a', 0)); err == nil {
		t.Errorf("Claim of it is %+v, want an error", prior)
	}
}

// TestNeverSettled changes the row between the two statements of each attempt.
func TestNeverSettled(t *testing.T) {
	t.Parallel()
	f := &fake{answer: func(string) ([][]driver.Value, error) { return nil, nil }}
	store, _ := f.store(t, sqltx.SQLite)
	prior, err := store.Claim(t.Context(), [32]byte{}, claimBy('a', 0))
	if err != nil || prior.State != idempotency.InFlight {
		t.Errorf("Claim is %v, %v, want InFlight", prior.State, err)
	}
	if n := strings.Count(f.seen(), "INSERT"); n < 2 || n > 20 {
		t.Errorf("there were %d tries, want some, and an end", n)
	}
}
