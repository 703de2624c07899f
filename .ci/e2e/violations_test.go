package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// TestPlantedViolations gives each checker of a scenario a clean history, and the same history with one
// violation. The checkers of package history have tables of their own, and those of subscribers are
// tested with toyServer.
func TestPlantedViolations(t *testing.T) {
	t.Parallel()
	const clean = "no violations"
	tests := []struct {
		checker string
		planted string // empty for the clean history
		found   func(t *testing.T) string
		want    string
	}{
		{checker: "counters", want: clean, found: checkCounters(nil)},
		{checker: "counters", planted: "half of two writes", want: "1 torn",
			found: checkCounters(func(_ *counters, o *order) { o.Lines[0].Qty++ })},
		{checker: "counters", planted: "a line older than its last acknowledged value", want: "1 torn",
			found: checkCounters(func(c *counters, o *order) {
				o.Lines[0], o.Note = countLine(2), new("5")
			})},
		{checker: "counters", planted: "a line that was not written", want: "1 torn",
			found: checkCounters(func(c *counters, o *order) {
				o.Lines[0], o.Note = countLine(4), new("7")
			})},
		{checker: "counters", planted: "a sum that is not that of the lines", want: "1 torn",
			found: checkCounters(func(_ *counters, o *order) { o.Note = new("7") })},
		{checker: "counters", planted: "a lost increment", want: "1 lost",
			found: checkCounters(func(_ *counters, o *order) {
				o.Lines[1], o.Note = countLine(2), new("5")
			})},
		{checker: "counters", planted: "an increment that the writer did not send", want: "1 torn",
			found: checkCounters(func(_ *counters, o *order) {
				o.Lines[1], o.Note = countLine(4), new("7")
			})},
		{checker: "creates", want: clean,
			found: checkWorkload(oneCreate(false, "7"),
				served{"/orders": orderLines(false, 7)})},
		{checker: "creates", planted: "an order that does not exist", want: "1 lost",
			found: checkWorkload(oneCreate(false, "7"),
				served{"/orders": ""})},
		{checker: "moves", want: clean,
			found: checkWorkload(oneMove(), movedAccounts("move-1", "0 > 1", 5, -5, 5))},
		{checker: "moves", planted: "a move that does not exist", want: "1 lost",
			found: checkWorkload(oneMove(), movedAccounts("", "", 0))},
		{checker: "moves", planted: "a receipt without a move", want: "1 torn",
			found: checkWorkload(newMoves(false), movedAccounts("move-9", "0 > 1", 5))},
		{checker: "moves", planted: "half of a move", want: "2 torn",
			found: checkWorkload(oneMove(), movedAccounts("move-1", "0 > 1", 5, -5, 4, 1))},
		{checker: "moves", planted: "a sum that has changed", want: "1 torn", found: func(t *testing.T) string {
			target := serveTarget(t, movedAccounts("", "", 0, 1))
			if _, err := newMoves(false).balances(t.Context(), target, (&env{}).random(0)); err != nil {
				t.Fatal(err)
			}
			return target.String()
		}},
		{checker: "claims", want: clean,
			found: checkWorkload(claimed(), served{"/places/claim-0": `{"name":"a"}`})},
		{checker: "claims", planted: "a place that does not exist", want: "1 lost",
			found: checkWorkload(claimed(), served{})},
		{checker: "claims", planted: "a read before the creation", want: "1 torn",
			found: checkWorkload(claimed(history.Operation{Begin: 5, End: 6, Do: history.Get,
				Result: history.Done, Saw: "b"}), served{"/places/claim-0": `{"name":"a"}`})},
		{checker: "claims", planted: "a second creation", want: "1 torn", found: func(t *testing.T) string {
			target := serveTarget(t, served{"/places/claim-0": `{"name":"a"}`})
			o := history.Operation{Do: history.Put, Token: "a"}
			if err := claimed().send(t.Context(), target, (&env{}).random(0), "/places/claim-0", &o); err != nil {
				t.Fatal(err)
			}
			return target.String()
		}},
		{checker: "keyed orders", want: clean,
			found: checkWorkload(oneCreate(true, "7"), served{"/orders": orderLines(true, 7)})},
		{checker: "keyed orders", planted: "two orders of a key", want: "1 torn",
			found: checkWorkload(oneCreate(true, "7"),
				served{"/orders": orderLines(true, 7, 7)})},
		{checker: "keyed orders", planted: "another id than in the response", want: "1 torn",
			found: checkWorkload(oneCreate(true, "7"), served{"/orders": orderLines(true, 8)})},
		{checker: "keyed orders", planted: "two ids in responses", want: "1 torn",
			found: checkWorkload(oneCreate(true, "7", "8"), served{"/orders": orderLines(true, 7)})},
		{checker: "keyed orders", planted: "an order that does not exist", want: "1 lost",
			found: checkWorkload(oneCreate(true, "7"), served{"/orders": ""})},
		{checker: "deposits", want: clean, found: checkDeposits(5, 5)},
		{checker: "deposits", planted: "half of a deposit", want: "half of a deposit was done",
			found: checkDeposits(5, 4)},
		{checker: "storm", want: clean, found: checkStorm(http.StatusCreated, `{"id":"a"}`)},
		{checker: "storm", planted: "a response that is not allowed", want: "1 unexpected",
			found: checkStorm(http.StatusNotFound, "")},
		{checker: "full Redis", want: clean, found: checkRedis(func(s *fullRedis, w *keyedWrite) {
			s.expect(w, client.Answer{Status: 200}, false)
			s.expectRefusal(w, refusal(503, "1", ""))
			s.checkRefused([]*keyedWrite{w}, nil)
		})},
		{checker: "full Redis", planted: "a repeat that is not replayed", want: "1 unexpected",
			found: checkRedis(func(s *fullRedis, w *keyedWrite) {
				s.expect(w, client.Answer{Status: 200}, true)
			})},
		{checker: "full Redis", planted: "a new write that is done", want: "1 unexpected",
			found: checkRedis(func(s *fullRedis, w *keyedWrite) {
				s.expectRefusal(w, client.Answer{Status: 201})
			})},
		{checker: "full Redis", planted: "a refusal without Retry-After", want: "1 unexpected",
			found: checkRedis(func(s *fullRedis, w *keyedWrite) {
				s.expectRefusal(w, refusal(503, "", ""))
			})},
		{checker: "full Redis", planted: "a refusal with an unknown outcome", want: "1 unexpected",
			found: checkRedis(func(s *fullRedis, w *keyedWrite) {
				s.expectRefusal(w, refusal(503, "1", `{"type":"x/outcome-unknown"}`))
			})},
		{checker: "full Redis", planted: "a refused write that is done", want: "1 unexpected",
			found: checkRedis(func(s *fullRedis, w *keyedWrite) {
				s.checkRefused([]*keyedWrite{w}, map[string][]string{w.Key: {"1"}})
			})},
		{checker: "client library", want: clean, found: checkLibrary(nil)},
		{checker: "client library", planted: "an order that the consumer lacks", want: "1 lost",
			found: checkLibrary(func(l *libraryUse, _ map[int64]shopOrder) {
				delete(l.known, 3)
			})},
		{checker: "client library", planted: "an order that is old at the consumer", want: "1 lost",
			found: checkLibrary(func(l *libraryUse, _ map[int64]shopOrder) {
				l.known[2] = *newShopOrder("keyed-0")
			})},
		{checker: "client library", planted: "a lost update of a counter", want: "1 lost",
			found: checkLibrary(func(l *libraryUse, stored map[int64]shopOrder) {
				stored[1].Lines[0].Qty--
			})},
		{checker: "client library", planted: "a write that is done twice", want: "1 duplicate",
			found: checkLibrary(func(l *libraryUse, stored map[int64]shopOrder) {
				again := stored[2]
				stored[99], l.known[99] = again, again
			})},
		{checker: "client library", planted: "a write that is not done", want: "1 lost",
			found: checkLibrary(func(l *libraryUse, stored map[int64]shopOrder) {
				delete(stored, 2)
			})},
		{checker: "client library", planted: "a change that is received twice", want: "1 duplicate",
			found: checkLibrary(func(l *libraryUse, _ map[int64]shopOrder) {
				l.seen["keyed-0"]++
			})},
		{checker: "client library", planted: "a change that is not received", want: "1 lost",
			found: checkLibrary(func(l *libraryUse, _ map[int64]shopOrder) {
				delete(l.seen, "keyed-0")
			})},
		{checker: "pairs", planted: "a response of another request", want: " leaked", found: checkPairs},
		{checker: "doctors", want: clean, found: checkDoctors(true, false)},
		{checker: "doctors", planted: "none is on call", want: "1 torn", found: checkDoctors(false, false)},
		{checker: "doctors", planted: "both are on call", want: "1 lost", found: checkDoctors(true, true)},
		{checker: "doctors", planted: "both are acknowledged", want: "1 unexpected",
			found: func(t *testing.T) string {
				done := served{"/doctors/patch-0-a": "{}", "/doctors/patch-0-b": "{}"}
				s := &skew{rounds: 1, trial: serveNodes(t, 1, done)}
				if err := s.step(t.Context(), 0, (&env{}).random(0)); err != nil {
					t.Fatal(err)
				}
				return s.String()
			}},
		{checker: "replays at the other release", want: clean, found: checkReplay(true)},
		{checker: "replays at the other release", planted: "another response", want: "1 changed",
			found: checkReplay(false)},
		{checker: "items created with keys", want: clean, found: checkCreated("key-1")},
		{checker: "items created with keys", planted: "an item that does not exist", want: "1 lost",
			found: checkCreated()},
		{checker: "items created with keys", planted: "two items of a key", want: "1 duplicate",
			found: checkCreated("key-1", "key-1")},
		{checker: "views of two releases", want: clean, found: checkView(nil)},
		{checker: "views of two releases", planted: "a task that differs", want: "1 torn",
			found: checkView(func(s *taskSubscriber) { s.tasks["1"] = "b" })},
		{checker: "views of two releases", planted: "an expired cursor", want: "1 unexpected",
			found: checkView(func(s *taskSubscriber) { s.listed = 2 })},
		{checker: "views of two releases", planted: "events that are missing", want: "1 unexpected",
			found: checkView(func(s *taskSubscriber) { s.ended = false })},
		{checker: "full disk", want: clean, found: checkDisk(nil)},
		{checker: "full disk", planted: "a lost order", want: "1 lost",
			found: checkDisk(func(d *fullDisk, _ served) { d.orders["/orders/8"] = "disk 8" })},
		{checker: "full disk", planted: "an order of half a write", want: "1 torn",
			found: checkDisk(func(d *fullDisk, _ served) { d.orders["/orders/7"] = "disk 8" })},
		{checker: "full disk", planted: "a lost file", want: "1 lost",
			found: checkDisk(func(_ *fullDisk, s served) { delete(s, "/files/f1") })},
		{checker: "full disk", planted: "another content of a file", want: "1 lost",
			found: checkDisk(func(_ *fullDisk, s served) { s["/files/f1"] = "hal" })},
		{checker: "full disk", planted: "a part of an upload", want: "1 torn",
			found: checkDisk(func(d *fullDisk, _ served) {
				tmp := filepath.Join(d.dir, "files", ".stoa", "tmp")
				if os.MkdirAll(filepath.Join(tmp, "part"), 0o700) != nil {
					panic("no folder")
				}
			})},
		{checker: "malformed content", want: clean, found: checkLog("level=INFO")},
		{checker: "malformed content", planted: "a panic", want: "1 unexpected", found: checkLog("panic: tea")},
		{checker: "proxies", want: clean, found: checkProxy(nil)},
		{checker: "proxies", planted: "a list that is refused", want: "8 unexpected",
			found: checkProxy(func(p *listServer) { p.status = http.StatusBadGateway })},
		{checker: "proxies", planted: "another body", want: "9 unexpected",
			found: checkProxy(func(p *listServer) { p.body = "[1]" })},
		{checker: "proxies", planted: "no Location", want: "1 unexpected",
			found: checkProxy(func(p *listServer) { p.location = "" })},
		{checker: "caches", want: "0 wrong bodies, 0 wrong headers",
			found: checkTally(`{"id":1,"itemId":7}`, "1.1.0")},
		{checker: "caches", planted: "a body of another version", want: "1 wrong bodies, 0 wrong headers",
			found: checkTally(`{"id":1,"lines":[]}`, "1.1.0")},
		{checker: "caches", planted: "a header of another version", want: "0 wrong bodies, 1 wrong headers",
			found: checkTally(`{"id":1,"itemId":7}`, "2.0.0")},
		{checker: "stale bodies", want: "0 of 5", found: checkStale("new")},
		{checker: "stale bodies", planted: "the body before a write", want: "5 of 5", found: checkStale("old")},
	}
	for _, tt := range tests {
		t.Run(tt.checker+"/"+tt.planted, func(t *testing.T) {
			t.Parallel()
			got := tt.found(t)
			if exact := !strings.HasPrefix(tt.want, " "); exact && got != tt.want || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// served are bodies of a server by path. Others are 404.
type served map[string]string

func (s served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, ok := s[r.URL.Path]
	if filter := r.URL.Query().Get("country"); filter != "" {
		body, ok = s[r.URL.Path+"?"+filter]
	}
	w.Header().Set("Event-Cursor", "1")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
	}
	io.WriteString(w, body)
}

func serveTarget(t *testing.T, h http.Handler) *target { return newTarget(serveShop(t, h, nil), 1) }

// serveNodes returns n nodes, which are one server.
func serveNodes(t *testing.T, n int, h http.Handler) trial {
	t.Helper()
	urls := make([]string, n)
	url := serveHandler(t, h)
	for i := range urls {
		urls[i] = url
	}
	return newTestTrial(urls...)
}

// checkCounters gives the reader of the second of two counters an order. Both counters are at 3.
func checkCounters(plant func(c *counters, o *order)) func(t *testing.T) string {
	return func(*testing.T) string {
		c := newCounters(2, true, false)
		for i := range c.writers {
			c.writers[i].known = 3
			c.writers[i].attempted.Store(3)
		}
		o := order{Lines: []orderLine{countLine(3), countLine(3)}, Note: new("6")}
		if plant != nil {
			plant(c, &o)
		}
		target := newTarget(nil, 1)
		c.check(target, o, 1, []int64{3, 3})
		c.settle(target, o.Lines[1].ItemID-1, 1)
		return target.String()
	}
}

func checkWorkload(w workload, s served) func(t *testing.T) string {
	return func(t *testing.T) string {
		target := serveTarget(t, s)
		if err := w.verify(t.Context(), target, (&env{}).random(0)); err != nil {
			t.Fatal(err)
		}
		return target.String()
	}
}

// orderLines are orders of the first attempt.
func orderLines(repeat bool, ids ...int64) (lines string) {
	note, line := (&creates{repeat: repeat}).content(0)
	for _, id := range ids {
		lines += encode(order{ID: id, Note: &note, Lines: []orderLine{line}}) + "\n"
	}
	return lines
}

// oneCreate is one attempt, and the ids that responses have named.
func oneCreate(repeat bool, ids ...string) *creates {
	return &creates{repeat: repeat, keys: repeat, attempts: []*createAttempt{acknowledgedAttempt(ids...)}}
}

func acknowledgedAttempt(ids ...string) *createAttempt {
	made := &createAttempt{ids: map[string]bool{}}
	for _, id := range ids {
		made.ids[id] = true
	}
	return made
}

func oneMove() *moves {
	m := newMoves(false)
	m.tried["move-1"], m.acknowledged["move-1"] = true, true
	return m
}

// movedAccounts are the accounts, of which the first ones have changed, and one receipt.
func movedAccounts(id, name string, amount int64, changes ...int64) served {
	var list struct {
		Items []place `json:"items"`
	}
	for i := range accounts {
		p := place{ID: fmt.Sprint("account-", i), Population: openingBalance}
		if i < len(changes) {
			p.Population += changes[i]
		}
		list.Items = append(list.Items, p)
	}
	s := served{"/places?" + accountCountry: encode(list), "/places?" + receiptCountry: ""}
	if id != "" {
		s["/places?"+receiptCountry] = encode(place{ID: id, Name: name, Population: amount})
	}
	return s
}

// claimed is a place that was created with the value a, and more operations.
func claimed(more ...history.Operation) *claims {
	created := history.Operation{Begin: 1, End: 2, Do: history.Put, Token: "a", Result: history.Done}
	k := &claims{places: [][]history.Operation{append([]history.Operation{created}, more...)}}
	k.clock.Store(10)
	return k
}

func checkDeposits(deposited, held int) func(t *testing.T) string {
	return func(t *testing.T) string {
		k := &keyed{trial: serveNodes(t, 1, served{"/effects": "", "/lists": "",
			"/deposits": fmt.Sprintf(`{"id":"d","key":"k","amount":%d}`, deposited),
			"/accounts": fmt.Sprintf(`{"id":"1","balance":%d}`, held)})}
		if _, err := k.effects(t.Context()); err != nil {
			_, text, _ := strings.Cut(err.Error(), ": ")
			return text
		}
		return "no violations"
	}
}

func checkStorm(status int, body string) func(t *testing.T) string {
	return func(t *testing.T) string {
		s := &storm{keyed: &keyed{trial: serveNodes(t, 1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))}}
		s.sendCopies(t.Context(), newKeyedWrite(history.Create, "k", 1), 1)
		return s.String()
	}
}

func checkRedis(plant func(s *fullRedis, w *keyedWrite)) func(t *testing.T) string {
	return func(*testing.T) string {
		s := &fullRedis{keyed: &keyed{}}
		plant(s, newKeyedWrite(history.Create, "k", 1))
		return s.String()
	}
}

func refusal(status int, retryAfter, body string) client.Answer {
	a := client.Answer{Status: status, Header: http.Header{}, Body: []byte(body)}
	if retryAfter != "" {
		a.Header.Set("Retry-After", retryAfter)
	}
	return a
}

// checkLibrary checks ten writes, of which the last has changed the counter, the order 1.
func checkLibrary(plant func(l *libraryUse, stored map[int64]shopOrder)) func(t *testing.T) string {
	return func(*testing.T) string {
		l := newLibraryUse(10)
		l.counters, l.restarts = []string{"1"}, 2
		l.transport.lost.Store(1)
		stored := map[int64]shopOrder{}
		for n := range int64(10) {
			o := newShopOrder(fmt.Sprintf("keyed-%d", n-1))
			if o.ID = n + 1; o.ID == 1 {
				o.Note, o.Lines[0].Qty = "counter", 2
			} else {
				l.seen[o.Note] = 1
			}
			stored[o.ID], l.known[o.ID] = *o, *o
		}
		if plant != nil {
			plant(l, stored)
		}
		l.judge(stored)
		return l.String()
	}
}

// checkPairs sends pairs of requests to a shop that replays the first response to each second request.
func checkPairs(t *testing.T) string {
	var last string
	n := 0
	p := &pairs{trial: newTestTrial(serveHandler(t, http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/auth/login" {
				io.WriteString(w, `{"token":"t"}`)
				return
			}
			if n++; r.Header.Get("Idempotency-Key") != "" && r.Header.Get("Idempotency-Key") == last {
				w.Header().Set("Idempotency-Replayed", "true")
			}
			last = r.Header.Get("Idempotency-Key")
			w.Header().Set("Location", fmt.Sprint("/orders/", n))
		})))}
	if err := p.run(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	return p.String()
}

// checkDoctors counts a round in the first way. In the other ways one doctor is on call.
func checkDoctors(first, second bool) func(t *testing.T) string {
	return func(t *testing.T) string {
		var lines string
		for i, way := range skewWays {
			pair := server.Pair(pairName(way, 0))
			onCall := [2]bool{true, false}
			if i == 0 {
				onCall = [2]bool{first, second}
			}
			for j, id := range pair {
				lines += encode(server.Doctor{ID: id, OnCall: onCall[j]}) + "\n"
			}
		}
		s := &skew{rounds: 1, trial: serveNodes(t, 1, served{"/doctors": lines})}
		if err := s.count(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
}

// checkReplay repeats a write at nodes that replay the first response, or are right the first time only.
func checkReplay(replays bool) func(t *testing.T) string {
	return func(t *testing.T) string {
		n := 0
		s := &rollingUpdate{trial: serveNodes(t, len(releases), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if n++; n == 2 && replays {
				w.Header().Set("Idempotency-Replayed", "true")
			}
		}))}
		rng := (&env{}).random(0)
		if err := s.writeKeyed(t.Context(), rng, 1, server.OldRelease, server.NewRelease); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
}

// checkCreated counts items with texts. One was created with the key key-1.
func checkCreated(texts ...string) func(t *testing.T) string {
	return func(t *testing.T) string {
		var lines string
		for _, text := range texts {
			lines += encode(server.NewTask{Text: text}) + "\n"
		}
		s := &rollingUpdate{trial: serveNodes(t, len(releases), served{server.TasksPath: lines})}
		s.created.Store("key-1", true)
		if err := s.countCreated(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
}

// checkView compares a subscriber with a list of one task.
func checkView(plant func(s *taskSubscriber)) func(t *testing.T) string {
	return func(t *testing.T) string {
		s := &rollingUpdate{trial: serveNodes(t, len(releases), served{server.TasksPath: `{"id":"1","text":"a"}`})}
		sub := &taskSubscriber{view: taskView{release: server.NewRelease}, http: http.DefaultClient,
			ended: true, listed: 1, tasks: map[string]string{"1": "a"}}
		if plant != nil {
			plant(sub)
		}
		if err := s.compare(t.Context(), sub); err != nil {
			t.Fatal(err)
		}
		return s.String()
	}
}

// checkDisk compares one order and one file.
func checkDisk(plant func(d *fullDisk, s served)) func(t *testing.T) string {
	return func(t *testing.T) string {
		s := served{"/orders": `{"id":7,"note":"disk 7"}`, "/files/f1": "half"}
		d := newFullDisk(t.TempDir(), 1)
		d.trial, d.orders["/orders/7"], d.files["/files/f1"] = newTestTrial(serveHandler(t, s)), "disk 7", "half"
		if plant != nil {
			plant(d, s)
		}
		d.compare(t.Context(), "in the test")
		return d.String()
	}
}

// checkLog checks a process with a log.
func checkLog(text string) func(t *testing.T) string {
	return func(t *testing.T) string {
		d := &damage{trial: trial{nodes: 1, command: []string{"long-links"}}}
		if err := d.begin(t.Context(), testEnv(t)); err != nil {
			t.Fatal(err)
		}
		d.checkNode(text)
		return d.String()
	}
}

// checkProxy compares the lists of an origin with those of a proxy, by GET and QUERY.
func checkProxy(plant func(proxy *listServer)) func(t *testing.T) string {
	return func(t *testing.T) string {
		proxy := &listServer{http.StatusOK, "[]", "/places"}
		if plant != nil {
			plant(proxy)
		}
		origin, base := serveHandler(t, &listServer{http.StatusOK, "[]", "/places"}), serveHandler(t, proxy)
		var r history.Violations
		c := client.New(1)
		compareQueries(t.Context(), c, origin, base, "p", &r)
		if _, err := compareLists(t.Context(), c, origin, base, "p", &r); err != nil {
			t.Fatal(err)
		}
		return r.String()
	}
}

// listServer serves a list. location is the Location of a QUERY for one id.
type listServer struct {
	status         int
	body, location string
}

func (s *listServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	if strings.Count(string(content), "01900000-") == 1 {
		w.Header().Set("Location", s.location)
	}
	w.WriteHeader(s.status)
	io.WriteString(w, s.body)
}

// checkTally counts a response to a request for the version 1.1.0.
func checkTally(body, version string) func(t *testing.T) string {
	return func(*testing.T) string {
		head := http.Header{"Content-Type": {jsonType}}
		head.Set(apiVersion, version)
		var all tally
		q := cacheRequest{variants[0], "/orders/1"}
		all.add(q, client.Answer{Status: 200, Header: head, Body: []byte(body)})
		return fmt.Sprintf("%d wrong bodies, %d wrong headers", all.wrongBodies, all.wrongHeaders)
	}
}

// checkStale counts the responses without the note "new".
func checkStale(note string) func(t *testing.T) string {
	return func(t *testing.T) string {
		srv := httptest.NewServer(served{"/orders/1": encode(map[string]string{"note": note})})
		defer srv.Close()
		s, err := newCacheClient().countStale(t.Context(), srv.URL+"/orders/1", "new")
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d of %d", s.stale, s.requests)
	}
}
