package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Section F: entity tags.

// A read-only collection needs no revisions: its tags are computed from the content.
func TestRule103ContentTags(t *testing.T) {
	t.Parallel()
	serve := func(name string) http.Handler {
		return api(t, func(s *setup) {
			get := s.placeOps.Get
			s.placeOps.Get = func(ctx context.Context, id string) (resource.Item[place], error) {
				item, err := get(ctx, id)
				item.Rev, item.Value.Name = "", name
				return item, err
			}
		})
	}
	h := serve("Athens")
	tag := send(t, h, "GET /places/ath").header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		t.Fatalf("%q is no strong tag", tag)
	}
	want(t, send(t, h, "GET /places/ath", "If-None-Match: "+tag), http.StatusNotModified, "ETag: "+tag)
	want(t, send(t, h, "GET /places/ath", "If-Match: "+tag), http.StatusOK)
	want(t, send(t, serve("Athens"), "GET /places/ath", "If-None-Match: "+tag), http.StatusNotModified) // after a restart
	want(t, send(t, serve("Athina"), "GET /places/ath", "If-None-Match: "+tag), http.StatusOK)
	part := send(t, h, "GET /places/ath?fields=id").header.Get("ETag")
	want(t, send(t, serve("Athina"), "GET /places/ath?fields=id", "If-None-Match: "+part), http.StatusOK)
}

// plainTag matches tags with characters that all parsers accept.
var plainTag = regexp.MustCompile(`^"[A-Za-z0-9._~-]+"$`)

// Revisions of a store may contain any bytes, and are returned unchanged.
func TestRule102OddRevisions(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`quo"te`, "dot.dot.", "\xff\x00\n", "W/", "*", "~", "~x", " ", ",", "ü", "\\"} {
		t.Run(fmt.Sprintf("%q", odd), func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) { s.userOps = withRevs(s.userOps, odd) })
			path := create(t, h, "/users", ann)
			tag := send(t, h, "GET "+path).header.Get("ETag")
			if !plainTag.MatchString(tag) {
				t.Errorf("the tag %q is hard to read for others", tag)
			}
			want(t, send(t, h, "GET "+path, "If-None-Match: "+tag), http.StatusNotModified)
			want(t, send(t, h, "PATCH "+path, mergeBody, "If-Match: "+tag, "", `{"name":"B"}`), http.StatusOK)
			wantProblem(t, send(t, h, "DELETE "+path, "If-Match: "+tag), problem.PreconditionFailed)
			tag = send(t, h, "GET "+path).header.Get("ETag")
			want(t, send(t, h, "DELETE "+path, "If-Match: "+tag), http.StatusNoContent)
		})
	}
}

// withRevs adds unusual bytes to every revision.
func withRevs(ops resource.Ops[user], odd string) resource.Ops[user] {
	out := ops
	disguise := func(item resource.Item[user], err error) (resource.Item[user], error) {
		item.Rev = resource.Rev(odd) + item.Rev
		return item, err
	}
	out.Get = func(ctx context.Context, id string) (resource.Item[user], error) { return disguise(ops.Get(ctx, id)) }
	out.Insert = func(ctx context.Context, id string, v user) (resource.Item[user], error) {
		return disguise(ops.Insert(ctx, id, v))
	}
	out.Replace = func(ctx context.Context, id string, expect resource.Rev, v user) (resource.Item[user], error) {
		return disguise(ops.Replace(ctx, id, resource.Rev(strings.TrimPrefix(string(expect), odd)), v))
	}
	out.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
		return ops.Delete(ctx, id, resource.Rev(strings.TrimPrefix(string(expect), odd)))
	}
	return out
}

// A revision that equals the encoding of another one is a different revision.
func TestRule102EncodedRevisionsDoNotMeet(t *testing.T) {
	t.Parallel()
	tags := map[string]string{}
	for _, odd := range []string{"a.", "~YS4", "a", "YS4", "a\x00", "~"} {
		h := api(t, func(s *setup) {
			get := s.userOps.Get
			s.userOps.Get = func(ctx context.Context, id string) (resource.Item[user], error) {
				item, err := get(ctx, id)
				item.Rev = resource.Rev(odd)
				return item, err
			}
		})
		create(t, h, "/users", ann)
		tag := send(t, h, "GET /users/ann").header.Get("ETag")
		if other, ok := tags[tag]; ok {
			t.Errorf("the revisions %q and %q have one tag", odd, other)
		}
		tags[tag] = odd
	}
}

// long returns an item that is large enough for compression.
func long(t *testing.T, h http.Handler) (path string) {
	t.Helper()
	return create(t, h, "/orders", `{"customerId":"ann","note":"`+strings.Repeat("stoa ", 400)+`"}`)
}

// representations are requests for all representations of one item.
var representations = map[string][]string{
	"plain":         {""},
	"gzip":          {"", "Accept-Encoding: gzip"},
	"fields":        {"?fields=id,status"},
	"other fields":  {"?fields=id,customerId"},
	"expand":        {"?expand=customer"},
	"expand, gzip":  {"?expand=customer", "Accept-Encoding: gzip"},
	"fields, gzip":  {"?fields=id,note", "Accept-Encoding: gzip"},
	"fields, plain": {"?fields=id,note"},
}

func TestRule103TagsOfRepresentations(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := long(t, h)
	create(t, h, "/users", ann)
	tags := map[string]string{}
	for name, req := range representations {
		res := send(t, h, "GET "+path+req[0], req[1:]...)
		want(t, res, http.StatusOK)
		tag := res.header.Get("ETag")
		if !strings.HasPrefix(tag, `"`) || !strings.HasSuffix(tag, `"`) {
			t.Errorf("%s: %s is no strong tag", name, tag)
		}
		if other := tags[tag]; other != "" {
			t.Errorf("%s and %s share the tag %s", name, other, tag)
		}
		tags[tag] = name
	}
	// The order of fields does not change the representation.
	a, b := send(t, h, "GET "+path+"?fields=id,status"), send(t, h, "GET "+path+"?fields=status,id,id")
	if a.body != b.body || a.header.Get("ETag") != b.header.Get("ETag") {
		t.Errorf("%s %s and %s %s should be the same", a.header.Get("ETag"), a.body, b.header.Get("ETag"), b.body)
	}
}

// A related item has its own revision, and the tag of a representation that includes it changes
// with it.
func TestRule103TagsOfExpansions(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", ann)
	path := create(t, h, "/orders", `{"customerId":"ann"}`)
	plain, expanded := send(t, h, "GET "+path), send(t, h, "GET "+path+"?expand=customer")
	want(t, send(t, h, "PATCH /users/ann", mergeBody, "", `{"name":"Anna"}`), http.StatusOK)
	want(t, send(t, h, "GET "+path, "If-None-Match: "+plain.header.Get("ETag")), http.StatusNotModified)
	again := send(t, h, "GET "+path+"?expand=customer", "If-None-Match: "+expanded.header.Get("ETag"))
	want(t, again, http.StatusOK)
	want(t, send(t, h, "GET "+path+"?expand=customer", "If-None-Match: "+again.header.Get("ETag")), http.StatusNotModified)

	// The date of the order does not cover the customer, so there is none.
	date := plain.header.Get("Last-Modified")
	want(t, send(t, h, "GET "+path, "If-Modified-Since: "+date), http.StatusNotModified)
	want(t, send(t, h, "GET "+path+"?expand=customer", "If-Modified-Since: "+date), http.StatusOK, "Last-Modified:")
	want(t, send(t, h, "GET "+path+"?expand=customer", "If-Modified-Since: "+date, "Accept-Encoding: gzip"), http.StatusOK)
	early := "If-Unmodified-Since: " + modified.Add(-time.Hour).Format(http.TimeFormat)
	want(t, send(t, h, "GET "+path, early), http.StatusPreconditionFailed)
	want(t, send(t, h, "GET "+path+"?expand=customer", early), http.StatusOK)
	want(t, send(t, h, "PATCH "+path, mergeBody, "", `{"cents":1}`), http.StatusOK, "Last-Modified: *")
	want(t, send(t, h, "PATCH "+path+"?expand=customer", mergeBody, "", `{"cents":2}`), http.StatusOK, "Last-Modified:")
}

func TestRule103TagsOfContracts(t *testing.T) {
	t.Parallel()
	current, older := contracts(nil)
	create(t, current, "/users", ann)
	a := send(t, current, "GET /users/ann").header.Get("ETag")
	b := send(t, older, "GET /users/ann").header.Get("ETag")
	if a == b {
		t.Errorf("two contracts share the tag %s", a)
	}
	want(t, send(t, current, "GET /users/ann", "If-None-Match: "+b), http.StatusOK)
	want(t, send(t, older, "GET /users/ann", "If-None-Match: "+a), http.StatusOK)

	// Both tags are valid for writes of the current contract, and for the older one that which it shows.
	want(t, send(t, current, "PATCH /users/ann", mergeBody, "If-Match: "+b, "", `{"email":"ann@example.com"}`), http.StatusOK)
	a = send(t, current, "GET /users/ann").header.Get("ETag")
	wantProblem(t, send(t, older, "PUT /users/ann", jsonBody, "If-Match: "+a, "", `{"label":"Anna"}`), problem.PreconditionFailed)
	want(t, send(t, older, "PUT /users/ann", jsonBody, "If-Match: "+b, "", `{"label":"Anna"}`), http.StatusOK)
	wantBody(t, send(t, current, "GET /users/ann"), http.StatusOK,
		`{"id":"ann","name":"Anna","email":"ann@example.com"}`)
	wantProblem(t, send(t, older, "DELETE /users/ann", "If-Match: "+b), problem.PreconditionFailed)
}

func TestRule104AnyVariantWrites(t *testing.T) {
	t.Parallel()
	for name, req := range representations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := api(t)
			path := long(t, h)
			tag := send(t, h, "GET "+path+req[0], req[1:]...).header.Get("ETag")
			want(t, send(t, h, "PATCH "+path, mergeBody, "If-Match: "+tag, "", `{"cents":1}`), http.StatusOK)
			wantProblem(t, send(t, h, "PATCH "+path, mergeBody, "If-Match: "+tag, "", `{"cents":2}`), problem.PreconditionFailed)
			tag = send(t, h, "GET "+path+req[0], req[1:]...).header.Get("ETag")
			put := `{"customerId":"ann","cents":3}`
			want(t, send(t, h, "PUT "+path, jsonBody, "If-Match: "+tag, "", put), http.StatusOK)
			tag = send(t, h, "GET "+path+req[0], req[1:]...).header.Get("ETag")
			want(t, send(t, h, "DELETE "+path, "If-Match: "+tag), http.StatusNoContent)
		})
	}
}

// A tag with the right revision and an unknown or former variant does not match.
func TestRule104UnknownVariants(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	tag := strings.Trim(send(t, h, "GET "+path).header.Get("ETag"), `"`)
	rev, variant, _ := strings.Cut(tag, ".")
	for _, forged := range []string{rev, rev + ".", rev + ".AAAAAAAA", "." + variant, rev + "x." + variant, variant} {
		wantProblem(t, send(t, h, "DELETE "+path, `If-Match: "`+forged+`"`), problem.PreconditionFailed)
	}
	want(t, send(t, h, "DELETE "+path, `If-Match: "`+rev+"."+variant+`"`), http.StatusNoContent)
}

// tagsOfAll returns the tags of all representations of an item.
func tagsOfAll(t *testing.T, h http.Handler, path string) map[string]string {
	t.Helper()
	tags := map[string]string{}
	for name, req := range representations {
		tags[name] = send(t, h, "GET "+path+req[0], req[1:]...).header.Get("ETag")
	}
	return tags
}

func TestRule104OnlyTheSelectedIsUnchanged(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := long(t, h)
	create(t, h, "/users", ann)
	tags := tagsOfAll(t, h, path)
	for name, req := range representations {
		for other, tag := range tags {
			status := http.StatusOK
			if other == name {
				status = http.StatusNotModified
			}
			res := send(t, h, "GET "+path+req[0], append([]string{"If-None-Match: " + tag}, req[1:]...)...)
			if res.status != status {
				t.Errorf("%s with the tag of %s: status %d, want %d", name, other, res.status, status)
			}
		}
	}
}

// If-Match of GET and HEAD compares with the selected representation only. The 412 has the tag of that one,
// so that the client can repeat the request.
func TestRule104OnlyTheSelectedIsRead(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := long(t, h)
	create(t, h, "/users", ann)
	tags := tagsOfAll(t, h, path)
	for name, req := range representations {
		for other, tag := range tags {
			for _, method := range []string{"GET ", "HEAD "} {
				status := http.StatusPreconditionFailed
				if other == name {
					status = http.StatusOK
				}
				fields := append([]string{"If-Match: " + tag}, req[1:]...)
				res := send(t, h, method+path+req[0], fields...)
				if res.status != status || res.header.Get("ETag") != tags[name] {
					t.Errorf("%s%s with the tag of %s: status %d and tag %s, want %d and %s", method, name, other,
						res.status, res.header.Get("ETag"), status, tags[name])
				}
				// If-Match precedes If-None-Match.
				if status == http.StatusOK {
					status = http.StatusNotModified
				}
				res = send(t, h, method+path+req[0], append(fields, "If-None-Match: "+tags[name])...)
				if res.status != status {
					t.Errorf("%s%s with the tag of %s and its own: status %d, want %d", method, name, other,
						res.status, status)
				}
			}
		}
	}
}

// TestRule104ContractsOfReads: the tag of another contract or media type selects nothing on a read.
func TestRule104ContractsOfReads(t *testing.T) {
	t.Parallel()
	current, older := contracts(nil)
	create(t, current, "/users", ann)
	tags := [2]string{}
	for i, h := range []http.Handler{current, older} {
		tags[i] = send(t, h, "GET /users/ann").header.Get("ETag")
	}
	for i, h := range []http.Handler{current, older} {
		want(t, send(t, h, "GET /users/ann", "If-Match: "+tags[i]), http.StatusOK)
		wantProblem(t, send(t, h, "GET /users/ann", "If-Match: "+tags[1-i]), problem.PreconditionFailed,
			"ETag: "+tags[i])
	}
}

// Most clients accept both codings, and the size decides. The tag is that of the coding in the
// response.
func TestRule104GzipClients(t *testing.T) {
	t.Parallel()
	h := api(t)
	tests := []struct{ name, path, coding string }{
		{"small", create(t, h, "/orders", `{"customerId":"ann"}`), ""},
		{"large", long(t, h), "gzip"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const accept = "Accept-Encoding: gzip, deflate, br"
			res := send(t, h, "GET "+tt.path, accept)
			want(t, res, http.StatusOK, "Content-Encoding: "+tt.coding)
			tag := res.header.Get("ETag")
			want(t, send(t, h, "GET "+tt.path, accept, "If-None-Match: "+tag), http.StatusNotModified, "ETag: "+tag)
			want(t, send(t, h, "GET "+tt.path, accept, "If-None-Match: *"), http.StatusNotModified, "ETag: "+tag)
			want(t, send(t, h, "GET "+tt.path, accept, "If-Modified-Since: "+res.header.Get("Last-Modified")),
				http.StatusNotModified, "ETag: "+tag)
			plain := send(t, h, "GET "+tt.path)
			if same := plain.header.Get("ETag") == tag; same != (tt.coding == "") {
				t.Errorf("ETag %s for %q and %s for none", tag, tt.coding, plain.header.Get("ETag"))
			}
			if tt.coding == "gzip" && plain.body != gunzip(t, res) {
				t.Error("the content differs by more than its coding")
			}
		})
	}
}

func TestRule105RevisionsDoNotComeBack(t *testing.T) {
	t.Parallel()
	h := api(t)
	path := create(t, h, "/users", ann)
	seen := map[string]bool{}
	for _, name := range []string{"Ann", "Bob", "Ann", "Bob", "Ann"} { // the same contents, again and again
		send(t, h, "PATCH "+path, mergeBody, "", `{"name":"`+name+`"}`)
		tag := send(t, h, "GET "+path).header.Get("ETag")
		if seen[tag] {
			t.Errorf("the tag %s has come back", tag)
		}
		seen[tag] = true
	}
}

func TestRule106ListTags(t *testing.T) {
	t.Parallel()
	h := api(t)
	tag := func(target string, fields ...string) string {
		t.Helper()
		res := send(t, h, "GET "+target, fields...)
		got := res.header.Get("ETag")
		if !strings.HasPrefix(got, `W/"`) {
			t.Errorf("GET %s: %q is no weak tag", target, got)
		}
		field := "If-None-Match: " + got
		same := send(t, h, "GET "+target, append(fields, field)...)
		want(t, same, http.StatusNotModified, "ETag: "+got, "Link: "+res.header.Get("Link"), "Content-Type:")
		want(t, send(t, h, "HEAD "+target, append(fields, field)...), http.StatusNotModified, "ETag: "+got)
		return got
	}
	tags := map[string]string{}
	distinct := func(what, tag string) {
		t.Helper()
		if other, ok := tags[tag]; ok {
			t.Errorf("%s and %s have the tag %s", what, other, tag)
		}
		tags[tag] = what
	}
	distinct("an empty list", tag("/users"))
	create(t, h, "/users", ann)
	distinct("one item", tag("/users"))
	create(t, h, "/users", `{"id":"bob","name":"Bob"}`)
	distinct("two items", tag("/users"))
	distinct("two items and the total", tag("/users", "Prefer: count=exact"))
	distinct("the first page", tag("/users?limit=1"))
	want(t, send(t, h, "PATCH /users/bob", mergeBody, "", `{"name":"B"}`), http.StatusOK)
	distinct("two items, one changed", tag("/users"))
	want(t, send(t, h, "DELETE /users/bob"), http.StatusNoContent)
	distinct("one item after two", tag("/users")+"again") // the tag with ann alone
	want(t, send(t, h, "GET /users", "If-None-Match: *"), http.StatusNotModified)
	want(t, send(t, h, "GET /users", `If-None-Match: "x"`), http.StatusOK)

	// A change of a related item changes the tag.
	create(t, h, "/orders", `{"customerId":"ann"}`)
	distinct("orders and customers", tag("/orders?expand=customer"))
	want(t, send(t, h, "PATCH /users/ann", mergeBody, "", `{"name":"Anna"}`), http.StatusOK)
	distinct("orders and a changed customer", tag("/orders?expand=customer"))
}

// TestRule106IfMatchOnLists: If-Match compares strongly, and the tag of a list is weak.
func TestRule106IfMatchOnLists(t *testing.T) {
	t.Parallel()
	h := api(t)
	tag := send(t, h, "GET /users").header.Get("ETag")
	const past, ndjson = "If-Unmodified-Since: Thu, 01 Jan 2004 00:00:00 GMT", "Accept: application/x-ndjson"
	tests := []struct {
		name   string
		fields []string
		status int
	}{
		{"the tag of the list", []string{"If-Match: " + tag}, http.StatusPreconditionFailed},
		{"another tag", []string{`If-Match: "x"`}, http.StatusPreconditionFailed},
		{"another tag, before If-None-Match", []string{`If-Match: "x"`, "If-None-Match: " + tag}, http.StatusPreconditionFailed},
		{"any tag", []string{"If-Match: *"}, http.StatusOK},
		{"not a tag", []string{"If-Match: x"}, http.StatusBadRequest},
		{"a date", []string{past}, http.StatusOK},
		{"an export", []string{ndjson, `If-Match: "x"`}, http.StatusPreconditionFailed},
		{"an export with any tag", []string{ndjson, "If-Match: *"}, http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"GET", "HEAD"} {
				want(t, send(t, h, method+" /users", tt.fields...), tt.status)
			}
			// Other errors precede preconditions (RFC 9110 section 13.2.1).
			want(t, send(t, h, "GET /users?limit=x", tt.fields...), http.StatusBadRequest)
		})
	}
}

// Preconditions do not apply to writes to a collection.
func TestRule106NoWritesOnLists(t *testing.T) {
	t.Parallel()
	h := api(t)
	wantProblem(t, send(t, h, "PUT /users", jsonBody, "If-Match: *", "", "[]"), problem.MethodNotAllowed)
	want(t, send(t, h, "POST /users", jsonBody, `If-Match: "x.y"`, "", ann), http.StatusCreated)
	want(t, send(t, h, "POST /users", jsonBody, "If-None-Match: *", "", `{"id":"bob","name":"B"}`), http.StatusCreated)
}

func TestRule107OneTagOneContent(t *testing.T) {
	t.Parallel()
	h := api(t)
	create(t, h, "/users", ann)
	path := long(t, h)
	content := map[string]string{}
	look := func() {
		for _, req := range representations {
			res := send(t, h, "GET "+path+req[0], req[1:]...)
			tag := res.header.Get("ETag")
			if before, ok := content[tag]; ok && before != res.body {
				t.Errorf("the strong tag %s stands for two contents", tag)
			}
			content[tag] = res.body
		}
	}
	look()
	look() // compression must be deterministic
	for i := range 3 {
		want(t, send(t, h, "PATCH "+path, mergeBody, "", fmt.Sprintf(`{"cents":%d}`, i+1)), http.StatusOK)
		look()
		want(t, send(t, h, "PATCH /users/ann", mergeBody, "", fmt.Sprintf(`{"name":"%d"}`, i)), http.StatusOK)
		look()
	}
}
