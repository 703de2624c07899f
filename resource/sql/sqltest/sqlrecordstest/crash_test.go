package sqlrecordstest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// jobVariable has the job of a process that is to die at a step.
const jobVariable = "STOA_SQLRECORDS_JOB"

// job is one try to create an order, by a process of its own.
type job struct {
	Driver  string // by its name in database/sql
	Dialect sqltx.Dialect
	Source  string
	Die     string // at which step; empty for never
	Commits int    // 1: claim, effect and record in one transaction; 3: in three, begun again when the lease has ended
	Later   bool   // when every lease has ended
}

// The steps, in order.
const (
	beforeClaim  = "before the claim"
	afterClaim   = "after the claim"
	afterEffect  = "after the effect"
	afterFinish  = "after the record"
	afterCommit  = "after the commit"
	afterAnswer  = "after the answer"
	neverDies    = ""
	answerLimit  = 5 * time.Minute
	retryPause   = 10 * time.Millisecond
	diesByItself = syscall.SIGKILL
)

// answered is the output of a process.
type answered struct {
	Status   int
	Replayed bool
	ID       string
}

// work is what such a process does.
func work(text string) {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		panic(err)
	}
	if err := j.work(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// at kills the process as kill -9 does, if this is the step.
func (j *job) at(_ context.Context, step string) {
	if j.Die == step {
		syscall.Kill(os.Getpid(), diesByItself)
		select {}
	}
}

func (j *job) work() error {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	pool, err := sql.Open(j.Driver, j.Source)
	if err != nil {
		return err
	}
	defer pool.Close()
	db := sqltx.New(j.Dialect, pool, nil)
	store := sqlrecords.New(db, nil)
	table, err := orders(ctx, db)
	if err := errors.Join(err, store.CreateTable(ctx)); err != nil {
		return err
	}
	opts := &idempotency.Options{AtLeastOnce: j.Commits == 3}
	if j.Later {
		opts.Now = later
	}
	keeper := idempotency.New(stepping{store, j.at}, opts)
	do := func(ctx context.Context) (idempotency.Record, error) {
		rec, err := create(table)(ctx)
		j.at(ctx, afterEffect)
		if err == nil && tx.Active(ctx) {
			tx.AfterCommit(ctx, func() { j.at(ctx, afterCommit) })
		}
		return rec, err
	}
	level := map[int]idempotency.Level{1: idempotency.ExactlyOnce, 3: idempotency.AtMostOnce}[j.Commits]
	for {
		rec, replayed, err := keeper.Do(ctx, operation("k"), level, db, do)
		var refused *problem.Details
		if errors.As(err, &refused) && refused.Kind == problem.InFlight && ctx.Err() == nil {
			time.Sleep(retryPause) // the server has not noticed the death of the first one yet
			continue
		}
		if err != nil {
			return err
		}
		err = json.NewEncoder(os.Stdout).Encode(answered{rec.Status, replayed, rec.ID})
		j.at(ctx, afterAnswer)
		return err
	}
}

// stepping is a store that reports its steps.
type stepping struct {
	*sqlrecords.Store
	at func(ctx context.Context, step string)
}

func (s stepping) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	s.at(ctx, beforeClaim)
	prior, err := s.Store.Claim(ctx, id, c)
	s.at(ctx, afterClaim)
	return prior, err
}

func (s stepping) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	err := s.Store.Finish(ctx, id, token, r, expires)
	s.at(ctx, afterFinish)
	return err
}

// source names a new database for several processes.
func source(t *testing.T, e sqltest.Engine) (driver, source string) {
	if e.Dialect == sqltx.PostgreSQL {
		return "pgx", sqltest.PostgreSQL(t)
	}
	driver = map[string]string{"modernc": "sqlite", "ncruces": "sqlite3"}[e.Name]
	return driver, "file:" + filepath.Join(t.TempDir(), "crash.db") +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)"
}

// run runs a process and returns its output, if any, and whether it ended at the chosen step.
func (j job) run(t *testing.T) (a answered, died bool) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), jobVariable+"="+string(text))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, _ := exit.Sys().(syscall.WaitStatus)
		died = status.Signaled() && status.Signal() == diesByItself
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	if err != nil && !died {
		t.Fatal(err)
	}
	if len(out) > 0 {
		if err := json.Unmarshal(out, &a); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	}
	return a, died
}

// outcome is what there is after a death and a repetition by another process.
type outcome struct {
	Orders   int
	Replayed bool // the repetition got what the first had stored
}

// TestRule142KilledAtEachStep kills a process at each step and has another repeat the request. In one transaction there is one order,
// whatever happens. In three there are two of them if the process dies between the effect and the record, which shows that this test would
// see them.
func TestRule142KilledAtEachStep(t *testing.T) {
	tests := []struct {
		die        string
		one, three outcome
	}{
		{beforeClaim, outcome{1, false}, outcome{1, false}},
		{afterClaim, outcome{1, false}, outcome{1, false}},
		{afterEffect, outcome{1, false}, outcome{2, false}},
		{afterFinish, outcome{1, false}, outcome{1, true}},
		{afterCommit, outcome{1, true}, outcome{}},
		{afterAnswer, outcome{1, true}, outcome{1, true}},
		{neverDies, outcome{1, true}, outcome{1, true}},
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		for _, tt := range tests {
			for commits, want := range map[int]outcome{1: tt.one, 3: tt.three} {
				if commits == 3 && tt.die == afterCommit { // the last of three commits is that of the record
					continue
				}
				t.Run(fmt.Sprintf("%d commits, dies %s", commits, tt.die), func(t *testing.T) {
					j := job{Dialect: e.Dialect, Die: tt.die, Commits: commits}
					j.Driver, j.Source = source(t, e)
					first, died := j.run(t)
					if died != (tt.die != neverDies) {
						t.Fatalf("the first process died: %t", died)
					}
					j.Die, j.Later = neverDies, true
					second, _ := j.run(t)
					if diff := cmp.Diff(want, outcome{j.orders(t), second.Replayed}); diff != "" {
						t.Errorf("after a repetition (-want +got):\n%s", diff)
					}
					if first.ID != "" && first.ID != second.ID {
						t.Errorf("the first answer was %+v, the second %+v", first, second)
					}
				})
			}
		}
	})
}

// orders counts the orders that the processes have stored.
func (j job) orders(t *testing.T) int {
	t.Helper()
	pool, err := sql.Open(j.Driver, j.Source)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	return rows(t, sqltx.New(j.Dialect, pool, nil), "orders")
}
