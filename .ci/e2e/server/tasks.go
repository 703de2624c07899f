package server

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Releases of a program that serves tasks. They are types of one binary, which is the same as two
// binaries, because each node is a process of its own and has one of them.
const (
	OldRelease    = "old"    // serves OldTask
	NewRelease    = "new"    // serves NewTask
	PolicyRelease = "policy" // serves NewTask, without the tasks that are due at SecretDue
)

// OldTask is a task in the old release, which does not have the column due.
type OldTask struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// NewTask is a task in the new release.
type NewTask struct {
	ID   string  `json:"id"`
	Text string  `json:"text"`
	Due  *string `json:"due"`
}

// SecretDue is the value of NewTask.Due that PolicyRelease hides.
const SecretDue = "secret"

// TasksPath is the path of the collection.
const TasksPath = "/tasks"

// runTasks serves tasks of a release. Nodes of all releases share a table, a log of events and the
// records of keys.
func runTasks(ctx context.Context, p *program) error {
	release := p.String("release", NewRelease, "old, new or policy")
	noSchema := p.Bool("noschema", false, "events do not name the schema of the writer: the control")
	ring := p.Int("ring", 0, "events in memory; 0 is the default of the library")
	db, err := p.open(nil)
	if err != nil {
		return err
	}
	stored := sqlfeed.New(db, nil)
	records := sqlrecords.New(db, nil)
	// The column due exists before the first node of the new release starts.
	migrate := taskTable[NewTask](db).CreateTable
	for _, create := range []func(context.Context) error{stored.CreateTable, records.CreateTable, migrate} {
		if err := database.Retry(ctx, create); err != nil {
			return err
		}
	}
	log := feed.Log(stored)
	if *noSchema {
		log = withoutSchema{stored}
	}
	tasks, err := tasksOf(db, *release)
	if err != nil {
		return err
	}
	events := feed.New(log, &feed.Options{Logger: p.logger, BufferEvents: *ring})
	defer events.Close()
	// Streams have to end before the server waits for the requests in flight.
	defer context.AfterFunc(ctx, func() { events.Close() })()
	opts := p.keyedCatalogOptions(records)
	opts.Feed = events
	return p.serve(ctx, rest.New(resource.NewCatalog(opts, tasks), nil))
}

// taskTable is the table of tasks as a release sees it.
func taskTable[T any](db *sqltx.DB) *sqltable.Table[T] {
	return sqltable.New[T](db, "tasks", &sqltable.Options{Recreate: true})
}

// tasksOf returns the collection of a release.
func tasksOf(db *sqltx.DB, release string) (*resource.Resource, error) {
	switch release {
	case OldRelease:
		t := taskTable[OldTask](db)
		opts := &resource.Options[OldTask]{Public: true, AllowRecreate: true, Query: t.Support()}
		return t.Ops().Resource("tasks", opts), nil
	case NewRelease, PolicyRelease:
		t := taskTable[NewTask](db)
		opts := &resource.Options[NewTask]{Public: true, AllowRecreate: true, Query: t.Support()}
		if release == PolicyRelease {
			opts.Public, opts.Authorize = false, hideSecret
		}
		return t.Ops().Resource("tasks", opts), nil
	}
	return nil, fmt.Errorf("server: unknown release %q", release)
}

func hideSecret(_ context.Context, _ resource.Op, before, _ *NewTask) error {
	if before != nil && before.Due != nil && *before.Due == SecretDue {
		return resource.ErrForbidden
	}
	return nil
}

// withoutSchema is a log of events that do not name their schema.
type withoutSchema struct{ *sqlfeed.Log }

func (l withoutSchema) Append(ctx context.Context, events ...*feed.Event) error {
	for _, e := range events {
		e.Schema = ""
	}
	return l.Log.Append(ctx, events...)
}
