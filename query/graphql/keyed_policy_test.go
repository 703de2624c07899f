package graphql_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestReplayChecksPolicy: a response is replayed only to callers that may still see it.
func TestReplayChecksPolicy(t *testing.T) {
	t.Parallel()
	const (
		delete1 = `{"query":"mutation{gone:deleteOrder(id:1){cents}}"}`
		isGone  = `{"data":{"gone":{"cents":7}}}`
	)
	tests := []struct {
		name    string
		before  []string // is done first, under keys of their own
		body    string
		answer  string
		between func(t *testing.T, s *keyedShop) // what happens between the two
		path    string                           // of the error; empty for a replay
		kind    problem.Kind
	}{
		{"nothing has happened", nil, order1, isOrder1, func(*testing.T, *keyedShop) {}, "", ""},
		{"an item is hidden now", nil, order1, isOrder1, hide, "createOrder", problem.NotFound},
		{"it was deleted", nil, order1, isOrder1, remove1, "", ""},
		{"it was deleted, and would be hidden", nil, order1, isOrder1,
			func(t *testing.T, s *keyedShop) { remove1(t, s); hide(t, s) },
			"createOrder", problem.NotFound},
		{"a deletion", []string{order1}, delete1, isGone, func(*testing.T, *keyedShop) {}, "", ""},
		{"a deletion of what would be hidden", []string{order1}, delete1, isGone, hide, "gone",
			problem.NotFound},
		{"an item that it leads to is hidden now", nil, order1, isOrder1,
			func(_ *testing.T, s *keyedShop) { s.shy = true }, "createOrder",
			problem.NotFound},
		{"an item that it leads to, but does not show", nil,
			strings.Replace(order1, " customer{name}", "", 1),
			`{"data":{"createOrder":{"id":"1","cents":7}}}`,
			func(_ *testing.T, s *keyedShop) { s.shy = true }, "", ""},
		{"a command", nil, sendMail, isSent, hide, "", ""},
		{"a command that is forbidden now", nil, sendMail, isSent, func(_ *testing.T, s *keyedShop) {
			s.permit = func(context.Context) error { return resource.ErrForbidden }
		}, "mailSend", problem.Forbidden},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, h := openKeyed(t, guarded)
			for _, body := range tt.before {
				want(t, send(t, h, postGraphQL, jsonBody, key("before"), "", body), 200, fresh)
			}
			wantBody(t, send(t, h, postGraphQL, jsonBody, key("k"), "", tt.body), 200, tt.answer, fresh)
			tt.between(t, s)
			res := send(t, h, postGraphQL, jsonBody, key("k"), "", tt.body)
			if tt.path == "" {
				wantBody(t, res, 200, tt.answer, replayed)
				return
			}
			want(t, res, 200, fresh)
			wantType(t, res, tt.kind)
			if !strings.Contains(res.body, `"path":["`+tt.path+`"]`) ||
				!strings.HasSuffix(res.body, `,"data":null}`) {
				t.Errorf("the answer is %s", res.body)
			}
		})
	}
}

// guarded authorizes each access to orders and users.
func guarded(s *keyedShop) {
	s.users.Public = false
	s.users.Authorize = func(context.Context, resource.Op, *user, *user) error {
		if s.shy {
			return resource.ErrNotFound
		}
		return nil
	}
	s.ordered.Public = false
	s.ordered.Authorize = func(context.Context, resource.Op, *order, *order) error { return s.hidden }
}

func hide(_ *testing.T, s *keyedShop) { s.hidden = resource.ErrNotFound }

// remove1 deletes the order as another caller.
func remove1(t *testing.T, s *keyedShop) {
	t.Helper()
	it, err := s.orders.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.orders.Delete(t.Context(), "1", it.Rev); err != nil {
		t.Fatal(err)
	}
}
