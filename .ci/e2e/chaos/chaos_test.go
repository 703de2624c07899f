package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// Faults of shops, each of which some workload has to find.

// forget promises a write and does not do it.
func forget(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Method == http.MethodDelete {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Write(ask(next, http.MethodGet, r.URL.Path).Body.Bytes())
}

// undo does a write, and takes it back.
func undo(w http.ResponseWriter, r *http.Request, next http.Handler) {
	made := httptest.NewRecorder()
	next.ServeHTTP(made, r)
	if made.Code == http.StatusCreated {
		ask(next, http.MethodDelete, made.Header().Get("Location"))
	}
	w.WriteHeader(made.Code)
	w.Write(made.Body.Bytes())
}

// fail does a write, and says that it could not.
func fail(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	w.WriteHeader(http.StatusServiceUnavailable)
}

// refuse does not even try, and does not know what happened.
func refuse(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.WriteHeader(http.StatusInternalServerError)
}

// hangUp does a write, and breaks the connection.
func hangUp(_ http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// overlook does a write whatever its conditions are.
func overlook(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("If-None-Match")
	next.ServeHTTP(w, r)
}

// lie denies what is there.
func lie(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusNotFound) }

// behind returns a fault that shows each reader what the one before it should have seen.
func behind() fault {
	var mu sync.Mutex
	var last []byte
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		now := ask(next, r.Method, r.URL.Path).Body.Bytes()
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
		panic(err) // the stand-in is asked by nobody else
	}
	batch.Operations = batch.Operations[1:]
	r.Body = io.NopCloser(strings.NewReader(encode(batch)))
	r.ContentLength = -1
	next.ServeHTTP(w, r)
}

// twist returns a fault that answers with other digits.
func twist(from, to string) fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		answer := ask(next, r.Method, r.URL.String())
		w.Write([]byte(strings.ReplaceAll(answer.Body.String(), from, to)))
	}
}

func TestWorkloads(t *testing.T) {
	t.Parallel()
	const fine = "nothing"
	lanesWith := func(f *findings) workload { return newLanes(f, 4, true, false) }
	lanesWithout := func(f *findings) workload { return newLanes(f, 4, false, false) }
	putBack := func(f *findings) workload { return newLanes(f, 4, true, true) }
	made := func(f *findings) workload { return &creates{found: f} }
	moved := func(f *findings) workload { return newMoves(f, false) }
	claimed := func(f *findings) workload { return &claims{found: f} }
	repeated := func(f *findings) workload { return &keyed{found: f} }
	keyless := func(f *findings) workload { return &keyed{found: f, naive: true} }
	tests := []struct {
		name     string
		workload func(*findings) workload
		recreate bool
		fault    fault
		want     string
	}{
		{"lanes", lanesWith, false, nil, fine},
		{"lanes, without conditions", lanesWithout, false, nil, fine},
		{"lanes, put back", putBack, false, behind(), "lost"},
		{"lanes, seen late", lanesWith, false, behind(), "torn"},
		{"lanes, done and denied", lanesWith, false, everyTenth(http.MethodPatch, "/orders", fail), fine},
		{"lanes, done and hung up", lanesWithout, false, everyTenth(http.MethodPatch, "/orders", hangUp), fine},
		{"lanes, not done and denied", lanesWith, false, everyTenth(http.MethodPatch, "/orders", refuse), fine},
		{"lanes, forgotten", lanesWith, false, everyTenth(http.MethodPatch, "/orders", forget), "lost"},
		{"lanes, forgotten, without conditions", lanesWithout, false, everyTenth(http.MethodPatch, "/orders", forget), "lost"},
		{"lanes, half read", lanesWith, false, everyTenth(http.MethodGet, "/orders", twist(`"qty":1`, `"qty":2`)), "torn"},
		{"creates", made, false, nil, fine},
		{"creates, done and denied", made, false, everyTenth(http.MethodPost, "/orders", fail), fine},
		{"creates, done and hung up", made, false, everyTenth(http.MethodPost, "/orders", hangUp), fine},
		{"creates, undone", made, false, everyTenth(http.MethodPost, "/orders", undo), "lost"},
		{"moves", moved, false, nil, fine},
		{"moves, done and denied", moved, false, everyTenth(http.MethodPost, "/places", fail), fine},
		{"moves, done and hung up", moved, false, everyTenth(http.MethodPost, "/places", hangUp), fine},
		{"moves, not done and denied", moved, false, everyTenth(http.MethodPost, "/places", refuse), fine},
		{"moves, forgotten", moved, false, everyTenth(http.MethodPost, "/places", forget), "lost"},
		{"moves, half of them", moved, false, everyTenth(http.MethodPost, "/places", half), "torn"},
		{"moves, half read", moved, false, everyTenth(http.MethodGet, "/places", twist("100", "200")), "torn"},
		{"claims", claimed, false, nil, fine},
		{"claims, anew", claimed, true, nil, fine},
		{"claims, done and denied", claimed, true, everyTenth(http.MethodPut, "/places", fail), fine},
		{"claims, removed and hung up", claimed, false, everyTenth(http.MethodDelete, "/places", hangUp), fine},
		{"claims, overlooked", claimed, false, everyTenth(http.MethodPut, "/places", overlook), "torn"},
		{"claims, forgotten", claimed, true, everyTenth(http.MethodDelete, "/places", forget), "torn"},
		{"claims, denied", claimed, true, everyTenth(http.MethodGet, "/places", lie), "torn"},
		{"keyed", repeated, false, nil, fine},
		{"keyed, done and denied", repeated, false, everyTenth(http.MethodPost, "/orders", fail), fine},
		{"keyed, done and hung up", repeated, false, everyTenth(http.MethodPost, "/orders", hangUp), fine},
		{"keyed, without keys", keyless, false, everyTenth(http.MethodPost, "/orders", hangUp), "torn"},
		{"keyed, undone", repeated, false, everyTenth(http.MethodPost, "/orders", undo), "lost"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := &findings{}
			w := tt.workload(found)
			letLoose(t, w, serve(t, standIn(tt.recreate), tt.fault), 4, tt.want != fine)
			if got := kindOf(found); !strings.Contains(got, tt.want) || tt.want == fine && got != fine {
				t.Errorf("found %s, want %s\n%s", got, tt.want, strings.Join(found.examples, "\n"))
			}
		})
	}
}

// letLoose runs one workload as a plan does, or with writers who take turns: whether a fault shows must not be a matter of
// who of them is faster.
func letLoose(t *testing.T, w workload, f *fleet.Fleet, writers int, inTurns bool) {
	t.Helper()
	p := plan{requests: 500, writers: writers, seed: 1}
	one := task{w, newClient(f, newTransport(writers)), &findings{}}
	defer one.client.http.CloseIdleConnections()
	if err := w.prepare(t.Context(), one.client, p.random(judge)); err != nil {
		t.Fatal(err)
	}
	if inTurns {
		takeTurns(t, p, one)
	} else if _, err := p.writeAndKill(t.Context(), f, []task{one}); err != nil {
		t.Fatal(err)
	}
	if err := w.verify(t.Context(), one.client, p.random(judge)); err != nil {
		t.Fatal(err)
	}
}

func takeTurns(t *testing.T, p plan, one task) {
	t.Helper()
	rng := p.random(0)
	for turn := 0; one.client.requests.Load() < int64(p.requests); turn++ {
		if err := one.step(t.Context(), one.client, turn%p.writers, rng); err != nil {
			t.Fatal(err)
		}
	}
}

// TestControlsCollide: the control loses something also where nobody ever meets by chance.
func TestControlsCollide(t *testing.T) {
	t.Parallel()
	for _, conditional := range []bool{true, false} {
		found := &findings{}
		l := newLanes(found, 4, conditional, true)
		one := task{l, newClient(serve(t, standIn(false), nil), newTransport(1)), found}
		rng := plan{seed: 1}.random(0)
		if err := l.prepare(t.Context(), one.client, rng); err != nil {
			t.Fatal(err)
		}
		if err := collide(t.Context(), []task{one}, rng); err != nil {
			t.Fatal(err)
		}
		if err := l.verify(t.Context(), one.client, rng); err != nil {
			t.Fatal(err)
		}
		if found.lost == 0 {
			t.Errorf("with conditions %t: nothing is lost", conditional)
		}
	}
}

func kindOf(f *findings) string {
	var kinds []string
	for kind, n := range map[string]int64{"lost": f.lost, "torn": f.torn, "wrong": f.mistakes} {
		if n > 0 {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return "nothing"
	}
	return strings.Join(kinds, " ")
}

func TestCreatesSeesWhatNobodyMade(t *testing.T) {
	t.Parallel()
	note0, line0 := createdOf(0)
	tests := []struct {
		name    string
		attempt attempt
		orders  []order
		torn    int64
	}{
		{"as promised", attempt{id: "7"}, []order{{ID: 7, Note: &note0, Lines: []line{line0}}}, 0},
		{"unknown, and there", attempt{}, []order{{ID: 7, Note: &note0, Lines: []line{line0}}}, 0},
		{"twice", attempt{id: "7"}, []order{{ID: 7, Note: &note0, Lines: []line{line0}},
			{ID: 8, Note: &note0, Lines: []line{line0}}}, 2},
		{"another id", attempt{id: "7"}, []order{{ID: 8, Note: &note0, Lines: []line{line0}}}, 1},
		{"refused, and there", attempt{refused: true}, []order{{ID: 8, Note: &note0, Lines: []line{line0}}}, 1},
		{"another line", attempt{}, []order{{ID: 8, Note: &note0, Lines: []line{lane(5)}}}, 1},
		{"not attempted", attempt{}, []order{{ID: 8, Note: new("created 1"), Lines: []line{lane(1)}}}, 1},
		{"somebody else's", attempt{}, []order{{ID: 8, Note: new("ring twice"), Lines: []line{lane(1)}}, {ID: 9}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := &creates{found: &findings{}, attempts: []attempt{tt.attempt}}
			for _, o := range tt.orders {
				k.see(o)
			}
			if k.found.torn != tt.torn {
				t.Errorf("torn = %d, want %d: %v", k.found.torn, tt.torn, k.found.examples)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		naive bool
		acked int64
		found *findings
		want  string // a part of the error; empty is none
	}{
		{"nothing wrong", false, 1, &findings{}, ""},
		{"lost", false, 1, &findings{lost: 1}, "1 writes were lost"},
		{"torn", false, 1, &findings{torn: 2}, "2 states torn"},
		{"not acknowledged", false, 0, &findings{}, "nothing was acknowledged"},
		{"unexpected", false, 1, &findings{mistakes: 3}, "3 answers that nobody expects"},
		{"a control that finds", true, 1, &findings{lost: 1, torn: 1}, ""},
		{"a control that loses nothing", true, 1, &findings{torn: 1}, "cannot fail"},
		{"a control that tears nothing", true, 1, &findings{lost: 1}, "cannot fail"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &client{}
			c.acked.Store(tt.acked)
			r := report{plan: plan{naive: tt.naive}, tasks: []task{{&creates{}, c, tt.found}}}
			err := r.verdict()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("verdict = %v, want %q", err, tt.want)
			}
			var out strings.Builder
			r.print(&out)
			if !strings.Contains(out.String(), "new orders") {
				t.Errorf("the report has no row of the task:\n%s", &out)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"-shop", "x"}, {"-db", "x"}, {"-shop", "x", "-db", "y", "more"},
		{"-shop", "x", "-db", "y", "-processes", "0"}, {"-nonsense"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("parse(%q) = nil", args)
		}
	}
	if err := run(t.Context(), nil, nil); err == nil {
		t.Error("run without arguments = nil")
	}
}
