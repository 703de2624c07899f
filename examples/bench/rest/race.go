package main

// The race: concurrent patches of one item over real sockets. The merge patches touch different
// members, so a correct server applies all of them, whatever their order.

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// board is an item to which every write adds its own mark. A mark that is missing at the end is an
// acknowledged write that was lost.
type board struct {
	ID    int64          `json:"id" readOnly:"true"`
	Marks map[string]int `json:"marks"`
}

// outcome counts the results of concurrent writes.
type outcome struct {
	sent, acknowledged, lost, refused int
	took                              time.Duration
}

// String returns the counts as text.
func (o outcome) String() string {
	return fmt.Sprintf("%d acknowledged, %d lost, %d refused, in %v",
		o.acknowledged, o.lost, o.refused, o.took.Round(time.Millisecond))
}

// ok reports whether all writes were acknowledged and none was lost.
func (o outcome) ok() bool { return o.acknowledged == o.sent && o.lost == 0 && o.refused == 0 }

// raceOverHTTP sends patches to one item of a real server from concurrent clients.
func raceOverHTTP(ctx context.Context, patches, clients int) (outcome, error) {
	boards := memory.New[board](nil)
	if _, err := boards.Create(ctx, board{Marks: map[string]int{}}); err != nil {
		return outcome{}, err
	}
	server := httptest.NewServer(rest.New(resource.NewCatalog(nil, resource.New("boards", boards, nil)), nil))
	defer server.Close()
	url := server.URL + "/boards/1"

	// The counter next distributes the patches, so each is sent once, by the client that is free.
	var next, acknowledged, refused atomic.Int64
	began := time.Now()
	err := together(clients, func() error {
		for {
			i := int(next.Add(1))
			if i > patches {
				return nil
			}
			status, err := leaveMark(ctx, url, i)
			for err == nil && status == http.StatusServiceUnavailable { // too many concurrent writes: retry
				refused.Add(1)
				status, err = leaveMark(ctx, url, i)
			}
			if err != nil {
				return err
			}
			if status == http.StatusOK {
				acknowledged.Add(1)
			} else {
				refused.Add(1)
			}
		}
	})
	if err != nil {
		return outcome{}, err
	}
	took := time.Since(began)
	item, err := boards.Get(ctx, "1")
	if err != nil {
		return outcome{}, err
	}
	// The store is read directly: the check must not depend on the server that it checks.
	kept := len(item.Value.Marks)
	return outcome{
		sent:         patches,
		acknowledged: int(acknowledged.Load()),
		lost:         int(acknowledged.Load()) - kept,
		refused:      int(refused.Load()),
		took:         took,
	}, nil
}

// together runs fn in n goroutines and returns one of their errors.
func together(n int, fn func() error) error {
	var wg sync.WaitGroup
	errs := make(chan error, n)
	for range n {
		wg.Go(func() { errs <- fn() })
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// leaveMark patches the item at url and returns the status code.
func leaveMark(ctx context.Context, url string, i int) (int, error) {
	body := fmt.Sprintf(`{"marks":{"m%d":%d}}`, i, i)
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", patch.MergeType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, err := io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, err
	}
	// The response must contain the mark; otherwise it acknowledges another write.
	var got board
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		return 0, err
	}
	if got.Marks[fmt.Sprintf("m%d", i)] != i {
		return 0, fmt.Errorf("PATCH %d was answered with an item without its mark", i)
	}
	return resp.StatusCode, nil
}
