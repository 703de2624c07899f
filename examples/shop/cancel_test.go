package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestCancelStale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		status     int
		answer     string // or the result of the job
		orders     string // statuses afterwards
	}{
		{"all placed orders", `{"olderThan":"0"}`, 202, `"result":{"cancelled":121}`,
			"shipped paid cancelled"},
		{"no order is that old", `{"olderThan":"1h30m"}`, 202, `"result":{"cancelled":0}`, "shipped paid placed"},
		{"invalid duration", `{"olderThan":"a day"}`, 422, `"pointer":"/olderThan"`, "shipped paid placed"},
		{"negative duration", `{"olderThan":"-1h"}`, 422, `"pointer":"/olderThan"`, "shipped paid placed"},
		{"duration out of range", `{"olderThan":"99999999h"}`, 202, `"pointer":"/olderThan"`,
			"shipped paid placed"},
		{"nothing", `{}`, 422, `"pointer":"/olderThan"`, "shipped paid placed"},
	}
	for _, tt := range tests {
		for name, open := range databases() {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := openShopOn(t, settings{db: open(t)})
				for range 120 { // more than one page
					ask(t, s, "POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`, jsonType)
				}
				w := ask(t, s, "POST", "/orders/cancel-stale", tt.body, jsonType)
				if w.Code != tt.status {
					t.Fatalf("%d: %s", w.Code, w.Body)
				}
				if w.Code == 202 {
					if err := s.collections.jobs.Drain(t.Context()); err != nil {
						t.Error(err)
					}
					w = ask(t, s, "GET", w.Header().Get("Location"), "")
				}
				if !strings.Contains(w.Body.String(), tt.answer) {
					t.Errorf("%d: %s", w.Code, w.Body)
				}
				var list struct{ Items []struct{ Status string } }
				body := ask(t, s, "GET", "/orders?limit=3&fields=status", "").Body.Bytes()
				if err := json.Unmarshal(body, &list); err != nil {
					t.Fatalf("%v: %s", err, body)
				}
				var states []string
				for _, o := range list.Items {
					states = append(states, o.Status)
				}
				if diff := cmp.Diff(tt.orders, strings.Join(states, " ")); diff != "" {
					t.Errorf("orders (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Without a preference to wait, the response is sent immediately and contains the URL of the job.
func TestCancelStaleLater(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	w := ask(t, s, "POST", "/v1/orders/cancel-stale", `{"olderThan":"0s"}`, jsonType)
	location := w.Header().Get("Location")
	if w.Code != 202 || !strings.HasPrefix(location, "/v1/jobs/") {
		t.Fatalf("%d, Location %q: %s", w.Code, location, w.Body)
	}
	var job struct {
		Command, State string
		Result         struct{ Cancelled int }
	}
	for job.State != "succeeded" {
		if err := json.Unmarshal(ask(t, s, "GET", location, "").Body.Bytes(), &job); err != nil ||
			job.State == "failed" {
			t.Fatalf("%v: %+v", err, job)
		}
		time.Sleep(time.Millisecond)
	}
	if job.Command != "orders/cancel-stale" || job.Result.Cancelled != 1 {
		t.Errorf("the job is %+v", job)
	}
}

// A job that was running when its shop was killed is reported as failed: at the next start, and
// with PostgreSQL after its lease has expired for the time of a lease.
func TestJobOfAShopThatWasKilled(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		if name == "memory" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, release := open(t), make(chan struct{})
			killed := openShopOn(t, settings{db: db}).collections
			t.Cleanup(func() { // before the database is closed
				close(release)
				killed.jobs.Drain(context.Background())
			})
			id, _, err := killed.jobs.Start(
				t.Context(),
				"orders/cancel-stale",
				func(context.Context) (jsontext.Value, error) {
					<-release
					return nil, nil
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			s := openShopOn(t, settings{db: db})
			later := s.collections.now().Add(21 * time.Second)
			s.collections.now = func() time.Time { return later }
			if n, err := s.collections.jobs.Recover(t.Context()); n != 1 || err != nil {
				t.Errorf("%d jobs were found, %v", n, err)
			}
			body := ask(t, s, "GET", "/jobs/"+id+"?fields=state,problem", "").Body.String()
			if !strings.HasPrefix(body,
				`{"state":"failed","problem":{"type":"https://stoa-go.github.io/problems/outcome-unknown"`) {
				t.Errorf("the job is %s", body)
			}
		})
	}
}
