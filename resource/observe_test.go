package resource_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/observe"
)

// TestRecording: an observation has what the protocol and the library have counted until its end.
func TestRecording(t *testing.T) {
	t.Parallel()
	var got []observe.Observation
	ops, stale := resource.OpsOf(stocked(t, book{Title: "a"})), 2
	replace := ops.Replace
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v book) (resource.Item[book], error) {
		if stale--; stale >= 0 {
			return resource.Item[book]{}, resource.ErrStale
		}
		return replace(ctx, id, rev, v)
	}
	ops.Transactions = nil
	books := ops.Resource("books", nil)
	c := resource.NewCatalog(&resource.CatalogOptions{
		Observe: func(_ context.Context, o observe.Observation) { got = append(got, o) }}, books)
	ctx, rec := c.Record(t.Context())
	if observe.From(ctx) != rec {
		t.Error("the context has another recording")
	}
	wantDone(t, do(ctx, t, books, "put 1", `{"title":"b"}`))
	rec.AddItems(2)
	rec.AddEvent(modified)
	rec.SetStatus(http.StatusGone)
	rec.Finish(ctx, observe.Observation{Protocol: "line", Status: http.StatusOK})
	_, rec = c.Record(t.Context())
	rec.SetStatus(http.StatusGone)
	rec.SetStatus(0)
	rec.Finish(ctx, observe.Observation{Protocol: "line", Status: http.StatusOK})
	if len(got) != 2 || got[0].Start.IsZero() || got[0].Lag <= 0 {
		t.Fatalf("observations %+v", got)
	}
	for i := range got {
		got[i].Start, got[i].Duration, got[i].Lag = time.Time{}, 0, 0
	}
	want := []observe.Observation{
		{Protocol: "line", Status: http.StatusGone, Items: 3, Retries: 2},
		{Protocol: "line", Status: http.StatusOK},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("observations (-want +got):\n%s", diff)
	}
}

// A catalog without Observe does not record, and a nil recording ignores calls.
func TestNotObserved(t *testing.T) {
	t.Parallel()
	ctx, rec := resource.NewCatalog(nil).Record(t.Context())
	if rec != nil || ctx != t.Context() || observe.From(ctx) != nil {
		t.Error("a catalog without Observe records")
	}
	rec.AddItems(1)
	rec.AddEvent(time.Now())
	rec.SetStatus(http.StatusGone)
	rec.Finish(ctx, observe.Observation{})
}
