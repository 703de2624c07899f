package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario proxies requests lists with filters of up to 200 ids through nginx, Apache httpd, HAProxy and Caddy, with GET and with
// QUERY. Each has to be 200, with the same body as without the proxy, and the Location of a QUERY the same with GET.
//
// The control is a server that sends Link with first, next and last for the same requests. The proxies limit the header of a
// response and have to answer 502 at 200 ids.

var reverseProxyPrograms = []front{
	{"nginx", nginxProxyConfig, []string{"nginx", "-e", "stderr", "-p", "DIR", "-c", "FILE"}},
	{"httpd", httpdConfig, []string{"apache2", "-f", "FILE", "-DFOREGROUND"}},
	{"haproxy", haproxyConfig, []string{"haproxy", "-db", "-f", "FILE"}},
	{"caddy", caddyConfig, []string{"caddy", "run", "--adapter", "caddyfile", "--config", "FILE"}},
}

// proxyIDs are the numbers of ids in the filters.
var proxyIDs = [...]int{1, 20, 60, 200}

func reverseProxies(ctx context.Context, e *env) error {
	if err := installProxies(ctx); err != nil {
		return err
	}
	// At a time at which all versions are served, so that the scenario does not fail when one is retired.
	subject := &trial{title: "lists of the shop through proxies", nodes: 1, command: []string{shop, "-now", "2026-12-01T00:00:00Z"}}
	control := &trial{title: "control: lists with a Link of full size", control: []history.Kind{history.Unexpected}, nodes: 1,
		command: []string{"long-links"}}
	for _, t := range []*trial{subject, control} {
		t.do = t.requestThrough
	}
	return e.try(ctx, subject, control)
}

func installProxies(ctx context.Context) error {
	return install(ctx, []string{"nginx", "apache2", "haproxy", "caddy"}, "nginx-light", "apache2", "haproxy", "caddy")
}

// requestThrough starts all proxies in front of a node and requests the lists.
func (t *trial) requestThrough(ctx context.Context) error {
	addresses, err := freePorts(len(reverseProxyPrograms))
	if err != nil {
		return err
	}
	origin := t.URL(0)
	for i, p := range reverseProxyPrograms {
		if err := t.startFront(p, addresses[i], origin); err != nil {
			return err
		}
		if t.control == nil {
			compareQueries(ctx, t.Client, origin, "http://"+addresses[i], p.name, &t.Violations)
		}
		statuses, err := compareLists(ctx, t.Client, origin, "http://"+addresses[i], p.name, &t.Violations)
		if err != nil {
			return err
		}
		t.line("%-8s %s", p.name, strings.Join(statuses, ", "))
	}
	return nil
}

// compareLists requests each list without and with a proxy, and returns the statuses.
func compareLists(ctx context.Context, c *client.Client, origin, base, proxy string, v *history.Violations) ([]string, error) {
	var statuses []string
	for _, n := range proxyIDs {
		path := "/places?limit=1&id.in=" + idList(n)
		direct := c.Send(ctx, http.MethodGet, origin+path, "")
		if direct.Status != http.StatusOK {
			return nil, direct.Unexpected("GET " + path)
		}
		through := waitForProxy(ctx, c, base+path)
		if through.Status != http.StatusOK || string(through.Body) != string(direct.Body) {
			v.Add(history.Unexpected, 1, "%s, %d ids: %v", proxy, n, through.Unexpected("GET"))
		}
		statuses = append(statuses, fmt.Sprintf("%d ids: %d", n, through.Status))
	}
	return statuses, ctx.Err()
}

// compareQueries requests each list with QUERY, and the equivalent GET if the response names one.
func compareQueries(ctx context.Context, c *client.Client, origin, base, proxy string, v *history.Violations) {
	waitForProxy(ctx, c, base+"/places?limit=1")
	for _, n := range proxyIDs {
		content := `{"limit":1,"id.in":["` + strings.ReplaceAll(idList(n), ",", `","`) + `"]}`
		direct := c.Send(ctx, "QUERY", origin+"/places", content, client.JSON)
		through := c.Send(ctx, "QUERY", base+"/places", content, client.JSON)
		if through.Status != http.StatusOK || string(through.Body) != string(direct.Body) {
			v.Add(history.Unexpected, 1, "%s, %d ids: %v", proxy, n, through.Unexpected("QUERY"))
		}
		location := through.Header.Get("Location")
		if (location != "") != (n == 1) {
			v.Add(history.Unexpected, 1, "%s, %d ids: Location %q", proxy, n, location)
		}
		if location == "" {
			continue
		}
		if !strings.HasPrefix(location, "http") { // a proxy may make it absolute
			location = base + location
		}
		if again := c.Send(ctx, http.MethodGet, location, ""); string(again.Body) != string(direct.Body) {
			v.Add(history.Unexpected, 1, "%s, %d ids: %v", proxy, n, again.Unexpected("GET of Location"))
		}
	}
}

// idList returns n ids of the length of a UUID.
func idList(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("01900000-0000-7000-8000-%012d", i)
	}
	return strings.Join(ids, ",")
}

const nginxProxyConfig = nginxBegin + `	server {
		listen ADDRESS;
		location / {
			proxy_pass http://127.0.0.1:PORT;
		}
	}
}
`

const httpdConfig = `ServerRoot DIR
ServerName localhost
PidFile DIR/pid
Listen ADDRESS
ErrorLog DIR/error.log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule proxy_module /usr/lib/apache2/modules/mod_proxy.so
LoadModule proxy_http_module /usr/lib/apache2/modules/mod_proxy_http.so
ProxyPass / http://127.0.0.1:PORT/
`

const haproxyConfig = `defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
listen shop
	bind ADDRESS
	http-request set-header Host 127.0.0.1:PORT
	server shop 127.0.0.1:PORT
`

const caddyConfig = `{
	admin off
	auto_https off
	storage file_system DIR
	log {
		level ERROR
	}
}
http://ADDRESS {
	reverse_proxy 127.0.0.1:PORT {
		header_up Host {upstream_hostport}
	}
}
`
