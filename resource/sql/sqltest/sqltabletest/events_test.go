package sqltabletest

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type parcel struct {
	ID     string `json:"id"`
	Text   string `json:"text" required:"true" maxLength:"40"`
	Weight int64  `json:"weight,omitzero"`
	PIN    string `json:"pin,omitzero" writeOnly:"true"`
}

// depot is a table of parcels, and the log beside it in the same database.
type depot struct {
	db    *sqltx.DB
	table *sqltable.Table[parcel]
	log   *sqlfeed.Log
	start feed.Cursor
	h     http.Handler
}

// openDepot serves a depot, without a log if logged is false. The options are those of the log.
func openDepot(tb testing.TB, db *sqltx.DB, logged bool, opts *sqlfeed.Options) *depot {
	tb.Helper()
	d := &depot{db: db, table: sqltable.New[parcel](db, "parcels", &sqltable.Options{Recreate: true}), log: sqlfeed.New(db, opts)}
	if err := errors.Join(d.table.CreateTable(tb.Context()), d.log.CreateTable(tb.Context())); err != nil {
		tb.Fatal(err)
	}
	var err error
	if d.start, err = d.log.Head(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	catalog := &resource.CatalogOptions{Logger: slog.New(slog.NewTextHandler(tb.Output(), nil))}
	if logged {
		f := feed.New(d.log, nil)
		tb.Cleanup(func() { f.Close() })
		catalog.Feed = f
	}
	r := d.table.Ops().Resource("parcels", &resource.Options[parcel]{Public: true, AllowRecreate: true})
	d.h = rest.New(resource.NewCatalog(catalog, r, command.NewImport("parcels/import", r)), nil)
	return d
}

// send makes a request and returns status and content.
func (d *depot) send(tb testing.TB, line, mediaType, content string) (int, string) {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequestWithContext(tb.Context(), method, target, strings.NewReader(content))
	if content == "" {
		r.Body = http.NoBody
	} else {
		r.Header.Set("Content-Type", mediaType)
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// events returns the events in the log. It checks that the events of each parcel are its history,
// up to the stored state.
func (d *depot) events(t *testing.T) (told []string) {
	t.Helper()
	last := map[string]*feed.Event{}
	for _, e := range allSince(t, d.log, d.start) {
		told = append(told, fmt.Sprintf("%s %s %s -> %s", e.Kind, e.ID, e.Before, e.After))
		if was := last[e.ID]; was == nil || was.Kind == feed.Deleted {
			if e.Kind != feed.Created {
				t.Errorf("%s, and there was none", told[len(told)-1])
			}
		} else if string(was.After) != string(e.Before) {
			t.Errorf("%s, and before it was %s", told[len(told)-1], was.After)
		}
		last[e.ID] = e
	}
	for id, e := range last {
		item, err := d.table.Ops().Get(t.Context(), id)
		switch {
		case e.Kind == feed.Deleted && !errors.Is(err, resource.ErrGone):
			t.Errorf("the last event of %s is a deletion, but Get gives %v, %v", id, item.Value, err)
		case e.Kind != feed.Deleted && (err != nil || string(item.Rev) != e.Rev):
			t.Errorf("the last event of %s has revision %q, and the table %q (%v)", id, e.Rev, item.Rev, err)
		}
	}
	return told
}

// allSince reads the log to its end.
func allSince(t *testing.T, log feed.Log, at feed.Cursor) (all []*feed.Event) {
	t.Helper()
	for {
		events, end, err := log.Tail(t.Context(), at, 500)
		if err != nil {
			t.Fatal(err)
		}
		all, at = append(all, events...), end
		if len(events) > 0 {
			continue
		}
		if head, err := log.Head(t.Context()); err != nil || head == at { // Tail may have waited for what is over by now
			return all
		}
	}
}

const (
	jsonMedia   = "application/json"
	mergeMedia  = "application/merge-patch+json"
	batchMedia  = "application/vnd.stoa.batch+json"
	ndjsonMedia = "application/x-ndjson"
)

// parcelDoors write by each way there is.
var parcelDoors = []struct {
	line, media, content string
	status               int
	told                 []string
}{
	{"POST /parcels", jsonMedia, `{"id":"a","text":"x","pin":"s3cret"}`, 201, []string{`created a  -> {"id":"a","text":"x"}`}},
	{"POST /parcels", jsonMedia, `{"id":"a","text":"y"}`, 409, nil},
	{"PUT /parcels/b", jsonMedia, `{"text":"x"}`, 201, []string{`created b  -> {"id":"b","text":"x"}`}},
	{"PUT /parcels/b", jsonMedia, `{"text":"x"}`, 200, nil},
	{"PUT /parcels/b", jsonMedia, `{"text":"y"}`, 200, []string{`updated b {"id":"b","text":"x"} -> {"id":"b","text":"y"}`}},
	{"PATCH /parcels/b", mergeMedia, `{"weight":2}`, 200,
		[]string{`updated b {"id":"b","text":"y"} -> {"id":"b","text":"y","weight":2}`}},
	{"POST /parcels", batchMedia, `{"operations":[{"op":"create","value":{"id":"c","text":"x"}},{"op":"delete","id":"a"}]}`, 200,
		[]string{`created c  -> {"id":"c","text":"x"}`, `deleted a {"id":"a","text":"x"} -> `}},
	{"POST /parcels", batchMedia, `{"operations":[{"op":"create","value":{"id":"d","text":"x"}},{"op":"delete","id":"a"}]}`, 410, nil},
	{"POST /parcels/import", ndjsonMedia, `{"id":"d","text":"x"}` + "\n" + `{"id":"c","text":"y"}`, 200,
		[]string{`updated c {"id":"c","text":"x"} -> {"id":"c","text":"y"}`, `created d  -> {"id":"d","text":"x"}`}},
	{"POST /parcels/import?atomic=true", ndjsonMedia, `{"id":"e","text":"x"}` + "\n" + `{"id":"f"}`, 422, nil},
	{"PUT /parcels/a", jsonMedia, `{"text":"z"}`, 201, []string{`created a  -> {"id":"a","text":"z"}`}},
	{"DELETE /parcels/b", "", "", 204, []string{`deleted b {"id":"b","text":"y","weight":2} -> `}},
	{"DELETE /parcels/b", "", "", 410, nil},
}

// TestWritesAreEvents: each write has one event, in the order of the writes.
func TestWritesAreEvents(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		d := openDepot(t, e.OpenSchema(t), true, nil)
		var want []string
		for _, door := range parcelDoors {
			if status, body := d.send(t, door.line, door.media, door.content); status != door.status {
				t.Fatalf("%s: status %d, want %d: %s", door.line, status, door.status, body)
			}
			want = append(want, door.told...)
			if diff := cmp.Diff(want, d.events(t)); diff != "" {
				t.Fatalf("events after %s (-want +got):\n%s", door.line, diff)
			}
		}
	})
}

// TestWriteWithoutEventTable: without the table of events nothing is written. Writes succeed when
// it is back.
func TestWriteWithoutEventTable(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		d := openDepot(t, e.OpenSchema(t), true, nil)
		var want []string
		for _, door := range parcelDoors {
			if door.told == nil {
				continue
			}
			_, before := d.send(t, "GET /parcels", "", "")
			enginetest.MustExec(t, d.db, "ALTER TABLE events RENAME TO away")
			status, body := d.send(t, door.line, door.media, door.content)
			if status != http.StatusInternalServerError || strings.Contains(body, "events") {
				t.Errorf("%s: status %d, want 500: %s", door.line, status, body)
			}
			_, after := d.send(t, "GET /parcels", "", "")
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("parcels after %s that was not told (-want +got):\n%s", door.line, diff)
			}
			enginetest.MustExec(t, d.db, "ALTER TABLE away RENAME TO events")
			if status, body = d.send(t, door.line, door.media, door.content); status != door.status {
				t.Errorf("%s: status %d, want %d: %s", door.line, status, door.status, body)
			}
			want = append(want, door.told...)
		}
		if diff := cmp.Diff(want, d.events(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestOrderOfEvents has 16 writers change four parcels by all protocols at once: events has to
// find the history of each.
func TestOrderOfEvents(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for name, opts := range map[string]*sqlfeed.Options{"concurrent": nil, "serialized": {SerializeAppends: true}} {
			if opts != nil && e.Dialect == sqltx.SQLite {
				continue // which knows no other way
			}
			t.Run(name, func(t *testing.T) {
				d := openDepot(t, e.OpenSchema(t), true, opts)
				var writers sync.WaitGroup
				for writer := range 16 {
					writers.Go(func() {
						random := rand.New(rand.NewPCG(11, uint64(writer)))
						for n := range 15 {
							d.write(t, random, fmt.Sprint(writer, "-", n))
						}
					})
				}
				writers.Wait()
				if n := len(d.events(t)); n < 30 {
					t.Errorf("%d events: too little happened", n)
				}
			})
		}
	})
}

// write does one write to one of the parcels. Each text is written once.
func (d *depot) write(t *testing.T, random *rand.Rand, text string) {
	id := fmt.Sprint(random.IntN(4))
	doc := fmt.Sprintf(`{"id":%q,"text":%q}`, id, text)
	var status int
	var body string
	switch random.IntN(5) {
	case 0:
		status, body = d.send(t, "POST /parcels", jsonMedia, doc)
	case 1:
		status, body = d.send(t, "DELETE /parcels/"+id, "", "")
	case 2:
		status, body = d.send(t, "PATCH /parcels/"+id, mergeMedia, fmt.Sprintf(`{"text":%q}`, text))
	case 3:
		status, body = d.send(t, "PUT /parcels/"+id, jsonMedia, doc)
	case 4:
		status, body = d.send(t, "POST /parcels", batchMedia, fmt.Sprintf(`{"operations":[{"op":"replace","id":%q,"value":%s},`+
			`{"op":"patch","id":%q,"patch":{"weight":%d}}]}`, id, doc, id, 1+random.IntN(1000)))
	}
	switch status {
	case 200, 201, 204, 404, 409, 410, 503: // 503 is a write that timed out
	default:
		t.Errorf("status %d: %s", status, body)
	}
}

// BenchmarkEvents measures the cost of the event of a PUT in the same transaction.
func BenchmarkEvents(b *testing.B) {
	for _, e := range sqltest.Engines() {
		for _, told := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/told=%v", e.Name, told), func(b *testing.B) {
				db, _ := pooled(b, e)
				d := openDepot(b, db, told, nil)
				n := 0
				put := func() {
					n++
					status, body := d.send(b, "PUT /parcels/a", jsonMedia, fmt.Sprintf(`{"text":"some text","weight":%d}`, n))
					if status > 201 {
						b.Fatal(status, body)
					}
				}
				put()
				b.ReportAllocs()
				b.ResetTimer()
				began := processorTime()
				for b.Loop() {
					put()
				}
				b.ReportMetric(float64((processorTime()-began).Microseconds())/float64(b.N), "cpu-us/op")
			})
		}
	}
}

// BenchmarkImportedEvents measures the cost of the events of an import.
func BenchmarkImportedEvents(b *testing.B) {
	const lines = 5000
	for _, e := range sqltest.Engines() {
		for _, told := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/told=%v", e.Name, told), func(b *testing.B) {
				db, _ := pooled(b, e)
				d := openDepot(b, db, told, nil)
				var content strings.Builder
				began := processorTime()
				for n := 0; b.Loop(); n++ {
					content.Reset()
					for i := range lines {
						fmt.Fprintf(&content, `{"id":"%d-%d","text":"some text","weight":7}`+"\n", n, i)
					}
					if status, body := d.send(b, "POST /parcels/import", ndjsonMedia, content.String()); status != http.StatusOK {
						b.Fatal(status, body)
					}
				}
				b.ReportMetric(float64((processorTime()-began).Microseconds())/float64(b.N*lines), "cpu-us/item")
				b.ReportMetric(float64(b.N*lines)/b.Elapsed().Seconds(), "items/s")
			})
		}
	}
}
