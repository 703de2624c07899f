package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// stamped has all fields that the write path sets.
type stamped struct {
	ID         string     `json:"id"`
	Title      string     `json:"title"`
	CreatedAt  time.Time  `json:"createdAt" set:"created"`
	ModifiedAt *time.Time `json:"modifiedAt" set:"modified"`
	CreatedBy  string     `json:"createdBy" set:"createdBy"`
	ModifiedBy *string    `json:"modifiedBy" set:"modifiedBy"`
}

// stampedView hides the stamps, except for one that its clients can write.
type stampedView struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Created time.Time `json:"created"`
}

// stampRoom serves stamped items. The clock does not advance until a test moves it.
type stampRoom struct {
	http.Handler
	old http.Handler // the contract of stampedView
	now time.Time
	res *resource.Resource
}

// stampsAt returns a time of the test.
func stampsAt(minutes int) time.Time { return time.Date(2026, 11, 25, 12, minutes, 0, 0, time.UTC) }

func newStampRoom(t testing.TB, before func(op resource.Op, after *stamped)) *stampRoom {
	t.Helper()
	s := &stampRoom{now: stampsAt(0)}
	s.res = resource.New("notes", memory.New[stamped](nil), &resource.Options[stamped]{
		Now: func() time.Time { return s.now },
		Before: func(_ context.Context, op resource.Op, _, after *stamped) error {
			if before != nil && after != nil {
				before(op, after)
			}
			return nil
		},
	})
	opts := &resource.CatalogOptions{Principal: caller,
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil)}
	view := resource.View(s.res,
		func(v stamped) (stampedView, error) { return stampedView{v.ID, v.Title, v.CreatedAt}, nil },
		func(v stampedView, base stamped) (stamped, error) {
			base.ID, base.Title, base.CreatedAt, base.CreatedBy = v.ID, v.Name, v.Created, "mallory"
			return base, nil
		}, nil)
	s.Handler = byCaller(rest.New(resource.NewCatalog(opts, s.res, command.NewImport("notes/import", s.res)), nil))
	s.old = byCaller(rest.New(resource.NewCatalog(opts, view), nil))
	return s
}

// TestStampsOfContracts: each contract has its own Principal, also if that of another has a name, too.
func TestStampsOfContracts(t *testing.T) {
	t.Parallel()
	notes := resource.New("notes", memory.New[stamped](nil), &resource.Options[stamped]{
		Now: func() time.Time { return stampsAt(0) }})
	handlerOf := func(name string) http.Handler {
		principal := func(context.Context) string { return name }
		return rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: principal}, notes), nil)
	}
	handlers := map[string]http.Handler{"one": handlerOf("one"), "two": handlerOf("two"), "": handlerOf("")}
	for name, h := range handlers {
		res := send(t, h, "POST /notes", jsonBody, "", `{"title":"x"}`)
		want(t, res, 201)
		if by := `"createdBy":"` + name + `"`; !strings.Contains(res.body, by) {
			t.Errorf("the body is %s, want one with %s", res.body, by)
		}
	}
	e, err := notes.Create(t.Context(), []byte(`{"title":"x"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Value.(*stamped).CreatedBy; got != "one" {
		t.Errorf("createdBy %q outside of a request, want that of the first catalog", got)
	}
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/notes/9", nil)
	handlers["two"].ServeHTTP(httptest.NewRecorder(), r)
	if r.Pattern != "/notes/{id}" {
		t.Errorf("the request has the pattern %q", r.Pattern)
	}
}

func TestStamps(t *testing.T) {
	t.Parallel()
	const (
		asAnn, asBob = "Caller: ann", "Caller: bob"
		key          = `Idempotency-Key: "k"`
		created      = `"createdAt":"2026-11-25T12:00:00Z"`
		ann          = `{"id":"1","title":"a",` + created + `,"modifiedAt":"2026-11-25T12:00:00Z","createdBy":"ann","modifiedBy":"ann"}`
		bob          = `{"id":"1","title":"b",` + created + `,"modifiedAt":"2026-11-25T12:02:00Z","createdBy":"ann","modifiedBy":"bob"}`
		nobody       = `{"id":"1","title":"c",` + created + `,"modifiedAt":"2026-11-25T12:05:00Z","createdBy":"ann","modifiedBy":null}`
		batch        = "Content-Type: application/vnd.stoa.batch+json"
		views        = `{"id":"1","name":"d","created":"2026-11-25T12:00:00Z"}`
	)
	s := newStampRoom(t, nil)
	steps := []struct {
		name   string
		minute int
		old    bool // the contract of the view
		line   string
		rest   []string
		status int
		body   string // empty: not compared
	}{
		{"creation", 0, false, "POST /notes", []string{asAnn, jsonBody, key, "", `{"id":"1","title":"a"}`}, 201, ann},
		{"replay", 1, false, "POST /notes", []string{asAnn, jsonBody, key, "", `{"id":"1","title":"a"}`}, 201, ann},
		{"equal patch", 1, false, "PATCH /notes/1", []string{asBob, mergeBody, "", `{"title":"a"}`}, 200, ann},
		{"equal put", 1, false, "PUT /notes/1", []string{asBob, jsonBody, "", `{"title":"a"}`}, 200, ann},
		{"sent back", 1, false, "PUT /notes/1", []string{asBob, jsonBody, "", ann}, 200, ann},
		{"patch", 2, false, "PATCH /notes/1", []string{asBob, mergeBody, "", `{"title":"b"}`}, 200, bob},
		{"time of a client", 3, false, "PATCH /notes/1",
			[]string{asBob, mergeBody, "", `{"createdAt":"2020-01-01T00:00:00Z"}`}, 422, ""},
		{"name of a client", 3, false, "PUT /notes/1", []string{asBob, jsonBody, "", `{"title":"c","modifiedBy":"ann"}`}, 422, ""},
		{"name in a creation", 3, false, "POST /notes", []string{asBob, jsonBody, "", `{"id":"2","createdBy":"ann"}`}, 422, ""},
		{"anonymous", 5, false, "PUT /notes/1", []string{jsonBody, "", `{"title":"c"}`}, 200, nobody},
		{"view", 6, true, "PUT /notes/1", []string{asBob, jsonBody, "", `{"name":"d","created":"2020-01-01T00:00:00Z"}`}, 200, views},
		{"view, equal but for the stamp", 7, true, "PATCH /notes/1",
			[]string{asAnn, mergeBody, "", `{"created":"2021-01-01T00:00:00Z"}`}, 200, views},
		{"after the view", 8, false, "GET /notes/1", nil, 200, `{"id":"1","title":"d",` + created +
			`,"modifiedAt":"2026-11-25T12:06:00Z","createdBy":"ann","modifiedBy":"bob"}`},
		{"clock set back", -60, false, "PATCH /notes/1", []string{asAnn, mergeBody, "", `{"title":"e"}`}, 200,
			`{"id":"1","title":"e",` + created + `,"modifiedAt":"2026-11-25T12:06:00Z","createdBy":"ann","modifiedBy":"ann"}`},
		{"batch", 9, false, "POST /notes", []string{asBob, batch, "", `{"operations":[
			{"op":"create","value":{"id":"2","title":"x"}},{"op":"patch","id":"2","patch":{"title":"y"}}]}`}, 200, ""},
		{"after the batch", 9, false, "GET /notes/2", nil, 200,
			`{"id":"2","title":"y","createdAt":"2026-11-25T12:09:00Z","modifiedAt":"2026-11-25T12:09:00Z","createdBy":"bob","modifiedBy":"bob"}`},
		{"import", 10, false, "POST /notes/import", []string{asAnn, linesBody, "",
			`{"id":"2","title":"z"}` + "\n" + `{"id":"3","title":"new"}` + "\n"}, 200,
			`{"created":1,"replaced":1,"rejected":[]}`},
		{"replaced by the import", 11, false, "GET /notes/2", nil, 200,
			`{"id":"2","title":"z","createdAt":"2026-11-25T12:09:00Z","modifiedAt":"2026-11-25T12:10:00Z","createdBy":"bob","modifiedBy":"ann"}`},
		{"created by the import", 11, false, "GET /notes/3", nil, 200,
			`{"id":"3","title":"new","createdAt":"2026-11-25T12:10:00Z","modifiedAt":"2026-11-25T12:10:00Z","createdBy":"ann","modifiedBy":"ann"}`},
		{"created by PUT through a view", 12, true, "PUT /notes/4", []string{asBob, jsonBody, "",
			`{"name":"v","created":"2020-01-01T00:00:00Z"}`}, 201, `{"id":"4","name":"v","created":"2026-11-25T12:12:00Z"}`},
		{"after the PUT", 12, false, "GET /notes/4", nil, 200,
			`{"id":"4","title":"v","createdAt":"2026-11-25T12:12:00Z","modifiedAt":"2026-11-25T12:12:00Z","createdBy":"bob","modifiedBy":"bob"}`},
	}
	for _, step := range steps {
		s.now = stampsAt(step.minute)
		h := s.Handler
		if step.old {
			h = s.old
		}
		res := send(t, h, step.line, step.rest...)
		t.Log(step.name)
		if step.body == "" {
			want(t, res, step.status)
		} else {
			wantBody(t, res, step.status, step.body)
		}
	}
}

// TestStampsInHooks: Before sees the stamps and may replace them.
func TestStampsInHooks(t *testing.T) {
	t.Parallel()
	var seen []string
	s := newStampRoom(t, func(op resource.Op, after *stamped) {
		seen = append(seen, string(op)+" "+after.CreatedBy+" "+after.CreatedAt.Format(time.TimeOnly))
		if after.Title == "copied" {
			after.CreatedAt, after.CreatedBy = stampsAt(-600), "import"
		}
	})
	want(t, send(t, s, "POST /notes", "Caller: ann", jsonBody, "", `{"id":"1","title":"copied"}`), 201)
	s.now = stampsAt(1)
	wantBody(t, send(t, s, "PATCH /notes/1", "Caller: bob", mergeBody, "", `{"title":"b"}`), 200,
		`{"id":"1","title":"b","createdAt":"2026-11-25T02:00:00Z","modifiedAt":"2026-11-25T12:01:00Z","createdBy":"import","modifiedBy":"bob"}`)
	same(t, "seen", []string{"create ann 12:00:00", "patch import 02:00:00"}, seen)
}
