package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// TestMain is also the server of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestOnce runs what the script runs, in small: everything once where keys are kept with the data, and something twice in
// the control.
func TestOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	args := []string{"steps", "-processes", "2", "-kills", "4", "-control-kills", "2",
		"-db", filepath.Join(dir, "a.db"), "-control-db", filepath.Join(dir, "b.db")}
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Error(err)
	}
	for _, mode := range []string{together, identity, apart, three} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			args := []string{"chaos", "-db", filepath.Join(t.TempDir(), "a.db"), "-mode", mode, "-requests", "100", "-kills", "2"}
			if err := run(t.Context(), args, io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("storm", func(t *testing.T) {
		t.Parallel()
		args := []string{"storm", "-db", filepath.Join(t.TempDir(), "a.db"), "-keys", "9", "-copies", "8"}
		if err := run(t.Context(), args, io.Discard); err != nil {
			t.Error(err)
		}
	})
}

func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"tea"}, {"server"}, {"server", "-db", "-mode", "apart"}, {"server", "-db", filepath.Join(t.TempDir(), "a.db"), "-mode", "tea"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q will do", args)
		}
	}
}

// told is a write that got answers.
func told(k kind, key string, answers ...answer) *write {
	w := newWrite(k, key, 1, "1")
	for _, a := range answers {
		w.note(a)
	}
	return w
}

func made(id string) answer {
	return answer{status: http.StatusCreated, body: fmt.Sprintf(`{"id":%q}`, id)}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	unknown := answer{status: http.StatusConflict, body: `{"type":"x/outcome-unknown"}`}
	busy := answer{status: http.StatusConflict, body: `{"type":"x/request-in-flight"}`}
	gone := answer{status: http.StatusGone}
	removed := answer{status: http.StatusNoContent}
	once := counts{keys: 1, acknowledged: 1, effects: 1}
	tests := []struct {
		name  string
		write *write
		left  found
		want  counts
	}{
		{"once", told(create, "k", made("a"), made("a")), found{"k": {"a"}}, once},
		{"twice", told(create, "k", made("a")), found{"k": {"a", "b"}},
			counts{keys: 1, acknowledged: 1, effects: 2, duplicates: 1}},
		{"three times", told(change, "k", made("a")), found{"k": {"a", "b", "c"}},
			counts{keys: 1, acknowledged: 1, effects: 3, duplicates: 2}},
		{"not there", told(create, "k", made("a")), nil, counts{keys: 1, acknowledged: 1, missing: 1}},
		{"another than was told", told(create, "k", made("a")), found{"k": {"b"}},
			counts{keys: 1, acknowledged: 1, effects: 1, wrong: 1}},
		{"told two things", told(transfer, "k", made("a"), made("b")), found{"k": {"a"}},
			counts{keys: 1, acknowledged: 1, effects: 1, wrong: 1}},
		{"removed", told(remove, "k", removed, removed), nil, once},
		{"not removed", told(remove, "k", removed), found{"item-of-k": {"a"}}, counts{keys: 1, acknowledged: 1, missing: 1}},
		{"removed, and then it was gone", told(remove, "k", removed, gone), nil, counts{keys: 1, effects: 1, other: 1}},
		{"nobody knows", told(change, "k", busy, unknown), nil, counts{keys: 1, unknown: 1}},
		{"nobody knows of a create", told(create, "k", unknown), nil, counts{keys: 1, unknown: 1, unknownCreates: 1}},
		{"never answered", told(create, "k", busy), nil, counts{keys: 1, other: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := judge([]*write{tt.write}, tt.left)
			got.examples = nil
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(counts{})); diff != "" {
				t.Errorf("judge (-want +got):\n%s", diff)
			}
			good := tt.want.effects == 1 && tt.want.acknowledged == 1 && tt.want.wrong == 0
			if err := got.verdict(together); (err == nil) != good {
				t.Errorf("verdict: %v", err)
			}
		})
	}
	if (&counts{keys: 1, unknown: 1}).verdict(apart) != nil {
		t.Error("at most once, nobody may be told that nobody knows")
	}
	if (&counts{keys: 1, unknown: 1, unknownCreates: 1}).verdict(identity) == nil {
		t.Error("once by identity, a client may be told that nobody knows of a create")
	}
	if (&counts{}).verdict(apart) == nil {
		t.Error("no write at all is good")
	}
}

// TestPersist: a client asks again with the same key until it is answered.
func TestPersist(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	keys := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key") + r.Header.Get(dieField)
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"type":"x/request-in-flight"}`)
		default:
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"id":"a"}`)
		}
	}))
	t.Cleanup(server.Close)
	c := newClient(1)
	w := newWrite(create, "k", 1, "")
	s := &settings{seed: 1}
	if err := (&writer{c, fleet.Of(server.URL)}).persist(t.Context(), s.random(0), w, 1, asked); err != nil {
		t.Fatal(err)
	}
	close(keys)
	var got []string
	for key := range keys {
		got = append(got, key)
	}
	if diff := cmp.Diff([]string{"k" + asked, "k", "k", "k"}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if !w.acknowledged() || w.id != "a" {
		t.Errorf("told %v", w.answers)
	}
	if c.sent.Load() != 4 || c.broken.Load() != 1 || c.unavailable.Load() != 1 || c.conflicts.Load() != 1 {
		t.Errorf("counted %d, %d, %d and %d", c.sent.Load(), c.broken.Load(), c.unavailable.Load(), c.conflicts.Load())
	}
	if c.curt.Load() != 1 || c.verdict() == nil {
		t.Errorf("%d answers without Retry-After, and the verdict is %v", c.curt.Load(), c.verdict())
	}
}

// TestPairsAreJudged tries each judge with the answers of a server that mixes things up.
func TestPairsAreJudged(t *testing.T) {
	t.Parallel()
	first := reply{answer{status: 201, location: "/v1.1/orders/1",
		body: `{"id":1,"itemId":7,"qty":2,"note":"secret 1"}`}, "application/json"}
	replay := first
	replay.replayed = true
	fresh := first
	fresh.location, fresh.body = "/v1.1/orders/2", strings.Replace(first.body, `"id":1`, `"id":2`, 1)
	stranger := reply{answer{status: 401, body: `{"status":401}`}, "application/problem+json"}
	mutation := reply{answer{status: 200, body: `{"errors":[]}`}, "application/json"}
	v2 := reply{answer{status: 201, replayed: true,
		body: `{"id":1,"lines":[{"itemId":7,"qty":2}],"note":"secret 1"}`}, "application/json"}
	refused := reply{answer{status: 422, body: `{"type":"x/idempotency-key-reused"}`}, "application/problem+json"}
	telling := refused
	telling.body = strings.Replace(telling.body, "}", `,"was":"secret 1"}`, 1)
	typed := replay
	typed.media = "application/vnd.shop.1.1.0.order+json"
	tests := []struct {
		name   string
		judge  func(first, second reply) error
		second reply
		good   bool
	}{
		{"apart", apartFrom, fresh, true},
		{"apart, replayed", apartFrom, replay, false},
		{"apart, the same order", apartFrom, first, false},
		{"apart, refused", apartFrom, refused, false},
		{"apart, refused by GraphQL", apartFrom, mutation, false},
		{"stranger", strangerTo, stranger, true},
		{"stranger, replayed", strangerTo, replay, false},
		{"stranger, served", strangerTo, fresh, false},
		{"repeated", repeated, replay, true},
		{"repeated, done again", repeated, fresh, false},
		{"other shape", inOtherShape, v2, true},
		{"other shape, the first one", inOtherShape, replay, false},
		{"other type", inOtherType, typed, true},
		{"other type, the first one", inOtherType, replay, false},
		{"other meaning", refusedFor, refused, true},
		{"other meaning, replayed", refusedFor, replay, false},
		{"other meaning, telling", refusedFor, telling, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := tt.judge(first, tt.second); (err == nil) != tt.good {
				t.Errorf("judged as %v", err)
			}
		})
	}
}
