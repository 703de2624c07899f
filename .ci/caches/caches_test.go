package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
)

func TestCheckTellsACacheThatHeedsVaryFromOneThatCannot(t *testing.T) {
	t.Parallel()
	shop := newStandIn()
	to, err := url.Parse(serve(t, shop))
	if err != nil {
		t.Fatal(err)
	}
	const n = 20
	r, err := check(t.Context(), subject{"ours", cached(t, shop), cached(t, withoutVary(to))}, n)
	if err != nil {
		t.Fatal(err)
	}
	m := r.measured
	if m.requests != n*len(voices) || m.hits != n*5 || m.wrongBodies != 0 || m.wrongHeads != 0 {
		t.Errorf("measured = %+v, want %d requests, %d hits, nothing wrong", m, n*len(voices), n*5)
	}
	// Whoever asks first, no contract is that of more than three of the eight voices.
	if least := n * 5; r.control.wrongBodies < least {
		t.Errorf("control: %d wrong bodies, want at least %d", r.control.wrongBodies, least)
	}
	want := []staleness{{"PATCH", 5, 5}, {"PUT", 5, 5}}
	if !reflect.DeepEqual(want, r.stale) {
		t.Errorf("stale = %v, want %v", r.stale, want)
	}
	if err := verdict([]row{r}); err != nil {
		t.Errorf("verdict = %v, want nil", err)
	}
}

func TestAskEndsWhenAQuestionIsNotAnswered(t *testing.T) {
	t.Parallel()
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	_, err := newClient().ask(t.Context(), base, 1)
	if err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("err = %v, want one that names 502", err)
	}
}

func TestJudgeBody(t *testing.T) {
	t.Parallel()
	const first, second = `{"id": 1, "itemId": 7, "qty": 2}`, `{"id": 1, "lines": [{"itemId": 7, "qty": 2}]}`
	tests := []struct {
		name   string
		voice  voice
		path   string
		status int
		body   string
		ok     bool
	}{
		{"first", voices[0], "/orders/1", 200, first, true},
		{"first, asked second", voices[1], "/orders/1", 200, first, false},
		{"second", voices[1], "/orders/1", 200, second, true},
		{"second, asked first", voices[2], "/orders/1", 200, second, false},
		{"both at once", voices[0], "/orders/1", 200, `{"id": 1, "itemId": 7, "lines": []}`, false},
		{"neither", voices[1], "/orders/1", 200, `{"id": 1}`, false},
		{"another order", voices[0], "/orders/2", 200, first, false},
		{"no JSON", voices[0], "/orders/1", 200, `<p>`, false},
		{"list", voices[1], "/orders", 200, `{"items": [` + second + `]}`, true},
		{"list of the other", voices[1], "/orders", 200, `{"items": [` + second + `,` + first + `]}`, false},
		{"empty list", voices[1], "/orders", 200, `{"items": []}`, false},
		{"list for an order", voices[1], "/orders/1", 200, `{"items": [` + second + `]}`, false},
		{"order for a list", voices[1], "/orders", 200, second, false},
		{"refusal", voices[5], "/orders/1", 400, `{"status": 400}`, true},
		{"refusal for an order", voices[1], "/orders/1", 400, `{"status": 400}`, false},
		{"order for a refusal", voices[5], "/orders/1", 200, second, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := question{tt.voice, tt.path}
			if err := q.judgeBody(tt.status, []byte(tt.body)); (err == nil) != tt.ok {
				t.Errorf("%s asks for %s and gets %d %s: %v", tt.voice.name, tt.path, tt.status, tt.body, err)
			}
		})
	}
}

func TestJudgeHead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		head http.Header
		ok   bool
	}{
		{"right", http.Header{"Api-Version": {"1.1.0"}, "Content-Type": {"application/json"}}, true},
		{"another contract", http.Header{"Api-Version": {"2.0.0"}, "Content-Type": {"application/json"}}, false},
		{"two contracts", http.Header{"Api-Version": {"1.1.0", "2.0.0"}, "Content-Type": {"application/json"}}, false},
		{"no contract", http.Header{"Content-Type": {"application/json"}}, false},
		{"another type", http.Header{"Api-Version": {"1.1.0"}, "Content-Type": {"text/html"}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := (question{voice: voices[0]}).judgeHead(tt.head); (err == nil) != tt.ok {
				t.Errorf("judgeHead(%v) = %v", tt.head, err)
			}
		})
	}
}

func TestIsHit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, field, value string
		want               bool
	}{
		{"nginx hit", "X-Cache-Status", "HIT", true},
		{"nginx miss", "X-Cache-Status", "MISS", false},
		{"nginx renewed", "X-Cache-Status", "EXPIRED", false},
		{"varnish hit", "X-Varnish", "32770 3", true},
		{"varnish miss", "X-Varnish", "32770", false},
		{"squid hit", "X-Cache", "HIT from localhost", true},
		{"squid miss", "X-Cache", "MISS from localhost", false},
		{"no cache", "Date", "today", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			h.Set(tt.field, tt.value)
			if got := isHit(h); got != tt.want {
				t.Errorf("isHit(%v) = %t, want %t", h, got, tt.want)
			}
		})
	}
}

func TestPlanGivesEachVoiceTheSamePathsInTurns(t *testing.T) {
	t.Parallel()
	const n = 8
	asked := map[string]int{}
	questions := plan(n)
	for i, q := range questions {
		asked[q.voice.name+" "+q.path]++
		if i > 0 && questions[i-1].voice == q.voice {
			t.Errorf("question %d is of the same voice as the one before", i)
		}
	}
	for _, v := range voices {
		for _, p := range paths {
			if got, want := asked[v.name+" "+p], n/len(paths); got != want {
				t.Errorf("%s asks for %s %d times, want %d", v.name, p, got, want)
			}
		}
	}
}

func TestWithoutVaryPassesOnAllElse(t *testing.T) {
	t.Parallel()
	answer := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		w.Header().Set("Cache-Control", "public, max-age=60")
		w.Header().Set("X-Asked", r.Method+" "+r.Host+r.URL.RequestURI()+" "+r.Header.Get(apiVersion))
		w.WriteHeader(http.StatusTeapot)
		w.Write([]byte("short and stout"))
	}
	to, err := url.Parse(serve(t, http.HandlerFunc(answer)))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(h http.Handler) *http.Response {
		req := httptest.NewRequest(http.MethodPatch, "http://127.0.0.1:1/orders?a=b", nil)
		req.Header.Set(apiVersion, "1")
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec.Result()
	}
	want, got := ask(http.HandlerFunc(answer)), ask(withoutVary(to))
	if got.StatusCode != want.StatusCode || got.Header.Get("Vary") != "" {
		t.Errorf("status %d, Vary %q; want %d and none", got.StatusCode, got.Header.Get("Vary"), want.StatusCode)
	}
	for _, field := range []string{"Cache-Control", "X-Asked"} {
		if got, want := got.Header.Get(field), want.Header.Get(field); got != want {
			t.Errorf("%s = %q, want %q", field, got, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name              string
		measured, control tally
		want              string // "" for nil
	}{
		{"as it should be", tally{hits: 1}, tally{wrongBodies: 1}, ""},
		{"a wrong body", tally{hits: 1, wrongBodies: 1}, tally{wrongBodies: 1}, "c gave wrong answers"},
		{"a wrong header", tally{hits: 1, wrongHeads: 1}, tally{wrongBodies: 1}, "c gave wrong answers"},
		{"no hits", tally{}, tally{wrongBodies: 1}, "c never answered from its store"},
		{"the control is right", tally{hits: 1}, tally{wrongHeads: 1}, "c: taking Vary out made no difference"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := verdict([]row{{cache: "c", measured: tt.measured, control: tt.control}}); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("verdict = %q, want %q", got, tt.want)
			}
		})
	}
	if verdict(nil) == nil {
		t.Error("verdict on no cache = nil, want an error")
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	report(&out, []row{{
		cache:    "squid",
		measured: tally{requests: 8000, hits: 5000, wrongBodies: 1, examples: []string{"unnamed /orders"}},
		control:  tally{hits: 7900, wrongBodies: 6000},
		stale:    []staleness{{"PATCH", 0, 5}, {"PUT", 4, 5}},
	}})
	want := "" +
		"  cache  requests  hits  wrong bodies  wrong headers  control's hits  control's wrong bodies     stale after a write\n" +
		"  squid      8000  5000             1              0            7900                    6000  PATCH 0 of 5, PUT 4 of 5\n" +
		"squid: unnamed /orders\n"
	if got := squeeze(out.String()); got != squeeze(want) {
		t.Errorf("report:\n%s\nwant:\n%s", got, squeeze(want))
	}
}

// squeeze makes runs of blanks one, so that tests do not depend on widths.
func squeeze(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n")
}

func TestParseSubject(t *testing.T) {
	t.Parallel()
	got, err := parseSubject("nginx=http://127.0.0.1:1,http://127.0.0.1:2")
	if want := (subject{"nginx", "http://127.0.0.1:1", "http://127.0.0.1:2"}); got != want || err != nil {
		t.Errorf("parseSubject = %v, %v; want %v", got, err, want)
	}
	for _, arg := range []string{"", "nginx", "nginx=http://127.0.0.1:1", "=a,b"} {
		if _, err := parseSubject(arg); err == nil {
			t.Errorf("parseSubject(%q): no error", arg)
		}
	}
}

func TestRunRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"ports"}, {"ports", "many"}, {"sing", "now"}, {"ask", "nginx"}, {"ask", "-n", "1"}} {
		if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
			t.Errorf("run(%q): no error", args)
		}
	}
}

func TestPortsAreFreeAndDistinct(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"ports", "3"}, &out); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for address := range strings.FieldsSeq(out.String()) {
		seen[address] = true
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Errorf("%s is not free: %v", address, err)
			continue
		}
		defer l.Close()
	}
	if len(seen) != 3 {
		t.Errorf("ports = %q, want three", out.String())
	}
}
