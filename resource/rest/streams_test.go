package rest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestRule138Streams: the number of concurrent streams per caller is limited, and a stream that
// ends frees its place. Other callers are not affected, and anonymous callers are not counted.
func TestRule138Streams(t *testing.T) {
	bubble(t, func(t *testing.T) {
		opts := &resource.CatalogOptions{Feed: newFeed(t), Principal: caller, Limits: resource.Limits{Streams: 2}}
		h := byToken(rest.New(resource.NewCatalog(opts, resource.New("orders", memory.New[order](nil), &resource.Options[order]{Public: true})), nil))
		const ann, bob = "Authorization: Bearer ann", "Authorization: Bearer bob"
		first := open(t, h, "GET /orders", streamType, ann)
		open(t, h, "GET /orders", streamType, ann)
		refused := send(t, h, "GET /orders", streamType, ann)
		wantProblem(t, refused, problem.TooManyRequests, "Retry-After: *")
		want(t, refused, http.StatusTooManyRequests)
		want(t, send(t, h, "GET /orders", ann), http.StatusOK) // other requests are not streams
		want(t, open(t, h, "GET /orders", streamType, bob).answer(), http.StatusOK)
		for range 3 {
			want(t, open(t, h, "GET /orders", streamType).answer(), http.StatusOK)
		}
		first.stop()
		if !first.ended() {
			t.Error("it goes on")
		}
		want(t, open(t, h, "GET /orders", streamType, ann).answer(), http.StatusOK)
	})
}

// TestStreamBehindTimeoutHandler: the log names the ResponseWriter that cannot flush, and the remedy.
func TestStreamBehindTimeoutHandler(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	opts := &resource.CatalogOptions{Feed: newFeed(t), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	h := rest.New(resource.NewCatalog(opts,
		resource.New("orders", memory.New[order](nil), &resource.Options[order]{Public: true})), nil)
	limited := http.TimeoutHandler(h, time.Hour, "")
	wantProblem(t, send(t, limited, "GET /orders", streamType), problem.Internal)
	const text = "the ResponseWriter *http.timeoutWriter cannot flush; give it Flush or Unwrap, or " +
		"replace http.TimeoutHandler by middleware.Timeout"
	if !strings.Contains(log.String(), text) {
		t.Errorf("the log does not contain %q:\n%s", text, &log)
	}
}

// stuckLog is a log that waits for a transaction that does not end.
type stuckLog struct{ *feed.Memory }

func (stuckLog) Head(ctx context.Context) (feed.Cursor, error) {
	<-ctx.Done()
	return feed.Cursor{}, ctx.Err()
}

// TestRule138StreamCannotBegin: a stream is 503 if the log does not have a position in time. Lists have no
// cursor then.
func TestRule138StreamCannotBegin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := feed.New(stuckLog{feed.NewMemory(nil)}, &feed.Options{Logger: slog.New(slog.DiscardHandler)})
		t.Cleanup(func() { f.Close() })
		h := api(t, fed(f))
		for _, line := range []string{"GET /orders", "HEAD /orders", "GET /orders/1"} {
			want(t, send(t, h, line, streamType), http.StatusServiceUnavailable, "Retry-After: 1", "Event-Cursor:")
		}
		want(t, send(t, h, "GET /orders"), http.StatusOK, "Event-Cursor:")
	})
}
