package rest_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/tx"
)

// Keys for commands, jobs, batches, imports and blobs.

type tidyIn struct {
	Title string `json:"title" required:"true"`
	Times int    `json:"times" default:"1"`
}

type tidyOut struct {
	Made int    `json:"made"`
	Pin  string `json:"pin,omitzero" writeOnly:"true"`
}

// withParts adds commands, an import and blobs to the memos of a desk.
func (d *desk) withParts(t testing.TB) http.Handler {
	t.Helper()
	var runner tx.Runner
	jobStore := memory.New[job.Job](nil)
	if d.level == idempotency.ExactlyOnce {
		runner, jobStore = d.db, memory.New(&memory.Options[job.Job]{DB: d.db})
	}
	jobs := job.New("jobs", resource.OpsOf(jobStore), &job.Options{Alone: true, Principal: caller, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		if err := jobs.Drain(ctx); err != nil {
			t.Error(err)
		}
	})
	tidy := func(ctx context.Context, in tidyIn) (tidyOut, error) {
		d.calls.add("tidy")
		for range in.Times {
			if _, err := d.store.Create(ctx, memo{Title: in.Title}); err != nil {
				return tidyOut{}, err
			}
		}
		switch in.Title {
		case "refused":
			return tidyOut{}, problem.New(problem.Conflict, "not tidy")
		case "declined":
			idempotency.RecordRefusal(ctx)
			return tidyOut{}, problem.New(problem.Conflict, "declined for good")
		case "broken":
			return tidyOut{}, errors.New("broken")
		}
		return tidyOut{Made: in.Times, Pin: "1234"}, nil
	}
	quiet := func(ctx context.Context, in tidyIn) (nothing, error) { _, err := tidy(ctx, in); return nothing{}, err }
	opts := &command.Options[tidyIn]{Public: true, Transactions: runner}
	memos := d.ops().Resource("memos", &d.opts)
	return byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{Idempotency: d.keeper(), Principal: caller,
		Logger: slog.New(slog.DiscardHandler)}, memos,
		command.New("memos/tidy", tidy, opts), command.New("memos/quiet", quiet, opts),
		command.New("memos/later", tidy, &command.Options[tidyIn]{Public: true, Jobs: jobs}), jobs.Resource(),
		command.NewImport("memos/import", memos), blob.New("files", newCellar(), &blob.Options{Public: true})), nil))
}

// TestRule142OtherProtocols: every kind of write supports keys.
func TestRule142OtherProtocols(t *testing.T) {
	t.Parallel()
	const digest = "Content-Digest: sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:" // of hello
	const png = "Content-Type: image/png"
	tests := []struct {
		name   string
		line   string
		status int
		rest   []string
		adds   int // memos
	}{
		{"command", "POST /memos/tidy", 200, []string{jsonBody, "", `{"title":"a","times":2}`}, 2},
		{"command without output", "POST /memos/quiet", 200, []string{jsonBody, "", `{"title":"a"}`}, 1},
		{"command, minimal", "POST /memos/tidy", 204, []string{jsonBody, "Prefer: return=minimal", "", `{"title":"a"}`}, 1},
		{"batch", "POST /memos", 200, []string{batchBody, "", operations(`{"op":"create","value":{"title":"a","secret":"s"}}`,
			`{"op":"patch","id":"1","patch":{"title":"b"}}`, `{"op":"delete","id":"1"}`)}, 0},
		{"import", "POST /memos/import", 200, []string{linesBody, "", `{"title":"a"}` + "\n" + `{"title":7}` + "\n" + `{"title":"c"}`}, 2},
		{"import of all or nothing", "POST /memos/import?atomic=true", 200, []string{linesBody, "", `{"title":"a"}` + "\n" + `{"title":"c"}`}, 2},
		{"import of CSV", "POST /memos/import", 200, []string{csvBody, "", "title\r\na\r\nb,c\r\nd\r\n"}, 2},
		{"import with a digest", "POST /memos/import", 200, []string{linesBody,
			"Content-Digest: sha-256=:" + digestOf(`{"title":"a"}`) + ":", "", `{"title":"a"}`}, 1},
		{"upload", "POST /files", 201, []string{png, "", "hello"}, 0},
		{"upload with a digest", "POST /files", 201, []string{png, digest, "", "hello"}, 0},
		{"put of bytes", "PUT /files/x", 201, []string{png, "", "hello"}, 0},
		{"put of bytes over others", "PUT /files/there", 204, []string{png, "", "hello"}, 0},
		{"delete of bytes", "DELETE /files/there", 204, nil, 0},
	}
	for _, level := range levels {
		for _, tt := range tests {
			if level < idempotency.ExactlyOnce && (tt.name == "batch" || strings.Contains(tt.line, "atomic")) {
				continue // they support transactions
			}
			t.Run(level.String()+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, level)
				if _, err := d.store.Insert(t.Context(), "1", memo{Title: "first"}); err != nil {
					t.Fatal(err)
				}
				h := d.withParts(t)
				want(t, send(t, h, "PUT /files/there", png, "", "other"), 201)
				fields := append([]string{asAnn, keyField("k")}, tt.rest...)
				first := send(t, h, tt.line, fields...)
				want(t, first, tt.status)
				replayOf(t, first, send(t, h, tt.line, fields...))
				if got := d.count(t) - 1; got != tt.adds {
					t.Errorf("there are %d more, want %d", got, tt.adds)
				}
				if n := len(fields); tt.rest != nil {
					fields[n-1] += " "
					if tt.rest[0] == png || tt.rest[0] == linesBody || tt.rest[0] == csvBody {
						for i, f := range fields {
							if strings.HasPrefix(f, "Content-Digest") {
								fields[i] = "Content-Digest: sha-256=:" + digestOf(fields[n-1]) + ":"
							}
						}
						want(t, send(t, h, tt.line, fields...), 422) // a blob has only one spelling
					} else {
						replayOf(t, first, send(t, h, tt.line, fields...))
					}
				}
			})
		}
	}
}

// TestKeyedJobs: the response has the location of the job, which is started once.
func TestKeyedJobs(t *testing.T) {
	t.Parallel()
	for _, level := range []idempotency.Level{idempotency.AtMostOnce, idempotency.ExactlyOnce} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, level)
			h := d.withParts(t)
			fields := []string{asAnn, keyField("k"), jsonBody, "", `{"title":"a"}`}
			first := send(t, h, "POST /memos/later", fields...)
			want(t, first, 202, "Location:*")
			again := send(t, h, "POST /memos/later", fields...)
			want(t, again, 202, "Idempotency-Replayed: true", "Location: "+first.header.Get("Location"))
			for jobState(t, h, first.header.Get("Location")) == job.Running {
				time.Sleep(time.Millisecond)
			}
			if got := d.count(t); got != 1 {
				t.Errorf("there are %d memos", got)
			}
			if got := send(t, h, "POST /memos/later", fields...); !strings.Contains(got.body, "succeeded") {
				t.Errorf("when it is done the repetition says %s", got.body)
			}
		})
	}
}

// jobState returns the state of a job.
func jobState(t testing.TB, h http.Handler, location string) job.State {
	t.Helper()
	return value[job.Job](t, send(t, h, "GET "+location, asAnn)).State
}

// TestKeyedRefusals: a rejection by a command is not stored, unless the options require it. If the
// outcome of a command is unknown, the response reports that, unless the command was rolled back.
func TestKeyedRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		title        string
		level        idempotency.Level
		first, again int
		left, runs   int // memos in the store, and number of executions
		kind         string
	}{
		// the error states that nothing was written
		{"refused", idempotency.AtMostOnce, 409, 409, 2, 2, "conflict"},
		{"refused", idempotency.ExactlyOnce, 409, 409, 0, 2, "conflict"},
		{"declined", idempotency.AtMostOnce, 409, 409, 1, 1, "conflict"},
		{"declined", idempotency.ExactlyOnce, 409, 409, 1, 1, "conflict"},
		{"broken", idempotency.AtMostOnce, 500, 409, 1, 1, "outcome-unknown"},
		{"broken", idempotency.ExactlyOnce, 500, 500, 0, 2, ""},
		{"", idempotency.AtMostOnce, 422, 422, 0, 0, "invalid"},
		{"", idempotency.ExactlyOnce, 422, 422, 0, 0, "invalid"},
	}
	for _, tt := range tests {
		t.Run(tt.level.String()+"/"+tt.title, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, tt.level)
			h := d.withParts(t)
			content := `{"title":"` + tt.title + `"}`
			if tt.title == "" {
				content = `{}`
			}
			fields := []string{asAnn, keyField("k"), jsonBody, "", content}
			first := send(t, h, "POST /memos/tidy", fields...)
			want(t, first, tt.first)
			again := send(t, h, "POST /memos/tidy", fields...)
			want(t, again, tt.again)
			if !strings.Contains(again.body, tt.kind) {
				t.Errorf("it says %s, want %s", again.body, tt.kind)
			}
			if tt.title == "declined" {
				replayOf(t, first, again)
			} else if again.header.Get("Idempotency-Replayed") != "" {
				t.Errorf("%s says that it is an answer from before", again.line)
			}
			if left, runs := d.count(t), d.calls.reset()["tidy"]; left != tt.left || runs != tt.runs {
				t.Errorf("there are %d memos after %d runs, want %d and %d", left, runs, tt.left, tt.runs)
			}
		})
	}
}

// digestOf returns the SHA-256 of content in the form of Content-Digest.
func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}
