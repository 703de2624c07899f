package openapi_test

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// The other parts of the shop of the tests: commands, their jobs, and files.

type credentials struct {
	Email    string `json:"email" required:"true" format:"email" doc:"As in /users."`
	Password string `json:"password" required:"true" minLength:"3" example:"ann"`
}

type token struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expiresAt"`
}

type staleness struct {
	OlderThan string `json:"olderThan" default:"24h" pattern:"^[0-9]+h$" doc:"How long nothing has happened."`
	Kinds     []kind `json:"kinds,omitempty" maxItems:"3"`
}

type kind struct {
	Status string `json:"status" required:"true" enum:"placed,paid"`
}

type cancelled struct {
	Cancelled int      `json:"cancelled" minimum:"0"`
	IDs       []string `json:"ids,omitempty"`
}

type question struct {
	Status string `json:"status" required:"true" enum:"placed,paid,shipped,cancelled" example:"paid"`
}

type nothing struct{}

// commandsOf are commands of every sort. The jobs are kept in jobs.
func commandsOf(jobs *jobs) []resource.Part {
	return []resource.Part{
		command.New("auth/login", login, &command.Options[credentials]{Public: true,
			Doc:      "Exchanges a password for a token. The token is good for a day",
			Problems: []problem.Kind{problem.Unauthenticated}}),
		command.New("auth/logout", func(context.Context, nothing) (nothing, error) {
			return nothing{}, nil
		},
			&command.Options[nothing]{Authorize: func(context.Context, *nothing) error {
				return nil
			}}),
		command.New("orders/cancel-stale", func(context.Context, staleness) (cancelled, error) {
			return cancelled{Cancelled: 2}, nil
		},
			&command.Options[staleness]{Public: true, Jobs: jobs,
				Doc: "Cancels what nobody has paid for."}),
		command.New("orders/newest", func(_ context.Context, q question) (order, error) {
			if q.Status != "paid" {
				return order{}, resource.ErrNotFound
			}
			return sampleOrder(), nil
		}, &command.Options[question]{Public: true, Problems: []problem.Kind{problem.NotFound}}),
	}
}

func login(_ context.Context, in credentials) (token, error) {
	if in.Password != "ann" {
		return token{}, resource.ErrUnauthenticated
	}
	return token{Token: "t", ExpiresAt: time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)}, nil
}

type job struct {
	ID      string         `json:"id" readOnly:"true"`
	Command string         `json:"command" readOnly:"true"`
	State   string         `json:"state" readOnly:"true" enum:"running,succeeded,failed"`
	Result  jsontext.Value `json:"result,omitempty" readOnly:"true"`
}

// jobs stores jobs in memory. Each runs at once, and every second is still reported as running.
type jobs struct {
	store *memory.Store[job]
	mu    sync.Mutex
	begun int
}

func newJobs() *jobs { return &jobs{store: memory.New[job](nil)} }

func (j *jobs) resource() *resource.Resource {
	kept := resource.OpsOf(j.store)
	return resource.Ops[job]{Get: kept.Get, List: kept.List}.Resource("jobs",
		&resource.Options[job]{Public: true,
			Samples: []job{{ID: "1", Command: "orders/cancel-stale", State: "succeeded",
				Result: jsontext.Value(`{"cancelled":2}`)}}})
}

func (j *jobs) Name() string { return "jobs" }

func (j *jobs) Start(ctx context.Context, command string,
	do func(context.Context) (jsontext.Value, error)) (string, <-chan struct{}, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun++
	id, done := strconv.Itoa(j.begun), make(chan struct{})
	result, err := do(context.WithoutCancel(ctx))
	state := "succeeded"
	if err != nil {
		state = "failed"
	}
	if j.begun%2 == 0 {
		close(done)
	}
	_, err = j.store.Insert(ctx, id, job{ID: id, Command: command, State: state, Result: result})
	return id, done, err
}

// bytesInMemory is a [blob.Store] that remembers what was deleted.
type bytesInMemory struct {
	mu      sync.Mutex
	blobs   map[string]blob.Blob
	content map[string][]byte
	puts    int
}

func newBytes() *bytesInMemory {
	return &bytesInMemory{blobs: map[string]blob.Blob{}, content: map[string][]byte{}}
}

// unclosed makes a [bytes.Reader] of what has to be closed.
type unclosed struct{ *bytes.Reader }

func (unclosed) Close() error { return nil }

func (s *bytesInMemory) find(id string) (blob.Blob, error) {
	b, ok := s.blobs[id]
	switch {
	case !ok:
		return b, resource.ErrNotFound
	case b.Rev == "":
		return b, resource.ErrGone
	}
	return b, nil
}

func (s *bytesInMemory) Open(_ context.Context, id string) (*blob.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.find(id)
	if err != nil {
		return nil, err
	}
	b.Content = unclosed{bytes.NewReader(s.content[id])}
	return &b, nil
}

func (s *bytesInMemory) Put(_ context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*blob.Blob, error) {
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch old, err := s.find(id); {
	case err == nil && expect == "":
		return nil, resource.ErrExists
	case err == resource.ErrGone && expect == "":
		return nil, err
	case old.Rev != expect:
		return nil, resource.ErrStale
	}
	s.puts++
	b := blob.Blob{ID: id, Rev: resource.Rev(strconv.Itoa(s.puts)), MediaType: mediaType,
		Size:     int64(len(content)),
		Modified: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)}
	s.blobs[id], s.content[id] = b, content
	return &b, nil
}

func (s *bytesInMemory) Delete(_ context.Context, id string, expect resource.Rev) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.find(id)
	if err == nil && old.Rev != expect {
		err = resource.ErrStale
	}
	if err == nil {
		s.blobs[id] = blob.Blob{ID: id}
	}
	return err
}

// filesOf are files of every sort: all that is stored, images that are guarded, and what can only be read.
func filesOf() []resource.Part {
	icons := newBytes()
	icons.Put(context.Background(), "a.png", "", "image/png", bytes.NewReader(slices.Repeat([]byte{7}, 90)))
	return []resource.Part{
		blob.New("files", newBytes(), &blob.Options{Public: true, MaxSize: 1000}),
		blob.New("photos", newBytes(),
			&blob.Options{RequireIfMatch: true, MediaTypes: []string{"image/*", "video/mp4"},
				Authorize: func(context.Context, resource.Op, *blob.Blob, *blob.Blob) error { return nil }}),
		blob.New("icons", icons, &blob.Options{Public: true, ReadOnly: true}),
	}
}
