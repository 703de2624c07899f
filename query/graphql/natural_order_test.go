package graphql_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
)

// event is an item of stream.
type event struct {
	ID string `json:"id"`
}

// stream is a store with natural order and three items.
type stream struct{}

func (stream) Get(context.Context, string) (resource.Item[event], error) {
	return resource.Item[event]{}, resource.ErrNotFound
}

func (stream) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[event], error] {
	return func(yield func(resource.Item[event], error) bool) {
		start := 0
		if q.Token != "" {
			if _, err := fmt.Sscan(q.Token, &start); err != nil {
				yield(resource.Item[event]{}, err)
				return
			}
		}
		for i := start; i < min(3, start+q.Limit); i++ {
			item := resource.Item[event]{ID: fmt.Sprint(i), Value: event{ID: fmt.Sprint(i)}}
			if i < 2 { // no token continues after the last item
				item.Next = fmt.Sprint(i + 1)
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// TestNaturalOrder: an item without a token of the store has a null cursor. A list would reject an
// empty one.
func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	events := resource.New("events", stream{},
		&resource.Options[event]{Public: true, Query: query.Support{Natural: true}})
	h := graphql.New(resource.NewCatalog(nil, events), nil)
	for _, tt := range []struct{ name, document, want string }{
		{"all of it", `{ events { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`,
			`{"data":{"events":{"edges":[{"cursor":"cx9_XQyXw7lrATE","node":{"id":"0"}},` +
				`{"cursor":"bQNN4L8aO1hrATI","node":{"id":"1"}},` +
				`{"cursor":null,"node":{"id":"2"}}],"pageInfo":{"hasNextPage":false,"endCursor":null}}}}`},
		{"a part", `{ events(first: 2) { pageInfo { hasNextPage endCursor } } }`,
			`{"data":{"events":{"pageInfo":{"hasNextPage":true,"endCursor":"bQNN4L8aO1hrATI"}}}}`},
		{"the rest", `{ events(after: "bQNN4L8aO1hrATI") { nodes { id } pageInfo { hasNextPage endCursor ` +
			`} } }`,
			`{"data":{"events":{"nodes":[{"id":"2"}],"pageInfo":{"hasNextPage":false,"endCursor":null}}}}`},
	} {
		if diff := cmp.Diff(tt.want, answerTo(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
