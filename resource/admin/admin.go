// Package admin serves a page on which people browse and change what a catalog declares.
//
//	mux.Handle("/", rest.New(catalog, nil))
//	mux.Handle("/admin/", admin.New(catalog, nil))
//
// The page lists, filters, sorts and searches each resource, follows relations and changes, creates,
// edits, deletes and restores items, adds and removes links, transfers files, imports JSON Lines and
// CSV, and calls commands. All of it follows from the schema and the capabilities of the catalog: a
// page for another catalog needs no code.
//
// The page is a client of the REST API of the same catalog. It sends the cookies of the browser, or
// an Authorization field that the user enters or receives from [Login], so the API decides about each
// request. It sends If-Match with each change and an Idempotency-Key with each write. If an item was
// changed in the meantime, it shows both values of each field and lets the user choose.
//
// The handler serves two documents: the page, which is the same for all callers, and
// description.json, which describes the catalog. Options.Authorize protects the latter. It contains
// what an OpenAPI document contains: JSON names, constraints and comments of the fields, and no
// items, Go names or fields that are hidden from clients.
//
// The page is one HTML document without dependencies and without a build step. Package page links its
// script from the modules of the folder page. Its Content-Security-Policy allows only its own script and
// style, by hash, and connections to its own origin. Therefore it works offline, and text in items cannot
// run as script.
package admin

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/httpbody/page"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

//go:embed page/*.html page/*.css page/*.js
var files embed.FS

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Title is the title of the page. Default "Admin".
	Title string
	// Base is the path of the REST API on the origin of the page, such as "/api" or "/v2". It must not
	// end with a slash. Default empty: the API is at the root.
	Base string
	// Login is a command that returns a token, such as auth/login. Nil means that there is none: the
	// browser sends cookies, and the user can enter an Authorization field.
	Login *Login
	// Authorize is called for requests of description.json. An error rejects the request; it is
	// [resource.ErrUnauthenticated], [resource.ErrForbidden] or a [*problem.Details]. The page itself is
	// public: it contains only Title, Base and the form of Login. Nil means that the description is
	// public, too, with the names, documentation and inputs of all resources and commands. The
	// operations of the API have the authorization of their resources.
	//
	// For a request without credentials the status must be 401, as that of ErrUnauthenticated; the
	// response then has Challenge. The page opens the form of Login only after a 401. After a 403 it
	// shows an error, and the user cannot sign in. Middleware before the handler must do the same.
	Authorize func(r *http.Request) error
	// Challenge is the WWW-Authenticate value of a 401 (RFC 9110 section 11.6.1). Default "Bearer".
	Challenge string
}

// Login names the commands by which the page obtains and revokes a bearer token.
type Login struct {
	// Command is the name of the command, such as auth/login. The page shows a form of its input.
	Command string
	// Token is the JSON name of the member of the output that is the token. Default "token".
	Token string
	// Logout is the name of the command that revokes the token, such as auth/logout. The page calls it
	// with an empty input. If it is empty, or the catalog has no such command, the page forgets the
	// token without a request.
	Logout string
}

// New returns the handler of the page of a catalog. Mount it at a path that ends in a slash. It responds
// to GET and HEAD with the page and with description.json below it, and to other methods as
// [httpbody.ReadOnly] does. opts may be nil. New panics if catalog is nil, if Base is not a path
// without a slash at its end, and if the command of Login does not exist or its output has no string
// with the name of Token. The handler is safe for concurrent use.
func New(catalog *resource.Catalog, opts *Options) http.Handler {
	if catalog == nil {
		panic("admin: New: the catalog is nil; pass an initialized catalog")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	checkBase(o.Base)
	if o.Title == "" {
		o.Title = "Admin"
	}
	if o.Challenge == "" {
		o.Challenge = "Bearer"
	}
	doc, err := json.Marshal(describe(catalog, o.Login), json.Deterministic(true))
	if err != nil {
		panic("admin: New: encode the description: " + err.Error())
	}
	return &handler{opts: o, page: newPage(catalog, &o), description: httpbody.NewDocument(doc)}
}

// handler serves the two documents.
type handler struct {
	opts        Options
	page        *httpbody.Page
	description *httpbody.Document
}

// ServeHTTP implements [http.Handler]. The prefix of the path does not matter, because
// [http.StripPrefix] may have removed it: the last segment selects the document.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	switch last := path[strings.LastIndexByte(path, '/')+1:]; last {
	case "":
		h.page.ServeHTTP(w, r)
	case "description.json":
		h.serveDescription(w, r)
	default:
		problem.Write(w, r, problem.New(problem.NotFound, "There is nothing here; the page ends in a slash."))
	}
}

// serveDescription responds with the description of the catalog. A cache revalidates it, so that each
// request is authorized.
func (h *handler) serveDescription(w http.ResponseWriter, r *http.Request) {
	if !httpbody.ReadOnly(w, r) {
		return
	}
	if h.opts.Authorize != nil {
		if err := h.opts.Authorize(r); err != nil {
			d := resource.Problem(err)
			if d.StatusCode() == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", h.opts.Challenge)
			}
			problem.Write(w, r, d)
			return
		}
	}
	w.Header().Set("Cache-Control", "private, no-cache")
	h.description.Serve(w, r, "application/json")
}

// checkBase panics if base is not a path on the origin of the page.
func checkBase(base string) {
	u, err := url.Parse(base)
	switch {
	case base == "":
	case err != nil, u.Scheme != "", u.Host != "", u.RawQuery != "", u.Fragment != "", base[0] != '/',
		strings.HasSuffix(base, "/"):
		panic(fmt.Sprintf("admin: New: Base %q must be a path such as /api, without a slash at its end",
			base))
	}
}

// pageConfig is what the page knows before it has read the description.
type pageConfig struct {
	Title  string       `json:"title"`
	Base   string       `json:"base"`
	Login  *loginConfig `json:"login,omitzero"`
	Logout string       `json:"logout,omitzero"`
}

// loginConfig describes the form of Options.Login.
type loginConfig struct {
	Command string       `json:"command"`
	Token   string       `json:"token"`
	Fields  []loginField `json:"fields"`
}

// loginField is an input of the form. Secret means that the text is not shown.
type loginField struct {
	Name     string `json:"name"`
	Required bool   `json:"required,omitzero"`
	Secret   bool   `json:"secret,omitzero"`
}

// newPage returns the page with its configuration.
func newPage(catalog *resource.Catalog, o *Options) *httpbody.Page {
	config := pageConfig{Title: o.Title, Base: o.Base}
	if o.Login != nil {
		config.Login = newLoginConfig(catalog, o.Login)
		if findCommand(catalog, o.Login.Logout) != nil {
			config.Logout = o.Login.Logout
		}
	}
	text, err := json.Marshal(config)
	if err != nil {
		panic("admin: New: encode the configuration: " + err.Error())
	}
	folder, err := fs.Sub(files, "page")
	if err != nil {
		panic("admin: " + err.Error()) // the name of the embedded folder is misspelled in this package
	}
	return page.New(folder, "{{title}}", html.EscapeString(o.Title),
		"{{config}}", html.EscapeString(string(text)))
}

// newLoginConfig describes the form of a login command. It panics if the command cannot be used.
func newLoginConfig(catalog *resource.Catalog, login *Login) *loginConfig {
	c := findCommand(catalog, login.Command)
	if c == nil {
		panic(fmt.Sprintf("admin: New: the catalog has no command %q; correct Login.Command", login.Command))
	}
	config := &loginConfig{Command: login.Command, Token: login.Token}
	if config.Token == "" {
		config.Token = "token"
	}
	out := c.Output()
	if out == nil || out.Field(config.Token) == nil || out.Field(config.Token).Type.Kind != schema.String {
		panic(fmt.Sprintf("admin: New: the output of the command %s has no string %q; correct Login.Token",
			login.Command, config.Token))
	}
	if in := c.Input(); in != nil {
		for _, f := range in.Fields {
			config.Fields = append(config.Fields, loginField{Name: f.Name, Required: f.Required,
				Secret: f.WriteOnly || strings.Contains(strings.ToLower(f.Name), "password")})
		}
	}
	return config
}

// findCommand returns the command with this name, or nil.
func findCommand(catalog *resource.Catalog, name string) *command.Command {
	for _, c := range resource.PartsOf[*command.Command](catalog) {
		if c.Name() == name && c.Into() == nil {
			return c
		}
	}
	return nil
}
