package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// taskSubscriber lists tasks and keeps the list up to date by server-sent events, at the nodes of one
// release. After a disconnect it resumes, and lists again if its cursor has expired.
type taskSubscriber struct {
	view  taskView
	final string // id of the item that it receives last
	http  *http.Client
	// node returns the URL of a random node of the release, or "" while all are down.
	node func(rng *rand.Rand) string
	// first is called after the first list, or at the end.
	first func()

	tasks                   map[string]string // by id
	cursor                  string            // empty before the list
	events, resumed, listed int
	ended                   bool  // the final item was received
	err                     error // the first response or event that must not be
}

const (
	// taskDrops is the number of events after which a subscriber disconnects, at most.
	taskDrops = 300
	// finalPrefix is that of the ids of final items, which are not compared.
	finalPrefix = "final-"
)

func (s *taskSubscriber) String() string {
	return fmt.Sprintf("subscriber of the release %q to %q", s.view.release, s.view.filter)
}

// run receives events until the final item.
func (s *taskSubscriber) run(ctx context.Context, rng *rand.Rand) {
	defer s.first()
	for ctx.Err() == nil && !s.ended && s.err == nil {
		base := s.node(rng)
		err := s.ensureList(ctx, base)
		if err == nil && !s.ended {
			err = s.receive(ctx, base, rng)
		}
		var unexpected unexpectedError
		if errors.As(err, &unexpected) && ctx.Err() == nil {
			s.err = err
		}
		client.Pause(ctx, time.Duration(rng.Int64N(int64(20*time.Millisecond))))
	}
}

// unexpectedError is a response or an event that must not be, unlike the end of a connection.
type unexpectedError string

func (e unexpectedError) Error() string { return string(e) }

// ensureList lists the tasks if there is no cursor.
func (s *taskSubscriber) ensureList(ctx context.Context, base string) (err error) {
	if s.cursor != "" {
		return nil
	}
	s.tasks, s.cursor, err = s.list(ctx, base)
	if err == nil {
		s.listed++
		s.first()
		s.ended = s.tasks[s.final] != ""
	}
	return err
}

// list returns the tasks that the filter selects, and the cursor of the events after it.
func (s *taskSubscriber) list(ctx context.Context, base string) (tasks map[string]string, cursor string, err error) {
	c := client.Client{HTTP: *s.http}
	a := c.Send(ctx, http.MethodGet, base+s.view.path(), "", client.NDJSON)
	items, err := client.Lines[server.NewTask]("GET "+s.view.path(), a)
	if err != nil {
		if a.Err == nil && a.Status <= http.StatusInternalServerError {
			err = unexpectedError(err.Error())
		}
		return nil, "", err
	}
	if cursor = a.Header.Get("Event-Cursor"); cursor == "" {
		return nil, "", errors.New("the list has no cursor")
	}
	tasks = map[string]string{}
	for _, v := range items {
		tasks[v.ID] = taskText(v)
	}
	return tasks, cursor, nil
}

// receive receives events until the stream ends, or until it disconnects.
func (s *taskSubscriber) receive(ctx context.Context, base string, rng *rand.Rand) error {
	stream, err := client.OpenStream(ctx, s.http, http.MethodGet, base+s.view.path(), nil, s.cursor)
	var status client.StatusError
	switch {
	case errors.Is(err, client.ErrExpired):
		s.cursor = ""
		return err
	case errors.Is(err, client.ErrMalformed) || errors.As(err, &status) && status <= http.StatusInternalServerError:
		return unexpectedError(err.Error())
	case err != nil:
		return err
	}
	defer stream.Close()
	s.resumed++
	for left := 1 + rng.IntN(taskDrops); left > 0 && !s.ended; left-- {
		message, err := stream.Next()
		if id := stream.LastID(); id != "" {
			s.cursor = id
		}
		if err != nil {
			return err
		}
		if err := s.apply(message); err != nil {
			return err
		}
	}
	return nil
}

// apply applies an event to the tasks.
func (s *taskSubscriber) apply(message eventstream.Event) error {
	s.events++
	var v server.NewTask
	if err := json.Unmarshal(message.Data, &v); err != nil || v.ID == "" {
		return unexpectedError(fmt.Sprintf("event %q: %.300s", message.Name, message.Data))
	}
	switch message.Name {
	case client.Created, client.Updated:
		if s.view.release == server.PolicyRelease && v.Due != nil && *v.Due == server.SecretDue {
			return unexpectedError("it has received a hidden task")
		}
		s.tasks[v.ID] = taskText(v)
	case client.Deleted:
		delete(s.tasks, v.ID)
	default:
		return unexpectedError(fmt.Sprintf("event %q: %.300s", message.Name, message.Data))
	}
	s.ended = v.ID == s.final
	return nil
}

func taskText(v server.NewTask) string {
	if v.Due == nil {
		return v.Text
	}
	return v.Text + " due " + *v.Due
}

// diffTasks returns the differences of two lists, apart from final items.
func diffTasks(list, view map[string]string) (wrong []string) {
	ids := maps.Clone(list)
	maps.Copy(ids, view)
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if list[id] != view[id] && !strings.HasPrefix(id, finalPrefix) {
			wrong = append(wrong, fmt.Sprintf("task %s is %q, and in the list %q", id, view[id], list[id]))
		}
	}
	return wrong
}
