package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

const (
	incrementType = "application/vnd.example.increment+json"
	formType      = "application/x-www-form-urlencoded"
	incrementBody = "Content-Type: " + incrementType
	fieldsBody    = "Content-Type: " + formType
)

// increment adds numbers to members of an item: {"cents": 5}.
var increment = patch.Format{MediaType: incrementType, Description: "Numbers to add.", Apply: addNumbers}

func addNumbers(doc, delta []byte) ([]byte, error) {
	var add map[string]int64
	if err := json.Unmarshal(delta, &add); err != nil {
		return nil, patch.NewError(patch.Malformed, "", "type", "the patch must be an object of integers")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(doc, &members); err != nil {
		return nil, err
	}
	for name, n := range add {
		var old int64
		if err := json.Unmarshal(members[name], &old); err != nil {
			return nil, patch.NewError(patch.Conflict, "/"+name, "missing", name+" is not a number")
		}
		members[name], _ = json.Marshal(old + n)
	}
	return json.Marshal(members)
}

// assignments sets members of an item to strings, as an HTML form does.
var assignments = patch.Format{MediaType: formType, Idempotent: true, Apply: assignFields}

func assignFields(doc, form []byte) ([]byte, error) {
	values, err := url.ParseQuery(string(form))
	if err != nil {
		return nil, patch.NewError(patch.Malformed, "", "syntax", "the patch is not a form")
	}
	var members map[string]any
	if err := json.Unmarshal(doc, &members); err != nil {
		return nil, err
	}
	for name := range values {
		members[name] = values.Get(name)
	}
	return json.Marshal(members)
}

// withFormats registers both formats.
func withFormats(s *setup) { s.rest.PatchFormats = []patch.Format{increment, assignments} }

// TestPatchFormats checks that a registered format obeys what a merge patch obeys.
func TestPatchFormats(t *testing.T) {
	t.Parallel()
	const stale = `If-Match: "x"`
	first := `{"id":1,"customerId":"u","status":"open","cents":5,"note":null}`
	accept := "Accept-Patch: " + patchTypes + ", " + incrementType + ", " + formType
	tests := []struct {
		name    string
		line    string
		fields  []string // and the body
		status  int
		kind    problem.Kind // of an error
		errors  []string
		body    string // of a success
		changes bool
	}{
		{name: "JSON", changes: true, fields: []string{incrementBody, "", `{"cents":2}`}, status: 200,
			body: strings.Replace(first, "5", "7", 1)},
		{name: "no JSON", changes: true, fields: []string{fieldsBody, "", `note=a+b&status=paid`}, status: 200,
			body: `{"id":1,"customerId":"u","status":"paid","cents":5,"note":"a b"}`},
		{name: "charset", fields: []string{incrementBody + "; charset=utf-8", "", `{}`}, status: 200, body: first},
		{name: "no change", fields: []string{incrementBody, "", `{"cents":0}`}, status: 200, body: first},
		{name: "minimal", changes: true, fields: []string{incrementBody, "Prefer: return=minimal", "", `{"cents":2}`}, status: 204},
		{name: "fields", changes: true, line: "PATCH /orders/1?fields=cents", fields: []string{fieldsBody, "", "note=x"}, status: 200,
			body: `{"cents":5}`},
		{name: "read-only member", fields: []string{incrementBody, "", `{"id":1}`}, kind: problem.Invalid,
			errors: []string{"/id readOnly"}},
		{name: "validation", fields: []string{incrementBody, "", `{"cents":-6}`}, kind: problem.Invalid,
			errors: []string{"/cents minimum"}},
		{name: "unknown member", fields: []string{fieldsBody, "", "cent=1"}, kind: problem.Invalid,
			errors: []string{"/cent unknown"}},
		{name: "lenient", fields: []string{fieldsBody, "Prefer: handling=lenient", "", "cent=1"}, status: 200, body: first},
		{name: "type", fields: []string{fieldsBody, "", "cents=7"}, kind: problem.Invalid, errors: []string{"/cents type"}},
		{name: "conflict", fields: []string{incrementBody, "", `{"status":1}`}, kind: problem.PatchConflict,
			errors: []string{"/status missing"}},
		{name: "malformed", fields: []string{incrementBody, "", `[]`}, kind: problem.MalformedPatch,
			errors: []string{" type"}},
		{name: "malformed JSON", fields: []string{incrementBody, "", `{"cents":`}, kind: problem.MalformedPatch,
			errors: []string{" syntax"}},
		{name: "duplicate member", fields: []string{incrementBody, "", `{"cents":1,"cents":2}`},
			kind: problem.MalformedPatch, errors: []string{" duplicate"}},
		{name: "malformed form", fields: []string{fieldsBody, "", `%`}, kind: problem.MalformedPatch,
			errors: []string{" syntax"}},
		{name: "depth", fields: []string{incrementBody, "", strings.Repeat("[", 70) + strings.Repeat("]", 70)},
			kind: problem.TooLarge, errors: []string{" depth"}},
		{name: "size", fields: []string{fieldsBody, "", "note=" + strings.Repeat("x", 2000)}, kind: problem.TooLarge},
		{name: "empty", fields: []string{incrementBody}, kind: problem.MalformedPatch, errors: []string{" syntax"}},
		{name: "stale", fields: []string{incrementBody, stale, "", `{"cents":1}`}, kind: problem.PreconditionFailed},
		{name: "stale before malformed", fields: []string{incrementBody, stale, "", `[`}, kind: problem.PreconditionFailed},
		{name: "missing item", line: "PATCH /orders/7", fields: []string{incrementBody, "", `[`}, kind: problem.NotFound},
		{name: "other type", fields: []string{"Content-Type: text/plain", "", "x"}, kind: problem.UnsupportedMediaType},
		{name: "charset other than UTF-8", fields: []string{incrementBody + "; charset=latin1", "", `{}`},
			kind: problem.UnsupportedMediaType},
		{name: "PUT", line: "PUT /orders/1", fields: []string{incrementBody, "", `{}`}, kind: problem.UnsupportedMediaType},
		{name: "POST", line: "POST /orders", fields: []string{fieldsBody, "", ""}, kind: problem.UnsupportedMediaType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := api(t, withFormats, func(s *setup) { s.catalog.Limits.Body = 1000 })
			path := create(t, h, "/orders", `{"customerId":"u","cents":5}`)
			tag := send(t, h, "GET "+path).header.Get("Etag")
			line := tt.line
			if line == "" {
				line = "PATCH " + path
			}
			res := send(t, h, line, tt.fields...)
			after := send(t, h, "GET "+path)
			want(t, after, http.StatusOK)
			want(t, send(t, h, "OPTIONS "+path), http.StatusNoContent, accept)
			if tt.kind != "" {
				wantErrors(t, wantProblem(t, res, tt.kind), tt.errors...)
			} else {
				wantBody(t, res, tt.status, tt.body)
			}
			if changed := after.header.Get("Etag") != tag; changed != tt.changes {
				t.Errorf("the item has changed: %v: %s", changed, after.body)
			}
		})
	}
}

// TestPatchFormatsKeys: a retry with the same key is carried out once, whatever its formatting.
func TestPatchFormatsKeys(t *testing.T) {
	t.Parallel()
	h := api(t, withFormats, func(s *setup) {
		s.catalog.Idempotency = idempotency.New(idempotency.NewMemory(nil), nil)
		s.catalog.Principal = func(context.Context) string { return "ann" }
	})
	path := create(t, h, "/orders", `{"customerId":"u","cents":5}`)
	tests := []struct{ name, first, again, firstType, againType string }{
		{"increment", `{"cents":1}`, ` { "cents" : 1 } `, incrementBody, incrementBody},
		{"form", "cents2=", "cents2=", fieldsBody, fieldsBody},
		{"plain JSON", `{"note":"x"}`, `{ "note": "x" }`, jsonBody, jsonBody},
		{"merge patch as plain JSON", `{"note":"y"}`, `{"note":"y"}`, mergeBody, jsonBody},
	}
	for _, tt := range tests {
		key := "Idempotency-Key: " + strings.ReplaceAll(tt.name, " ", "-")
		lenient := "Prefer: handling=lenient" // the form has an unknown member
		res := send(t, h, "PATCH "+path, tt.firstType, key, lenient, "", tt.first)
		want(t, res, http.StatusOK, "Idempotency-Replayed:")
		again := send(t, h, "PATCH "+path, tt.againType, key, lenient, "", tt.again)
		want(t, again, http.StatusOK, "Idempotency-Replayed: true", "Etag: "+res.header.Get("Etag"))
		same(t, tt.name, res.body, again.body)
	}
	for _, other := range [][]string{
		{incrementBody, "", `{"cents":2}`},            // another content
		{mergeBody, "", `{"cents":1}`},                // another format
		{"Content-Type: " + patch.JSONType, "", `[]`}, // another format
	} {
		fields := append([]string{"Idempotency-Key: increment", "Prefer: handling=lenient"}, other...)
		wantProblem(t, send(t, h, "PATCH "+path, fields...), problem.KeyReused)
	}
	// Formats that are not JSON are compared by byte.
	wantProblem(t, send(t, h, "PATCH "+path, fieldsBody, "Idempotency-Key: form", "Prefer: handling=lenient", "", "cents2=&"),
		problem.KeyReused)
	if res := send(t, h, "GET "+path); !strings.Contains(res.body, `"cents":6`) {
		t.Errorf("the increment was not applied once: %s", res.body)
	}
}

// TestPatchFormatsConcurrently: a stale write applies the patch to the new item.
func TestPatchFormatsConcurrently(t *testing.T) {
	t.Parallel()
	h := api(t, withFormats)
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	const writers, writes = 8, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range writes {
				want(t, send(t, h, "PATCH "+path, incrementBody, "", `{"cents":1}`), http.StatusOK)
			}
		})
	}
	wg.Wait()
	wantBody(t, send(t, h, "GET "+path+"?fields=cents"), http.StatusOK, `{"cents":200}`)
}

// TestPatchFormatsOfViews: the document has the members of the contract, and those that it lacks
// survive.
func TestPatchFormatsOfViews(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	hub := resource.New("books", store, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	opts := &rest.Options{PatchFormats: []patch.Format{increment, assignments}}
	h := catalogWith(t, opts, older)
	wantBody(t, send(t, h, "PATCH /books/1", incrementBody, "", `{"stars":1}`), http.StatusOK,
		`{"id":1,"name":"Emma","stars":5}`)
	wantBody(t, send(t, h, "PATCH /books/1", fieldsBody, "", `name=Persuasion`), http.StatusOK,
		`{"id":1,"name":"Persuasion","stars":5}`)
	wantProblem(t, send(t, h, "PATCH /books/1", incrementBody, "", `{"authorId":1}`), problem.PatchConflict)
	after := shelved()
	after.ID, after.Title, after.Stars = 1, "Persuasion", 5
	same(t, "stored", after, stored(t, store, "1"))
}

// locker has writeOnly members in an object and in the elements of an array.
type locker struct {
	ID    string `json:"id" readOnly:"true"`
	Name  string `json:"name"`
	PIN   string `json:"pin" writeOnly:"true" required:"true"`
	Owner owner  `json:"owner"`
	Keys  []key  `json:"keys"`
}

type owner struct {
	Name   string `json:"name"`
	Secret string `json:"secret,omitempty" writeOnly:"true"`
}

type key struct {
	Label string `json:"label"`
	Code  string `json:"code" writeOnly:"true"`
}

// TestPatchFormatsSeeNoSecrets: Apply does not get writeOnly members, and they survive.
func TestPatchFormatsSeeNoSecrets(t *testing.T) {
	t.Parallel()
	// edit replaces members of the document, at any depth, and records it.
	var seen string
	edit := patch.Format{MediaType: "text/x-edit", Apply: func(doc, edits []byte) ([]byte, error) {
		seen = string(doc)
		from, to, _ := strings.Cut(string(edits), "=>")
		return []byte(strings.ReplaceAll(seen, from, to)), nil
	}}
	// No secret is hexadecimal, because the id is a random UUID.
	begin := locker{Name: "a", PIN: "p123", Owner: owner{"ann", "hush"},
		Keys: []key{{"k1", "z1"}, {"k2", "z2"}, {"k3", "z3"}}}
	tests := []struct {
		name, patch string
		change      func(l *locker)
	}{
		{"member", `"name":"a"=>"name":"b"`, func(l *locker) { l.Name = "b" }},
		{"secret", `"name":"a"=>"name":"a","pin":"9"`, func(l *locker) { l.PIN = "9" }},
		{"member beside a nested secret", `"ann"=>"bob"`, func(l *locker) { l.Owner.Name = "bob" }},
		{"order of elements", `{"label":"k1"},{"label":"k2"}=>{"label":"k2"},{"label":"k1"}`,
			func(l *locker) { l.Keys[0], l.Keys[1] = l.Keys[1], l.Keys[0] }},
		{"removed element", `{"label":"k1"},=>`, func(l *locker) { l.Keys = l.Keys[1:] }},
		{"changed element is a new one", `"k2"=>"k9"`, func(l *locker) { l.Keys[1] = key{Label: "k9"} }},
		{"replaced object", `{"name":"ann"}=>{}`, func(l *locker) { l.Owner = owner{Secret: "hush"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { // not parallel, because of seen
			store := stocked(t, begin)
			id := onlyID(t, store)
			h := catalogWith(t, &rest.Options{PatchFormats: []patch.Format{edit}}, resource.New("lockers", store, nil))
			want(t, send(t, h, "PATCH /lockers/"+id, "Content-Type: text/x-edit", "", tt.patch), http.StatusOK)
			for _, secret := range []string{"pin", "p123", "hush", "code", "z1"} {
				if strings.Contains(seen, secret) {
					t.Errorf("Apply was given %s: %s", secret, seen)
				}
			}
			after := begin
			after.Keys = slices.Clone(begin.Keys)
			after.ID = id
			tt.change(&after)
			same(t, "stored", after, stored(t, store, id))
		})
	}
}

// onlyID returns the id of the only item.
func onlyID(t *testing.T, store *memory.Store[locker]) string {
	t.Helper()
	for it, err := range store.List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		return it.ID
	}
	t.Fatal("there is no item")
	return ""
}

// TestPatchFormatsNameTheVersion: with VersionInPatch an object in a registered format, and one as
// application/json, may have the member that names the contract.
func TestPatchFormatsNameTheVersion(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	hub := resource.New("books", store, nil)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	contracts := func(inPatch bool) http.Handler {
		opts := &rest.Options{PatchFormats: []patch.Format{increment, assignments},
			Resources: map[string]rest.ResourceOptions{"books": {VersionInPatch: inPatch}}}
		return version.New([]version.Contract{{Name: "1.0.0", Handler: catalogWith(t, opts, older)},
			{Name: "2.0.0", Handler: catalogWith(t, opts, hub)}}, []version.Strategy{version.Body{}, version.Query{}},
			&version.Options{Default: "2.0.0"})
	}
	h := contracts(true)
	wantBody(t, send(t, h, "PATCH /books/1", incrementBody, "", `{"version":"1.0","stars":1}`), http.StatusOK,
		`{"id":1,"name":"Emma","stars":5,"version":"1.0"}`)
	wantBody(t, send(t, h, "PATCH /books/1", jsonBody, "", `{"version":1,"name":"Persuasion"}`), http.StatusOK,
		`{"id":1,"name":"Persuasion","stars":5,"version":"1.0"}`)
	wantProblem(t, send(t, h, "PATCH /books/1", incrementBody, "", `{"version":"7"}`), problem.UnsupportedVersion)
	wantProblem(t, send(t, h, "PATCH /books/1", fieldsBody, "", `version=1.0`), problem.Invalid) // no JSON, so it is data
	h = contracts(false)
	wantProblem(t, send(t, h, "PATCH /books/1", jsonBody, "", `{"version":"1.0"}`), problem.Invalid)
	wantProblem(t, send(t, h, "PATCH /books/1", incrementBody, "", `{"version":"1.0"}`), problem.MalformedPatch)
}

// TestPatchFormatsInBatches: an operation names the format by patchType.
func TestPatchFormatsInBatches(t *testing.T) {
	t.Parallel()
	h := api(t, withFormats, func(s *setup) {
		s.catalog.Idempotency = idempotency.New(idempotency.NewMemory(nil), nil)
		s.catalog.Principal = func(context.Context) string { return "ann" }
	})
	create(t, h, "/orders", `{"customerId":"u","cents":5}`)
	create(t, h, "/orders", `{"customerId":"u","cents":0}`)
	op := func(id, mediaType, text string) string {
		return `{"op":"patch","id":"` + id + `","patchType":"` + mediaType + `","patch":` + text + `}`
	}
	batch := func(ops ...string) []string {
		return []string{batchBody, "", `{"operations":[` + strings.Join(ops, ",") + `]}`}
	}
	move := batch(op("1", incrementType, `{"cents":-3}`), op("2", incrementType, `{"cents":3}`),
		op("2", patch.MergeType, `{"note":"x"}`), op("1", patch.JSONType, `[{"op":"test","path":"/cents","value":2}]`))
	for _, replayed := range []string{"", " true"} {
		want(t, send(t, h, "POST /orders", append([]string{"Idempotency-Key: k"}, move...)...), http.StatusOK,
			"Idempotency-Replayed:"+replayed)
	}
	wantBody(t, send(t, h, "GET /orders?fields=cents,note"), http.StatusOK,
		`{"items":[{"cents":2,"note":null},{"cents":3,"note":"x"}]}`)
	other := batch(op("1", patch.MergeType, `{"cents":-3}`), op("2", incrementType, `{"cents":3}`),
		op("2", patch.MergeType, `{"note":"x"}`), op("1", patch.JSONType, `[{"op":"test","path":"/cents","value":2}]`))
	wantProblem(t, send(t, h, "POST /orders", append([]string{"Idempotency-Key: k"}, other...)...), problem.KeyReused)

	// One that fails rolls back all.
	wantErrors(t, wantProblem(t, send(t, h, "POST /orders", batch(op("2", incrementType, `{"cents":3}`),
		op("1", incrementType, `{"cents":-3}`))...), problem.Invalid), "/operations/1/patch/cents minimum")
	for _, tt := range []struct{ op, want string }{
		{op("1", incrementType, `[]`), "/operations/0/patch type"},
		{op("1", formType, `"note=x"`), "/operations/0/patchType enum"},
		{op("1", "text/plain", `{}`), "/operations/0/patchType enum"},
		{op("1", patch.JSONType, `{}`), "/operations/0/patch type"},
		{`{"op":"delete","id":"1","patchType":"` + incrementType + `"}`, "/operations/0/patchType unknown"},
	} {
		kind := problem.Invalid
		if strings.Contains(tt.op, "[]") {
			kind = problem.MalformedPatch // Apply reports it
		}
		wantErrors(t, wantProblem(t, send(t, h, "POST /orders", batch(tt.op)...), kind), tt.want)
	}
	wantBody(t, send(t, h, "GET /orders?fields=cents"), http.StatusOK, `{"items":[{"cents":2},{"cents":3}]}`)
	wantErrors(t, wantProblem(t, send(t, api(t), "POST /orders", batch(op("1", patch.MergeType, `{}`))...), problem.Invalid),
		"/operations/0/patchType unknown")
}

// TestPatchFormatsFaults: a fault of Apply is 500 and writes nothing.
func TestPatchFormatsFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]func(doc, p []byte) ([]byte, error){
		"no JSON":  func([]byte, []byte) ([]byte, error) { return []byte("{"), nil },
		"nothing":  func([]byte, []byte) ([]byte, error) { return nil, nil },
		"an error": func([]byte, []byte) ([]byte, error) { return nil, errors.New("secret") },
		"a panic":  func([]byte, []byte) ([]byte, error) { panic("secret") },
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := api(t, func(s *setup) {
				s.rest.PatchFormats = []patch.Format{{MediaType: incrementType, Apply: faults[name]}}
			})
			path := create(t, h, "/orders", `{"customerId":"u"}`)
			res := send(t, h, "PATCH "+path, incrementBody, "", `{}`)
			wantProblem(t, res, problem.Internal)
			if strings.Contains(res.body, "secret") {
				t.Errorf("the response has the error: %s", res.body)
			}
		})
	}
	large := strings.Repeat("x", 9<<20)
	h := api(t, func(s *setup) {
		s.rest.PatchFormats = []patch.Format{{MediaType: incrementType,
			Apply: func([]byte, []byte) ([]byte, error) { return []byte(`{"note":"` + large + `"}`), nil }}}
	})
	path := create(t, h, "/orders", `{"customerId":"u"}`)
	wantErrors(t, wantProblem(t, send(t, h, "PATCH "+path, incrementBody, "", `{}`), problem.TooLarge), " size")
}

// TestPatchFormatsAreChecked: a mistake in the options is reported at start.
func TestPatchFormatsAreChecked(t *testing.T) {
	t.Parallel()
	apply := increment.Apply
	tests := []struct {
		formats []patch.Format
		want    string
	}{
		{[]patch.Format{{MediaType: incrementType}},
			`rest: Options.PatchFormats[0]: patch: the format "` + incrementType + `" has no Apply`},
		{[]patch.Format{{Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "" must be a type in lower case without parameters`},
		{[]patch.Format{{MediaType: "json", Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "json" must be a type in lower case without parameters`},
		{[]patch.Format{{MediaType: "Application/X+json", Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "Application/X+json" must be a type in lower case without parameters`},
		{[]patch.Format{{MediaType: "text/x; a=b", Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "text/x; a=b" must be a type in lower case without parameters`},
		{[]patch.Format{{MediaType: patch.MergeType, Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "` + patch.MergeType + `" has a standard meaning; choose another one`},
		{[]patch.Format{{MediaType: "application/json", Apply: apply}},
			`rest: Options.PatchFormats[0]: patch: media type "application/json" has a standard meaning; choose another one`},
		{[]patch.Format{increment, increment},
			`rest: Options.PatchFormats has "` + incrementType + `" twice; use one media type for each format`},
	}
	for _, tt := range tests {
		wantPanic(t, tt.want, func() { catalogWith(t, &rest.Options{PatchFormats: tt.formats}) })
	}
}
