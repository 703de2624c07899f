package eventstream_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/resource/internal/pipe"
)

// piped serves a handler over pipes until the test ends, and returns a client of one HTTP version.
// change may be nil.
func piped(
	t *testing.T,
	version int,
	h http.Handler,
	change func(*http.Server),
) (url string, client *http.Client) {
	t.Helper()
	p := pipe.Listen()
	server := &httptest.Server{Listener: p, Config: &http.Server{Handler: h, Protocols: new(http.Protocols)}}
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	if change != nil {
		change(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	transport := &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return p.Dial() },
		Protocols:   new(http.Protocols),
	}
	transport.Protocols.SetHTTP1(version == 1)
	transport.Protocols.SetUnencryptedHTTP2(version == 2)
	t.Cleanup(transport.CloseIdleConnections)
	return server.URL, &http.Client{Transport: transport}
}
