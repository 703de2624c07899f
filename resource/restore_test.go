package resource_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
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
	resource.NewCatalog(&resource.CatalogOptions{Principal: caller, Feed: d.changes}, d.Resource)
	return d
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
	wantStatus(t, do(t.Context(), t, d.Resource, "delete 1", ""), 204)
	refuse = true
	wantStatus(t, do(t.Context(), t, d.Resource, "restore 1", ""), 403)
	refuse = false
	wantStatus(t, do(as(t, "ann"), t, d.Resource, "restore 1", ""), 200)
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
	wantStatus(t, do(as(t, "a"), t, d.Resource, "patch 1", `{"email":"y"}`), 200)
	wantStatus(t, do(as(t, "a"), t, d.Resource, "delete 1", ""), 204)
	wantStatus(t, do(t.Context(), t, d.Resource, "restore 1", ""), 401)
	wantStatus(t, do(as(t, "b"), t, d.Resource, "restore 1", ""), 404)
	wantDoc(t, do(as(t, "a"), t, d.Resource, "restore 1", ""),
		`{"id":"1","tenant":"a","email":"y!","modifiedAt":"2026-11-25T12:00:00Z","modifiedBy":"a"}`)
	wantStatus(t, do(as(t, "b"), t, d.Resource, "restore 1", ""), 404) // which exists, for another tenant
	wantStatus(t, do(as(t, "a"), t, d.Resource, "restore 1", ""), 409)
	refused := []struct {
		id, as, email string
		status        int
	}{
		{"1", "a", "bad", 422},
		{"2", "b", "locked", 403},
	}
	for _, tt := range refused {
		ctx := as(t, tt.as)
		wantDone(t, do(ctx, t, d.Resource, "patch "+tt.id, `{"email":"`+tt.email+`"}`))
		wantDone(t, do(ctx, t, d.Resource, "delete "+tt.id, ""))
		wantStatus(t, do(ctx, t, d.Resource, "restore "+tt.id, ""), tt.status)
		wantStatus(t, do(ctx, t, d.Resource, "get "+tt.id, ""), 404)
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
	r := resource.New("clients", store, &resource.Options[client]{
		Restore: true, AllowRecreate: true,
		Scope: func(ctx context.Context) (query.Filter, error) {
			return query.Where("tenant", query.Eq, caller(ctx)), nil
		}})
	steps := []struct {
		line, as, doc string
		status        int
	}{
		{"delete 1", "a", "", 204},
		{"put 1", "b", `{"tenant":"b","email":"z"}`, 404},
		{"restore 1", "b", "", 404},
		{"restore 1", "a", "", 200},
		{"delete 1", "a", "", 204},
		{"put 3", "a", `{"tenant":"a","email":"x"}`, 201},
		{"restore 1", "b", "", 404}, // the email is taken, which a policy cannot decide about
		{"restore 1", "a", "", 404},
		{"delete 3", "a", "", 204},
		{"restore 1", "a", "", 200},
	}
	for _, step := range steps {
		wantStatus(t, do(as(t, step.as), t, r, step.line, step.doc), step.status)
	}
}

// TestRestoreAuthorizeGone: AuthorizeGone decides about deleted items, not about those that exist.
func TestRestoreAuthorizeGone(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true,
		AuthorizeGone: func(context.Context, string) error { return resource.ErrForbidden }})
	wantStatus(t, do(t.Context(), t, d.Resource, "restore 1", ""), 409)
	wantStatus(t, do(t.Context(), t, d.Resource, "delete 1", ""), 204)
	wantStatus(t, do(t.Context(), t, d.Resource, "restore 1", ""), 404)
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
	p := resource.New("plains", plains, &resource.Options[plain]{Public: true, Restore: true})
	wantDone(t, do(t.Context(), t, p, "delete 1", ""))
	wantDoc(t, do(t.Context(), t, p, "restore 1", ""), `{"id":"1","name":"x"}`)
	r := resource.New("stamps", stamps, &resource.Options[stamped]{Public: true, Restore: true})
	wantDone(t, do(t.Context(), t, r, "delete 1", ""))
	wantProblem(t, do(t.Context(), t, r, "restore 1", ""), problem.Conflict)
	wantProblem(t, do(t.Context(), t, r, "get 1", ""), problem.Gone)
}

// TestRestoreUnconvertible: an error of down is that of GET, and nothing is restored.
func TestRestoreUnconvertible(t *testing.T) {
	t.Parallel()
	d := newClientDesk(t, resource.Options[client]{Public: true})
	broken := true
	h := resource.View(d.Resource, func(c client) (client, error) {
		if broken {
			return c, errors.New("cannot be converted")
		}
		return c, nil
	}, func(v, _ client) (client, error) { return v, nil }, nil)
	wantStatus(t, do(t.Context(), t, h, "delete 1", ""), 500)
	wantStatus(t, do(t.Context(), t, d.Resource, "delete 1", ""), 204)
	wantStatus(t, do(t.Context(), t, h, "restore 1", ""), 500)
	broken = false
	wantStatus(t, do(t.Context(), t, h, "get 1", ""), 410)
	wantStatus(t, do(t.Context(), t, h, "restore 1", ""), 200)
}

// TestRuleD14RestoreView: the older contract restores the same item.
func TestRuleD14RestoreView(t *testing.T) {
	t.Parallel()
	type old struct {
		ID   string `json:"id"`
		Mail string `json:"mail"`
	}
	d := newClientDesk(t, resource.Options[client]{Public: true})
	h := resource.View(d.Resource,
		func(c client) (old, error) { return old{c.ID, c.Email}, nil },
		func(v old, base client) (client, error) { base.ID, base.Email = v.ID, v.Mail; return base, nil }, nil)
	wantStatus(t, do(t.Context(), t, h, "delete 1", ""), 204)
	wantDoc(t, do(t.Context(), t, h, "restore 1", ""), `{"id":"1","mail":"x"}`)
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
	r := resource.New("books", memory.New[book](&memory.Options[book]{SoftDelete: true}), nil)
	same(t, "without the option a client can restore", false, r.Can(resource.OpRestore))
}
