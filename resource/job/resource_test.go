package job_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/rest"
)

// get sends a GET as a principal and returns status, header and body.
func get(t *testing.T, h http.Handler, who, method, target string) (status int, header http.Header,
	body string) {
	t.Helper()
	r := httptest.NewRequestWithContext(as(t.Context(), who), method, target, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, w.Header(), string(b)
}

func TestRule092Monitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j := job.New("jobs", store(), &job.Options{Alone: true, Principal: principal})
		h := resource.NewCatalog(nil, j.Resource())
		id, done := start(t, j, as(t.Context(), "ann"), succeed)
		<-done
		_, refused := start(t, j, as(t.Context(), "ann"), func(context.Context) (jsontext.Value, error) {
			return nil, resource.ErrForbidden
		})
		<-refused
		status, header, body := get(t, rest.New(h, nil), "ann", "GET", "/jobs/"+id)
		const now = "2000-01-01T00:00:00Z" // in the bubble
		want := `{"id":"` + id +
			`","command":"orders/sweep","state":"succeeded","result":{"n":3},"createdAt":"` + now +
			`","finishedAt":"` + now + `"}`
		if diff := cmp.Diff(want, body); status != http.StatusOK || diff != "" || header.Get("ETag") == "" {
			t.Errorf("status %d, tag %q (-want +got):\n%s", status, header.Get("ETag"), diff)
		}
		var list struct{ Items []job.Job }
		_, _, body = get(t, rest.New(h, nil), "ann", "GET",
			"/jobs?state=failed&command=orders%2Fsweep&sort=-createdAt,finishedAt")
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Items) != 1 ||
			!strings.Contains(string(list.Items[0].Problem), `"status":403`) {
			t.Errorf("failed jobs: %v %s", err, body)
		}
		for _, target := range []string{"/jobs?by=ann", "/jobs?owner=x", "/jobs?sort=lease",
			"/jobs?fields=by"} {
			if status, _, body := get(t, rest.New(h, nil), "ann", "GET",
				target); status != http.StatusBadRequest {
				t.Errorf("%s: %d %s", target, status, body)
			}
		}
	})
}

// TestOwnJobsOnly: a caller sees its own jobs only, and an anonymous caller none.
func TestOwnJobsOnly(t *testing.T) {
	t.Parallel()
	j := job.New("jobs", store(), &job.Options{Alone: true, Principal: principal})
	h := resource.NewCatalog(nil, j.Resource())
	for _, who := range []string{"ann", "bob", ""} {
		id, done := start(t, j, as(t.Context(), who), succeed)
		<-done
		for _, reader := range []string{"ann", "bob", ""} {
			want := http.StatusNotFound
			if who == reader && who != "" {
				want = http.StatusOK
			}
			if status, _, body := get(t, rest.New(h, nil), reader, "GET", "/jobs/"+id); status != want {
				t.Errorf("%q asks for the job of %q: %d, want %d: %s", reader, who, status, want, body)
			}
		}
	}
	for reader, want := range map[string]int{"ann": 1, "bob": 1, "": 0} {
		if _, _, body := get(t, rest.New(h, nil), reader, "GET", "/jobs"); strings.Count(body,
			`"id"`) != want {
			t.Errorf("%q sees %s, want %d", reader, body, want)
		}
	}
	if got := h.Report(); strings.Contains(got, "weak") {
		t.Errorf("the report warns:\n%s", got)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	j := job.New("tasks", store(), nil)
	if j.Name() != "tasks" || j.Resource().Name() != "tasks" {
		t.Errorf("it is called %s and %s", j.Name(), j.Resource().Name())
	}
	h := resource.NewCatalog(nil, j.Resource())
	id, done := start(t, j, t.Context(), succeed)
	<-done
	item := "/tasks/" + id
	allow := map[string]string{"/tasks": "GET, HEAD, QUERY, OPTIONS", item: "GET, HEAD, OPTIONS"}
	for _, line := range [][2]string{{"POST", "/tasks"}, {"PUT", item}, {"PATCH", item}, {"DELETE", item}} {
		if status, header, _ := get(t, rest.New(h, nil), "", line[0],
			line[1]); status != http.StatusMethodNotAllowed || header.Get("Allow") != allow[line[1]] {
			t.Errorf("%s %s: %d, Allow: %s", line[0], line[1], status, header.Get("Allow"))
		}
	}
	// all callers see all jobs
	if status, _, body := get(t, rest.New(h, nil), "", "GET", "/tasks/"+id); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

func TestIDsAreInTheOrderOfTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	j := job.New("jobs", store(), &job.Options{Alone: true, Now: func() time.Time { return now }})
	last := ""
	for range 100 {
		now = now.Add(time.Millisecond)
		id, done := start(t, j, t.Context(), succeed)
		<-done
		if id <= last || len(id) != 36 || id[14] != '7' || !strings.ContainsRune("89ab", rune(id[19])) {
			t.Fatalf("%s after %s", id, last)
		}
		last = id
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	full := store()
	readOnly := resource.Ops[job.Job]{Get: full.Get, List: full.List}
	noReplace, noInsert := full, full
	noReplace.Replace = nil
	noInsert.Insert, noInsert.Create = nil, nil
	const text = "job: the store of jobs needs Replace, and Insert or Create"
	for _, ops := range []resource.Ops[job.Job]{readOnly, noReplace, noInsert} {
		func() {
			defer func() {
				if diff := cmp.Diff(any(text), recover()); diff != "" {
					t.Errorf("panic (-want +got):\n%s", diff)
				}
			}()
			job.New("jobs", ops, nil)
		}()
	}
}
