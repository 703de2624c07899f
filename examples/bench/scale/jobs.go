package main

// The jobs. Each returns a figure: the time of the catalog, what it is compared with, the ratio and
// its budget. They run in order in one process, after table.go has filled the table.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// work is the state that the jobs share.
type work struct {
	*database
	settings
	handler http.Handler
	hand    handwritten
}

// get sends a GET request to the catalog. It returns the response body if keep is set.
func (w *work) get(ctx context.Context, target string, keep bool) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	s := newSink(keep)
	w.handler.ServeHTTP(s, req)
	if s.Status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: status %d", target, s.Status)
	}
	return s.Body, nil
}

// list returns a page.
func (w *work) list(ctx context.Context, target string) (items []town, next string, err error) {
	body, err := w.get(ctx, target, true)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Items []town
		Next  string
	}
	err = json.Unmarshal(body, &page)
	return page.Items, page.Next, err
}

// The first order is by the primary key. The second is by an indexed column with equal values, so its
// cursor has two values.
func (w *work) deepByID(ctx context.Context) (figure, error) { return w.deep(ctx, "by id", "/towns?") }

func (w *work) deepBySort(ctx context.Context) (figure, error) {
	return w.deep(ctx, "sort=-population", "/towns?sort=-population&")
}

// deep compares a page after nine tenths of the rows with the first page. It follows the next
// links, as a client would.
func (w *work) deep(ctx context.Context, name, target string) (figure, error) {
	// The walk uses the largest page, because only its end is measured.
	const most = 200 // maximum page size
	depth := w.rows / 10 * 9 / most * most
	after := ""
	began := time.Now()
	// With OFFSET, a page costs as much as all pages before it. A cursor makes the depth
	// irrelevant, and the budget of 2 is for the two values of the cursor.
	for range depth / most {
		items, next, err := w.list(ctx, target+"limit="+strconv.Itoa(most)+after)
		if err != nil {
			return figure{}, err
		}
		if len(items) != most || next == "" {
			return figure{}, fmt.Errorf("%s ended after %d items of a page", target, len(items))
		}
		after = "&after=" + url.QueryEscape(next)
	}
	walked := time.Since(began)
	page := func(after string) func() error {
		return func() error {
			_, err := w.get(ctx, target+"limit=50"+after, false)
			return err
		}
	}
	last, first, err := compare(w.round, page(after), page(""))
	return figure{
		fmt.Sprintf("page of 50 at depth %d, %s: %v", depth, name, last.Round(time.Microsecond)),
		fmt.Sprintf("page 1: %v; to walk there took %.0f s", first.Round(time.Microsecond), walked.Seconds()),
		measure.Ratio(last, first), 2}, err
}

// filterOfIndex filters and sorts by the same indexed column.
func (w *work) filterOfIndex(ctx context.Context) (figure, error) {
	p := w.hand.place
	return w.filter(ctx, "/towns?population.lt=500000000&sort=-population&limit=50",
		"WHERE population < "+p(1)+" ORDER BY population DESC, id LIMIT "+p(2), 500_000_000, 50)
}

// filterAndSort filters by one indexed column and sorts by another, so the database has to choose.
func (w *work) filterAndSort(ctx context.Context) (figure, error) {
	p := w.hand.place
	return w.filter(ctx, "/towns?country=GR&sort=-population&limit=50",
		"WHERE country = "+p(1)+" ORDER BY population DESC, id LIMIT "+p(2), "GR", 50)
}

// filter compares a list with the query alone. It first checks that both return the same rows.
func (w *work) filter(ctx context.Context, target, rest string, args ...any) (figure, error) {
	got, _, err := w.list(ctx, target)
	if err != nil {
		return figure{}, err
	}
	want, err := w.hand.list(ctx, rest, args...)
	if err != nil {
		return figure{}, err
	}
	// Equal rows show that the query by hand is the query of the catalog.
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) == 0 {
		return figure{}, fmt.Errorf("%s found %v, and by hand it is %v", target, got, want)
	}
	stoa, hand, err := compare(w.round, func() error {
		_, err := w.get(ctx, target, false)
		return err
	}, func() error {
		_, err := w.hand.list(ctx, rest, args...)
		return err
	})
	return figure{fmt.Sprintf("`GET %s`: %v", target, stoa.Round(time.Microsecond)),
		fmt.Sprintf("the query by hand: %v", hand.Round(time.Microsecond)), measure.Ratio(stoa, hand), 5}, err
}

// item compares reads of random items. The sides read different items: the rows of an item that one
// side has read are in memory when the other reads them.
func (w *work) item(ctx context.Context) (figure, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /towns/{id}", w.hand.item)
	get := func(h http.Handler, seed uint64) func() error {
		rng := rand.New(rand.NewPCG(seed, 1))
		return func() error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet,
				"/towns/"+strconv.Itoa(1+rng.IntN(w.rows)), nil)
			if err != nil {
				return err
			}
			s := newSink(false)
			if h.ServeHTTP(s, req); s.Status != http.StatusOK {
				return fmt.Errorf("%s: status %d", req.URL, s.Status)
			}
			return nil
		}
	}
	stoa, hand, err := compare(w.round, get(w.handler, 1), get(mux, 2))
	return figure{
		fmt.Sprintf("GET item at random: %v", stoa.Round(100*time.Nanosecond)),
		fmt.Sprintf("query and handler by hand: %v", hand.Round(100*time.Nanosecond)),
		measure.Ratio(stoa, hand),
		1.3,
	}, err
}

// export reads all rows as NDJSON. Its ratio is the peak of the heap in the second half of the rows
// to that in the first half, which shows a memory leak.
func (w *work) export(ctx context.Context) (figure, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "/towns", nil)
	if err != nil {
		return figure{}, err
	}
	req.Header.Set("Accept", "application/x-ndjson")
	var peaks [2]int64
	s := newSink(false)
	heap := measure.HeapReader()
	writes, lines := 0, 0
	s.OnWrite = func(p []byte) {
		lines += bytes.Count(p, []byte("\n"))
		// Reading the size of the heap at each write would slow the export down.
		if writes++; writes%64 == 0 {
			half := min(lines*2/w.rows, 1)
			peaks[half] = max(peaks[half], heap())
		}
	}
	runtime.GC()
	began := time.Now()
	w.handler.ServeHTTP(s, req)
	took := time.Since(began)
	if s.Status != http.StatusOK || lines != w.rows {
		return figure{}, fmt.Errorf("export: status %d, %d lines", s.Status, lines)
	}
	const mib = 1 << 20
	return figure{
		fmt.Sprintf("NDJSON export of %d rows (%d MiB) in %.0f s: peak heap %.1f MiB in the second half",
			lines, s.Bytes/mib, took.Seconds(), float64(peaks[1])/mib),
		fmt.Sprintf("in the first half: %.1f MiB", float64(peaks[0])/mib),
		measure.Ratio(peaks[1], peaks[0]),
		1.5,
	}, nil
}
