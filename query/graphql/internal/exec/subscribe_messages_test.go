package exec_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// next returns the next message of a subscription.
func next(t testing.TB, w *world, document, variables string) []byte {
	t.Helper()
	for m, err := range w.subscribe(t.Context(), t, document, variables, w.cursors[0]) {
		if err != nil {
			t.Fatal(err)
		}
		return m.JSON
	}
	return nil
}

// TestMessagesAreShared checks that subscriptions share memory only if their messages are equal.
func TestMessagesAreShared(t *testing.T) {
	t.Parallel()
	const some = `subscription($f: String, $p: Boolean = true) { bookChanged(filter: {not: {title: {eq: $f}}}) {
		id book { title pages @include(if: $p) etag } } }`
	tests := []struct {
		name, document, one, other string
		want                       bool
	}{
		{"the same", some, `{"f": "a"}`, `{"f": "a"}`, true},
		{"variables that do not matter", some, `{"f": "a"}`, `{"f": "b", "p": true}`, true},
		{"variables that matter", some, `{"f": "a", "p": true}`, `{"f": "a", "p": false}`, false},
		{"relations",
			`subscription($f: String) { bookChanged(filter: {not: {title: {eq: $f}}}) { book { author { ` +
				`id } } } }`,
			`{"f": "a"}`, `{"f": "a"}`, false},
		{"relations that are skipped",
			`subscription($p: Boolean!) { bookChanged { book { id author @include(if: $p) { id } } } }`,
			`{"p": false}`, `{"p": false}`, true},
		{"computed", `subscription($a: Int) { bookChanged { book { times(by: $a) } } }`, `{"a": 1}`,
			`{"a": 1}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := all()
			s.feed = true
			w := newWorld(t, s)
			w.life(t)
			one, other := next(t, w, tt.document, tt.one), next(t, w, tt.document, tt.other)
			if got := &one[0] == &other[0]; got != tt.want {
				t.Errorf("they share it: %v, want %v\n%s\n%s", got, tt.want, one, other)
			}
			if same := string(one) == string(other); same != (tt.one == tt.other || tt.want) {
				t.Errorf("the messages are the same: %v\n%s\n%s", same, one, other)
			}
			if again := next(t, w, tt.document+" #", tt.one); &again[0] == &one[0] ||
				string(again) != string(one) {
				t.Errorf("the message of another document is %s", again)
			}
		})
	}
}

// TestSharedMessageConcurrent checks sharing with many concurrent subscriptions.
func TestSharedMessageConcurrent(t *testing.T) {
	t.Parallel()
	const many = 50
	w := newWorld(t, setting{feed: true})
	document, at := `subscription { bookChanged { kind id book { title } } }`, w.cursors[0]
	var told [many][]*byte
	var begun, all sync.WaitGroup
	begun.Add(many)
	for i := range many {
		messages, listens := w.listen(t.Context(), t, document, "", at), sync.OnceFunc(begun.Done)
		all.Go(func() {
			for m, err := range messages {
				if err != nil {
					t.Error(err)
				}
				if m.JSON == nil {
					listens()
					continue
				}
				if told[i] = append(told[i], &m.JSON[0]); len(told[i]) == 3 {
					return
				}
			}
		})
	}
	begun.Wait()
	w.life(t)
	all.Wait()
	for i := range told {
		if !slices.Equal(told[i], told[0]) {
			t.Errorf("messages at %v and %v: want the same bytes", told[i], told[0])
		}
	}
}

// TestSharedByPermissions checks that clients with different permissions receive different messages.
func TestSharedByPermissions(t *testing.T) {
	t.Parallel()
	const document = `subscription { bookChanged { kind book { genre } } }`
	w := newWorld(t, setting{feed: true})
	w.authorize = func(ctx context.Context, _ resource.Op, before, _ *book) error {
		if before != nil && before.Genre == "novel" && ctx.Value(caller{}) == nil {
			return resource.ErrForbidden
		}
		return nil
	}
	w.life(t)
	all, some := context.WithValue(t.Context(), caller{}, "all"), t.Context()
	for _, tt := range []struct {
		ctx  context.Context
		want string
	}{{all, "CREATED UPDATED"}, {some, "CREATED DELETED"}, {all, "CREATED UPDATED"}} {
		var kinds []string
		for _, m := range w.messages(tt.ctx, t, 2, document, "") {
			_, kind, _ := strings.Cut(m, `"kind":"`)
			kinds = append(kinds, kind[:strings.IndexByte(kind, '"')])
		}
		if got := strings.Join(kinds, " "); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// TestMessagesAreEvicted checks the limit of shared messages, and that evicted messages are written
// again.
func TestMessagesAreEvicted(t *testing.T) {
	t.Parallel()
	const document = `subscription { bookChanged { kind id book { title } } }`
	tests := []struct {
		shared int
		want   bool
	}{{0, true}, {2000, false}, {300, false}}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.shared), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{feed: true, config: exec.Config{Shared: tt.shared}})
			for range 20 {
				w.life(t)
			}
			one := next(t, w, document, "")
			if again := next(t, w, document, ""); (&one[0] == &again[0]) != (tt.shared != 300) {
				t.Errorf("it was kept at all: %v", &one[0] == &again[0])
			}
			w.messages(t.Context(), t, 60, document, "")
			other := next(t, w, document, "")
			if got := &one[0] == &other[0]; got != tt.want || string(one) != string(other) {
				t.Errorf("it was kept: %v, want %v\n%s\n%s", got, tt.want, one, other)
			}
		})
	}
}

// TestSharedAllocations checks that a second subscription allocates no more than Resource.Watch. It
// does not run in parallel, because it counts allocations of the process.
func TestSharedAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	const document, events = `subscription { bookChanged { kind id cursor book { id title pages } } }`,
		3 * 300
	w := newWorld(t, setting{feed: true})
	for range events / 3 {
		w.life(t)
	}
	listen := func() float64 {
		return mallocs(events, w.subscribe(t.Context(), t, document, "", w.cursors[0]))
	}
	first, second := listen(), least(listen)
	start, err := feed.ParseCursor(w.cursors[0])
	if err != nil {
		t.Fatal(err)
	}
	bare := least(func() float64 {
		// one more for a bookmark
		return mallocs(1+events, w.catalog.Resources()[0].Watch(t.Context(), start, query.Filter{}))
	})
	t.Logf("allocations for an event: %.3f for the first, %.3f for others, %.3f for one who only listens",
		first, second, bare)
	if most := bare + 0.02; second > most {
		t.Errorf("%.3f allocations for an event, want %.3f", second, bare)
	}
	if first < bare+1 {
		t.Error("the first allocates no more than others do, so nothing was measured")
	}
}

// least returns the minimum of several measurements, because other goroutines add allocations.
func least(measure func() float64) float64 {
	n := measure()
	for range 9 {
		n = min(n, measure())
	}
	return n
}

// mallocs returns the allocations per element of an iterator.
func mallocs[T any](n int, what iter.Seq2[T, error]) float64 {
	all := float64(n)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range what {
		if n--; n == 0 {
			break
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / all
}

// TestEnginesDoNotShare checks that engines with the same catalog do not share messages.
func TestEnginesDoNotShare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	change := oneChange(t, w)
	for _, tt := range []struct{ document, want string }{
		{`subscription { bookChanged { id } }`, `"id":"7"`},
		{`subscription { bookChanged { kind } }`, `"kind":"CREATED"`},
	} {
		w.remake(t, setting{})
		l := w.engine.Listener(w.plan(t, tt.document), nil, false)
		if got := string(l.Message(t.Context(), change)); got != saying(tt.want) {
			t.Errorf("%s has the message %s", tt.document, got)
		}
	}
}

// TestFirstSubscriberLeaves checks that a message is complete if the context of the subscription that
// writes it ends.
func TestFirstSubscriberLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{feed: true})
	change := oneChange(t, w)
	l := w.engine.Listener(w.plan(t, `subscription { bookChanged { book { id } } }`), nil, false)
	gone, leave := context.WithCancel(t.Context())
	leave()
	l.Message(gone, change)
	if got := string(l.Message(t.Context(), change)); got != saying(`"book":{"id":"7"}`) {
		t.Errorf("another has the message %s", got)
	}
}
