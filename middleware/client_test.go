package middleware_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

var proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}

// TestRule018TrustedProxies: only trusted proxies determine the client address.
func TestRule018TrustedProxies(t *testing.T) {
	t.Parallel()
	rfc := &middleware.ClientAddressOptions{Forwarded: true, Host: true}
	old := &middleware.ClientAddressOptions{Host: true}
	tests := []struct {
		name   string
		opts   *middleware.ClientAddressOptions
		peer   string
		header http.Header
		want   string // client, secure, host
	}{
		{"nothing said", old, "10.0.0.1:1", nil, "10.0.0.1 false example.com"},
		{"not trusted", old, "11.0.0.1:1",
			http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Host": {"evil"}}, "11.0.0.1 false example.com"},
		{"not trusted, RFC 7239", rfc, "11.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4;proto=https;host=evil"}}, "11.0.0.1 false example.com"},
		{"no peer", old, "@", http.Header{"X-Forwarded-For": {"1.2.3.4"}}, "invalid IP false example.com"},
		{"trusted", old, "10.0.0.1:1",
			http.Header{"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Host": {"shop.example:8443"}}, "1.2.3.4 true shop.example:8443"},
		{"trusted, with IPv6", old, "[2001:db8:1::1]:1", http.Header{"X-Forwarded-For": {"2001:db8::9"}},
			"2001:db8::9 false example.com"},
		{"host by option only", nil, "10.0.0.1:1", http.Header{"X-Forwarded-Host": {"shop.example"}},
			"10.0.0.1 false example.com"},
		{"spoofed before", old, "10.0.0.1:1", http.Header{"X-Forwarded-For": {"6.6.6.6, 1.2.3.4"},
			"X-Forwarded-Proto": {"http, https"}},
			"1.2.3.4 true example.com"},
		{"several lines", old, "10.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6", "1.2.3.4", "10.0.0.2"}}, "1.2.3.4 false example.com"},
		{"two proxies", old, "10.0.0.1:1",
			http.Header{"X-Forwarded-For": {"1.2.3.4, 10.0.0.2"}, "X-Forwarded-Proto": {"https, http"},
				"X-Forwarded-Host": {"shop.example, inner"}}, "1.2.3.4 true shop.example"},
		{"two proxies, spoofed before", old, "10.0.0.1:1",
			http.Header{"X-Forwarded-For": {"6.6.6.6", "1.2.3.4, 10.0.0.2"},
				"X-Forwarded-Proto": {"https,http,https"}, "X-Forwarded-Host": {"evil", "shop.example,inner"}},
			"1.2.3.4 false shop.example"},
		{"two proxies, scheme and host replaced", old, "10.0.0.1:1",
			http.Header{"X-Forwarded-For": {"1.2.3.4, 10.0.0.2"}, "X-Forwarded-Proto": {"https"},
				"X-Forwarded-Host": {"shop.example"}}, "1.2.3.4 true shop.example"},
		{"RFC 7239, two proxies", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4;proto=https;host=shop.example, " +
				"for=10.0.0.2;proto=http;host=inner"}}, "1.2.3.4 true shop.example"},
		{"RFC 7239, the outer one reports neither", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4, for=10.0.0.2;proto=https;host=shop.example"}},
			"1.2.3.4 true shop.example"},
		{"only proxies", old, "10.0.0.1:1", http.Header{"X-Forwarded-For": {"10.0.0.3, 10.0.0.2"}},
			"10.0.0.3 false example.com"},
		{"unreadable", old, "10.0.0.1:1", http.Header{"X-Forwarded-For": {"1.2.3.4, nonsense, 10.0.0.2"}},
			"10.0.0.2 false example.com"},
		{"with ports", old, "10.0.0.1:1", http.Header{"X-Forwarded-For": {"[2001:db8::9]:80, 10.0.0.2:443"}},
			"2001:db8::9 false example.com"},
		{"odd host", old, "10.0.0.1:1", http.Header{"X-Forwarded-Host": {"a/b"}},
			"10.0.0.1 false example.com"},
		{"odd scheme", old, "10.0.0.1:1", http.Header{"X-Forwarded-Proto": {"gopher"}},
			"10.0.0.1 false example.com"},
		{"the other kind", old, "10.0.0.1:1", http.Header{"Forwarded": {"for=1.2.3.4;proto=https"}},
			"10.0.0.1 false example.com"},
		{"the other kind, RFC 7239", rfc, "10.0.0.1:1", http.Header{"X-Forwarded-For": {"1.2.3.4"}},
			"10.0.0.1 false example.com"},
		{"RFC 7239", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {`for=1.2.3.4;proto=https;host="shop.example:8443"`}},
			"1.2.3.4 true shop.example:8443"},
		{"RFC 7239, quoted", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {`For="[2001:db8::9]:4711"; PROTO=HTTPS , for="\10.0.0.2"`}},
			"2001:db8::9 true example.com"},
		{"RFC 7239, a comma in quotes", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {`by="a,for=6.6.6.6";for=1.2.3.4`}}, "1.2.3.4 false example.com"},
		{"RFC 7239, spoofed before", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6;proto=http", "for=1.2.3.4;proto=https"}},
			"1.2.3.4 true example.com"},
		{"RFC 7239, hidden", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4, for=_hidden, for=10.0.0.2"}},
			"10.0.0.2 false example.com"},
		{"RFC 7239, without for", rfc, "10.0.0.1:1", http.Header{"Forwarded": {"for=1.2.3.4, proto=https"}},
			"10.0.0.1 true example.com"},
		{"RFC 7239, broken", rfc, "10.0.0.1:1", http.Header{"Forwarded": {`for=1.2.3.4, for="10.0.0.2`}},
			"10.0.0.1 false example.com"},
		{"RFC 7239, spoofed scheme and host", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=6.6.6.6;proto=https;host=evil, for=1.2.3.4"}},
			"1.2.3.4 false example.com"},
		{"RFC 7239, spoofed through a proxy", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=10.9.9.9;proto=https;host=evil",
				"for=1.2.3.4;proto=http, for=10.0.0.2"}},
			"1.2.3.4 false example.com"},
		{"RFC 7239, nonsense before", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"nonsense, for=1.2.3.4;proto=https"}}, "1.2.3.4 true example.com"},
		{"RFC 7239, a quote before", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {`for="6.6.6.6`, "for=1.2.3.4"}}, "1.2.3.4 false example.com"},
		{"RFC 7239, empty members", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4,, for=10.0.0.2 ,"}}, "1.2.3.4 false example.com"},
		{"RFC 7239, too long", rfc, "10.0.0.1:1",
			http.Header{"Forwarded": {"for=1.2.3.4;x=" + strings.Repeat("a", 2000)}},
			"10.0.0.1 false example.com"},
		{"RFC 7239, spaces", rfc, "10.0.0.1:1", http.Header{"Forwarded": {"for = 1.2.3.4"}},
			"10.0.0.1 false example.com"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = tt.peer
			for name, lines := range tt.header {
				r.Header[name] = lines
			}
			r.Header.Set("X-Real-Ip", "6.6.6.6")
			before := r.Header.Clone()
			var got string
			middleware.ClientAddress(proxies,
				tt.opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = fmt.Sprint(middleware.Client(r), " ", middleware.Secure(r), " ", r.Host)
				for name := range r.Header {
					if strings.Contains(name, "Forwarded") || name == "X-Real-Ip" {
						t.Errorf("%s is still there", name)
					}
				}
			})).ServeHTTP(httptest.NewRecorder(), r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("client, secure, host (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, r.Header); diff != "" {
				t.Errorf("the request that came is changed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClientWithoutProxies: without ClientAddress it is the address of the connection.
func TestClientWithoutProxies(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[::ffff:192.0.2.7]:1"
	if got := middleware.Client(r).String(); got != "192.0.2.7" || middleware.Secure(r) {
		t.Errorf("%s %t", got, middleware.Secure(r))
	}
	r.TLS = &tls.ConnectionState{}
	if !middleware.Secure(r) {
		t.Error("TLS is not secure")
	}
}

// TestClientOverUnixSocket: a proxy on the same machine is trusted by option only.
func TestClientOverUnixSocket(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		opts          *middleware.ClientAddressOptions
		network, want string
	}{
		{"trusted", &middleware.ClientAddressOptions{UnixSocket: true}, "unix", "1.2.3.4 true"},
		{"not trusted", nil, "unix", "invalid IP false"},
		{"another network", &middleware.ClientAddressOptions{UnixSocket: true}, "tcp", "invalid IP false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "") // the path of a socket is limited to 107 bytes
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			address := filepath.Join(dir, "socket")
			if tt.network == "tcp" {
				address = "127.0.0.1:0"
			}
			listener, err := net.Listen(tt.network, address)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			h := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				if tt.network == "tcp" {
					r.RemoteAddr = "@"
				}
				middleware.ClientAddress(proxies, tt.opts)(http.HandlerFunc(
					func(_ http.ResponseWriter, r *http.Request) {
						got = fmt.Sprint(middleware.Client(r), " ", middleware.Secure(r))
					})).ServeHTTP(httptest.NewRecorder(), r)
			})
			server := httptest.NewUnstartedServer(h)
			server.Listener = listener
			server.Start()
			defer server.Close()
			transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, tt.network, listener.Addr().String())
			}}
			defer transport.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://shop.example/", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Forwarded-For", "1.2.3.4")
			req.Header.Set("X-Forwarded-Proto", "https")
			res, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if got != tt.want {
				t.Errorf("client and secure: %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzForwarded: the client is an address in the field, or the peer. A host contains no character
// that is invalid in a URL. The seeds are in testdata.
func FuzzForwarded(f *testing.F) {
	f.Fuzz(func(t *testing.T, value string, rfc bool) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = "10.0.0.1:1"
		r.Header["Forwarded"] = []string{value}
		r.Header["X-Forwarded-For"], r.Header["X-Forwarded-Host"] = []string{value}, []string{value}
		opts := &middleware.ClientAddressOptions{Forwarded: rfc, Host: true}
		middleware.ClientAddress(proxies,
			opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			client := middleware.Client(r)
			if !client.IsValid() || client.Zone() != "" || client.Is4In6() {
				t.Errorf("%q: the client is %v", value, client)
			}
			if client.Is4() && client.String() != "10.0.0.1" &&
				!strings.Contains(strings.ReplaceAll(value, `\`, ""), client.String()) &&
				!strings.Contains(value, ":") { // an IPv4 address may be written as an IPv6 one
				t.Errorf("%q: the client is %v, whom nobody named", value, client)
			}
			if strings.ContainsAny(r.Host, "/?#@\\ \r\n\t\"<>") || r.Host == "" {
				t.Errorf("%q: the host is %q", value, r.Host)
			}
		})).ServeHTTP(httptest.NewRecorder(), r)
		outsider := httptest.NewRequest("GET", "/", nil)
		outsider.RemoteAddr, outsider.Header = "11.0.0.1:1", r.Header
		middleware.ClientAddress(proxies,
			opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if middleware.Client(r).String() != "11.0.0.1" || r.Host != "example.com" {
				t.Errorf("%q from outside: %v %s", value, middleware.Client(r), r.Host)
			}
		})).ServeHTTP(httptest.NewRecorder(), outsider)
	})
}

// A proxy in the same network reports the client.
func ExampleClientAddress() {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	h := middleware.ClientAddress(trusted,
		nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(middleware.Client(r), middleware.Secure(r))
	}))
	for _, peer := range []string{"10.0.0.7:4711", "203.0.113.9:4711"} {
		r := httptest.NewRequest("GET", "/orders", nil)
		r.RemoteAddr = peer
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		r.Header.Set("X-Forwarded-Proto", "https")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	// Output:
	// 198.51.100.1 true
	// 203.0.113.9 false
}
