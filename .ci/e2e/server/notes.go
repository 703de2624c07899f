package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type note struct {
	ID   string `json:"id"`
	Text string `json:"text" maxLength:"2000"`
}

// runNotes serves one note with the default limits of middleware, or with -bare by an http.Server without limits.
func runNotes(ctx context.Context, p *program) error {
	bare := p.Bool("bare", false, "no limits")
	if err := p.Parse(p.args); err != nil {
		return err
	}
	notes := memory.New[note](nil)
	if _, err := notes.Insert(ctx, "1", note{ID: "1", Text: "Good morning."}); err != nil {
		return err
	}
	catalog := resource.NewCatalog(nil, resource.New("notes", notes, &resource.Options[note]{Public: true}))
	listener, err := p.listen()
	if err != nil {
		return err
	}
	if *bare {
		return http.Serve(listener, rest.New(catalog, nil))
	}
	limits := middleware.Chain(middleware.Limit(nil), middleware.Timeout(nil))
	server := middleware.Server(limits(rest.New(catalog, nil)), &middleware.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	return middleware.Serve(ctx, server, listener, nil)
}

// runLongLinks serves empty lists. Their Link repeats the query three times, whatever its length is.
func runLongLinks(ctx context.Context, p *program) error {
	if err := p.Parse(p.args); err != nil {
		return err
	}
	return p.serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := r.URL.Path + "?" + r.URL.Query().Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%[1]s>; rel="first", <%[1]s>; rel="next", <%[1]s>; rel="last"`, at))
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"items":[]}`)
	}))
}

// runStripVary runs [StripVary] as a server.
func runStripVary(ctx context.Context, p *program) error {
	target := p.String("to", "", "`URL` of the origin")
	if err := p.Parse(p.args); err != nil {
		return err
	}
	to, err := url.Parse(*target)
	if err != nil {
		return err
	}
	return p.serve(ctx, StripVary(to))
}

// StripVary is a proxy that removes Vary from each response and changes nothing else.
func StripVary(to *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
		ModifyResponse: func(res *http.Response) error {
			res.Header.Del("Vary")
			return nil
		},
		Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true},
	}
}
