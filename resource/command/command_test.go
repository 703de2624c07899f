package command_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

type none struct{}

func do(context.Context, none) (none, error) { return none{}, nil }

func wantPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if diff := cmp.Diff(any(want), recover()); diff != "" {
			t.Errorf("panic (-want +got):\n%s", diff)
		}
	}()
	fn()
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "login", "/login", "auth/", "auth/log in", "a/b/c", "-a/b"} {
		wantPanic(
			t,
			`command: invalid command name "`+name+`"; use the form area/action`,
			func() {
				command.New(name, do, nil)
			},
		)
	}
	wantPanic(t, "command: a/b: int is not a struct; input and output must be structs", func() {
		command.New("a/b", func(context.Context, int) (none, error) { return none{}, nil }, nil)
	})
	wantPanic(t, "command: a/b: []string is not a struct; input and output must be structs", func() {
		command.New("a/b", func(context.Context, none) ([]string, error) { return nil, nil }, nil)
	})
	a, b := command.New("a/b", do, nil), command.New("a/b", do, nil)
	wantPanic(t, "resource: two parts of the catalog have the name \"a/b\"; rename one of them", func() { resource.NewCatalog(nil, a, b) })
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	login := command.New("auth/login", func(_ context.Context, in Credentials) (Token, error) {
		if in.Password != "open sesame" {
			return Token{}, resource.Invalid("password", "wrong")
		}
		return Token{Token: "t0k3n"}, nil
	}, &command.Options[Credentials]{Authorize: func(_ context.Context, in *Credentials) error {
		if in.Email == "eve@example.com" {
			return resource.ErrForbidden
		}
		return nil
	}})
	for _, tt := range []struct {
		name    string
		in      any
		want    any
		kind    problem.Kind
		pointer string
	}{
		{name: "done", in: &Credentials{Email: "ann@example.com", Password: "open sesame"}, want: &Token{Token: "t0k3n"}},
		{name: "not valid", in: &Credentials{Email: "ann@example.com"}, kind: problem.Invalid, pointer: "/password"},
		{name: "refused", in: &Credentials{Email: "ann@example.com", Password: "guess"}, kind: problem.Invalid, pointer: "/password"},
		{name: "forbidden", in: &Credentials{Email: "eve@example.com", Password: "guess"}, kind: problem.Forbidden},
		{name: "another type", in: &Token{}, kind: problem.Internal},
		{name: "no input", kind: problem.Internal},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := login.Invoke(t.Context(), tt.in)
			if tt.want != nil {
				if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
					t.Errorf("%v, (-want +got):\n%s", err, diff)
				}
				return
			}
			var at *resource.Error
			if !errors.As(err, &at) || at.Op != command.OpInvoke || at.Resource != "auth/login" {
				t.Fatalf("error %v", err)
			}
			d := resource.Problem(err)
			if d.Kind != tt.kind ||
				tt.pointer != "" && (len(d.Errors) == 0 || d.Errors[0].Pointer != tt.pointer) {
				t.Errorf("problem %v, want %v at %q", d, tt.kind, tt.pointer)
			}
		})
	}
	logout := command.New("auth/logout", do, nil)
	if out, err := logout.Invoke(t.Context(), nil); out != nil || err != nil {
		t.Errorf("a command without input and output: %v, %v", out, err)
	}
}

// TestJobThatExits: a function that ends its goroutine has failed.
func TestJobThatExits(t *testing.T) {
	t.Parallel()
	jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)),
		&job.Options{Alone: true, Logger: slog.New(slog.DiscardHandler)})
	exit := command.New("a/b", func(context.Context, none) (none, error) {
		runtime.Goexit()
		return none{}, nil
	}, &command.Options[none]{Public: true, Jobs: jobs})
	resource.NewCatalog(nil, exit, jobs.Resource())
	res, err := exit.Call(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-res.Done
	if doc, err := res.Outcome(); err == nil || resource.Problem(err).StatusCode() != http.StatusInternalServerError {
		t.Errorf("outcome %s, %v, want an internal error", doc, err)
	}
}
