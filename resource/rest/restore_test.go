package rest_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// client is a customer of one tenant.
type client struct {
	ID         string    `json:"id"`
	Tenant     string    `json:"tenant"`
	Email      string    `json:"email" unique:"tenant"`
	ModifiedAt time.Time `json:"modifiedAt" set:"modified"`
	ModifiedBy string    `json:"modifiedBy" set:"modifiedBy"`
}

// clientDesk serves clients that are kept after their deletion.
type clientDesk struct {
	http.Handler
	*resource.Resource
	changes *feed.Feed
	now     time.Time
	step    time.Duration // by which the clock advances with each write
}

func newClientDesk(t testing.TB, opts resource.Options[client]) *clientDesk {
	t.Helper()
	d := &clientDesk{now: stampsAt(0)}
	opts.Restore, opts.Now = true, func() time.Time {
		d.now = d.now.Add(d.step)
		return d.now
	}
	opts.Query = query.Support{Filter: map[string][]query.Op{"tenant": {query.Eq}}}
	store := memory.New[client](&memory.Options[client]{SoftDelete: true,
		Now: func() time.Time { return d.now }})
	for _, c := range []client{{ID: "1", Tenant: "a", Email: "x"}, {ID: "2", Tenant: "b", Email: "x"}} {
		if _, err := store.Insert(t.Context(), c.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	d.Resource = resource.New("clients", store, &opts)
	d.changes = feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { d.changes.Close() })
	d.Handler = byCaller(rest.New(resource.NewCatalog(&resource.CatalogOptions{
		Principal: caller, Feed: d.changes, Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
	}, d.Resource), nil))
	return d
}

// goldenRestoring is the desk of the conversation about restoring.
func goldenRestoring(t *testing.T) http.Handler {
	d := newClientDesk(t, resource.Options[client]{Public: true})
	d.now, d.step = time.Date(2026, 11, 20, 11, 30, 0, 0, time.UTC), time.Minute
	return d
}

func TestRuleD14Restore(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true})
	const (
		asAnn    = "Caller: ann"
		key      = `Idempotency-Key: "k"`
		restored = `{"id":"1","tenant":"a","email":"x","modifiedAt":"2026-11-25T12:00:00Z","modifiedBy":"ann"}`
		taken    = `{"id":"3","tenant":"a","email":"x"}`
	)
	tag := send(t, d, "GET /clients/1").header.Get("ETag")
	steps := []struct {
		name   string
		line   string
		rest   []string
		status int
		fields []string
		body   string // empty: not compared
	}{
		{"item exists", "POST /clients/1/restore", nil, 409, nil, ""},
		{"unknown item", "POST /clients/9/restore", nil, 404, nil, ""},
		{"deletion", "DELETE /clients/1", nil, 204, nil, ""},
		{"deleted", "GET /clients/1", nil, 410, nil, ""},
		{"not in lists", "GET /clients?fields=id", nil, 200, nil, `{"items":[{"id":"2"}]}`},
		{"restoration", "POST /clients/1/restore", []string{asAnn, key}, 200,
			[]string{"ETag: *", "Content-Location: /clients/1", "Cache-Control: private, no-cache"}, restored},
		{"replay", "POST /clients/1/restore", []string{asAnn, key}, 200, []string{"Idempotency-Replayed: true"}, restored},
		{"without the key", "POST /clients/1/restore", []string{asAnn}, 409, nil, ""},
		{"restored", "GET /clients/1", nil, 200, nil, restored},
		{"tag from before the deletion", "DELETE /clients/1", []string{"If-Match: " + tag}, 412, nil, ""},
		{"second deletion", "DELETE /clients/1", nil, 204, nil, ""},
		{"value of the deleted item", "POST /clients", []string{jsonBody, asAnn, "", taken}, 201, nil, ""},
		{"value is taken", "POST /clients/1/restore", []string{asAnn}, 409, nil, ""},
		{"still deleted", "GET /clients/1", nil, 410, nil, ""},
		{"id is not free", "PUT /clients/1", []string{jsonBody, asAnn, "", `{"tenant":"z"}`}, 410, nil, ""},
		{"deletion of the other", "DELETE /clients/3", nil, 204, nil, ""},
		{"minimal", "POST /clients/1/restore", []string{asAnn, "Prefer: return=minimal"}, 204,
			[]string{"ETag: *", "Preference-Applied: return=minimal"}, ""},
		{"not acceptable", "POST /clients/1/restore", []string{"Accept: image/png"}, 406, nil, ""},
		{"another method", "GET /clients/1/restore", nil, 405, []string{"Allow: POST, OPTIONS"}, ""},
		{"methods", "OPTIONS /clients/1/restore", nil, 204, []string{"Allow: POST, OPTIONS"}, ""},
		{"methods of the item", "OPTIONS /clients/1", nil, 204,
			[]string{"Allow: GET, HEAD, PUT, PATCH, DELETE, OPTIONS"}, ""},
		{"another path", "POST /clients/1/undelete", nil, 404, nil, ""},
		{"deeper path", "POST /clients/1/restore/now", nil, 404, nil, ""},
		{"escaped path", "OPTIONS /clients/1/%72estore", nil, 204, nil, ""},
		{"trailing slash", "POST /clients/1/restore/", nil, 308, []string{"Location: /clients/1/restore"}, ""},
	}
	for _, step := range steps {
		t.Log(step.name)
		res := send(t, d, step.line, step.rest...)
		want(t, res, step.status, step.fields...)
		if step.body != "" {
			wantBody(t, res, step.status, step.body)
		}
	}
}

// TestRestoreOfLiveItem: the URL in the response is that of the request, and no other caller gets it.
func TestRestoreOfLiveItem(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true})
	for range 2 {
		var wait sync.WaitGroup
		for _, id := range []string{"1", "2"} {
			wait.Go(func() {
				res := send(t, d, "POST /clients/"+id+"/restore")
				if want := `"existing":"/clients/` + id + `"`; res.status != 409 || !strings.Contains(res.body, want) {
					t.Errorf("status %d, body %s; want 409 with %s", res.status, res.body, want)
				}
			})
		}
		wait.Wait()
	}
	_, err := d.Restore(t.Context(), "1", nil)
	if got := resource.Problem(err).Extensions; got != nil {
		t.Errorf("a problem without a request has the members %v", got)
	}
}

// catalogOf serves parts to anonymous callers.
func catalogOf(parts ...resource.Part) http.Handler {
	return rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: caller}, parts...), nil)
}

// TestRestoreNeedsOption: without Options.Restore the path does not exist.
func TestRestoreNeedsOption(t *testing.T) {
	t.Parallel()
	h := catalog(t, resource.New("books", memory.New[book](&memory.Options[book]{SoftDelete: true}), nil))
	wantProblem(t, send(t, h, "POST /books/1/restore"), problem.NotFound)
}
