package graphql_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed"
)

// TestMutationsAreEvents: each write of a mutation has one event, also if its key is repeated. A
// write that is rolled back has none.
func TestMutationsAreEvents(t *testing.T) {
	t.Parallel()
	const (
		create = `a:createOrder(input:{customerId:\"ada\",cents:7}){id}`
		fails  = ` b:deleteOrder(id:99){id}`
		update = ` c:patchOrder(id:1,input:{cents:8}){id}`
		remove = ` d:deleteOrder(id:1){id}`

		created = `created orders 1`
		updated = `updated orders 1`
		deleted = `deleted orders 1`
	)
	mutation := func(fields string) string { return `{"query":"mutation{` + fields + `}"}` }
	tests := []struct {
		name   string
		times  int
		fields []string
		body   string
		want   []string
	}{
		{"one after the other", 1, nil, mutation(create + update + remove),
			[]string{created, updated, deleted}},
		{"one of them fails", 1, nil, mutation(create + fails + update), []string{created, updated}},
		{"under a key", 2, []string{key("k")}, mutation(create + update + remove),
			[]string{created, updated, deleted}},
		{"one of them fails under a key", 2, []string{key("k")}, mutation(create + fails + update), nil},
		{"nothing new", 1, nil, mutation(create + update + ` e:patchOrder(id:1,input:{cents:8}){id}`),
			[]string{created, updated}},
		{"elsewhere", 1, nil, mutation(`createSlot(input:{id:\"s\",text:\"x\"}){id}`),
			[]string{"created slots s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log *feed.Memory
			_, h := openKeyed(t, func(s *keyedShop) {
				log = feed.NewMemory(&feed.MemoryOptions{Runner: s.db})
				s.feed = feed.New(log, nil)
				t.Cleanup(func() { s.feed.Close() })
			})
			start, err := log.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for range tt.times {
				if res := send(t, h, postGraphQL,
					append(append([]string{jsonBody}, tt.fields...), "", tt.body)...); res.status != 200 {
					t.Fatalf("status %d: %s", res.status, res.body)
				}
			}
			events, _, err := log.Tail(t.Context(), start, 100)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range events {
				got = append(got, fmt.Sprint(e.Kind, " ", e.Collection, " ", e.ID))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
