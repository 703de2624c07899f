package graphql_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// TestSSEBehindTimeoutHandler: the log names the ResponseWriter that cannot flush.
func TestSSEBehindTimeoutHandler(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := http.TimeoutHandler(newTestHandler(t, func(s *setup) { s.opts.Logger = slog.New(slog.NewTextHandler(&log, nil)) }),
		time.Hour, "")
	want(t, send(t, h, "POST /graphql", acceptEvents, jsonBody, "", typenameBody), 501)
	const text = "the ResponseWriter *http.timeoutWriter cannot flush"
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

// TestSSECannotBegin: a subscription is 503 if the log does not have a position in time.
func TestSSECannotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(stuckLog{feed.NewMemory(nil)}, &feed.Options{Logger: quiet})
		t.Cleanup(func() { f.Close() })
		h := newTestHandler(t, func(s *setup) { s.catalog.Feed = f })
		res := send(t, h, "POST /graphql", jsonBody, acceptEvents, "", `{"query":"subscription{orderChanged{kind}}"}`)
		want(t, res, http.StatusServiceUnavailable, "Retry-After: 1")
	})
}
