package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// Section F: conditional requests. Entity tags are in rules_f_tags_test.go, and races in
// rules_f_race_test.go.

// state is the relation of a conditional field to the item.
type state int

const (
	absent state = iota
	holds
	fails
)

// conditions are the states of the five fields of RFC 9110 section 13.1.
type conditions struct {
	match, unmodifiedSince, noneMatch, modifiedSince state
	ifRange                                          bool
}

// decide implements section 13.2.2 a second time, step by step, for an existing item that has a
// strong tag and a date.
func decide(method string, c conditions) int {
	reads := method == "GET" || method == "HEAD"
	if c.match == fails {
		return http.StatusPreconditionFailed // step 1
	}
	if c.match == absent && c.unmodifiedSince == fails {
		return http.StatusPreconditionFailed // step 2
	}
	if c.noneMatch == fails { // step 3
		if reads {
			return http.StatusNotModified
		}
		return http.StatusPreconditionFailed
	}
	if c.noneMatch == absent && reads && c.modifiedSince == fails {
		return http.StatusNotModified // step 4
	}
	if method == "DELETE" { // step 5 is about ranges, which are optional; step 6
		return http.StatusNoContent
	}
	return http.StatusOK
}

func (c conditions) fields(tag string) []string {
	const other = `"other.tag"`
	early, late := modified.Add(-time.Hour).Format(http.TimeFormat), modified.Add(time.Hour).Format(http.TimeFormat)
	var fields []string
	add := func(name string, s state, holding, failing string) {
		if s != absent {
			fields = append(fields, name+": "+map[state]string{holds: holding, fails: failing}[s])
		}
	}
	add("If-Match", c.match, tag, other)
	add("If-Unmodified-Since", c.unmodifiedSince, late, early)
	add("If-None-Match", c.noneMatch, other, tag)
	add("If-Modified-Since", c.modifiedSince, early, late)
	if c.ifRange {
		fields = append(fields, "Range: bytes=0-1", "If-Range: "+tag)
	}
	return fields
}

// All 32 combinations of absent and present fields, and all 162 of states.
func TestRule095Precedence(t *testing.T) {
	t.Parallel()
	var all []conditions
	for i := range 3 * 3 * 3 * 3 * 2 {
		all = append(all, conditions{state(i % 3), state(i / 3 % 3), state(i / 9 % 3), state(i / 27 % 3), i/81 == 1})
	}
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			for _, c := range all {
				h := api(t)
				create(t, h, "/users", ann)
				fields := c.fields(send(t, h, "GET /users/ann").header.Get("ETag"))
				rest := append([]string{map[string]string{"PATCH": mergeBody}[method]}, fields...)
				switch method {
				case "PUT":
					rest[0] = jsonBody
					rest = append(rest, "", `{"name":"Anna"}`)
				case "PATCH":
					rest = append(rest, "", `{"name":"Anna"}`)
				default:
					rest = fields
				}
				if got, status := send(t, h, method+" /users/ann", rest...).status, decide(method, c); got != status {
					t.Errorf("%s with %q: status %d, want %d", method, fields, got, status)
				}
			}
		})
	}
}

func TestRule096OtherErrorsComeFirst(t *testing.T) {
	t.Parallel()
	const stale = `If-Match: "stale.tag"`
	denying := func(err error) func(*setup) {
		return func(s *setup) {
			s.users.Authorize = func(_ context.Context, op resource.Op, _, _ *user) error {
				if op == resource.OpDelete {
					return err
				}
				return nil
			}
		}
	}
	requiring := func(s *setup) { s.users.RequireIfMatch = true }
	small := func(s *setup) { s.catalog.Limits.Body = 64 }
	large := `{"name":"` + strings.Repeat("x", 100) + `"}`
	tests := []struct {
		name string
		opt  func(*setup)
		line string
		rest []string
		want problem.Kind
	}{
		{"404 for GET", nil, "GET /users/none", []string{stale}, problem.NotFound},
		{"404 and not 304", nil, "GET /users/none", []string{"If-None-Match: *"}, problem.NotFound},
		{"404 for PATCH", nil, "PATCH /users/none", []string{mergeBody, stale, "", `{}`}, problem.NotFound},
		{"404 for DELETE", nil, "DELETE /users/none", []string{stale}, problem.NotFound},
		{"404 and not 428", requiring, "DELETE /users/none", nil, problem.NotFound},
		{"405", nil, "POST /users/ann", []string{stale}, problem.MethodNotAllowed},
		{"406 and not 304", nil, "GET /users/ann", []string{"Accept: text/html", "If-None-Match: *"}, problem.NotAcceptable},
		{"406 and not 412", nil, "PATCH /users/ann", []string{"Accept: text/html", mergeBody, stale, "", "{}"},
			problem.NotAcceptable},
		{"406 for a coding", nil, "GET /users/ann", []string{"Accept-Encoding: identity;q=0", stale}, problem.NotAcceptable},
		{"410", nil, "PATCH /users/bob", []string{mergeBody, stale, "", `{}`}, problem.Gone},
		{"410 for PUT", nil, "PUT /users/bob", []string{jsonBody, stale, "", ann}, problem.Gone},
		{"410 and not 428", requiring, "DELETE /users/bob", nil, problem.Gone},
		{"415", nil, "PUT /users/ann", []string{"Content-Type: text/plain", stale, "", "x"}, problem.UnsupportedMediaType},
		{"415 and not 428", requiring, "PATCH /users/ann", []string{"Content-Type: text/plain", "", "{}"}, problem.UnsupportedMediaType},
		{"413", small, "PUT /users/ann", []string{jsonBody, stale, "", large}, problem.TooLarge},
		{"401", denying(resource.ErrUnauthenticated), "DELETE /users/ann", []string{stale}, problem.Unauthenticated},
		{"403", denying(resource.ErrForbidden), "DELETE /users/ann", []string{stale}, problem.Forbidden},
		// The body is validated after the conditions.
		{"412 and not 422", nil, "PUT /users/ann", []string{jsonBody, stale, "", `{}`}, problem.PreconditionFailed},
		{"412 and not 400", nil, "PUT /users/ann", []string{jsonBody, stale, "", `{`}, problem.PreconditionFailed},
		{"412 before a bad patch", nil, "PATCH /users/ann", []string{patchBody, stale, "", `{`}, problem.PreconditionFailed},
		{"412 before a conflict", nil, "PATCH /users/ann",
			[]string{patchBody, stale, "", `[{"op":"remove","path":"/nothing"}]`}, problem.PreconditionFailed},
		{"428 and not 422", requiring, "PUT /users/ann", []string{jsonBody, "", `{}`}, problem.PreconditionRequired},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) {
				if tt.opt != nil {
					tt.opt(s)
				}
				insert := s.userOps.Insert
				if strings.Contains(tt.line, "/bob") { // bob was deleted at the start
					item, err := insert(t.Context(), "bob", user{ID: "bob", Name: "Bob"})
					if err != nil || s.userOps.Delete(t.Context(), "bob", item.Rev) != nil {
						t.Fatal(err)
					}
				}
				if _, err := insert(t.Context(), "ann", user{ID: "ann", Name: "Ann"}); err != nil {
					t.Fatal(err)
				}
			})
			wantProblem(t, send(t, h, tt.line, tt.rest...), tt.want)
		})
	}
}

func TestRule097IfMatchStrong(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	for i, tt := range []struct {
		field  string // %s is the current tag
		status int
	}{
		{`If-Match: W/%s`, 412},
		{`If-Match: W/%s, W/"x.y"`, 412},
		{`If-Match: "x.y"`, 412},
		{`If-Match: ""`, 412},
		{`If-Match: %s`, 200},
		{`If-Match: "x.y", %s`, 200},
		{`If-Match: W/"x.y" ,, %s,`, 200},
	} {
		tag := send(t, h, "GET "+path).header.Get("ETag")
		field := strings.ReplaceAll(tt.field, "%s", tag)
		want(t, send(t, h, "GET "+path, field), tt.status)
		want(t, send(t, h, "PATCH "+path, mergeBody, field, "", fmt.Sprintf(`{"name":"N%d"}`, i)), tt.status)
		if tt.status == http.StatusPreconditionFailed {
			want(t, send(t, h, "PUT "+path, jsonBody, field, "", ann), tt.status)
			want(t, send(t, h, "DELETE "+path, field), tt.status)
		}
	}
}

func TestRule098IfNoneMatchWeak(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, value := range []string{tag, "W/" + tag, `"x.y", W/` + tag, "*"} {
		field := "If-None-Match: " + value
		want(t, send(t, h, "GET "+path, field), http.StatusNotModified, "ETag: "+tag)
		want(t, send(t, h, "HEAD "+path, field), http.StatusNotModified, "ETag: "+tag)
		wantProblem(t, send(t, h, "PUT "+path, jsonBody, field, "", ann), problem.PreconditionFailed, "ETag: "+tag)
		wantProblem(t, send(t, h, "PATCH "+path, mergeBody, field, "", `{}`), problem.PreconditionFailed, "ETag: "+tag)
		wantProblem(t, send(t, h, "DELETE "+path, field), problem.PreconditionFailed, "ETag: "+tag)
	}
	for _, value := range []string{`"x.y"`, `W/"x.y", "z"`, `""`} {
		field := "If-None-Match: " + value
		want(t, send(t, h, "GET "+path, field), http.StatusOK)
		want(t, send(t, h, "PATCH "+path, mergeBody, field, "", `{}`), http.StatusOK)
	}
}

func TestRule099IfMatchAny(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	want(t, send(t, h, "GET "+path, "If-Match: *"), http.StatusOK)
	want(t, send(t, h, "PUT "+path, jsonBody, "If-Match: *", "", `{"name":"Anna"}`), http.StatusOK)
	want(t, send(t, h, "PATCH "+path, mergeBody, "If-Match: *", "", `{"name":"A"}`), http.StatusOK)
	want(t, send(t, h, "DELETE "+path, "If-Match: *"), http.StatusNoContent)
	wantProblem(t, send(t, h, "PUT /users/none", jsonBody, "If-Match: *", "", `{"name":"N"}`),
		problem.PreconditionFailed, "ETag:")
	wantProblem(t, send(t, h, "GET /users/none"), problem.NotFound)
}

func TestRule100IfNoneMatchAny(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/ann", jsonBody, "If-None-Match: *", "", ann), http.StatusCreated, "Location: /users/ann")
	tag := send(t, h, "GET /users/ann").header.Get("ETag")
	wantProblem(t, send(t, h, "PUT /users/ann", jsonBody, "If-None-Match: *", "", `{"name":"Mallory"}`),
		problem.PreconditionFailed, "ETag: "+tag)
	wantBody(t, send(t, h, "GET /users/ann"), http.StatusOK, ann)
}

func TestRule101TagLists(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, name := range []string{"If-Match", "If-None-Match"} {
		for _, value := range []string{"", ",", "abc", `"abc`, `w/"abc"`, `W/ "abc"`, `"a" "b"`, `*, "a"`, `"a", *`, "**",
			tag + ", *", `'abc'`, "\"a b\""} {
			field := name + ": " + value
			for _, req := range [][]string{
				{"GET " + path}, {"HEAD " + path}, {"DELETE " + path},
				{"PUT " + path, jsonBody, "", ann}, {"PATCH " + path, mergeBody, "", `{}`},
			} {
				rest := append([]string{field}, req[1:]...)
				d := wantProblem(t, send(t, h, req[0], rest...), problem.InvalidHeader)
				if req[0][:4] != "HEAD" {
					wantErrors(t, d, name+": syntax")
				}
			}
		}
		if name == "If-None-Match" {
			wantErrors(t, wantProblem(t, send(t, h, "GET /users", "If-None-Match: abc"), problem.InvalidHeader),
				"If-None-Match: syntax")
		}
		// A tag may contain commas, backslashes and bytes beyond ASCII.
		for _, value := range []string{`"a,b", `, `"a\",`, "\"\xff\xfe\",", `,, W/"",`, `"W/", `} {
			want(t, send(t, h, "GET "+path, name+": "+value+tag),
				map[string]int{"If-Match": 200, "If-None-Match": 304}[name])
		}
		want(t, send(t, h, "GET "+path, name+`: "x"`, name+": "+tag), map[string]int{"If-Match": 200, "If-None-Match": 304}[name])
	}
}

// A 304 has the caching fields of the 200 and no fields about the absent body.
func TestRule108NotModifiedHeaders(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		s.rest.Resources["orders"] = rest.ResourceOptions{Cache: "private, max-age=5"}
		s.parts = append(s.parts, resource.NewLookup("newest", "orders",
			func(context.Context, struct{}) (string, error) { return "1", nil }))
	})
	create(t, h, "/users", ann)
	path := long(t, h)
	for _, req := range [][]string{{path}, {path, "Accept-Encoding: gzip"}, {path + "?fields=id"}, {path + "?expand=customer"},
		{"/newest"}, {"/newest", "Accept-Encoding: gzip"}, {"/orders"}, {"/orders?limit=1", "Prefer: count=exact"}} {
		ok := send(t, h, "GET "+req[0], req[1:]...)
		want(t, ok, http.StatusOK)
		for _, method := range []string{"GET ", "HEAD "} {
			res := send(t, h, method+req[0], append(req[1:], "If-None-Match: "+ok.header.Get("ETag"))...)
			want(t, res, http.StatusNotModified, "Content-Type:", "Content-Length:", "Content-Encoding:",
				"X-Content-Type-Options:")
			if res.body != "" {
				t.Errorf("%s: a 304 with content", res.line)
			}
			for _, name := range []string{"Cache-Control", "Content-Location", "Etag", "Expires", "Vary", "Link"} {
				if diff := cmp.Diff(ok.header[name], res.header[name]); diff != "" {
					t.Errorf("%s%s: %s (-200 +304):\n%s", method, req[0], name, diff)
				}
			}
		}
	}
}

func TestRule109Dates(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	at := func(d time.Duration) string { return modified.Add(d).Format(http.TimeFormat) }
	want(t, send(t, h, "GET "+path), http.StatusOK, "Last-Modified: Fri, 01 Mar 2024 12:00:00 GMT")
	tests := []struct {
		name   string
		line   string
		fields []string
		status int
	}{
		{"since that very second", "GET", []string{"If-Modified-Since: " + at(0)}, 304},
		{"HEAD", "HEAD", []string{"If-Modified-Since: " + at(0)}, 304},
		{"since the second before", "GET", []string{"If-Modified-Since: " + at(-time.Second)}, 200},
		{"since later", "GET", []string{"If-Modified-Since: " + at(time.Hour)}, 304},
		{"RFC 850 format", "GET", []string{"If-Modified-Since: Friday, 01-Mar-24 12:00:00 GMT"}, 304},
		{"asctime format", "GET", []string{"If-Modified-Since: Fri Mar  1 12:00:00 2024"}, 304},
		{"no date", "GET", []string{"If-Modified-Since: yesterday"}, 200},
		{"a number", "GET", []string{"If-Modified-Since: 1709294400"}, 200},
		{"two dates", "GET", []string{"If-Modified-Since: " + at(0), "If-Modified-Since: " + at(0)}, 200},
		{"the tag decides", "GET", []string{"If-Modified-Since: " + at(0), `If-None-Match: "x"`}, 200},
		{"the tag decides, too", "GET", []string{"If-Modified-Since: " + at(-time.Hour), "If-None-Match: " + tag}, 304},
		{"only for reading", "PATCH", []string{"If-Modified-Since: " + at(0)}, 200},
		{"unmodified since that very second", "PATCH", []string{"If-Unmodified-Since: " + at(0)}, 200},
		{"unmodified since the second before", "PATCH", []string{"If-Unmodified-Since: " + at(-time.Second)}, 412},
		{"unmodified, reading", "GET", []string{"If-Unmodified-Since: " + at(-time.Second)}, 412},
		{"unmodified, no date", "PATCH", []string{"If-Unmodified-Since: 2024-03-01T12:00:00Z"}, 200},
		{"unmodified, two dates", "PATCH", []string{"If-Unmodified-Since: " + at(-time.Hour), "If-Unmodified-Since: " + at(0)}, 200},
		{"If-Match decides", "PATCH", []string{"If-Unmodified-Since: " + at(-time.Hour), "If-Match: " + tag}, 200},
		{"both conditions of reading", "GET",
			[]string{"If-Unmodified-Since: " + at(0), "If-Modified-Since: " + at(0)}, 304},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rest := tt.fields
			if tt.line == "PATCH" {
				rest = append(rest, mergeBody, "", `{}`)
			}
			want(t, send(t, h, tt.line+" "+path, rest...), tt.status)
		})
	}
}

// Invalid modification times of a store are corrected or omitted.
func TestRule109LastModified(t *testing.T) {
	t.Parallel()
	serve := func(m time.Time) http.Handler {
		return api(t, func(s *setup) {
			get := s.placeOps.Get
			s.placeOps.Get = func(ctx context.Context, id string) (resource.Item[place], error) {
				item, err := get(ctx, id)
				item.Modified = m
				return item, err
			}
		})
	}
	unknown := serve(time.Time{})
	want(t, send(t, unknown, "GET /places/ath"), http.StatusOK, "Last-Modified:")
	late := "Fri, 31 Dec 2027 23:59:59 GMT"
	want(t, send(t, unknown, "GET /places/ath", "If-Modified-Since: "+late), http.StatusOK)
	want(t, send(t, unknown, "GET /places/ath", "If-Unmodified-Since: Sat, 01 Jan 2000 00:00:00 GMT"), http.StatusOK)

	zone := time.FixedZone("", 5*3600+1800)
	want(t, send(t, serve(time.Date(2024, 1, 2, 3, 4, 5, 999e6, zone)), "GET /places/ath"), http.StatusOK,
		"Last-Modified: Mon, 01 Jan 2024 21:34:05 GMT")

	before := time.Now().Truncate(time.Second)
	got, err := http.ParseTime(send(t, serve(before.Add(24*time.Hour)), "GET /places/ath").header.Get("Last-Modified"))
	if err != nil || got.Before(before) || got.After(time.Now()) {
		t.Errorf("Last-Modified %v of an item from the future, want the present: %v", got, err)
	}
}

// The clock is set back by an hour before a write. Clients with the date of the old version must notice the write.
func TestRule109ClockSetBack(t *testing.T) {
	t.Parallel()
	now := modified.Add(400 * time.Millisecond)
	store := memory.New(&memory.Options[thing]{Now: func() time.Time { return now }})
	h := catalog(t, resource.New("things", store, nil))
	want(t, send(t, h, "PUT /things/a", jsonBody, "", `{"name":"old","n":1}`), http.StatusCreated)
	date := send(t, h, "GET /things/a").header.Get("Last-Modified")
	want(t, send(t, h, "GET /things/a", "If-Modified-Since: "+date), http.StatusNotModified)
	now = now.Add(-time.Hour)
	want(t, send(t, h, "PATCH /things/a", mergeBody, "", `{"name":"new"}`), http.StatusOK)
	want(t, send(t, h, "GET /things/a", "If-Modified-Since: "+date), http.StatusOK)
	wantProblem(t, send(t, h, "PATCH /things/a", "If-Unmodified-Since: "+date, mergeBody, "", `{"n":2}`),
		problem.PreconditionFailed)
}

// TestRule109OneSecond: a replacement in the second of the content before has no date until the next second, which is
// its date then. No condition takes it for the content before.
func TestRule109OneSecond(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		make  func(t *testing.T) http.Handler
		path  string
		write func(n string) []string // the rest of a PUT
	}{
		{"item", func(t *testing.T) http.Handler {
			store := memory.New(&memory.Options[thing]{Recreate: true})
			return catalog(t, resource.New("things", store, &resource.Options[thing]{AllowRecreate: true}))
		}, "/things/a", func(n string) []string { return []string{jsonBody, "", `{"name":"` + n + `"}`} }},
		{"file", func(t *testing.T) http.Handler {
			folder, err := files.New(t.TempDir(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { folder.Close() })
			return catalog(t, blob.New("files", folder, nil))
		}, "/files/a", func(n string) []string { return []string{"", n + " 0123456789"} }},
	} {
		for _, deletes := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " deletes ", deletes), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h, get := tt.make(t), "GET "+tt.path
					sleepTo := func(d time.Duration) { // after the start of the next second
						time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + d)))
					}
					sleepTo(100 * time.Millisecond)
					want(t, send(t, h, "PUT "+tt.path, tt.write("old")...), http.StatusCreated)
					date := send(t, h, get).header.Get("Last-Modified")
					same(t, "date", time.Now().UTC().Format(http.TimeFormat), date)
					for _, n := range []string{"new", "newer"} {
						if deletes {
							want(t, send(t, h, "DELETE "+tt.path), http.StatusNoContent)
						}
						if res := send(t, h, "PUT "+tt.path, tt.write(n)...); res.status >= 300 {
							t.Fatalf("PUT: %d %s", res.status, res.body)
						}
						want(t, send(t, h, get, "If-Modified-Since: "+date), http.StatusOK, "Last-Modified:")
					}
					sleepTo(100 * time.Millisecond)
					next := time.Now().UTC().Format(http.TimeFormat)
					res := send(t, h, get, "If-Modified-Since: "+date, "Range: bytes=4-", "If-Range: "+date)
					want(t, res, http.StatusOK, "Last-Modified: "+next)
					if !strings.Contains(res.body, "newer") {
						t.Errorf("the content is %q", res.body)
					}
					want(t, send(t, h, get, "If-Modified-Since: "+next), http.StatusNotModified)
					wantProblem(t, send(t, h, "DELETE "+tt.path, "If-Unmodified-Since: "+date), problem.PreconditionFailed)
					if deletes {
						want(t, send(t, h, "DELETE "+tt.path), http.StatusNoContent)
					}
					send(t, h, "PUT "+tt.path, tt.write("last")...)
					want(t, send(t, h, get, "If-Modified-Since: "+next), http.StatusOK, "Last-Modified:")
				})
			})
		}
	}
}

func TestRule110RequireIfMatch(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) { recreating(s); s.users.RequireIfMatch, s.users.AllowRecreate = true, true })
	// creating needs none
	path := create(t, h, "/users", ann)
	// nor do these requests
	want(t, send(t, h, "PUT /users/bob", jsonBody, "", `{"name":"Bob"}`), http.StatusCreated)
	want(t, send(t, h, "PUT /users/cat", jsonBody, "If-None-Match: *", "", `{"name":"Cat"}`), http.StatusCreated)
	want(t, send(t, h, "GET "+path), http.StatusOK)
	for _, fields := range [][]string{nil, {`If-None-Match: "x"`},
		{"If-Unmodified-Since: Thu, 31 Dec 2099 23:59:59 GMT"}} {
		wantProblem(t, send(t, h, "PUT "+path, append(fields, jsonBody, "", ann)...), problem.PreconditionRequired)
		wantProblem(t, send(t, h, "PATCH "+path, append(fields, mergeBody, "", `{}`)...), problem.PreconditionRequired)
		wantProblem(t, send(t, h, "DELETE "+path, fields...), problem.PreconditionRequired)
	}
	tag := "If-Match: " + send(t, h, "GET "+path).header.Get("ETag")
	want(t, send(t, h, "PATCH "+path, mergeBody, tag, "", `{"name":"Anna"}`), http.StatusOK)
	want(t, send(t, h, "PATCH "+path, mergeBody, tag, "", `{"name":"Anne"}`), http.StatusPreconditionFailed)
	want(t, send(t, h, "DELETE "+path, "If-Match: *"), http.StatusNoContent)
	want(t, send(t, h, "DELETE "+path), http.StatusGone)
	want(t, send(t, h, "PUT "+path, jsonBody, "", ann), http.StatusCreated)
}

func TestRule111PreconditionFailed(t *testing.T) {
	t.Parallel()
	replaced := 0
	h := api(t, func(s *setup) {
		replace := s.userOps.Replace
		s.userOps.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
			replaced++
			return replace(ctx, id, expect, v)
		}
	})
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, req := range [][]string{
		{"PUT " + path, jsonBody, `If-Match: "x.y"`, "", `{"name":"Anna"}`},
		{"PUT " + path, jsonBody, `If-Match: "x.y"`, "", ann}, // an unchanged item is no reason for 200
		{"PATCH " + path, mergeBody, `If-Match: "x.y"`, "", `{"name":"Anna"}`},
		{"DELETE " + path, `If-Match: "x.y"`},
		{"GET " + path, `If-Match: "x.y"`},
		{"HEAD " + path, `If-Match: "x.y"`},
	} {
		res := send(t, h, req[0], req[1:]...)
		wantProblem(t, res, problem.PreconditionFailed, "ETag: "+tag, "Last-Modified:")
		if strings.Contains(res.body, "Ann") {
			t.Errorf("%s: the item is in the refusal: %s", req[0], res.body)
		}
	}
	if replaced > 0 {
		t.Errorf("the store was asked to replace %d times", replaced)
	}
	// The tag in the 412 can be used for the next attempt.
	want(t, send(t, h, "PUT "+path, jsonBody, "If-Match: "+tag, "", `{"name":"Anna"}`), http.StatusOK)
}

func TestRule112OptionsHaveNoConditions(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	for _, field := range []string{`If-Match: "x"`, "If-None-Match: *", "If-Match: nonsense"} {
		want(t, send(t, h, "OPTIONS "+path, field), http.StatusNoContent)
		want(t, send(t, h, "OPTIONS /users", field), http.StatusNoContent)
	}
}

func TestRule113NoRanges(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	for _, fields := range [][]string{{"Range: bytes=0-1"}, {"Range: bytes=900-"}, {"Range: bytes=0-1,3-4"}, {"Range: items=0-1"}} {
		res := send(t, h, "GET "+path, fields...)
		wantBody(t, res, http.StatusOK, ann)
		want(t, res, http.StatusOK, "Accept-Ranges:", "Content-Range:")
		want(t, send(t, h, "GET /users", fields...), http.StatusOK, "Accept-Ranges:", "Content-Range:")
		want(t, send(t, h, "PATCH "+path, append(fields, mergeBody, "", `{}`)...), http.StatusOK, "Content-Range:")
	}
}

func TestRule115IfRange(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := send(t, h, "GET "+path).header.Get("ETag")
	for _, value := range []string{tag, "W/" + tag, `"x"`, modified.Format(http.TimeFormat), "nonsense"} {
		wantBody(t, send(t, h, "GET "+path, "Range: bytes=0-1", "If-Range: "+value), http.StatusOK, ann)
		want(t, send(t, h, "GET "+path, "If-Range: "+value), http.StatusOK)
	}
}
