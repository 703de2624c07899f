package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario write-skew: in each round two concurrent requests take both doctors of a pair off
// call. A hook allows that only while the other doctor is on call, so exactly one request has to
// succeed. Rounds are made in five ways, by three nodes on PostgreSQL and one on SQLite.
//
// The controls read the other doctor without a lock at the default level of PostgreSQL, and
// outside of the transaction. There both hooks read before one of the requests writes, so that both
// requests succeed.

// skewRun is one run.
type skewRun struct {
	engine, mode, title string
	rounds              int // in each way
	// control reports that both doctors have to be off call after some rounds of the ways meet.
	control bool
	// meet are the ways in which a node gets both requests of a round, and both hooks read before one of
	// the requests writes. In a run that is no control these are half of the rounds.
	meet []string

	keyNodes
	history.Violations
	next    atomic.Int64 // number of the next round
	repeats atomic.Int64 // requests that were sent again
	results map[string]*skewResult
	took    time.Duration
}

// skewResult counts the rounds of one way by the number of doctors on call at the end.
type skewResult struct{ none, one, both int }

// offCall is a way to take a doctor off call. In its texts ID is the id of the doctor.
type offCall struct {
	name, method, path, media, body string
	keyed                           bool
}

const (
	skewMutation = `{"query":"mutation{patchDoctor(id:\"ID\",input:{onCall:false}){onCall}}"}`
	skewBatch    = `{"operations":[{"op":"patch","id":"ID","patch":{"onCall":false}}]}`
	skewPatch    = `{"onCall":false}`
	batchMedia   = "Content-Type: application/vnd.stoa.batch+json"
)

var skewWays = []offCall{
	{"PATCH", http.MethodPatch, "/doctors/ID", client.MergePatch, skewPatch, false},
	{"PATCH with a key", http.MethodPatch, "/doctors/ID", client.MergePatch, skewPatch, true},
	{"batch", http.MethodPost, "/doctors", batchMedia, skewBatch, false},
	{"GraphQL", http.MethodPost, "/graphql", client.JSON, skewMutation, false},
	{"GraphQL with a key", http.MethodPost, "/graphql", client.JSON, skewMutation, true},
}

func writeSkew(ctx context.Context, e *env) error {
	all := make([]string, len(skewWays))
	for i, way := range skewWays {
		all[i] = way.name
	}
	alone := []string{"PATCH", "GraphQL"} // the ways without a transaction of their own
	for _, s := range []*skewRun{
		{engine: postgres, mode: server.Serializable, title: "serializable", meet: all},
		{engine: postgres, mode: server.Locking, title: "the default level, and a locking read", meet: all},
		{engine: postgres, mode: server.Ordered, title: "the same, with locks in the order of the ids"},
		{engine: sqlite, mode: server.Unlocked, title: "the default level"},
		{engine: postgres, mode: server.Unlocked, title: "control: the default level without a lock",
			control: true, meet: all},
		{engine: postgres, mode: server.OutsideTx, title: "control: serializable with HooksOutsideTx",
			control: true, meet: alone},
		{engine: sqlite, mode: server.OutsideTx, title: "control: HooksOutsideTx", control: true, meet: alone},
	} {
		s.rounds = size(e, 50, 500)
		if err := s.run(ctx, e); err != nil {
			return fmt.Errorf("%s, %s: %w", s.engine, s.title, err)
		}
		if err := e.finish(s.result()); err != nil {
			return err
		}
	}
	return nil
}

// skewWriters is the number of rounds at a time.
const skewWriters = 4

func (s *skewRun) run(ctx context.Context, e *env) error {
	if err := s.open(ctx, e); err != nil {
		return err
	}
	defer s.KillAll()
	began := time.Now()
	total := float64(s.rounds * len(skewWays))
	l := &load{writers: skewWriters, step: s.step, progress: func() float64 { return float64(s.next.Load()) / total }}
	if err := l.run(ctx, e); err != nil {
		return err
	}
	s.took = time.Since(began)
	return s.count(ctx)
}

// open starts the nodes. Without an order of the locks, each round may be a deadlock, which
// PostgreSQL detects after deadlock_timeout, a second by default.
func (s *skewRun) open(ctx context.Context, e *env) error {
	source, err := e.newDatabase(ctx, s.engine)
	if err != nil {
		return err
	}
	if s.mode == server.Locking {
		source += "&deadlock_timeout=20ms"
	}
	s.Client = client.New(2 * skewWriters)
	if s.Fleet, err = e.startServer(ctx, nodes(s.engine), nil, "doctors", "-db", source, "-mode", s.mode); err != nil {
		return err
	}
	for _, way := range skewWays {
		if err := s.createDoctors(ctx, way); err != nil {
			return err
		}
	}
	return nil
}

// pairName is the name of the pair of a round in one way.
func pairName(way offCall, round int) string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(strings.ToLower(way.name), " ", "-"), round)
}

// createDoctors creates the pairs of all rounds in one way, all of them on call.
func (s *skewRun) createDoctors(ctx context.Context, way offCall) error {
	var operations []string
	for round := range s.rounds {
		for _, id := range server.Pair(pairName(way, round)) {
			operations = append(operations,
				fmt.Sprintf(`{"op":"create","value":{"id":%q,"name":%[1]q,"onCall":true}}`, id))
		}
	}
	body := `{"operations":[` + strings.Join(operations, ",") + `]}`
	if a := s.Client.Send(ctx, http.MethodPost, s.URL(0)+"/doctors", body, batchMedia); !a.OK() {
		return a.Unexpected("POST /doctors")
	}
	return nil
}

// step makes the next round.
func (s *skewRun) step(ctx context.Context, _ int, rng *rand.Rand) error {
	n := int(s.next.Add(1)) - 1
	if n >= s.rounds*len(skewWays) {
		return errDone
	}
	way := skewWays[n%len(skewWays)]
	name := pairName(way, n/len(skewWays))
	var errs [2]error
	var done [2]bool
	var wg sync.WaitGroup
	var node string // of both requests; empty if each chooses its own
	if round := n / len(skewWays); slices.Contains(s.meet, way.name) && (s.control || round%2 == 0) {
		node = s.URL(rng.IntN(s.Len()))
	}
	for i, id := range server.Pair(name) {
		own := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		wg.Go(func() { done[i], errs[i] = s.takeOff(ctx, own, way, id, node) })
	}
	wg.Wait()
	if done[0] == done[1] && !s.control {
		s.Add(history.Unexpected, 1, "%s: both requests were acknowledged: %t", name, done[0])
	}
	return errors.Join(errs[:]...)
}

// takeOff takes a doctor off call. It repeats the request until the response is that the doctor
// is off call, or not allowed to be. If node is not empty, it gets the request, and the hook waits for
// the other one.
func (s *skewRun) takeOff(
	ctx context.Context, rng *rand.Rand, way offCall, id, node string,
) (done bool, err error) {
	header := []string{way.media}
	if node != "" {
		header = append(header, server.MeetField+": true")
	}
	if way.keyed {
		header = append(header, "Idempotency-Key: "+id)
	}
	for ctx.Err() == nil {
		base := node
		if base == "" {
			if base, err = s.Pick(ctx, rng); err != nil {
				return false, err
			}
		}
		a := s.Client.Send(ctx, way.method, base+strings.ReplaceAll(way.path, "ID", id),
			strings.ReplaceAll(way.body, "ID", id), header...)
		switch outcome(a) {
		case "":
			return true, nil
		case "FORBIDDEN":
			return false, nil
		case "CONFLICT", "UNAVAILABLE":
			s.repeats.Add(1)
			err = pauseBeforeRetry(ctx, rng)
		default:
			err = a.Unexpected(way.name + " of " + id)
		}
		if err != nil {
			return false, err
		}
	}
	return false, ctx.Err()
}

// outcome returns the code of GraphQL for an error, or "" if the write was acknowledged.
func outcome(a client.Answer) string {
	switch a.Status {
	case http.StatusForbidden:
		return "FORBIDDEN"
	case http.StatusConflict:
		return "CONFLICT"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	}
	var response struct {
		Errors []struct{ Extensions struct{ Code string } }
	}
	if !a.OK() || len(a.Body) > 0 && json.Unmarshal(a.Body, &response) != nil {
		return "UNKNOWN"
	}
	if len(response.Errors) > 0 {
		return response.Errors[0].Extensions.Code
	}
	return ""
}

// count reads all doctors.
func (s *skewRun) count(ctx context.Context) error {
	doctors, err := readAll[server.Doctor](ctx, s.keyNodes, "/doctors")
	if err != nil {
		return err
	}
	onCall := map[string]bool{}
	for _, d := range doctors {
		onCall[d.ID] = d.OnCall
	}
	s.results = map[string]*skewResult{}
	for _, way := range skewWays {
		found := &skewResult{}
		s.results[way.name] = found
		for round := range s.rounds {
			pair := server.Pair(pairName(way, round))
			switch a, b := onCall[pair[0]], onCall[pair[1]]; {
			case a && b:
				found.both++
				s.Add(history.Lost, 1, "%v are both on call", pair)
			case a || b:
				found.one++
			default:
				found.none++
				s.Add(history.Torn, 1, "both of %v are off call", pair)
			}
		}
	}
	return nil
}

func (s *skewRun) result() *result {
	r := &result{Violations: &s.Violations, title: s.engine + ", " + s.title}
	r.line("%d rounds, %d at a time, %d nodes, %.1f s; %d requests, %d of them after 409 or 503",
		s.rounds*len(skewWays), skewWriters, s.Len(), s.took.Seconds(), s.Client.Requests(), s.repeats.Load())
	var rows [][]any
	for _, way := range skewWays {
		found := s.results[way.name]
		rows = append(rows, []any{s.rounds, found.none, found.one, found.both, way.name})
	}
	r.table("rounds\tnone on call\tone\tboth\t", rows...)
	r.fail(s.Check())
	if !s.control {
		return r
	}
	r.control = []history.Kind{history.Torn}
	for _, name := range s.meet {
		if s.results[name].none == 0 {
			r.fail(fmt.Errorf("%s: one doctor is on call after each round, so this check cannot fail", name))
		}
	}
	return r
}
