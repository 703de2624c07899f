package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

// durable returns the databases that outlive the shop, as values of -db.
func durable() map[string]func(t *testing.T) string {
	return map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "shop.db") },
		"PostgreSQL": func(t *testing.T) string { return sqltest.PostgreSQL(t) },
	}
}

// acknowledged records the acknowledged orders by id, with their acknowledged quantities.
type acknowledged struct {
	sync.Mutex
	orders map[string]int
	enough chan struct{} // closed when there are enough orders
}

func (a *acknowledged) add(id string, qty int) {
	a.Lock()
	defer a.Unlock()
	a.orders[id] = qty
	if len(a.orders) == 100 {
		close(a.enough)
	}
}

// write creates orders and changes each of them, until the shop is killed.
func (a *acknowledged) write(url string) {
	for qty := 1; ; qty = qty%500 + 1 {
		id, ok := send("POST", url+"/orders", "application/json",
			fmt.Sprintf(`{"lines":[{"itemId":1,"qty":%d}]}`, qty))
		if !ok {
			return
		}
		// A change without a response may or may not have been applied.
		patch := fmt.Sprintf(`[{"op":"replace","path":"/lines/0/qty","value":%d}]`, 2*qty)
		if _, ok := send("PATCH", url+"/orders/"+id, "application/json-patch+json", patch); !ok {
			a.add(id, -qty)
			return
		}
		a.add(id, 2*qty)
	}
}

// send returns the id of the order in the response, if there is one.
func send(method, url, contentType, body string) (id string, ok bool) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return "", false
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", false
	}
	defer resp.Body.Close()
	var order struct{ ID int64 }
	err = json.NewDecoder(resp.Body).Decode(&order)
	return strconv.FormatInt(order.ID, 10), err == nil && resp.StatusCode/100 == 2
}

// A shop that is killed during writes still has everything that it acknowledged after a restart.
func TestKilled(t *testing.T) {
	t.Parallel()
	for name, source := range durable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := source(t)
			s := open(t, "-db", db)
			a := &acknowledged{orders: map[string]int{}, enough: make(chan struct{})}
			var writers sync.WaitGroup
			for range 4 {
				writers.Go(func() { a.write(s.url) })
			}
			stopped := make(chan struct{})
			go func() { writers.Wait(); close(stopped) }()
			select {
			case <-a.enough:
			case <-stopped:
				t.Errorf("all writers have stopped after %d orders:\n%s", len(a.orders), s.stderr)
			}
			s.cmd.Process.Signal(syscall.SIGKILL)
			s.cmd.Wait()
			<-stopped

			s = open(t, "-db", db)
			for id, qty := range a.orders {
				_, body := s.send("GET", "/orders/"+id+"?fields=lines", "")
				want := fmt.Sprintf(`{"lines":[{"itemId":1,"qty":%d}]}`, qty)
				if qty < 0 {
					want = fmt.Sprintf(`{"lines":[{"itemId":1,"qty":%d}]}`, -qty)
					if strings.Contains(body, fmt.Sprintf(`"qty":%d}`, -2*qty)) {
						continue
					}
				}
				if body != want {
					t.Errorf("order %s is %s, want %s", id, body, want)
				}
			}
		})
	}
}

// A restart keeps all data and does not seed again.
func TestStartedAgain(t *testing.T) {
	t.Parallel()
	for name, source := range durable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := source(t)
			s := open(t, "-db", db)
			s.send("DELETE", "/orders/2", "")
			s.send("PATCH", "/places/264371", `{"name":"Athina"}`, asMergePatch)
			s.close(syscall.SIGTERM)
			s = open(t, "-db", db)
			if !strings.Contains(strings.Join(s.report, "\n"), "not seeded, it has data") {
				t.Errorf("the report does not state that the database had data:\n%s",
					strings.Join(s.report, "\n"))
			}
			for path, want := range map[string]string{
				"/orders?fields=id": `{"items":[{"id":1},{"id":3}]}`, "/places?name=Athina&fields=id": `{"items":[{"id":"264371"}]}`,
			} {
				if _, body := s.send("GET", path, ""); body != want {
					t.Errorf("GET %s: %s, want %s", path, body, want)
				}
			}
			if resp, _ := s.send("GET", "/orders/2", ""); resp.StatusCode != 410 {
				t.Errorf("GET of a deleted order: %d", resp.StatusCode)
			}
		})
	}
}

// An emptied shop is seeded again, without the deleted places and with new ids.
func TestEmptiedAndStartedAgain(t *testing.T) {
	t.Parallel()
	for name, source := range durable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := source(t)
			file := filepath.Join(t.TempDir(), "places.jsonl")
			writeFile(t, file, `{"id":"a","name":"Athens","country":"GR"}`+"\n")
			s := open(t, "-db", db, "-places", file)
			for _, path := range []string{"/orders/1", "/orders/2", "/orders/3", "/users/1", "/users/2", "/users/3", "/places/a"} {
				if resp, body := s.send("DELETE", path, ""); resp.StatusCode != 204 {
					t.Errorf("DELETE %s: %d %s", path, resp.StatusCode, body)
				}
			}
			s.close(syscall.SIGTERM)
			writeFile(
				t,
				file,
				`{"id":"a","name":"Athens","country":"GR"}`+"\n"+`{"id":"b","name":"Bern","country":"CH"}`+"\n",
			)
			s = open(t, "-db", db, "-places", file)
			for path, want := range map[string]string{
				"/orders?fields=id,customerId": `{"items":[{"id":4,"customerId":5},{"id":5,"customerId":6},{"id":6,"customerId":5}]}`,
				"/places?fields=id":            `{"items":[{"id":"b"}]}`,
			} {
				if _, body := s.send("GET", path, ""); body != want {
					t.Errorf("GET %s: %s, want %s", path, body, want)
				}
			}
		})
	}
}

// If several shops start at once on a new database, one creates the tables, one seeds, and all of
// them serve.
func TestStartedTogether(t *testing.T) {
	t.Parallel()
	for name, source := range durable() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := source(t)
			shops := make([]*shop, 3)
			for i := range shops {
				shops[i] = start(t, "-db", db)
			}
			for _, s := range shops {
				s.listens()
			}
			for _, s := range shops {
				var got []string
				for _, path := range []string{"/users", "/orders", "/places"} {
					_, body := s.send("GET", path+"?limit=1&fields=id", "", "Prefer: count=exact")
					got = append(got, body[strings.Index(body, `"total"`):])
				}
				if diff := cmp.Diff([]string{`"total":3}`, `"total":3}`, `"total":1000}`}, got); diff != "" {
					t.Errorf("totals (-want +got):\n%s", diff)
				}
			}
			if resp, body := shops[0].send("PATCH", "/orders/1", `{"note":"x"}`,
				asMergePatch); resp.StatusCode != 200 {
				t.Fatalf("%d: %s", resp.StatusCode, body)
			}
			if _, body := shops[1].send("GET", "/orders/1?fields=note", ""); body != `{"note":"x"}` {
				t.Errorf("another shop returned %s", body)
			}
		})
	}
}

// A job that was running when the shop was killed has ended after the restart: done or failed, but
// not running.
func TestKilledInAJob(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "shop.db")
	s := open(t, "-db", db)
	for range 200 {
		s.send("POST", "/orders", `{"lines":[{"itemId":1,"qty":1}]}`, asJSON)
	}
	resp, body := s.send("POST", "/orders/cancel-stale", `{"olderThan":"0"}`, asJSON)
	if resp.StatusCode != 202 {
		t.Fatalf("%d: %s", resp.StatusCode, body)
	}
	s.cmd.Process.Signal(syscall.SIGKILL)
	s.cmd.Wait()
	s = open(t, "-db", db)
	_, body = s.send("GET", resp.Header.Get("Location"), "")
	if !strings.Contains(body, `"state":"succeeded"`) &&
		!strings.Contains(body, `/problems/outcome-unknown"`) {
		t.Errorf("the job is %s", body)
	}
}
