package version_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// forwarding puts the contract 1.0.0 on the server at base, without its links.
func forwarding(base string) func(*market) {
	return func(m *market) {
		m.contracts[1].At, m.contracts[1].Proxy = base, true
		m.options.Transport, m.options.Logger = http.DefaultTransport, slog.New(slog.DiscardHandler)
	}
}

// otherServer starts the other server.
func otherServer(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// The other server receives the request as it was sent, except for the URL.
func TestProxyRequest(t *testing.T) {
	t.Parallel()
	type request struct{ Target, Version, Accept, Type, Body string }
	tests := []struct {
		line   string
		fields []string
		want   request
	}{
		{"GET /1.0/orders/a%2Fb?x=%20&y=;&%zz", nil, request{Target: "/v1/orders/a%2Fb?x=%20&y=;&%zz"}},
		{"GET /1.0//evil.example/x", nil, request{Target: "/v1//evil.example/x"}},
		{"DELETE /orders?version=1.0&a=b", nil, request{Target: "/v1/orders?a=b"}},
		{"GET /orders", []string{"API-Version: 1.0"}, request{Target: "/v1/orders", Version: "1.0"}},
		{"GET /orders", []string{"Host: api-v1-0.market.example"}, request{Target: "/v1/orders"}},
		{"GET /orders", []string{"Accept: " + vnd("1.0.order")},
			request{Target: "/v1/orders", Accept: vnd("1.0.order")}},
		{"PATCH /1.0/orders/1", []string{asMerge, "", `{"qty":1}`},
			request{Target: "/v1/orders/1", Type: "application/merge-patch+json", Body: `{"qty":1}`}},
		// The member remains, because the other server repeats it and checks digests.
		{"POST /orders", []string{asJSON, "", `{"version": "1.0", "qty":1}`},
			request{Target: "/v1/orders", Type: "application/json", Body: `{"version": "1.0", "qty":1}`}},
		{"POST /1.0/orders", []string{asJSON, "Expect: 100-continue", "", `{"version": "1.0", "qty":1}`},
			request{Target: "/v1/orders", Type: "application/json", Body: `{"version": "1.0", "qty":1}`}},
		{"PUT /1.0/orders/1", []string{"Content-Type: " + vnd("1.0.order"), "", `{"qty":1}`},
			request{Target: "/v1/orders/1", Type: vnd("1.0.order"), Body: `{"qty":1}`}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			var got *http.Request
			var body []byte
			base := otherServer(t, func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.WriteHeader(http.StatusAccepted)
			})
			api, _ := openMarket(t, forwarding(base+"/v1"))
			fields := append([]string{"X-Forwarded-For: 203.0.113.9", "Forwarded: for=203.0.113.9", "Via: 1.0 fred",
				"Connection: X-Hop", "X-Hop: 1", "X-Other: 2"}, tt.fields...)
			res := ask(t, final(api), tt.line, fields...)
			res.has(t, http.StatusAccepted, "API-Version: 1.0.0", "Deprecation: @1780272000")
			if got == nil {
				t.Fatal("no request")
			}
			h := got.Header
			if diff := cmp.Diff(tt.want, request{got.RequestURI, h.Get("API-Version"), h.Get("Accept"),
				h.Get("Content-Type"), string(body)}); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			host := "market.example"
			if len(tt.fields) > 0 && strings.HasPrefix(tt.fields[0], "Host: ") {
				host = tt.fields[0][len("Host: "):]
			}
			method, _, _ := strings.Cut(tt.line, " ")
			want := []string{method, strings.TrimPrefix(base, "http://"), "192.0.2.1", host, "http", "", "", "2", "identity"}
			if diff := cmp.Diff(want, []string{got.Method, got.Host, h.Get("X-Forwarded-For"),
				h.Get("X-Forwarded-Host"), h.Get("X-Forwarded-Proto"), h.Get("Forwarded"), h.Get("X-Hop"),
				h.Get("X-Other"), h.Get("Accept-Encoding")}); diff != "" {
				t.Errorf("method, host and fields (-want +got):\n%s", diff)
			}
			if via := h.Get("Via"); !strings.HasPrefix(via, "1.0 fred, 1.1 stoa-") ||
				strings.Contains(via, got.Host) {
				t.Errorf("Via: %s", via)
			}
		})
	}
}

// The other server receives the client, the scheme and the host that trusted proxies report.
func TestRule018ProxyBehindProxies(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	tests := []struct {
		name          string
		trusted       []netip.Prefix
		opts          *middleware.ClientAddressOptions
		secure        bool // TLS between the client, or the proxy before this server, and this server
		fields        http.Header
		address, want string
	}{
		{name: "proxy before this server", trusted: proxies, opts: &middleware.ClientAddressOptions{Host: true},
			fields: http.Header{"X-Forwarded-For": {"6.6.6.6, 203.0.113.9"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Host": {"market.example:8443"}}, address: "192.0.2.1:1",
			want: "[203.0.113.9] [https] [market.example:8443] []"},
		{name: "TLS up to the proxy and in the proxy", trusted: proxies, secure: true,
			fields:  http.Header{"X-Forwarded-For": {"2001:db8::9"}, "X-Forwarded-Proto": {"http"}},
			address: "192.0.2.1:1", want: "[2001:db8::9] [http] [market.example] []"},
		{name: "not trusted", trusted: proxies,
			fields:  http.Header{"X-Forwarded-For": {"6.6.6.6"}, "X-Real-Ip": {"6.6.6.6"}},
			address: "198.51.100.1:1", want: "[198.51.100.1] [http] [market.example] []"},
		{name: "Unix socket",
			fields:  http.Header{"X-Forwarded-For": {"6.6.6.6"}, "X-Real-Ip": {"6.6.6.6"}},
			address: "@", want: "[] [http] [market.example] []"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got string
			base := otherServer(t, func(_ http.ResponseWriter, r *http.Request) {
				got = fmt.Sprint(r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Proto"],
					r.Header["X-Forwarded-Host"], r.Header["X-Real-Ip"])
			})
			api, _ := openMarket(t, forwarding(base))
			r := httptest.NewRequest(http.MethodGet, "http://market.example/1.0/orders", nil)
			if tt.secure {
				r.TLS = &tls.ConnectionState{}
			}
			maps.Copy(r.Header, tt.fields)
			r.RemoteAddr = tt.address
			middleware.ClientAddress(tt.trusted, tt.opts)(api).ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("fields of the other server (-want +got):\n%s", diff)
			}
		})
	}
}

// The fields of both servers are merged: none is doubled, and references lead back here.
func TestRule042ProxyResponse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		fields     []string // of the request
		sent       http.Header
		want       map[string]string
	}{
		{
			name: "life cycle", line: "GET /1.0/orders",
			sent: http.Header{"Vary": {"Accept, Prefer", "api-version"}, "Api-Version": {"1.0.0"},
				"Deprecation": {"@1780272000"}, "Sunset": {"Wed, 30 Jun 2027 23:59:59 GMT"}},
			want: map[string]string{"Vary": "X-Outer, Accept, Prefer, api-version", "Api-Version": "1.0.0",
				"Deprecation": "@1780272000", "Sunset": "Wed, 30 Jun 2027 23:59:59 GMT"},
		},
		{
			name: "own links win", line: "GET /1.0/orders",
			sent: http.Header{"Link": {`</v1/orders?a=1,2&after=x>; rel="next", </p>; title="a, b;rel=x" ; REL = "Sunset"`,
				`</d>;rel=deprecation,</v2/orders>; rel="successor-version", <https://x.example/>; rel=help`, "", "<x"}},
			want: map[string]string{"Link": `</1.0/orders?a=1,2&after=x>; rel="next" | ` +
				`<https://x.example/>; rel=help | <https://market.example/moving>; rel="deprecation"; type="text/html" | ` +
				`<https://market.example/sunsets>; rel="sunset"; type="text/html" | </v2/orders>; rel="successor-version"`},
		},
		{
			name: "references by the path", line: "POST /1.0/orders",
			sent: http.Header{"Location": {"/v1/orders/a%2Fb?x#y"}, "Content-Location": {"orders/7"}},
			want: map[string]string{"Location": "/1.0/orders/a%2Fb?x#y", "Content-Location": "/1.0/orders/7"},
		},
		{
			name: "references by the query", line: "POST /orders?version=1.0",
			sent: http.Header{"Location": {"/v1/orders/7"}, "Link": {`</v1/orders?after=x>; rel="next"`}},
			want: map[string]string{"Location": "/orders/7?version=1.0", "Link": `</orders?after=x&version=1.0>; rel="next" | ` +
				`<https://market.example/moving>; rel="deprecation"; type="text/html" | ` +
				`<https://market.example/sunsets>; rel="sunset"; type="text/html" | </orders?version=2>; rel="successor-version"`},
		},
		{
			name: "references by a field", line: "POST /orders", fields: []string{"API-Version: 1.0"},
			sent: http.Header{"Location": {"BASE/v1/orders/7"}, "Content-Location": {"/v1"}},
			want: map[string]string{"Location": "/orders/7", "Content-Location": "/"},
		},
		{
			name: "references to elsewhere", line: "POST /1.0/orders",
			sent: http.Header{"Location": {"https://x.example/v1/orders"}, "Content-Location": {"/v11/orders"}},
			want: map[string]string{"Location": "https://x.example/v1/orders", "Content-Location": "/v11/orders"},
		},
		{
			name: "no reference becomes a host", line: "POST /orders", fields: []string{"API-Version: 1.0"},
			sent: http.Header{"Location": {"/v1//evil.example/x"}},
			want: map[string]string{"Location": "/.//evil.example/x"},
		},
		{
			name: "fields of middleware", line: "GET /1.0/orders",
			sent: http.Header{"X-Frame-Options": {"SAMEORIGIN"}, "Set-Cookie": {"a=1", "b=2"}, "Etag": {`"1"`}},
			want: map[string]string{"X-Frame-Options": "SAMEORIGIN", "Set-Cookie": "outer=1 | a=1 | b=2",
				"X-Request-Id": "7", "Etag": `"1"`},
		},
		{
			name: "hop-by-hop fields", line: "GET /1.0/orders",
			sent: http.Header{"Connection": {"X-Hop"}, "X-Hop": {"1"}, "Keep-Alive": {"5"}},
			want: map[string]string{"Connection": "", "X-Hop": "", "Keep-Alive": ""},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var base string
			base = otherServer(t, func(w http.ResponseWriter, _ *http.Request) {
				// Informational responses do not remove the fields of middleware.
				w.WriteHeader(http.StatusEarlyHints)
				for name, lines := range tt.sent {
					for _, line := range lines {
						w.Header().Add(name, strings.Replace(line, "BASE", base, 1))
					}
				}
				w.WriteHeader(http.StatusCreated)
			})
			api, _ := openMarket(t, forwarding(base+"/v1"))
			outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for _, field := range []string{"X-Frame-Options: DENY", "Set-Cookie: outer=1", "X-Request-Id: 7",
					"Vary: X-Outer"} {
					name, value, _ := strings.Cut(field, ": ")
					w.Header().Set(name, value)
				}
				api.ServeHTTP(w, r)
			})
			res := ask(t, final(outer), tt.line, tt.fields...)
			got := map[string]string{}
			for name := range tt.want {
				got[name] = strings.Join(res.header[name], " | ")
			}
			if diff := cmp.Diff(tt.want, got); res.status != http.StatusCreated || diff != "" {
				t.Errorf("%d (-want +got):\n%s", res.status, diff)
			}
		})
	}
}

// final serves h without informational responses, which the recorder would take for the final one.
func final(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(finalWriter{w}, r) })
}

type finalWriter struct{ http.ResponseWriter }

func (w finalWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.ResponseWriter.WriteHeader(status)
	}
}

// transportFunc is a transport.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A failure of the other server is a problem document that names no address, and is logged.
func TestProxyFailures(t *testing.T) {
	t.Parallel()
	failing := func(err error) http.RoundTripper {
		return transportFunc(func(*http.Request) (*http.Response, error) { return nil, err })
	}
	reading := transportFunc(func(r *http.Request) (*http.Response, error) {
		_, err := io.ReadAll(r.Body)
		return nil, fmt.Errorf("write: %w", err)
	})
	tests := []struct {
		name      string
		transport http.RoundTripper
		body      io.Reader
		status    int
		kind      problem.Kind
		logged    bool
	}{
		{"refused", failing(&net.OpError{Op: "dial", Err: errors.New("10.0.0.1: connection refused")}), nil,
			502, problem.BadGateway, true},
		{"malformed", failing(errors.New(`malformed HTTP response "secret"`)), nil, 502, problem.BadGateway, true},
		{"late", failing(&net.OpError{Op: "read", Err: context.DeadlineExceeded}), nil,
			504, problem.GatewayTimeout, true},
		{"a body that is too long", reading, http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("12")), 1),
			413, problem.TooLarge, false},
		{"a body that is rejected", reading, readerOf(problem.New(problem.MalformedJSON, "x")),
			400, problem.MalformedJSON, false},
		{"a body that breaks off", reading, readerOf(io.ErrUnexpectedEOF), 400, problem.BadRequest, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var logs bytes.Buffer
			api, _ := openMarket(t, only(version.Path{}), forwarding("http://10.0.0.1:81/v1"), func(m *market) {
				m.options.Transport, m.options.Logger = tt.transport, slog.New(slog.NewTextHandler(&logs, nil))
			})
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/1.0/orders", tt.body)
			res := recorded(t, api, r)
			res.has(t, tt.status, "Content-Type: "+problem.MediaType, "API-Version:", "Sunset: *", "Cache-Control: no-store")
			if got := kindOf(t, res); got != tt.kind.URI() {
				t.Errorf("kind %s", got)
			}
			for _, text := range []string{"10.0.0.1", "secret", "refused"} {
				if strings.Contains(res.body, text) {
					t.Errorf("the client sees %s: %s", text, res.body)
				}
			}
			if got := strings.Contains(logs.String(), "stoa: request not forwarded"); got != tt.logged {
				t.Errorf("logged %v: %s", got, logs.String())
			}
		})
	}
}

// readerOf returns a reader that fails with err.
func readerOf(err error) io.Reader {
	return io.MultiReader(strings.NewReader("{"), io.NopCloser(failingReader{err}))
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// With Expect, the body is read while it is forwarded. A member that names another contract is
// still an error.
func TestProxyBodyOfAnotherContract(t *testing.T) {
	t.Parallel()
	base := otherServer(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	api, _ := openMarket(t, forwarding(base))
	res := ask(t, final(api), "POST /1.0/orders", asJSON, "Expect: 100-continue", "", `{"version":"2.0"}`)
	res.refused(t, http.StatusBadRequest, problem.AmbiguousVersion)
}

// Two servers that forward to each other do not do it forever. Every replica of a server detects
// the loop.
func TestProxyLoop(t *testing.T) {
	t.Parallel()
	var first, second *version.Negotiator
	var requests [2]int
	var mu sync.Mutex
	count := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		requests[i]++
	}
	a := otherServer(t, func(w http.ResponseWriter, r *http.Request) { count(0); first.ServeHTTP(w, r) })
	b := otherServer(t, func(w http.ResponseWriter, r *http.Request) { count(1); second.ServeHTTP(w, r) })
	first, _ = openMarket(t, only(version.Path{}), forwarding(b+"/1.0"))
	second, _ = openMarket(t, only(version.Path{}), forwarding(a+"/1.0"))
	replica, _ := openMarket(t, only(version.Path{}), forwarding(b+"/1.0"))
	res := ask(t, replica, "GET /1.0/orders")
	res.has(t, http.StatusLoopDetected, "Content-Type: "+problem.MediaType)
	if got := kindOf(t, res); got != problem.LoopDetected.URI() {
		t.Errorf("kind %s", got)
	}
	if diff := cmp.Diff([2]int{1, 1}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Each event of a stream is forwarded when it is sent, and the end of the client ends the request
// to the other server.
func TestProxyStream(t *testing.T) {
	t.Parallel()
	next, ended := make(chan string), make(chan error, 1)
	base := otherServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case event := <-next:
				_, _ = io.WriteString(w, event)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				ended <- r.Context().Err()
				return
			}
		}
	})
	api, _ := openMarket(t, forwarding(base))
	front := httptest.NewServer(onHost(api))
	defer front.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", front.URL+"/1.0/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() { next <- "data: 0\n\n" }() // the header arrives with the first event
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if want := fmt.Sprintf("data: %d\n", i); line != want || err != nil {
			t.Fatalf("%q, %v, want %q", line, err, want)
		}
		if _, err := lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if i < 2 {
			next <- fmt.Sprintf("data: %d\n\n", i+1)
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the request to the other server did not end")
	}
}

// A body of known length is forwarded as it arrives, too.
func TestProxyFlushes(t *testing.T) {
	t.Parallel()
	more := make(chan struct{})
	base := otherServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "4")
		_, _ = io.WriteString(w, "ab")
		w.(http.Flusher).Flush()
		<-more
		_, _ = io.WriteString(w, "cd")
	})
	api, _ := openMarket(t, forwarding(base))
	front := httptest.NewServer(onHost(api))
	defer front.Close()
	// Without a flush nothing arrives before the end of this limit.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", front.URL+"/1.0/files/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		close(more)
		t.Fatal(err)
	}
	defer res.Body.Close()
	got := make([]byte, 2)
	_, err = io.ReadFull(res.Body, got)
	close(more)
	if err != nil || string(got) != "ab" {
		t.Fatalf("%q, %v", got, err)
	}
	if rest, err := io.ReadAll(res.Body); string(rest) != "cd" || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
}

// The end of the client is not an error of the other server.
func TestProxyOfCanceledRequest(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	api, _ := openMarket(t, forwarding("http://10.0.0.1"), func(m *market) {
		m.options.Logger = slog.New(slog.NewTextHandler(&logs, nil))
		m.options.Transport = transportFunc(func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() })
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	recorded(t, api, asked(t, "GET /1.0/orders").WithContext(ctx)).has(t, http.StatusBadGateway)
	if logs.Len() > 0 {
		t.Errorf("logged: %s", logs.String())
	}
}

// onHost serves requests for any host as if they were for market.example.
func onHost(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "market.example"
		h.ServeHTTP(w, r)
	})
}

// A WebSocket passes in both directions, and the response to the upgrade names the contract.
func TestProxyUpgrade(t *testing.T) {
	t.Parallel()
	base := otherServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" || r.RequestURI != "/v1/graphql" {
			http.Error(w, "no upgrade", http.StatusBadRequest)
			return
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
		w.Header().Set("API-Version", "1.0.0")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(conn, "echo "+line)
	})
	api, _ := openMarket(t, forwarding(base+"/v1"))
	front := httptest.NewServer(onHost(api))
	defer front.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = io.WriteString(conn, "GET /1.0/graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(res.StatusCode, res.Header["Api-Version"], res.Header["Upgrade"], res.Header["Sunset"])
	if diff := cmp.Diff("101 [1.0.0] [websocket] [Wed, 30 Jun 2027 23:59:59 GMT]", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := io.WriteString(conn, "hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := in.ReadString('\n'); line != "echo hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// Informational responses and a compressed body pass unchanged.
func TestProxyBytes(t *testing.T) {
	t.Parallel()
	packed := gzipped(t, `{"id":1}`)
	base := otherServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, packed)
		w.Header().Set("X-Sum", "1")
	})
	api, _ := openMarket(t, forwarding(base))
	front := httptest.NewServer(onHost(api))
	defer front.Close()
	hints := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(int, textproto.MIMEHeader) error { hints++; return nil }})
	r, err := http.NewRequestWithContext(ctx, "GET", front.URL+"/1.0/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != packed || hints != 1 || res.Header.Get("Content-Encoding") != "gzip" ||
		res.Trailer.Get("X-Sum") != "1" {
		t.Errorf("%v, %d bytes, want %d, %d hints, %v, %v", err, len(body), len(packed), hints, res.Header, res.Trailer)
	}
}

// A transport that gives up, and the deadline of a request, are 504.
func TestProxyTimeout(t *testing.T) {
	t.Parallel()
	block := make(chan struct{})
	base := otherServer(t, func(http.ResponseWriter, *http.Request) { <-block })
	defer close(block)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Millisecond
	api, _ := openMarket(t, forwarding(base), func(m *market) { m.options.Transport = transport })
	res := ask(t, api, "GET /1.0/orders")
	res.has(t, http.StatusGatewayTimeout, "Content-Type: "+problem.MediaType)
	api, _ = openMarket(t, forwarding(base))
	r := asked(t, "GET /1.0/orders")
	ctx, cancel := context.WithTimeout(r.Context(), time.Millisecond)
	defer cancel()
	recorded(t, api, r.WithContext(ctx)).has(t, http.StatusGatewayTimeout)
}
