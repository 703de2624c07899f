package server

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// How the hook of a doctor reads the other doctor.
const (
	Serializable = "serializable" // in a transaction of the level serializable
	Locking      = "lock"         // in one of the default level, with a lock
	Ordered      = "order"        // the same, with a lock of each doctor, in the order of their ids
	Unlocked     = "nolock"       // in one of the default level, without a lock: a control on PostgreSQL
	OutsideTx    = "outside"      // outside of the transaction of the write, which is serializable: a control
)

// Doctor is one of a pair, and one of the pair has to be on call. Their ids are those of [Pair].
type Doctor struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	OnCall bool   `json:"onCall"`
}

// Pair returns the ids of the doctors of a pair.
func Pair(name string) [2]string { return [2]string{name + "-a", name + "-b"} }

// other returns the id of the other doctor of the pair.
func other(id string) string {
	if name, first := strings.CutSuffix(id, "-a"); first {
		return name + "-b"
	}
	return strings.TrimSuffix(id, "-b") + "-a"
}

// runDoctors serves doctors by REST, and by GraphQL below /graphql.
func runDoctors(ctx context.Context, p *program) error {
	mode := p.String("mode", Serializable,
		"how a hook reads the other doctor: serializable, lock, order, nolock or outside")
	source, err := p.parse()
	if err != nil {
		return err
	}
	opts := &sqltx.Options{}
	switch *mode {
	case Serializable, OutsideTx:
		opts.Isolation = sql.LevelSerializable
	case Locking, Ordered, Unlocked:
	default:
		return fmt.Errorf("server: unknown mode %q", *mode)
	}
	db, err := database.Open(source, opts)
	if err != nil {
		return err
	}
	records := sqlrecords.New(db, nil)
	table := sqltable.New[Doctor](db, "doctors", nil)
	if err := errors.Join(database.Retry(ctx, records.CreateTable), database.Retry(ctx, table.CreateTable)); err != nil {
		return err
	}
	catalog := resource.NewCatalog(p.keyedCatalogOptions(records), doctors(table.Ops(), *mode))
	mux := http.NewServeMux()
	mux.Handle("/graphql", graphql.New(catalog, &graphql.Options{Logger: p.logger}))
	mux.Handle("/", rest.New(catalog, nil))
	return p.serve(ctx, readMeetField(mux))
}

// MeetField is the field of a request whose hook waits, after it has read, until the hook of the request
// for the other doctor has read, too. A node must get both requests.
const MeetField = "X-Meet"

type meetKey struct{}

// readMeetField reads [MeetField].
func readMeetField(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(MeetField) != "" {
			r = r.WithContext(context.WithValue(r.Context(), meetKey{}, true))
		}
		next.ServeHTTP(w, r)
	})
}

// meetings has a channel for each doctor, which is closed when the hook of its request has read.
type meetings struct{ read sync.Map }

func (m *meetings) of(id string) chan struct{} {
	c, _ := m.read.LoadOrStore(id, make(chan struct{}))
	return c.(chan struct{})
}

// meet waits for the hook of the other request, if the request of ctx has [MeetField]. A request that is
// repeated does not wait.
func (m *meetings) meet(ctx context.Context, id string) error {
	if ctx.Value(meetKey{}) == nil {
		return nil
	}
	if _, again := m.read.LoadOrStore(id+" has met", true); again {
		return nil
	}
	close(m.of(id))
	select {
	case <-m.of(other(id)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doctors is a collection with a hook that allows a doctor to go off call only while the other
// is on call.
func doctors(ops resource.Ops[Doctor], mode string) (r *resource.Resource) {
	lock := func(ctx context.Context, id string) (resource.Item[Doctor], error) {
		return resource.GetForUpdate[Doctor](ctx, r, id)
	}
	read := ops.Get
	switch mode {
	case Locking:
		read = lock
	case Ordered:
		read = func(ctx context.Context, id string) (item resource.Item[Doctor], err error) {
			if self := other(id); self < id {
				if _, err := lock(ctx, self); err != nil {
					return item, err
				}
			}
			return lock(ctx, id)
		}
	}
	var met meetings
	r = ops.Resource("doctors", &resource.Options[Doctor]{
		Public:         true,
		HooksOutsideTx: mode == OutsideTx,
		Before: func(ctx context.Context, _ resource.Op, before, after *Doctor) error {
			if before == nil || !before.OnCall || after != nil && after.OnCall {
				return nil
			}
			item, err := read(ctx, other(before.ID))
			if err == nil && !item.Value.OnCall {
				err = resource.ErrForbidden
			}
			if err != nil {
				return err
			}
			return met.meet(ctx, before.ID)
		},
	})
	return r
}
