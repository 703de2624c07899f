package history_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// write returns a write with responses.
func write(kind history.WriteKind, responses ...client.Answer) *history.Write {
	w := &history.Write{Kind: kind, Key: "k"}
	for _, a := range responses {
		w.Record("request", a)
	}
	return w
}

func made(id string) client.Answer {
	return client.Answer{Status: 201, Body: fmt.Appendf(nil, `{"id":%q}`, id)}
}

func TestCheckEffects(t *testing.T) {
	t.Parallel()
	type found = map[string][]string
	unknown := client.Answer{Status: 409, Body: []byte(`{"type":"x/outcome-unknown"}`)}
	busy := client.Answer{Status: 409, Body: []byte(`{"type":"x/request-in-flight"}`)}
	gone, removed := client.Answer{Status: 410}, client.Answer{Status: 204}
	tests := []struct {
		name                         string
		write                        *history.Write
		left                         found
		acknowledged, effects        int
		unknown, unknownCreates      int
		duplicate, lost, changed     int
		unexpected                   int
		exactly, identity, atMostOne bool
	}{
		{name: "once", write: write(history.Create, made("a"), made("a")), left: found{"k": {"a"}}, acknowledged: 1, effects: 1,
			exactly: true, identity: true, atMostOne: true},
		{name: "twice", write: write(history.Create, made("a")), left: found{"k": {"a", "b"}}, acknowledged: 1, effects: 2, duplicate: 1},
		{name: "three times", write: write(history.Append, made("a")), left: found{"k": {"a", "b", "c"}}, acknowledged: 1, effects: 3,
			duplicate: 2},
		{name: "lost", write: write(history.Create, made("a")), acknowledged: 1, lost: 1},
		{name: "another id", write: write(history.Create, made("a")), left: found{"k": {"b"}}, acknowledged: 1, effects: 1, changed: 1},
		{name: "two responses", write: write(history.Command, made("a"), made("b")), left: found{"k": {"a"}}, acknowledged: 1,
			effects: 1, changed: 1},
		{name: "removed", write: write(history.Remove, removed, removed), acknowledged: 1, effects: 1, exactly: true, identity: true,
			atMostOne: true},
		{name: "not removed", write: write(history.Remove, removed), left: found{"item-of-k": {"a"}}, acknowledged: 1, lost: 1},
		{name: "removed, and then gone", write: write(history.Remove, removed, gone), effects: 1, unexpected: 1},
		{name: "unknown", write: write(history.Append, busy, unknown), unknown: 1, identity: true, atMostOne: true},
		{name: "unknown create", write: write(history.Create, unknown), unknown: 1, unknownCreates: 1, atMostOne: true},
		{name: "never answered", write: write(history.Create, busy), unexpected: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := history.CheckEffects([]*history.Write{tt.write}, tt.left)
			want := []int{1, tt.acknowledged, tt.effects, tt.unknown, tt.unknownCreates, tt.duplicate, tt.lost, tt.changed, tt.unexpected}
			got := []int{e.Keys, e.Acknowledged, e.Effects, e.Unknown, e.UnknownCreates, e.Count(history.Duplicate), e.Count(history.Lost),
				e.Count(history.Changed), e.Count(history.Unexpected)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("effects (-want +got):\n%s", diff)
			}
			for g, want := range map[history.Guarantee]bool{history.ExactlyOnce: tt.exactly, history.OnceByIdentity: tt.identity,
				history.AtMostOnce: tt.atMostOne} {
				if err := e.Check(g); (err == nil) != want {
					t.Errorf("Check(%d) = %v", g, err)
				}
			}
		})
	}
	if history.CheckEffects(nil, nil).Check(history.AtMostOnce) == nil {
		t.Error("Check succeeds without any write")
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	var v, more history.Violations
	if v.Err() != nil || v.ControlErr(history.Lost) == nil || v.String() != "no violations" {
		t.Errorf("no violations: %v, %v, %s", v.Err(), v.ControlErr(history.Lost), &v)
	}
	for i := range 5 {
		v.Add(history.Lost, 2, "write %d", i)
	}
	more.Add(history.Torn, 1, "state")
	v.Merge(&more)
	if v.Err() == nil || v.String() != "10 lost, 1 torn" || v.Count() != 11 || v.Count(history.Torn, history.Leaked) != 1 {
		t.Errorf("%v: %d", &v, v.Count())
	}
	if diff := cmp.Diff([]string{"lost: write 0", "lost: write 1", "lost: write 2", "torn: state"}, v.Examples()); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
	if v.ControlErr(history.Lost, history.Torn) != nil || v.ControlErr(history.Lost, history.Leaked) == nil {
		t.Error("ControlErr does not depend on the kinds")
	}
}
