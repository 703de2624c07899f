package resource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestAuthorizeAnswers: the responses to errors of Authorize.
func TestAuthorizeAnswers(t *testing.T) {
	t.Parallel()
	secret := errors.New("secret reason")
	answers := []struct {
		err       error
		get, save problem.Kind
	}{
		{resource.ErrForbidden, problem.NotFound, problem.Forbidden},
		{fmt.Errorf("secret: %w", resource.ErrForbidden), problem.NotFound, problem.Forbidden},
		{resource.ErrNotFound, problem.NotFound, problem.NotFound},
		{resource.ErrUnauthenticated, problem.Unauthenticated, problem.Unauthenticated},
		{secret, problem.Internal, problem.Internal},
	}
	writes := map[resource.Op]string{
		resource.OpCreate: "create", resource.OpReplace: "put 1", resource.OpPatch: "patch 1", resource.OpDelete: "delete 1",
	}
	for _, tt := range answers {
		for _, refused := range []resource.Op{"get", "create", "replace", "patch", "delete"} {
			t.Run(fmt.Sprint(tt.err, " on ", refused), func(t *testing.T) {
				t.Parallel()
				store := stocked(t, book{Title: "a"})
				r := resource.New("books", store, &resource.Options[book]{
					Authorize: func(_ context.Context, op resource.Op, _, _ *book) error {
						if op == refused {
							return tt.err
						}
						return nil
					}})
				kind := tt.get
				if refused != resource.OpGet {
					kind = tt.save
				}
				for op, line := range writes {
					if op != refused && (refused != resource.OpGet || op == resource.OpCreate) {
						continue
					}
					d := wantProblem(t, do(t.Context(), t, r, line, `{"title":"d"}`), kind)
					if strings.Contains(d.Detail, "secret") {
						t.Errorf("%s: the client receives %s", line, d.Detail)
					}
				}
				if refused == resource.OpGet {
					wantProblem(t, do(t.Context(), t, r, "get 1", ""), kind)
				}
				same(t, "the book", book{ID: 1, Title: "a"}, stored(t, store, "1"))
				if _, err := store.Get(t.Context(), "2"); !errors.Is(err, resource.ErrNotFound) {
					t.Errorf("a second book: %v", err)
				}
			})
		}
	}
}

func TestAuthorizeInLists(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		list problem.Kind
	}{
		{resource.ErrUnauthenticated, problem.Unauthenticated},
		{errors.New("secret"), problem.Internal},
		{resource.ErrUnavailable, problem.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			t.Parallel()
			r := resource.New("books", stocked(t, book{Title: "a"}), &resource.Options[book]{
				Authorize: func(context.Context, resource.Op, *book, *book) error { return tt.err }})
			_, err := listDocs(t, r, "")
			wantProblem(t, &answer{line: "list", err: err}, tt.list)
			for _, err = range r.Pages(t.Context(), query.Query{}, resource.Position{}) {
				wantProblem(t, &answer{line: "pages", err: err}, tt.list)
			}
		})
	}
}

func TestScopeAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		kind problem.Kind
	}{
		{resource.ErrUnauthenticated, problem.Unauthenticated},
		{resource.ErrForbidden, problem.Forbidden},
		{errors.New("secret"), problem.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.err.Error(), func(t *testing.T) {
			t.Parallel()
			r := resource.New("books", stocked(t, book{Title: "a"}), &resource.Options[book]{
				Scope: func(context.Context) (query.Filter, error) { return query.Filter{}, tt.err }})
			_, err := listDocs(t, r, "")
			wantProblem(t, &answer{line: "list", err: err}, tt.kind)
			for _, err = range r.Pages(t.Context(), query.Query{}, resource.Position{}) {
				wantProblem(t, &answer{line: "pages", err: err}, tt.kind)
			}
			wantProblem(t, do(t.Context(), t, r, "get 1", ""), tt.kind)
			wantProblem(t, do(t.Context(), t, r, "delete 1", ""), tt.kind)
			wantProblem(t, do(t.Context(), t, r, "patch 1", `{}`), tt.kind)
			wantProblem(t, do(t.Context(), t, r, "create", `{"title":"a"}`), tt.kind)
		})
	}
}

// TestGuessesRevealNothing: a caller that may read but not write receives the same response to a right
// and a wrong guess.
func TestGuessesRevealNothing(t *testing.T) {
	t.Parallel()
	r := resource.New("books", stocked(t, book{Title: "a", Password: "hush"}), &resource.Options[book]{
		Authorize: func(_ context.Context, op resource.Op, _, _ *book) error {
			if op != resource.OpGet {
				return resource.ErrForbidden
			}
			return nil
		}})
	for _, guess := range []string{"hush", "wrong"} {
		wantProblem(t, do(t.Context(), t, r, "patch 1", `{"password":"`+guess+`"}`), problem.Forbidden)
		wantProblem(t, do(t.Context(), t, r, "put 1", `{"title":"a","password":"`+guess+`"}`), problem.Forbidden)
	}
}
