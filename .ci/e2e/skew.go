package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
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

// skew is a trial with the rounds of all ways. In a control both doctors have to be off call after some
// rounds of the ways in meet.
type skew struct {
	trial
	rounds int // in each way
	// meet are the ways in which a node gets both requests of a round, and both hooks read before one of
	// the requests writes. In a trial that is no control these are half of the rounds.
	meet []string

	next    atomic.Int64 // number of the next round
	repeats atomic.Int64 // requests that were sent again
	results map[string]*skewResult
}

// skewResult counts the rounds of one way by the number of doctors on call at the end.
type skewResult struct{ none, one, both int }

// offCall is a way to take a doctor off call. In its texts, ID is the id of the doctor.
type offCall struct {
	name string
	request
}

const (
	skewMutation = `{"query":"mutation{patchDoctor(id:\"ID\",input:{onCall:false}){onCall}}"}`
	skewBatch    = `{"operations":[{"op":"patch","id":"ID","patch":{"onCall":false}}]}`
	skewPatch    = `{"onCall":false}`
)

var skewWays = []offCall{
	{"PATCH", request{http.MethodPatch, "/doctors/ID", client.MergePatch, skewPatch, ""}},
	{"PATCH with a key", request{http.MethodPatch, "/doctors/ID", client.MergePatch, skewPatch, "ID"}},
	{"batch", request{http.MethodPost, "/doctors", batchType, skewBatch, ""}},
	{"GraphQL", request{http.MethodPost, "/graphql", client.JSON, skewMutation, ""}},
	{"GraphQL with a key", request{http.MethodPost, "/graphql", client.JSON, skewMutation, "ID"}},
}

func writeSkew(ctx context.Context, e *env) error {
	all := make([]string, len(skewWays))
	for i, way := range skewWays {
		all[i] = way.name
	}
	torn := []history.Kind{history.Torn}
	alone := []string{"PATCH", "GraphQL"} // the ways without a transaction of their own
	for _, t := range []struct {
		engine, mode, title string
		control             []history.Kind
		meet                []string
	}{
		{postgres, server.Serializable, "serializable", nil, all},
		{postgres, server.Locking, "the default level, and a locking read", nil, all},
		{postgres, server.Ordered, "the same, with locks in the order of the ids", nil, nil},
		{sqlite, server.Unlocked, "the default level", nil, nil},
		{postgres, server.Unlocked, "control: the default level without a lock", torn, all},
		{postgres, server.OutsideTx, "control: serializable with HooksOutsideTx", torn, alone},
		{sqlite, server.OutsideTx, "control: HooksOutsideTx", torn, alone},
	} {
		s := &skew{rounds: size(e, 50, 500), meet: t.meet}
		s.trial = trial{title: t.engine + ", " + t.title, control: t.control, engine: t.engine,
			command: []string{"doctors", "-mode", t.mode}, connections: 2 * skewWriters, do: s.run}
		if t.mode == server.Locking { // each round may be a deadlock, which PostgreSQL detects after a second by default
			s.prepare = func(f *fleet.Fleet) {
				f.Args = func(int) []string { return []string{"-db", s.source + "&deadlock_timeout=20ms"} }
			}
		}
		if err := e.try(ctx, &s.trial); err != nil {
			return err
		}
	}
	return nil
}

// skewWriters is the number of rounds at a time.
const skewWriters = 4

func (s *skew) run(ctx context.Context) error {
	for _, way := range skewWays {
		if err := s.createDoctors(ctx, way); err != nil {
			return err
		}
	}
	err := s.write(ctx, load{writers: skewWriters, step: s.step, done: s.next.Load, total: s.rounds * len(skewWays)})
	if err == nil {
		err = s.count(ctx)
	}
	if err == nil {
		s.judge()
	}
	return err
}

// pairName is the name of the pair of a round in one way.
func pairName(way offCall, round int) string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(strings.ToLower(way.name), " ", "-"), round)
}

// createDoctors creates the pairs of all rounds in one way, all of them on call.
func (s *skew) createDoctors(ctx context.Context, way offCall) error {
	var operations []string
	for round := range s.rounds {
		for _, id := range server.Pair(pairName(way, round)) {
			operations = append(operations,
				fmt.Sprintf(`{"op":"create","value":{"id":%q,"name":%[1]q,"onCall":true}}`, id))
		}
	}
	body := `{"operations":[` + strings.Join(operations, ",") + `]}`
	if a := s.Client.Send(ctx, http.MethodPost, s.URL(0)+"/doctors", body, batchType); !a.OK() {
		return a.Unexpected("POST /doctors")
	}
	return nil
}

// step makes the next round.
func (s *skew) step(ctx context.Context, _ int, rng *rand.Rand) error {
	n := int(s.next.Add(1)) - 1
	if n >= s.rounds*len(skewWays) {
		return errDone
	}
	way := skewWays[n%len(skewWays)]
	name := pairName(way, n/len(skewWays))
	var node string // of both requests; empty if each chooses its own
	if round := n / len(skewWays); slices.Contains(s.meet, way.name) && (s.control != nil || round%2 == 0) {
		node = s.URL(rng.IntN(s.Len()))
	}
	var done [2]bool
	seeds := [2]uint64{rng.Uint64(), rng.Uint64()}
	err := concurrently(2, func(i int) (err error) {
		own := rand.New(rand.NewPCG(seeds[i], 0))
		done[i], err = s.takeOff(ctx, own, way, server.Pair(name)[i], node)
		return err
	})
	if done[0] == done[1] && s.control == nil {
		s.Add(history.Unexpected, 1, "%s: both requests were acknowledged: %t", name, done[0])
	}
	return err
}

// takeOff takes a doctor off call. It repeats the request until the response is that the doctor
// is off call, or not allowed to be. If node is not empty, it gets the request, and the hook waits for
// the other one.
func (s *skew) takeOff(ctx context.Context, rng *rand.Rand, way offCall, id, node string) (done bool, err error) {
	var header []string
	if node != "" {
		header = append(header, server.MeetField+": true")
	}
	q := way.request
	for _, text := range []*string{&q.path, &q.body, &q.key} {
		*text = strings.ReplaceAll(*text, "ID", id)
	}
	for ctx.Err() == nil {
		base := node
		if base == "" {
			if base, err = s.Pick(ctx, rng); err != nil {
				return false, err
			}
		}
		a := s.sendRequest(ctx, base, q, header...)
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
func (s *skew) count(ctx context.Context) error {
	doctors, err := readAll[server.Doctor](ctx, &s.trial, "/doctors")
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

func (s *skew) judge() {
	s.line("%d requests, %d of them after 409 or 503", s.Requests(), s.repeats.Load())
	var rows [][]any
	for _, way := range skewWays {
		found := s.results[way.name]
		rows = append(rows, []any{s.rounds, found.none, found.one, found.both, way.name})
		s.failIf(s.control != nil && slices.Contains(s.meet, way.name) && found.none == 0,
			"%s: one doctor is on call after each round, so this check cannot fail", way.name)
	}
	s.table("rounds\tnone on call\tone\tboth\t", rows...)
	s.fail(s.Check())
}
