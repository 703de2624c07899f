package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// TestRuleD14RestoreEvents: a restored item is created for subscribers, and a refused restoration is no event.
func TestRuleD14RestoreEvents(t *testing.T) {
	t.Parallel()
	refuse := false
	d := newClientDesk(t, resource.Options[client]{
		Authorize: func(_ context.Context, op resource.Op, _, _ *client) error {
			if op == resource.OpRestore && refuse {
				return resource.ErrForbidden
			}
			return nil
		}})
	start, err := d.changes.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, send(t, d, "DELETE /clients/1"), 204)
	refuse = true
	want(t, send(t, d, "POST /clients/1/restore"), 403)
	refuse = false
	want(t, send(t, d, "POST /clients/1/restore", "Caller: ann"), 200)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var got []string
	for c, err := range d.Watch(ctx, start, query.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.ID != "" {
			got = append(got, c.Kind.String()+" "+c.ID)
		}
		if len(got) == 2 {
			break
		}
	}
	if diff := cmp.Diff([]string{"deleted 1", "created 1"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestRuleD14RestorePolicy: Scope and Authorize decide about the deleted item, and a refusal rolls back.
func TestRuleD14RestorePolicy(t *testing.T) {
	t.Parallel()
	var seen []string
	d := newClientDesk(t, resource.Options[client]{
		Scope: func(ctx context.Context) (query.Filter, error) {
			if caller(ctx) == "" {
				return query.Filter{}, resource.ErrUnauthenticated
			}
			return query.Where("tenant", query.Eq, caller(ctx)), nil
		},
		Authorize: func(_ context.Context, op resource.Op, before, after *client) error {
			if op != resource.OpRestore {
				return nil
			}
			seen = append(seen, before.ModifiedBy+">"+after.ModifiedBy)
			if before.Email == "locked" {
				return resource.ErrForbidden
			}
			return nil
		},
		Before: func(_ context.Context, op resource.Op, _, after *client) error {
			switch {
			case op == resource.OpRestore && after.Email == "bad":
				return resource.Invalid("email", "bad")
			case op == resource.OpRestore:
				after.Email += "!"
			}
			return nil
		}})
	want(t, send(t, d, "PATCH /clients/1", "Caller: a", mergeBody, "", `{"email":"y"}`), 200)
	want(t, send(t, d, "DELETE /clients/1", "Caller: a"), 204)
	want(t, send(t, d, "POST /clients/1/restore"), 401)
	want(t, send(t, d, "POST /clients/1/restore", "Caller: b"), 404)
	wantBody(t, send(t, d, "POST /clients/1/restore?fields=email,modifiedBy", "Caller: a"), 200,
		`{"email":"y!","modifiedBy":"a"}`)
	want(t, send(t, d, "POST /clients/1/restore", "Caller: b"), 404) // which exists, for another tenant
	want(t, send(t, d, "POST /clients/1/restore", "Caller: a"), 409)
	refused := []struct {
		path, as, email string
		status          int
	}{
		{"/clients/1", "Caller: a", "bad", 422},
		{"/clients/2", "Caller: b", "locked", 403},
	}
	for _, tt := range refused {
		want(t, send(t, d, "PATCH "+tt.path, tt.as, mergeBody, "", `{"email":"`+tt.email+`"}`), 200)
		want(t, send(t, d, "DELETE "+tt.path, tt.as), 204)
		want(t, send(t, d, "POST "+tt.path+"/restore", tt.as), tt.status)
		want(t, send(t, d, "GET "+tt.path, tt.as), 404)
	}
	same(t, "seen", []string{"a>a", "b>b"}, seen)
}

// TestRestoreHidden: a caller learns nothing of a deleted item of another tenant, and cannot replace it.
func TestRestoreHidden(t *testing.T) {
	t.Parallel()
	store := memory.New[client](&memory.Options[client]{SoftDelete: true, Recreate: true})
	for _, c := range []client{{ID: "1", Tenant: "a", Email: "x"}, {ID: "2", Tenant: "a", Email: "y"}} {
		if _, err := store.Insert(t.Context(), c.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	h := byCaller(catalogOf(resource.New("clients", store, &resource.Options[client]{
		Restore: true, AllowRecreate: true,
		Scope: func(ctx context.Context) (query.Filter, error) {
			return query.Where("tenant", query.Eq, caller(ctx)), nil
		}})))
	const asA, asB = "Caller: a", "Caller: b"
	steps := []struct {
		line   string
		rest   []string
		status int
	}{
		{"DELETE /clients/1", []string{asA}, 204},
		{"PUT /clients/1", []string{asB, jsonBody, "", `{"tenant":"b","email":"z"}`}, 404},
		{"POST /clients/1/restore", []string{asB}, 404},
		{"POST /clients/1/restore", []string{asA}, 200},
		{"DELETE /clients/1", []string{asA}, 204},
		{"PUT /clients/3", []string{asA, jsonBody, "", `{"tenant":"a","email":"x"}`}, 201},
		{"POST /clients/1/restore", []string{asB}, 404}, // the email is taken, which a policy cannot decide about
		{"POST /clients/1/restore", []string{asA}, 404},
		{"DELETE /clients/3", []string{asA}, 204},
		{"POST /clients/1/restore", []string{asA}, 200},
	}
	for _, step := range steps {
		want(t, send(t, h, step.line, step.rest...), step.status)
	}
}

// TestRestoreAuthorizeGone: AuthorizeGone decides about deleted items, not about those that exist.
func TestRestoreAuthorizeGone(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true,
		AuthorizeGone: func(context.Context, string) error { return resource.ErrForbidden }})
	want(t, send(t, d, "POST /clients/1/restore"), 409)
	want(t, send(t, d, "DELETE /clients/1"), 204)
	want(t, send(t, d, "POST /clients/1/restore"), 404)
}

// TestRestoreOldValue: a value that no longer fits the schema is restored as it is, unless it must change.
func TestRestoreOldValue(t *testing.T) {
	t.Parallel()
	type plain struct {
		ID   string `json:"id"`
		Name string `json:"name" minLength:"3"`
	}
	type stamped struct {
		ID       string    `json:"id"`
		Name     string    `json:"name" minLength:"3"`
		Modified time.Time `json:"modified" set:"modified"`
	}
	plains := memory.New[plain](&memory.Options[plain]{SoftDelete: true})
	stamps := memory.New[stamped](&memory.Options[stamped]{SoftDelete: true})
	_, err := plains.Insert(t.Context(), "1", plain{"1", "x"})
	if err == nil {
		_, err = stamps.Insert(t.Context(), "1", stamped{ID: "1", Name: "x"})
	}
	if err != nil {
		t.Fatal(err)
	}
	h := catalogOf(resource.New("plains", plains, &resource.Options[plain]{Public: true, Restore: true}),
		resource.New("stamps", stamps, &resource.Options[stamped]{Public: true, Restore: true}))
	want(t, send(t, h, "DELETE /plains/1"), 204)
	wantBody(t, send(t, h, "POST /plains/1/restore"), 200, `{"id":"1","name":"x"}`)
	want(t, send(t, h, "DELETE /stamps/1"), 204)
	wantProblem(t, send(t, h, "POST /stamps/1/restore"), problem.Conflict)
	want(t, send(t, h, "GET /stamps/1"), 410)
}

// TestRestoreUnconvertible: an error of down is that of GET, and nothing is restored.
func TestRestoreUnconvertible(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true})
	broken := true
	h := catalogOf(resource.View(d.Resource, func(c client) (client, error) {
		if broken {
			return c, errors.New("cannot be converted")
		}
		return c, nil
	}, func(v, _ client) (client, error) { return v, nil }, nil))
	want(t, send(t, h, "DELETE /clients/1"), 500)
	want(t, send(t, d, "DELETE /clients/1"), 204)
	want(t, send(t, h, "POST /clients/1/restore"), 500)
	broken = false
	want(t, send(t, h, "GET /clients/1"), 410)
	want(t, send(t, h, "POST /clients/1/restore"), 200)
}

// TestRuleD14RestoreView: the older contract restores the same item.
func TestRuleD14RestoreView(t *testing.T) {
	t.Parallel()
	type old struct {
		ID   string `json:"id"`
		Mail string `json:"mail"`
	}
	d := newClientDesk(t, resource.Options[client]{Public: true})
	h := catalogOf(resource.View(d.Resource,
		func(c client) (old, error) { return old{c.ID, c.Email}, nil },
		func(v old, base client) (client, error) { base.ID, base.Email = v.ID, v.Mail; return base, nil }, nil))
	want(t, send(t, h, "DELETE /clients/1"), 204)
	wantBody(t, send(t, h, "POST /clients/1/restore"), 200, `{"id":"1","mail":"x"}`)
}

// catalogOf serves parts to anonymous callers.
func catalogOf(parts ...resource.Part) http.Handler {
	return rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: caller}, parts...), nil)
}

// TestRestoreRefusedAtStart: Options.Restore needs a store that restores.
func TestRestoreRefusedAtStart(t *testing.T) {
	t.Parallel()
	hard := memory.New[book](nil)
	soft := resource.OpsOf(memory.New[book](&memory.Options[book]{SoftDelete: true}))
	soft.Transactions = nil
	tests := []struct {
		name string
		ops  resource.Ops[book]
		want string
	}{
		{"without soft deletion", resource.OpsOf(hard), "resource: books: Options.Restore is set, but the collection is " +
			"not a Restorer, as one with soft deletion is; remove Restore"},
		{"without transactions", soft, "resource: books: Options.Restore is set, but the collection has no transactions, " +
			"which undo what the policy forbids; remove Restore"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() { same(t, "panic", tt.want, recover()) }()
			tt.ops.Resource("books", &resource.Options[book]{Restore: true})
		})
	}
	// Without the option the path does not exist.
	h := catalog(t, resource.New("books", memory.New[book](&memory.Options[book]{SoftDelete: true}), nil))
	res := send(t, h, "POST /books/1/restore")
	want(t, res, 404)
	if !strings.Contains(res.body, problem.NotFound.URI()) {
		t.Errorf("the body is %s", res.body)
	}
}
