package main

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Faults of a shop, each of which a workload has to find.

// skip acknowledges a write and does not do it.
func skip(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Write(serveOne(next, http.MethodGet, r.URL.Path).Body.Bytes())
}

// undo acknowledges a write and undoes it.
func undo(w http.ResponseWriter, r *http.Request, next http.Handler) {
	made := httptest.NewRecorder()
	next.ServeHTTP(made, r)
	if made.Code == http.StatusCreated {
		serveOne(next, http.MethodDelete, made.Header().Get("Location"))
	}
	w.WriteHeader(made.Code)
	w.Write(made.Body.Bytes())
}

// doAndFail does a write and responds 503.
func doAndFail(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	w.WriteHeader(http.StatusServiceUnavailable)
}

// failOnly responds 500 and does nothing.
func failOnly(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusInternalServerError)
}

// doAndReset does a write and resets the connection.
func doAndReset(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// ignoreCondition does a write and ignores its If-None-Match.
func ignoreCondition(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("If-None-Match")
	next.ServeHTTP(w, r)
}

// deny responds 404.
func deny(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotFound) }

// delayed returns a fault that gives each reader the response of the reader before.
func delayed() planted {
	var mu sync.Mutex
	var last []byte
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		now := serveOne(next, r.Method, r.URL.Path).Body.Bytes()
		if last == nil {
			last = now
		}
		w.Write(last)
		last = now
	}
}

// half does all but the first operation of a batch.
func half(w http.ResponseWriter, r *http.Request, next http.Handler) {
	var batch struct {
		Operations []json.RawMessage `json:"operations"`
	}
	if err := json.NewDecoder(r.Body).Decode(&batch); err != nil {
		panic(err)
	}
	batch.Operations = batch.Operations[1:]
	r.Body = io.NopCloser(strings.NewReader(encode(batch)))
	r.ContentLength = -1
	next.ServeHTTP(w, r)
}

// twist returns a fault that changes digits in the response.
func twist(from, to string) planted {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := serveOne(next, r.Method, r.URL.String())
		w.Write([]byte(strings.ReplaceAll(answer.Body.String(), from, to)))
	}
}

func TestWorkloads(t *testing.T) {
	t.Parallel()
	const fine = "no violations"
	withConditions := func() workload { return newCounters(4, true, false) }
	without := func() workload { return newCounters(4, false, false) }
	putBack := func() workload { return newCounters(4, true, true) }
	made := func() workload { return &creates{} }
	moved := func() workload { return newMoves(false) }
	claimed := func() workload { return &claims{} }
	repeated := func() workload { return &creates{repeat: true, keys: true} }
	keyless := func() workload { return &creates{repeat: true} }
	tests := []struct {
		name     string
		workload func() workload
		recreate bool
		fault    planted
		want     string
	}{
		{"counters", withConditions, false, nil, fine},
		{"counters, without conditions", without, false, nil, fine},
		{"counters, put back", putBack, false, delayed(), "lost"},
		{"counters, read late", withConditions, false, delayed(), "torn"},
		{"counters, done and 503", withConditions, false, everyTenth(http.MethodPatch, "/orders", doAndFail), fine},
		{"counters, done and connection reset", without, false, everyTenth(http.MethodPatch, "/orders", doAndReset), fine},
		{"counters, not done and 500", withConditions, false, everyTenth(http.MethodPatch, "/orders", failOnly), fine},
		{"counters, not done", withConditions, false, everyTenth(http.MethodPatch, "/orders", skip), "lost"},
		{"counters, not done, without conditions", without, false, everyTenth(http.MethodPatch, "/orders", skip), "lost"},
		{"counters, half read", withConditions, false, everyTenth(http.MethodGet, "/orders", twist(`"qty":1`, `"qty":2`)), "torn"},
		{"creates", made, false, nil, fine},
		{"creates, done and 503", made, false, everyTenth(http.MethodPost, "/orders", doAndFail), fine},
		{"creates, done and connection reset", made, false, everyTenth(http.MethodPost, "/orders", doAndReset), fine},
		{"creates, undone", made, false, everyTenth(http.MethodPost, "/orders", undo), "lost"},
		{"moves", moved, false, nil, fine},
		{"moves, done and 503", moved, false, everyTenth(http.MethodPost, "/places", doAndFail), fine},
		{"moves, done and connection reset", moved, false, everyTenth(http.MethodPost, "/places", doAndReset), fine},
		{"moves, not done and 500", moved, false, everyTenth(http.MethodPost, "/places", failOnly), fine},
		{"moves, not done", moved, false, everyTenth(http.MethodPost, "/places", skip), "lost"},
		{"moves, half of them", moved, false, everyTenth(http.MethodPost, "/places", half), "torn"},
		{"moves, half read", moved, false, everyTenth(http.MethodGet, "/places", twist("100", "200")), "torn"},
		{"claims", claimed, false, nil, fine},
		{"claims, created again", claimed, true, nil, fine},
		{"claims, done and 503", claimed, true, everyTenth(http.MethodPut, "/places", doAndFail), fine},
		{"claims, removed and connection reset", claimed, false, everyTenth(http.MethodDelete, "/places", doAndReset), fine},
		{"claims, condition ignored", claimed, false, everyTenth(http.MethodPut, "/places", ignoreCondition), "torn"},
		{"claims, not done", claimed, true, everyTenth(http.MethodDelete, "/places", skip), "torn"},
		{"claims, 404", claimed, true, everyTenth(http.MethodGet, "/places", deny), "torn"},
		{"keyed", repeated, false, nil, fine},
		{"keyed, done and 503", repeated, false, everyTenth(http.MethodPost, "/orders", doAndFail), fine},
		{"keyed, done and connection reset", repeated, false, everyTenth(http.MethodPost, "/orders", doAndReset), fine},
		{"keyed, without keys", keyless, false, everyTenth(http.MethodPost, "/orders", doAndReset), "torn"},
		{"keyed, undone", repeated, false, everyTenth(http.MethodPost, "/orders", undo), "lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := newTarget(serveShop(t, standIn(tt.recreate), tt.fault), 4)
			runWorkload(t, tt.workload(), target, 4, tt.want != fine)
			if got := target.String(); !strings.Contains(got, tt.want) || tt.want == fine && got != fine {
				t.Errorf("found %s, want %s\n%s", got, tt.want, strings.Join(target.Examples(), "\n"))
			}
		})
	}
}

// runWorkload runs one workload as the scenario does. With inTurns the writers take turns, so that it does not depend on timing
// whether a fault shows.
func runWorkload(t *testing.T, w workload, target *target, writers int, inTurns bool) {
	t.Helper()
	const requests = 500
	e := &env{seed: 1}
	defer target.HTTP.CloseIdleConnections()
	if err := w.prepare(t.Context(), target, e.random(checkPart)); err != nil {
		t.Fatal(err)
	}
	l := &load{writers: writers, done: target.Requests, total: requests,
		step: func(ctx context.Context, writer int, rng *rand.Rand) error { return w.step(ctx, target, writer, rng) }}
	if !inTurns {
		if err := l.run(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for turn, rng := 0, e.random(0); inTurns && l.done() < requests; turn++ {
		if err := w.step(t.Context(), target, turn%writers, rng); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.verify(t.Context(), target, e.random(checkPart)); err != nil {
		t.Fatal(err)
	}
}

// TestControlsCollide: the control loses something even if no writers meet by chance.
func TestControlsCollide(t *testing.T) {
	t.Parallel()
	for _, conditional := range []bool{true, false} {
		c := newCounters(4, conditional, true)
		target := newTarget(serveShop(t, standIn(false), nil), 1)
		w := &writeLoad{workloads: []workload{c}, targets: targetsOf(target)}
		rng := (&env{seed: 1}).random(0)
		if err := c.prepare(t.Context(), target, rng); err != nil {
			t.Fatal(err)
		}
		if err := w.collide(t.Context(), rng); err != nil {
			t.Fatal(err)
		}
		if err := c.verify(t.Context(), target, rng); err != nil {
			t.Fatal(err)
		}
		if target.Count(history.Lost) == 0 {
			t.Errorf("with conditions %t: nothing is lost", conditional)
		}
	}
}

func TestCreatesFindsWrongOrders(t *testing.T) {
	t.Parallel()
	note0, line0 := (&creates{}).content(0)
	tests := []struct {
		name    string
		attempt *createAttempt
		orders  []order
		torn    int
	}{
		{"as promised", acknowledgedAttempt("7"), []order{{ID: 7, Note: &note0, Lines: []orderLine{line0}}}, 0},
		{"unknown, and there", &createAttempt{}, []order{{ID: 7, Note: &note0, Lines: []orderLine{line0}}}, 0},
		{"twice", acknowledgedAttempt("7"), []order{{ID: 7, Note: &note0, Lines: []orderLine{line0}},
			{ID: 8, Note: &note0, Lines: []orderLine{line0}}}, 1},
		{"another id", acknowledgedAttempt("7"), []order{{ID: 8, Note: &note0, Lines: []orderLine{line0}}}, 1},
		{"refused, and there", &createAttempt{refused: true}, []order{{ID: 8, Note: &note0, Lines: []orderLine{line0}}}, 1},
		{"another line", &createAttempt{}, []order{{ID: 8, Note: &note0, Lines: []orderLine{countLine(5)}}}, 1},
		{"not attempted", &createAttempt{}, []order{{ID: 8, Note: new("created 1"), Lines: []orderLine{countLine(1)}}}, 1},
		{"of another workload", &createAttempt{}, []order{{ID: 8, Note: new("ring twice"), Lines: []orderLine{countLine(1)}}, {ID: 9}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &creates{attempts: []*createAttempt{tt.attempt}}
			target := newTarget(nil, 1)
			for _, o := range tt.orders {
				c.see(target, o)
			}
			if got := target.Count(history.Torn); got != tt.torn {
				t.Errorf("torn = %d, want %d: %v", got, tt.torn, target.Examples())
			}
		})
	}
}

func TestWritesResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		naive        bool
		acknowledged int
		violations   []history.Kind
		want         string // a part of the error; empty is none
	}{
		{"nothing wrong", false, 1, nil, ""},
		{"lost", false, 1, []history.Kind{history.Lost}, "1 lost"},
		{"torn", false, 1, []history.Kind{history.Torn, history.Torn}, "2 torn"},
		{"not acknowledged", false, 0, nil, "no write was acknowledged"},
		{"unexpected", false, 1, []history.Kind{history.Unexpected}, "1 unexpected"},
		{"a control that finds", true, 1, []history.Kind{history.Lost, history.Torn}, ""},
		{"a control with an unexpected response", true, 1, []history.Kind{history.Lost, history.Torn, history.Unexpected},
			"1 unexpected"},
		{"a control that loses nothing", true, 1, []history.Kind{history.Torn}, "cannot fail"},
		{"a control that tears nothing", true, 1, []history.Kind{history.Lost}, "cannot fail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWriteLoad("test", tt.naive)
			w.workloads, w.targets = []workload{&creates{}}, targetsOf(newTarget(nil, 1))
			for range tt.acknowledged {
				acknowledgeOne(t, w.targets[0])
			}
			for _, kind := range tt.violations {
				w.targets[0].Add(kind, 1, "something")
			}
			w.judge()
			err := w.failure()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("result = %v, want %q", err, tt.want)
			}
			if text := strings.Join(w.lines, "\n"); !strings.Contains(text, "new orders") {
				t.Errorf("the report has no row of the workload:\n%s", text)
			}
		})
	}
}

func targetsOf(all ...*target) []*target { return all }

// acknowledgeOne sends a write that is acknowledged.
func acknowledgeOne(t *testing.T, to *target) {
	t.Helper()
	to.nodes = serveShop(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }), nil)
	if _, err := to.write(t.Context(), (&env{}).random(0), http.MethodPut, "/", ""); err != nil {
		t.Fatal(err)
	}
}

// standOrder and standPlace are resources of standIn.
type standOrder struct {
	ID        int64       `json:"id" readOnly:"true"`
	Lines     []orderLine `json:"lines" required:"true"`
	Note      *string     `json:"note"`
	Status    string      `json:"status"`
	CreatedAt string      `json:"createdAt" readOnly:"true"`
}

type standPlace struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Country    string `json:"country"`
	Population int64  `json:"population"`
}

// standIn is the part of the shop that the workloads use, in this process.
func standIn(recreate bool) http.Handler {
	db := memory.NewDB()
	orders := memory.New(&memory.Options[standOrder]{DB: db})
	places := memory.New(&memory.Options[standPlace]{DB: db, Recreate: recreate})
	ops := resource.OpsOf(orders)
	ops.Insert = nil
	opts := &resource.CatalogOptions{
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), nil),
		Principal:   func(context.Context) string { return "guest" },
	}
	return rest.New(resource.NewCatalog(opts,
		ops.Resource("orders", &resource.Options[standOrder]{Public: true}),
		resource.New("places", places, &resource.Options[standPlace]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"country": {query.Eq}}}})), nil)
}

// planted is a fault of a server. It calls next as often as it likes.
type planted func(w http.ResponseWriter, r *http.Request, next http.Handler)

// serveShop returns a fleet of one node with a fault, which may be nil.
func serveShop(t *testing.T, h http.Handler, f planted) *fleet.Fleet {
	t.Helper()
	faulty := h
	if f != nil {
		faulty = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(w, r, h) })
	}
	server := httptest.NewServer(faulty)
	t.Cleanup(server.Close)
	return fleet.Of(server.URL)
}

// everyTenth restricts a fault to each tenth request of a method below a path.
func everyTenth(method, path string, f planted) planted {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == method && strings.HasPrefix(r.URL.Path, path) && n.Add(1)%10 == 0 {
			f(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// serveOne returns the response of a handler to a request.
func serveOne(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}
