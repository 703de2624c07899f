package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// engine is a Runner that repeats functions, and may lose the response to a commit.
type engine struct {
	runs   int   // of each function; all but the last are rolled back as after a conflict
	begin  error // returned instead of starting a transaction
	commit error // returned although the transaction was committed
}

func (e *engine) InTx(ctx context.Context, fn func(context.Context) error) error {
	if tx.ActiveFor(ctx, e) {
		return fn(ctx)
	}
	if e.begin != nil {
		return e.begin
	}
	for n := 1; ; n++ {
		again, err := e.try(ctx, fn, n < e.runs)
		if !again {
			return err
		}
	}
}

func (e *engine) try(ctx context.Context, fn func(context.Context) error, again bool) (bool, error) {
	inner, scope := tx.Begin(ctx, e)
	committed := false
	defer func() {
		if !committed {
			scope.Rollback()
		}
	}()
	if err := fn(inner); err != nil || again {
		return again && err == nil, err
	}
	committed = true
	scope.Commit()
	return false, e.commit
}

// broken is a store that fails on demand.
type broken struct {
	*idempotency.Memory
	claim, finish error
	released      int
}

func (b *broken) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	if b.claim != nil {
		return idempotency.Prior{}, b.claim
	}
	return b.Memory.Claim(ctx, id, c)
}

func (b *broken) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record,
	expires time.Time) error {
	if b.finish != nil {
		return b.finish
	}
	return b.Memory.Finish(ctx, id, token, r, expires)
}

func (b *broken) Release(ctx context.Context, id [32]byte, token string) error {
	b.released++
	return b.Memory.Release(ctx, id, token)
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// desk is a Guard with its dependencies and a clock.
type desk struct {
	*idempotency.Guard
	engine *engine
	store  *broken
	now    time.Time
	level  idempotency.Level
	ran    int
}

func newDesk(level idempotency.Level, opts idempotency.Options) *desk {
	d := &desk{engine: &engine{}, level: level, now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	d.store = &broken{Memory: idempotency.NewMemory(&idempotency.MemoryOptions{Runner: d.engine})}
	opts.Now, opts.Logger = func() time.Time { return d.now }, quiet()
	d.Guard = idempotency.New(d.store, &opts)
	return d
}

func anOperation() idempotency.Operation {
	return idempotency.Operation{Principal: "ann", Method: "POST", Target: "/orders", Key: "k1",
		Fingerprint: idempotency.Fingerprint([]byte("a"))}
}

// ask runs the operation and returns its outcome as a word.
func (d *desk) ask(ctx context.Context, op idempotency.Operation,
	do func(context.Context) (idempotency.Record, error)) string {
	if do == nil {
		do = created
	}
	rec, replayed, err := d.Do(
		ctx,
		op,
		d.level,
		d.engine,
		func(ctx context.Context) (idempotency.Record, error) {
			d.ran++
			return do(ctx)
		},
	)
	var p *problem.Details
	switch {
	case errors.As(err, &p):
		return fmt.Sprintf("%d %s %s", p.StatusCode(), p.Kind, p.Header.Get("Retry-After"))
	case err != nil:
		return err.Error()
	case replayed:
		return fmt.Sprintf("%d again", rec.Status)
	}
	return fmt.Sprintf("%d", rec.Status)
}

func created(context.Context) (idempotency.Record, error) {
	return idempotency.Record{Status: http.StatusCreated, ID: "7"}, nil
}

func failing(err error) func(context.Context) (idempotency.Record, error) {
	return func(context.Context) (idempotency.Record, error) { return idempotency.Record{}, err }
}

func recording(status int) func(context.Context) (idempotency.Record, error) {
	return func(context.Context) (idempotency.Record, error) {
		return idempotency.Record{Status: status}, nil
	}
}

const (
	isUnknown  = "409 outcome-unknown "
	isAskAgain = "503 outcome-unknown 1"
	isInFlight = "409 request-in-flight 1"
	isReused   = "422 idempotency-key-reused "
	isDown     = "503 unavailable 1"
)

var levels = []idempotency.Level{idempotency.AtMostOnce, idempotency.ByIdentity, idempotency.ExactlyOnce}

// TestRule142OutcomesAndLevels lists the outcomes of the first request, and the result of the
// second.
func TestRule142OutcomesAndLevels(t *testing.T) {
	t.Parallel()
	errOwn := errors.New("disk full")
	tests := []struct {
		name   string
		do     func(context.Context) (idempotency.Record, error)
		first  string
		second [3]string // for each level
	}{
		{"done", created, "201", [3]string{"201 again", "201 again", "201 again"}},
		{"no status is 200", recording(0), "200", [3]string{"200 again", "200 again", "200 again"}},
		{"recorded refusal", recording(402), "402", [3]string{"402 again", "402 again", "402 again"}},
		{
			"refusal",
			failing(problem.New(problem.Conflict, "")),
			"409 conflict ",
			[3]string{"201", "201", "201"},
		},
		{
			"wrapped refusal",
			failing(fmt.Errorf("x: %w", problem.New(problem.Invalid, ""))),
			"422 invalid-content ",
			[3]string{"201", "201", "201"},
		},
		{
			"nothing done",
			failing(idempotency.ErrNothingDone),
			"idempotency: operation had no effect",
			[3]string{"201", "201", "201"},
		},
		{
			"no transaction",
			failing(tx.ErrUnavailable),
			tx.ErrUnavailable.Error(),
			[3]string{"201", "201", "201"},
		},
		{"own error", failing(errOwn), "disk full", [3]string{isUnknown, "201", "201"}},
		{
			"internal",
			failing(problem.New(problem.Internal, "")),
			"500 internal-error ",
			[3]string{isUnknown, "201", "201"},
		},
		{"client disconnected", failing(context.Canceled), "context canceled", [3]string{isUnknown, "201", "201"}},
		{"record of 5xx", recording(502), "502", [3]string{isUnknown, "201", "201"}},
		{
			"unknown",
			failing(fmt.Errorf("x: %w", tx.ErrOutcomeUnknown)),
			isAskAgain,
			[3]string{isUnknown, "201", "201"},
		},
		{"unknown inside", failing(unknownConflict()), isUnknown, [3]string{isUnknown, "201", "201"}},
	}
	for _, tt := range tests {
		for i, level := range levels {
			t.Run(tt.name+", "+level.String(), func(t *testing.T) {
				t.Parallel()
				d := newDesk(level, idempotency.Options{})
				other := anOperation()
				other.Fingerprint[0]++
				got := []string{
					d.ask(t.Context(), anOperation(), tt.do),
					d.ask(t.Context(), anOperation(), nil),
				}
				want := []string{tt.first, tt.second[i]}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("first and second answer (-want +got):\n%s", diff)
				}
				if got := d.ask(t.Context(), other, nil); got != isReused {
					t.Errorf("another request under the key: %s, want %s", got, isReused)
				}
			})
		}
	}
}

func unknownConflict() error {
	d := problem.New(problem.OutcomeUnknown, "")
	d.Status = http.StatusConflict
	return d
}

// TestAtLeastOnce: with AtLeastOnce an operation with an unknown outcome runs again.
func TestAtLeastOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{AtLeastOnce: true})
	got := []string{
		d.ask(t.Context(), anOperation(), failing(io.ErrUnexpectedEOF)),
		d.ask(t.Context(), anOperation(), nil),
		d.ask(t.Context(), anOperation(), nil),
	}
	if diff := cmp.Diff([]string{io.ErrUnexpectedEOF.Error(), "201", "201 again"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestStatesAndLevels lists the states of the store, for each level.
func TestStatesAndLevels(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		state idempotency.Prior
		want  string
	}{
		{
			"finished",
			idempotency.Prior{State: idempotency.Finished, Record: idempotency.Record{Status: 204}},
			"204 again",
		},
		{"finished, unknown", idempotency.Prior{State: idempotency.Finished}, isUnknown},
		{"in flight", idempotency.Prior{State: idempotency.InFlight}, isInFlight},
		{"abandoned", idempotency.Prior{State: idempotency.Abandoned}, isUnknown},
		{"mismatch", idempotency.Prior{State: idempotency.Mismatch}, isReused},
		{"over quota", idempotency.Prior{State: idempotency.OverQuota}, "429 quota-exceeded 60"},
		{"nonsense", idempotency.Prior{State: 99}, isDown},
	}
	for _, tt := range tests {
		for _, level := range levels {
			t.Run(tt.name+", "+level.String(), func(t *testing.T) {
				t.Parallel()
				e := &engine{}
				g := idempotency.New(&saying{prior: tt.state, runner: e},
					&idempotency.Options{Logger: quiet()})
				d := &desk{Guard: g, engine: e, level: level}
				if got := d.ask(t.Context(), anOperation(), nil); got != tt.want || d.ran != 0 {
					t.Errorf("%s, and it ran %d times; want %s and 0", got, d.ran, tt.want)
				}
			})
		}
	}
}

// saying is a store that returns the same result for all claims.
type saying struct {
	idempotency.Store
	prior  idempotency.Prior
	runner tx.Runner
	claims []idempotency.Claim
}

func (s *saying) Transactions() tx.Runner { return s.runner }

func (s *saying) Claim(_ context.Context, _ [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	s.claims = append(s.claims, c)
	return s.prior, nil
}

// TestTakeOver: which levels take over an abandoned claim.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	tests := []struct {
		level       idempotency.Level
		atLeastOnce bool
		want        bool
	}{
		{
			idempotency.AtMostOnce,
			false,
			false,
		},
		{idempotency.ByIdentity, false, true},
		{idempotency.ExactlyOnce, false, false},
		{idempotency.AtMostOnce, true, true},
	}
	for _, tt := range tests {
		s := &saying{prior: idempotency.Prior{State: idempotency.InFlight}, runner: &engine{}}
		d := &desk{
			Guard:  idempotency.New(s, &idempotency.Options{AtLeastOnce: tt.atLeastOnce}),
			engine: s.runner.(*engine),
			level:  tt.level,
		}
		d.ask(t.Context(), anOperation(), nil)
		if got := s.claims[0].TakeOver; got != tt.want {
			t.Errorf("%s, at least once %t: TakeOver is %t, want %t", tt.level, tt.atLeastOnce, got, tt.want)
		}
	}
}

// TestFailClosed: if the store fails, no operation runs.
func TestFailClosed(t *testing.T) {
	t.Parallel()
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(level, idempotency.Options{})
			d.store.claim = io.ErrClosedPipe
			if got := d.ask(t.Context(), anOperation(), nil); got != isDown || d.ran != 0 {
				t.Errorf("%s, and it ran %d times; want %s and 0", got, d.ran, isDown)
			}
			if released := d.store.released == 1; released != (level != idempotency.ExactlyOnce) {
				t.Errorf("a claim that may have been made was released: %t", released)
			}
			d.store.claim = nil
			if got := d.ask(t.Context(), anOperation(), nil); got != "201" {
				t.Errorf("when the store is back: %s", got)
			}
		})
	}
}

// TestFinishFails: a transaction rolls back; without one the client receives the response, and the
// outcome is unknown after the lease.
func TestFinishFails(t *testing.T) {
	t.Parallel()
	want := map[idempotency.Level][]string{
		idempotency.AtMostOnce:  {"201", isInFlight, isUnknown},
		idempotency.ByIdentity:  {"201", isInFlight, "201"},
		idempotency.ExactlyOnce: {isDown, "201", "201 again"},
	}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(level, idempotency.Options{})
			d.store.finish = io.ErrClosedPipe
			got := []string{d.ask(t.Context(), anOperation(), nil)}
			d.store.finish = nil
			got = append(got, d.ask(t.Context(), anOperation(), nil))
			d.now = d.now.Add(time.Minute)
			got = append(got, d.ask(t.Context(), anOperation(), nil))
			if diff := cmp.Diff(want[level], got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTransactionsOfDo(t *testing.T) {
	t.Parallel()
	conflict := errors.New("conflict")
	tests := []struct {
		name   string
		engine engine
		first  string
		second string // when the engine works again
	}{
		{"run three times", engine{runs: 3}, "201", "201 again"},
		{"not begun", engine{begin: fmt.Errorf("x: %w", tx.ErrUnavailable)}, isDown, "201"},
		{
			"answer to the commit lost",
			engine{commit: fmt.Errorf("x: %w", tx.ErrOutcomeUnknown)},
			isAskAgain,
			"201 again",
		},
		{"own error", engine{begin: conflict}, "conflict", "201"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
			*d.engine = tt.engine
			got := []string{d.ask(t.Context(), anOperation(), nil)}
			*d.engine = engine{}
			got = append(got, d.ask(t.Context(), anOperation(), nil))
			if diff := cmp.Diff([]string{tt.first, tt.second}, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLastRunCounts: a repeated transaction discards the record and the RecordRefusal of its first
// run.
func TestLastRunCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
	d.engine.runs = 2
	run := 0
	got := d.ask(t.Context(), anOperation(), func(ctx context.Context) (idempotency.Record, error) {
		if run++; run == 1 {
			idempotency.RecordRefusal(ctx)
		} else if idempotency.RecordsRefusal(ctx) {
			t.Error("the first run's Keep was not forgotten")
		}
		return idempotency.Record{Status: 200 + run}, nil
	})
	if again := d.ask(t.Context(), anOperation(), nil); got != "202" || again != "202 again" {
		t.Errorf("%s, %s; want 202, 202 again", got, again)
	}
}

func TestWrongRunner(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
	for _, runner := range []tx.Runner{nil, &engine{}} {
		if got := d.LevelFor(runner); got != idempotency.AtMostOnce {
			t.Errorf("LevelFor(%v) is %s", runner, got)
		}
		_, _, err := d.Do(t.Context(), anOperation(), idempotency.ExactlyOnce, runner, created)
		var p *problem.Details
		if !errors.As(err, &p) || p.Kind != problem.Internal {
			t.Errorf("Do in transactions of another runner: %v", err)
		}
	}
	if got := d.LevelFor(d.engine); got != idempotency.ExactlyOnce {
		t.Errorf("LevelFor of the runner of the store is %s", got)
	}
}

func TestPanicsGoOn(t *testing.T) {
	t.Parallel()
	second := map[idempotency.Level]string{
		idempotency.AtMostOnce:  isUnknown,
		idempotency.ByIdentity:  "201",
		idempotency.ExactlyOnce: "201",
	}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(level, idempotency.Options{})
			func() {
				defer func() {
					if p := recover(); p != http.ErrAbortHandler {
						t.Errorf("recovered %v", p)
					}
				}()
				d.ask(t.Context(), anOperation(),
					func(context.Context) (idempotency.Record, error) { panic(http.ErrAbortHandler) })
			}()
			if got := d.ask(t.Context(), anOperation(), nil); got != second[level] {
				t.Errorf("after a panic: %s, want %s", got, second[level])
			}
		})
	}
}

// TestClientGoneAfterTheEffect: an effect is recorded even if the client has disconnected.
func TestClientGoneAfterTheEffect(t *testing.T) {
	t.Parallel()
	for _, level := range levels[:2] {
		d := newDesk(level, idempotency.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		d.ask(ctx, anOperation(), func(context.Context) (idempotency.Record, error) {
			cancel()
			return idempotency.Record{Status: 201}, nil
		})
		if got := d.ask(t.Context(), anOperation(), nil); got != "201 again" {
			t.Errorf("%s: %s, want 201 again", level, got)
		}
	}
}

// TestLateFinish: an operation that exceeds its lease has an unknown outcome until it finishes.
func TestLateFinish(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{WaitTimeout: -1})
	beside := idempotency.New(d.store, &idempotency.Options{Now: func() time.Time { return d.now }})
	second := &desk{Guard: beside, engine: d.engine}
	var during []string
	d.ask(t.Context(), anOperation(), func(context.Context) (idempotency.Record, error) {
		during = append(during, second.ask(t.Context(), anOperation(), nil))
		d.now = d.now.Add(time.Minute)
		during = append(during, second.ask(t.Context(), anOperation(), nil))
		return idempotency.Record{Status: 201}, nil
	})
	during = append(during, second.ask(t.Context(), anOperation(), nil))
	if diff := cmp.Diff([]string{isInFlight, isUnknown, "201 again"}, during); diff != "" {
		t.Errorf("result of another process (-want +got):\n%s", diff)
	}
}

// TestInsideOfATransaction: inside an enclosing transaction the operation commits or rolls back
// with it.
func TestInsideOfATransaction(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.ExactlyOnce, idempotency.Options{})
	err := d.engine.InTx(t.Context(), func(ctx context.Context) error {
		if got := d.ask(ctx, anOperation(), nil); got != "201" {
			t.Errorf("inside: %s", got)
		}
		return io.EOF
	})
	if got := d.ask(t.Context(), anOperation(), nil); got != "201" || err != io.EOF {
		t.Errorf("after the rollback (%v): %s, want 201", err, got)
	}
}

func TestLargeResults(t *testing.T) {
	t.Parallel()
	d := newDesk(idempotency.AtMostOnce, idempotency.Options{MaxResult: 4})
	d.ask(t.Context(), anOperation(), func(context.Context) (idempotency.Record, error) {
		return idempotency.Record{Status: 201, Media: "text/plain", Result: []byte("12345"), ID: "7"}, nil
	})
	rec, replayed, err := d.Do(t.Context(), anOperation(), d.level, nil, nil)
	if !replayed || err != nil || !rec.Reference() || rec.ID != "7" || rec.Result != nil {
		t.Errorf("replayed %t, %v: %+v; want a reference to 7", replayed, err, rec)
	}
}
