package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
)

// A call during a read is answered by the next read, which all waiting calls share. The result of
// the first read may be older than the call.
func TestUserLoader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan error)
		var questions []string
		c := &userLoader{}
		c.find = func(_ context.Context, tokens []string) (map[string]User, error) {
			slices.Sort(tokens)
			questions = append(questions, fmt.Sprint(tokens))
			round := int64(len(questions))
			err := <-answers
			return map[string]User{"a": {ID: round}, "b": {ID: 10 * round}}, err
		}
		var mu sync.Mutex
		var got []string
		ask := func(ctx context.Context, token string) {
			user, err := c.userOfToken(ctx, token)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprintf("%s is %d, %v", token, user.ID, err))
		}
		said := func() (list []string) {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			list, got = got, nil
			slices.Sort(list)
			return list
		}
		check := func(when string, got []string, want ...string) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", when, diff)
			}
		}
		go ask(t.Context(), "a")
		synctest.Wait()
		gone, leave := context.WithCancel(t.Context())
		go ask(gone, "b")
		for _, token := range []string{"a", "a", "b", "c"} {
			go ask(t.Context(), token)
		}
		check("during the first read", said())
		leave()
		check("a canceled call", said(), "b is 0, context canceled")
		answers <- nil
		check("the first call", said(), "a is 1, <nil>")
		answers <- nil
		check("the other calls", said(), "a is 2, <nil>", "a is 2, <nil>", "b is 20, <nil>",
			fmt.Sprint("c is 0, ", resource.ErrUnauthenticated))
		go ask(t.Context(), "a")
		answers <- errors.New("away")
		check("after a failed read", said(), "a is 0, away")
		check("questions", questions, "[a]", "[a b c]", "[a]")
	})
}
