package version

// Forwarding of requests to other servers. Called by remote.go. It calls proxy_header.go for the
// header of the response.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// proxy forwards the requests for one contract.
type proxy struct {
	transport http.RoundTripper
	logger    *slog.Logger
	errorLog  *log.Logger // of httputil, for errors after the header of a response
	// via is the name of this hop in Via. It is the same in all processes with the same contracts, so
	// that a loop through several of them is found.
	via string
}

// initProxies makes the proxies of all contracts. It panics without a transport: packages of this
// module open no connections themselves.
func (n *Negotiator) initProxies() {
	logger := n.opts.Logger
	if logger == nil {
		logger = slog.Default()
	}
	for _, c := range n.contracts {
		switch {
		case c.remote == nil || !c.Proxy:
			continue
		case n.opts.Transport == nil:
			panic("version: contract " + c.Name + " has Proxy but Options.Transport is nil; " +
				"set it, for example to http.DefaultTransport")
		}
		sum := sha256.Sum256([]byte(c.Name + " " + c.remote.base.String()))
		c.remote.proxy = &proxy{
			transport: n.opts.Transport, logger: logger, via: "stoa-" + hex.EncodeToString(sum[:8]),
			errorLog: slog.NewLogLogger(logger.Handler(), slog.LevelError),
		}
	}
}

// forwarded reports whether the request has passed this hop before.
func (p *proxy) forwarded(h http.Header) bool {
	for _, line := range h["Via"] {
		for hop := range strings.SplitSeq(line, ",") {
			if fields := strings.Fields(hop); len(fields) > 1 && fields[1] == p.via {
				return true
			}
		}
	}
	return false
}

// forward sends the request to target and its response to the client, without buffering.
func (p *proxy) forward(w *writer, r *http.Request, m *remote, target *url.URL) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = clientBody{r.Body}
	}
	before := w.Header().Clone()
	forwarder := httputil.ReverseProxy{
		Rewrite: func(req *httputil.ProxyRequest) {
			req.Out.URL, req.Out.Host = target, ""
			req.SetXForwarded()
			req.Out.Header.Del("X-Real-Ip")
			if client := middleware.Client(r); client.IsValid() {
				req.Out.Header.Set("X-Forwarded-For", client.String())
			}
			if middleware.Secure(r) {
				req.Out.Header.Set("X-Forwarded-Proto", "https")
			} else {
				req.Out.Header.Set("X-Forwarded-Proto", "http")
			}
			if req.Out.Header["Accept-Encoding"] == nil {
				// Otherwise the transport asks for gzip and decompresses it, but keeps the entity tag.
				req.Out.Header["Accept-Encoding"] = []string{"identity"}
			}
			hop := fmt.Sprintf("%d.%d %s", r.ProtoMajor, r.ProtoMinor, p.via)
			req.Out.Header["Via"] = []string{strings.Join(append(req.In.Header["Via"], hop), ", ")}
		},
		ModifyResponse: func(res *http.Response) error {
			restore(w.Header(), before)
			(&received{writer: w, base: m.base, from: target, header: res.Header}).merge()
			if res.StatusCode == http.StatusSwitchingProtocols {
				w.completeHeader() // the response is then written without w
			}
			return nil
		},
		Transport: p.transport, FlushInterval: -1, ErrorLog: p.errorLog,
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			restore(w.Header(), before)
			p.fail(w, r, m.contract, err)
		},
	}
	forwarder.ServeHTTP(w, r)
}

// restore adds the fields that middleware had set before. httputil removes them with an
// informational response (RFC 9110 section 15.2).
func restore(h, before http.Header) {
	for name, lines := range before {
		if h[name] == nil {
			h[name] = lines
		}
	}
}

// fail responds with the problem of a request that was not forwarded. The client does not see err,
// which can contain addresses.
func (p *proxy) fail(w *writer, r *http.Request, contract string, err error) {
	var body *bodyError
	if errors.As(err, &body) {
		problem.Write(w, r, body.problem())
		return
	}
	d := problem.New(problem.BadGateway,
		"The server of version "+contract+" cannot be reached or its response is not valid.")
	if timeout := (interface{ Timeout() bool })(nil); errors.As(err, &timeout) && timeout.Timeout() {
		d = problem.New(problem.GatewayTimeout, "The server of version "+contract+" did not respond in time.")
	}
	if !errors.Is(r.Context().Err(), context.Canceled) { // the client has not disconnected
		d.Instance = problem.NewInstance()
		p.logger.ErrorContext(r.Context(), "stoa: request not forwarded", "instance", d.Instance,
			"contract", contract, "method", r.Method, "error", err.Error())
	}
	problem.Write(w, r, d)
}

// clientBody marks the errors of reading a request body, because the other server has not caused
// them.
type clientBody struct{ io.ReadCloser }

func (b clientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &bodyError{err}
	}
	return n, err
}

// bodyError is an error of reading a request body.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return e.err.Error() }

// problem returns the problem for the client. Middleware such as limits and [lazyBody] return
// problems as errors.
func (e *bodyError) problem() *problem.Details {
	var d *problem.Details
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(e.err, &d):
		return d
	case errors.As(e.err, &tooLong):
		return problem.New(problem.TooLarge, "The request body is too long.")
	}
	return problem.New(problem.BadRequest, "The request body could not be read.")
}
