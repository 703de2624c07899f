package version

// The changelog of the contracts as an HTML page. list.go has the same changes as JSON.

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
)

//go:embed changelog.css
var changelogStyle string

// changelogPolicy allows the style of the page and nothing else.
var changelogPolicy = func() string {
	sum := sha256.Sum256([]byte(changelogStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// Changelog returns a handler that serves an HTML page about the contracts, newest first: status,
// dates, and what changed since the previous contract. The changes are those of [Options.Snapshots].
// [Contract.DeprecationLink] can be the URL of the page; the id of each section is the full name of its
// contract. The page needs no scripts and no other files. The list belongs to no contract, so mount
// it outside the Negotiator.
func (n *Negotiator) Changelog() http.Handler { return http.HandlerFunc(n.serveChangelog) }

func (n *Negotiator) serveChangelog(w http.ResponseWriter, r *http.Request) {
	if !onlyRead(w, r) {
		return
	}
	body := n.changesPage(n.opts.Now())
	w.Header().Set("Content-Security-Policy", changelogPolicy)
	w.Header().Set("Cache-Control", "no-cache")
	httpbody.Serve(w, r, "text/html; charset=utf-8", bodyTag(body), body)
}

// bodyTag returns an entity tag of content.
func bodyTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// changelogPage writes the page. Package html/template is not used, because it keeps the linker from
// removing methods in all programs that import package version.
type changelogPage struct{ strings.Builder }

// element writes an element with text.
func (p *changelogPage) element(tag, text string) {
	name, _, _ := strings.Cut(tag, " ")
	p.WriteString("<" + tag + ">" + html.EscapeString(text) + "</" + name + ">")
}

func (n *Negotiator) changesPage(now time.Time) []byte {
	var p changelogPage
	p.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>Changes of the contracts</title>\n" +
		"<style>")
	p.WriteString(changelogStyle)
	p.WriteString("</style>\n</head>\n<body>\n<main>\n<h1>Changes of the contracts</h1>\n" +
		"<p>Each contract is a version of this API. Within a major version, clients of an older contract " +
		"work with a newer one. A new major version can break them: the changes are listed below.</p>\n")
	p.WriteString("<nav aria-label=\"Contracts\">\n<ul>\n")
	for _, c := range n.contracts {
		p.WriteString("<li><a href=\"#" + c.Name + "\">" + c.Name + "</a> ")
		p.status(c.status(now))
		p.WriteString("</li>\n")
	}
	p.WriteString("</ul>\n</nav>\n")
	for _, c := range n.contracts {
		n.writeContract(&p, c, now)
	}
	p.WriteString("</main>\n</body>\n</html>\n")
	return []byte(p.String())
}

func (p *changelogPage) status(s Status) {
	p.element("span class=\"status "+string(s)+"\"", string(s))
}

// writeContract writes the section of a contract.
func (n *Negotiator) writeContract(p *changelogPage, c *contract, now time.Time) {
	p.WriteString("<section id=\"" + c.Name + "\" aria-labelledby=\"h-" + c.Name + "\">\n")
	p.WriteString("<h2 id=\"h-" + c.Name + "\">" + c.Name + " ")
	p.status(c.status(now))
	p.WriteString("</h2>\n<dl>\n")
	row := func(term, value, href string) {
		if value == "" {
			return
		}
		p.WriteString("<div>")
		p.element("dt", term)
		p.WriteString("<dd>")
		if href == "" {
			p.WriteString(html.EscapeString(value))
		} else {
			p.element("a href=\""+html.EscapeString(href)+"\"", value)
		}
		p.WriteString("</dd></div>\n")
	}
	row("Selected by", strings.Join(n.names(c, now), ", "), "")
	if c == n.defaultContract {
		row("Default", "for requests that name no contract", "")
	}
	row("Deprecated", day(c.Contract.Deprecated), "")
	row(map[bool]string{false: "Ends", true: "Ended"}[c.retired(now)], day(c.Sunset), "")
	if next := n.next(c, now); next != nil {
		row("Successor", next.Name, "#"+next.Name)
	}
	row("Document", c.OpenAPI, c.OpenAPI)
	p.WriteString("</dl>\n")
	if c.changes != nil {
		p.changes(c)
	}
	p.WriteString("</section>\n")
}

// day returns a date as the page shows it; "" for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2 January 2006, 15:04 UTC")
}

// changes writes the changes of a contract: those that break clients first.
func (p *changelogPage) changes(c *contract) {
	list := c.changes.List
	split := 0
	for split < len(list) && list[split].Breaking {
		split++
	}
	since := "<a href=\"#" + c.changes.Since + "\">" + c.changes.Since + "</a>"
	if len(list) == 0 {
		p.WriteString("<p>Clients observe no difference from " + since + ".</p>\n")
		return
	}
	if split == 0 {
		p.WriteString("<p>Clients of " + since + " work without a change.</p>\n")
	}
	p.entries("break clients of", "breaks clients of", "breaking", c, list[:split])
	p.entries("are additions to", "is an addition to", "addition", c, list[split:])
}

// entries writes changes of one class as a list, grouped by kind.
func (p *changelogPage) entries(plural, singular, class string, c *contract, list []Change) {
	if len(list) == 0 {
		return
	}
	heading := strconv.Itoa(len(list)) + " changes " + plural + " " + c.changes.Since
	if len(list) == 1 {
		heading = "1 change " + singular + " " + c.changes.Since
	}
	p.element("h3 class=\""+class+"\"", heading)
	p.WriteString("\n<ul class=\"changes\">\n")
	for _, change := range list {
		p.WriteString("<li>")
		p.element("code", change.Place)
		p.WriteString(" ")
		p.element("span", change.Text)
		if len(change.Also) > 0 {
			p.WriteString("<details>")
			p.element("summary", "in "+strconv.Itoa(len(change.Also)+1)+" places")
			p.WriteString("<ul>")
			for _, place := range change.Also {
				p.WriteString("<li>")
				p.element("code", place)
				p.WriteString("</li>")
			}
			p.WriteString("</ul></details>")
		}
		p.WriteString("</li>\n")
	}
	p.WriteString("</ul>\n")
}
