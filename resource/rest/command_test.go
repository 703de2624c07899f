package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
)

type loginIn struct {
	Email    string `json:"email" required:"true" format:"email"`
	Password string `json:"password" required:"true" writeOnly:"true"`
}

type loginOut struct {
	Token  string `json:"token"`
	Secret string `json:"secret,omitempty" writeOnly:"true"`
}

type nothing struct{}

// login succeeds with the password "open sesame". Other passwords select another result or an
// error.
func login(_ context.Context, in loginIn) (loginOut, error) {
	switch in.Password {
	case "open sesame":
		return loginOut{Token: "t-" + in.Email, Secret: "s"}, nil
	case "long":
		return loginOut{Token: strings.Repeat("x", 2000)}, nil
	case "panic":
		panic("secret cause")
	case "text":
		return loginOut{Token: "\xff"}, nil
	}
	return loginOut{}, commandErrors[in.Password]
}

// commandErrors are errors of a command, and commandProblems the problems that clients receive for
// them.
var commandErrors = map[string]error{
	"wrong":    resource.ErrUnauthenticated,
	"forbid":   resource.ErrForbidden,
	"missing":  resource.ErrNotFound,
	"gone":     resource.ErrGone,
	"exists":   resource.ErrExists,
	"later":    resource.ErrUnavailable,
	"late":     context.DeadlineExceeded,
	"own":      &problem.Details{Kind: "https://example.com/problems/locked-out", Status: http.StatusLocked},
	"invalid":  resource.Invalid("email", "unknown"),
	"taken":    resource.Taken("email"),
	"both":     errors.Join(resource.Invalid("email", "a"), resource.Invalid("password", "b")),
	"nowhere":  resource.Invalid("phone", "unknown"),
	"deep":     schema.Violations{{Pointer: "/email/x", Code: "odd"}},
	"question": &query.Error{Parameter: "sort", Code: "unsupportedSort"},
	"internal": errors.New("secret cause"),
	"nested":   &resource.Error{Op: resource.OpGet, Resource: "orders", Err: resource.ErrNotFound},
}

var commandProblems = []struct {
	password string
	kind     problem.Kind
	fields   []string
	places   []string
}{
	{"wrong", problem.Unauthenticated, []string{"WWW-Authenticate: Bearer"}, nil},
	{"forbid", problem.Forbidden, nil, nil},
	{"missing", problem.NotFound, nil, nil},
	{"gone", problem.Gone, nil, nil},
	{"exists", problem.Exists, nil, nil},
	{"later", problem.Unavailable, []string{"Retry-After: 1"}, nil},
	{"late", problem.Unavailable, []string{"Retry-After: 1"}, nil},
	{"invalid", problem.Invalid, nil, []string{"/email unknown"}},
	{"taken", problem.Conflict, nil, []string{"/email taken"}},
	{"both", problem.Invalid, nil, []string{"/email a", "/password b"}},
	{"nowhere", problem.Invalid, nil, []string{" unknown"}},
	{"deep", problem.Invalid, nil, []string{"/email/x odd"}},
	{"question", problem.InvalidParameter, nil, []string{"?sort unsupportedSort"}},
	{"internal", problem.Internal, nil, nil},
	{"panic", problem.Internal, nil, nil},
	{"text", problem.Internal, nil, nil},
	{"nested", problem.NotFound, nil, nil},
}

func giveNothing(context.Context, nothing) (nothing, error) { return nothing{}, nil }

func countAll(context.Context, nothing) (loginOut, error) { return loginOut{Token: "3"}, nil }

// commanded is the shop with commands: login, one without input and output, and one for the admin
// only.
func commanded(t testing.TB, opts ...func(*setup)) http.Handler {
	t.Helper()
	admin := &command.Options[nothing]{Authorize: func(ctx context.Context, _ *nothing) error {
		switch caller(ctx) {
		case "admin":
			return nil
		case "":
			return resource.ErrUnauthenticated
		}
		return resource.ErrForbidden
	}}
	return byCaller(api(t, append([]func(*setup){func(s *setup) {
		s.parts = append(s.parts,
			command.New("auth/login", login, &command.Options[loginIn]{Public: true}),
			command.New("auth/logout", giveNothing, nil),
			command.New("users/count", countAll, admin),
			command.New("orders/count", countAll, nil))
	}}, opts...)...))
}

const goodLogin = `{"email":"ann@example.com","password":"open sesame"}`

func loginWith(password string) string {
	return `{"email":"ann@example.com","password":"` + password + `"}`
}

func TestRule091Commands(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	res := send(t, h, "POST /auth/login", jsonBody, "", goodLogin)
	wantBody(t, res, http.StatusOK, `{"token":"t-ann@example.com"}`)
	want(t, res, http.StatusOK, "Content-Type: application/json", "Cache-Control: no-store", "Vary: Accept, Accept-Encoding",
		"X-Content-Type-Options:", "Content-Length: 29", "Location:", "Etag:", "Preference-Applied:")
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "QUERY"} {
		wantProblem(t, send(t, h, method+" /auth/login"), problem.MethodNotAllowed, "Allow: POST, OPTIONS",
			"Vary: Accept, Accept-Encoding")
	}
	want(t, send(t, h, "OPTIONS /auth/login"), http.StatusNoContent, "Allow: POST, OPTIONS", "Accept-Post: application/json",
		"Cache-Control: no-store")
	want(t, send(t, h, "POST /auth/login/", jsonBody, "", goodLogin), http.StatusPermanentRedirect, "Location: /auth/login")
	want(t, send(t, h, "POST /%61uth/log%69n", jsonBody, "", goodLogin), http.StatusOK)
	for _, target := range []string{"/auth", "/auth/", "/auth/nothing", "/auth/login/now", "/login"} {
		wantProblem(t, send(t, h, "POST "+target), problem.NotFound)
	}
}

// TestRule091Nothing: a command without input accepts no body or {}. One without output responds
// with an empty object, or by option with 204.
func TestRule091Nothing(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	noContent := commanded(t, func(s *setup) { s.rest.CommandNoContent = true })
	for _, rest := range [][]string{nil, {jsonBody}, {jsonBody, "", "{}"}} {
		res := send(t, h, "POST /auth/logout", rest...)
		wantBody(t, res, http.StatusOK, "{}")
		want(t, res, http.StatusOK, "Content-Type: application/json", "Content-Length: 2", "Cache-Control: no-store",
			"Vary: Accept, Accept-Encoding")
		res = send(t, noContent, "POST /auth/logout", append([]string{"Accept: text/html"}, rest...)...)
		wantBody(t, res, http.StatusNoContent, "")
		want(t, res, http.StatusNoContent, "Content-Type:", "Content-Length:", "Cache-Control: no-store",
			"Vary: Accept, Accept-Encoding")
	}
	res := send(t, h, "POST /auth/logout", "Prefer: return=minimal", "Accept: text/html")
	want(t, res, http.StatusNoContent, "Preference-Applied: return=minimal", "Content-Type:")
	wantProblem(t, send(t, h, "POST /auth/logout", "Accept: text/html"), problem.NotAcceptable)
	wantBody(t, send(t, h, "POST /orders/count"), http.StatusOK, `{"token":"3"}`)
	wantErrors(t, wantProblem(t, send(t, h, "POST /auth/logout", jsonBody, "", `{"a":1}`), problem.Invalid), "/a unknown")
	wantProblem(t, send(t, h, "POST /auth/logout", jsonBody, "", "["), problem.MalformedJSON)
	wantProblem(t, send(t, h, "POST /auth/logout", "Content-Type: text/plain", "", "hello"), problem.UnsupportedMediaType)
}

func TestRule091Input(t *testing.T) {
	t.Parallel()
	h := commanded(t, func(s *setup) { s.catalog.Limits.Body, s.catalog.Limits.Depth = 300, 4 })
	tests := []struct {
		name   string
		rest   []string
		kind   problem.Kind
		places []string
	}{
		{"no content", nil, problem.MalformedJSON, nil},
		{"empty", []string{jsonBody}, problem.MalformedJSON, []string{" empty"}},
		{"no type", []string{"", goodLogin}, problem.UnsupportedMediaType, nil},
		{"another type", []string{mergeBody, "", goodLogin}, problem.UnsupportedMediaType, nil},
		{"another coding", []string{jsonBody, "Content-Encoding: br", "", goodLogin}, problem.UnsupportedMediaType, nil},
		{"too large", []string{jsonBody, "", strings.Repeat(" ", 301)}, problem.TooLarge, nil},
		{"too deep", []string{jsonBody, "", `{"email":[[[[1]]]]}`}, problem.MalformedJSON, []string{"/email depth"}},
		{"twice", []string{jsonBody, "", `{"email":"a@b.c","email":"a@b.c"}`}, problem.MalformedJSON,
			[]string{"/email duplicateName"}},
		{"an array", []string{jsonBody, "", `[]`}, problem.Invalid, []string{" type"}},
		{"all that is wrong", []string{jsonBody, "", `{"email":"ann","x":1}`}, problem.Invalid,
			[]string{"/email format", "/password required", "/x unknown"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := wantProblem(t, send(t, h, "POST /auth/login", tt.rest...), tt.kind)
			if tt.places != nil {
				wantErrors(t, d, tt.places...)
			}
		})
	}
	want(t, send(t, h, "POST /auth/login", mergeBody, "", goodLogin), http.StatusUnsupportedMediaType,
		"Accept-Post: application/json", "Accept: application/json")
	wantErrors(t, wantProblem(t, send(t, h, "POST /auth/login?a=1", jsonBody, "", goodLogin), problem.InvalidParameter),
		"?a unknownParameter")
	for range 10 { // the order of a map must not decide which one is reported
		wantErrors(t, wantProblem(t, send(t, h, "POST /auth/login?c=1&a=1&b=1", jsonBody, "", goodLogin),
			problem.InvalidParameter), "?a unknownParameter")
	}
	wantProblem(t, send(t, h, "POST /auth/login?a=1;b", jsonBody, "", goodLogin), problem.BadRequest)
	want(t, send(t, h, "POST /auth/login?a=1", jsonBody, "Prefer: handling=lenient", "",
		`{"x":1,`+goodLogin[1:]), http.StatusOK, "Preference-Applied: handling=lenient")
	want(t, send(t, h, "POST /auth/login", jsonBody, "Content-Encoding: gzip", "", zip(t, goodLogin)), http.StatusOK)
}

func TestRule091Errors(t *testing.T) {
	t.Parallel()
	var log journal
	h := commanded(t, log.into)
	for _, tt := range commandProblems {
		t.Run(tt.password, func(t *testing.T) {
			res := send(t, h, "POST /auth/login", jsonBody, "", loginWith(tt.password))
			d := wantProblem(t, res, tt.kind, append(tt.fields, "Vary: Accept, Accept-Encoding")...)
			wantErrors(t, d, tt.places...)
			if strings.Contains(res.body, "secret") || strings.Contains(res.body, "loginIn") {
				t.Errorf("it tells: %s", res.body)
			}
			if tt.kind == problem.Internal && (d.Instance == "" || !strings.Contains(log.String(), d.Instance)) {
				t.Errorf("instance %q is not in the log", d.Instance)
			}
		})
	}
	want(t, send(t, h, "POST /auth/login", jsonBody, "", loginWith("own")), http.StatusLocked,
		"Content-Type: "+problem.MediaType)
}

// TestRule091Authorize: Authorize is called after the body was read, because it may depend on it,
// and before the command runs.
func TestRule091Authorize(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	wantProblem(t, send(t, h, "POST /users/count"), problem.Unauthenticated, "WWW-Authenticate: Bearer")
	wantProblem(t, send(t, h, "POST /users/count", asMallory), problem.Forbidden)
	wantProblem(t, send(t, h, "POST /users/count", asMallory, jsonBody, "", "{"), problem.MalformedJSON)
	wantBody(t, send(t, h, "POST /users/count", asAdmin), http.StatusOK, `{"token":"3"}`)
}

// TestRule052CommandsAreNotDoneInVain: a request that accepts no media type of the result is
// rejected before the command runs.
func TestRule052CommandsAreNotDoneInVain(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	for _, field := range []string{"Accept: text/html", "Accept: application/problem+json", "Accept-Encoding: identity;q=0"} {
		wantProblem(t, send(t, h, "POST /auth/login", field, jsonBody, "", loginWith("panic")), problem.NotAcceptable)
	}
	same(t, "available", []string{"application/json"}, wantProblem(t, send(t, h, "POST /auth/login", "Accept: text/html"),
		problem.NotAcceptable).Available)
}

// TestRule143CommandsInOrder: if a request has several errors, the first in the order of the rule
// is reported.
func TestRule143CommandsInOrder(t *testing.T) {
	t.Parallel()
	h := commanded(t, func(s *setup) { s.catalog.Limits.Body = 40 })
	accept, text, long := "Accept: text/html", "Content-Type: text/plain", strings.Repeat("x", 41)
	wantProblem(t, send(t, h, "GET /users/count", accept, text, "", long), problem.MethodNotAllowed)
	wantProblem(t, send(t, h, "POST /users/count", accept, text, "", long), problem.NotAcceptable)
	wantProblem(t, send(t, h, "POST /users/count", text, "", long), problem.UnsupportedMediaType)
	wantProblem(t, send(t, h, "POST /users/count", jsonBody, "", long), problem.TooLarge)
	wantProblem(t, send(t, h, "POST /users/count", jsonBody, "", "x"), problem.MalformedJSON)
	wantProblem(t, send(t, h, "POST /users/count", jsonBody, "", `{"x":1}`), problem.Invalid)
	wantProblem(t, send(t, h, "POST /users/count", jsonBody, "", `{}`), problem.Unauthenticated)
}

// TestRule112CommandsHaveNoConditions: a command has no item that a condition could apply to.
func TestRule112CommandsHaveNoConditions(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	for _, field := range []string{`If-Match: "x"`, "If-None-Match: *", "If-Unmodified-Since: Mon, 01 Jan 1990 00:00:00 GMT",
		"Range: bytes=0-1"} {
		want(t, send(t, h, "POST /auth/login", field, jsonBody, "", goodLogin), http.StatusOK)
	}
}

func TestRule094CommandsReturn(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	res := send(t, h, "POST /auth/login", "Prefer: return=minimal", "Accept: text/html", jsonBody, "", goodLogin)
	wantBody(t, res, http.StatusNoContent, "")
	want(t, res, http.StatusNoContent, "Preference-Applied: return=minimal")
	want(t, send(t, h, "POST /auth/login", "Prefer: return=representation, wait=3, respond-async", jsonBody, "", goodLogin),
		http.StatusOK, "Preference-Applied: return=representation")
	zipped := send(t, h, "POST /auth/login", "Accept-Encoding: gzip", jsonBody, "", loginWith("long"))
	want(t, zipped, http.StatusOK, "Content-Encoding: gzip")
	same(t, "content", `{"token":"`+strings.Repeat("x", 2000)+`"}`, gunzip(t, zipped))
}

// TestRule023CommandsReserveTheirNames: the name of a command below a collection cannot be the id
// of an item.
func TestRule023CommandsReserveTheirNames(t *testing.T) {
	t.Parallel()
	h := commanded(t)
	wantErrors(t, wantProblem(t, send(t, h, "PUT /users/count", jsonBody, "", `{"name":"n"}`), problem.Conflict), " reserved")
	wantErrors(t, wantProblem(t, send(t, h, "PUT /users/c%6Funt", jsonBody, "", `{"name":"n"}`), problem.Conflict), " reserved")
	d := wantProblem(t, send(t, h, "POST /users", jsonBody, "", `{"id":"count","name":"n"}`), problem.Conflict)
	wantErrors(t, d, "/id reserved")
	same(t, "existing", "", d.Existing)
	for _, method := range []string{"GET", "PATCH", "DELETE"} {
		wantProblem(t, send(t, h, method+" /users/count", mergeBody, "", "{}"), problem.MethodNotAllowed,
			"Allow: POST, OPTIONS")
	}
	want(t, send(t, h, "PUT /users/counts", jsonBody, "", `{"name":"n"}`), http.StatusCreated)
	want(t, send(t, h, "POST /users", jsonBody, "", `{"id":"login","name":"n"}`), http.StatusCreated)
	// The ids of orders are numbers, so no name is reserved.
	wantProblem(t, send(t, h, "PUT /orders/count", jsonBody, "", `{"customerId":"n"}`), problem.MethodNotAllowed)
}

func TestInvoke(t *testing.T) {
	t.Parallel()
	in := command.New("auth/login", login, &command.Options[loginIn]{
		Authorize: func(_ context.Context, in *loginIn) error {
			if in.Email == "mallory@example.com" {
				return resource.ErrForbidden
			}
			return nil
		}})
	out := command.New("auth/logout", giveNothing, nil)
	got, err := in.Invoke(t.Context(), &loginIn{"ann@example.com", "open sesame"})
	same(t, "output", any(&loginOut{"t-ann@example.com", "s"}), got)
	same(t, "error", nil, err)
	got, err = out.Invoke(t.Context(), nil)
	same(t, "output of nothing", nil, got)
	same(t, "error of nothing", nil, err)

	tests := []struct {
		name string
		in   any
		kind problem.Kind
	}{
		{"not valid", &loginIn{"ann", "x"}, problem.Invalid},
		{"not allowed", &loginIn{"mallory@example.com", "open sesame"}, problem.Forbidden},
		{"refused", &loginIn{"ann@example.com", "taken"}, problem.Conflict},
		{"of another type", &loginOut{}, problem.Internal},
		{"none", nil, problem.Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := in.Invoke(t.Context(), tt.in)
			var at *resource.Error
			if !errors.As(err, &at) || at.Op != command.OpInvoke || at.Resource != "auth/login" {
				t.Errorf("%v does not say where it happened", err)
			}
			same(t, "problem", tt.kind, resource.Problem(err).Kind)
		})
	}
}

func TestCommandDescriptions(t *testing.T) {
	t.Parallel()
	const doc = "Says who you are."
	in := command.New("auth/Log-In", login, &command.Options[loginIn]{Public: true, Doc: doc, Cost: 7})
	deny := func(context.Context, *nothing) error { return resource.ErrForbidden }
	out := command.New("auth/logout", giveNothing, &command.Options[nothing]{Authorize: deny})
	open := command.New("shop/open", giveNothing, nil)
	c := resource.NewCatalog(nil, in, out, open)
	var names []string
	for _, p := range resource.PartsOf[*command.Command](c) {
		names = append(names, p.Name())
	}
	same(t, "names", []string{"auth/Log-In", "auth/logout", "shop/open"}, names)
	same(t, "name", "auth/Log-In", in.Name())
	same(t, "media", "log-in", rest.CommandMedia(in))
	same(t, "doc", doc, in.Doc())
	same(t, "cost", []int{7, 1}, []int{in.Cost(), out.Cost()})
	same(t, "public", []bool{true, false, true}, []bool{in.Public(), out.Public(), open.Public()})
	if in.Input() != schema.For[loginIn]() || in.Output() != schema.For[loginOut]() || out.Input() != nil ||
		out.Output() != nil {
		t.Error("the schemas are others")
	}
	if in.Jobs() != nil {
		t.Error("there are jobs")
	}
	same(t, "report", `/auth/Log-In  POST, OPTIONS
    command: input email password, output token secret
/auth/logout  POST, OPTIONS
    command: input nothing, output nothing
/shop/open  POST, OPTIONS
    command: input nothing, output nothing
    weak: no Authorize: every caller may call it; set Public if intended
keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored
`, c.Report())
	h := rest.New(c, nil)
	same(t, "reserved member", true, h.Reserve("email", "") != nil && h.Reserve("token", "") != nil)
	same(t, "free member", nil, h.Reserve("version", "version"))
}

// TestCommandsInContracts: commands use the vendor media types and repeat the version, as items do.
func TestCommandsInContracts(t *testing.T) {
	t.Parallel()
	h := versionedCommands(t)
	own := "application/vnd.shop.2.0.0.login+json"
	want(t, send(t, h, "POST /auth/login", "Accept: application/vnd.shop.2.login+json", jsonBody, "", goodLogin),
		http.StatusOK, "Content-Type: "+own, "API-Version: 2.0.0")
	want(t, send(t, h, "POST /auth/login", "Content-Type: "+own, "", goodLogin), http.StatusOK, "Content-Type: "+own)
	wantProblem(t, send(t, h, "POST /auth/login", "Content-Type: application/vnd.shop.2.order+json", "", goodLogin),
		problem.UnsupportedMediaType)
	wantProblem(t, send(t, h, "POST /auth/login", "Accept: application/vnd.shop.2.order+json", jsonBody, "", goodLogin),
		problem.NotAcceptable)
	wantBody(t, send(t, h, "POST /auth/login", jsonBody, "", `{"version":"1.0",`+goodLogin[1:]), http.StatusOK,
		`{"token":"t-ann@example.com","version":"1.0"}`)
	want(t, send(t, h, "POST /v1/auth/login?version=1", jsonBody, "", goodLogin), http.StatusOK)
	want(t, send(t, h, "OPTIONS /auth/login", "API-Version: 1.0"), http.StatusNoContent,
		"Accept-Post: application/vnd.shop.1.0.0.login+json, application/json")
}
