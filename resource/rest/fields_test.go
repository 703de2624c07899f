package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Guarantees of fields in all operations: writeOnly, json:"-" and large numbers.

type credentials struct {
	User   string `json:"user"`
	Secret string `json:"secret,omitempty" writeOnly:"true"`
}

type vault struct {
	ID    string                 `json:"id"`
	Name  string                 `json:"name"`
	PIN   string                 `json:"pin,omitempty" writeOnly:"true" minLength:"4"`
	Main  credentials            `json:"main"`
	More  []credentials          `json:"more,omitempty"`
	Named map[string]credentials `json:"named,omitempty"`
	Free  any                    `json:"free"`
	Next  *vault                 `json:"next,omitempty"`
}

func secrets() vault {
	one := credentials{User: "u", Secret: "hush-main"}
	return vault{ID: "a", Name: "A", PIN: "hush-pin", Main: one, More: []credentials{{User: "v", Secret: "hush-more"}},
		Named: map[string]credentials{"x/y": {User: "w", Secret: "hush-named"}},
		Next:  &vault{ID: "b", Name: "B", PIN: "hush-next"}}
}

const openVault = `{"id":"a","name":"A","main":{"user":"u"},"more":[{"user":"v"}],"named":{"x/y":{"user":"w"}},` +
	`"free":null,"next":{"id":"b","name":"B","main":{"user":""},"free":null}}`

// TestSecretsNeverAppear: a client may set a writeOnly field, and no response contains it.
func TestSecretsNeverAppear(t *testing.T) {
	t.Parallel()
	store := stocked[vault](t)
	if _, err := store.Insert(t.Context(), "a", secrets()); err != nil {
		t.Fatal(err)
	}
	o := &resource.Options[vault]{Relations: []resource.Relation[vault]{
		{Name: "self", Target: "vaults", Keys: func(v *vault) []string { return []string{v.ID} }}}}
	h := catalog(t, resource.New("vaults", store, o))
	wantBody(t, send(t, h, "GET /vaults/a"), http.StatusOK, openVault)
	for _, exchange := range [][]string{
		{"GET /vaults/a"}, {"GET /vaults"}, {"GET /vaults", "Accept: application/x-ndjson"}, {"GET /vaults/a?expand=self"},
		{"GET /vaults/a?fields=main,named,next"}, {"GET /vaults/a?fields=pin"}, {"GET /vaults?sort=pin"},
		{"GET /vaults?pin=hush-pin"},
		{"POST /vaults", jsonBody, "", `{"id":"c","name":"C","pin":"hush-new","main":{"user":"u","secret":"hush"},"free":1}`},
		{"POST /vaults", jsonBody, "", `{"id":"d","pin":"hus"}`},
		{"PUT /vaults/e", jsonBody, "", `{"name":"C","pin":"hush-new","main":{"user":"u","secret":"hush"},"free":1}`},
		{"PUT /vaults/a", jsonBody, "", openVault},
		{"PATCH /vaults/a", mergeBody, "", `{"name":"A2","pin":"hush-other"}`},
		{"DELETE /vaults/c"},
	} {
		res := send(t, h, exchange[0], exchange[1:]...)
		if strings.Contains(res.body, "hush") || strings.Contains(strings.Join(res.header["Link"], ""), "hush") {
			t.Errorf("%s tells: %s %v", res.line, res.body, res.header)
		}
	}
}

// TestSecretsSurvive: sending back the received item, or patching another member, does not remove a
// secret.
func TestSecretsSurvive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		rest   []string
		change func(*vault)
	}{
		{"PATCH", []string{mergeBody, "", `{"name":"A2"}`}, func(v *vault) { v.Name = "A2" }},
		{"PATCH", []string{mergeBody, "", `{"main":{"user":"u2"}}`}, func(v *vault) { v.Main.User = "u2" }},
		{"PATCH", []string{mergeBody, "", `{"pin":"open"}`}, func(v *vault) { v.PIN = "open" }},
		{"PATCH", []string{mergeBody, "", `{"pin":null}`}, func(v *vault) { v.PIN = "" }},
		{"PATCH", []string{patchBody, "", `[{"op":"replace","path":"/name","value":"A2"}]`}, func(v *vault) { v.Name = "A2" }},
		{"PATCH", []string{patchBody, "", `[{"op":"replace","path":"/pin","value":"open"}]`}, func(v *vault) { v.PIN = "open" }},
		{"PATCH", []string{patchBody, "", `[{"op":"remove","path":"/main/secret"}]`}, func(v *vault) { v.Main.Secret = "" }},
		{"PUT", []string{jsonBody, "", `{"name":"A2","main":{"user":"u"},"free":null}`}, func(v *vault) {
			v.Name, v.More, v.Named, v.Next = "A2", nil, nil, nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.rest[2], func(t *testing.T) {
			t.Parallel()
			store := stocked[vault](t)
			if _, err := store.Insert(t.Context(), "a", secrets()); err != nil {
				t.Fatal(err)
			}
			want(t, send(t, catalog(t, resource.New("vaults", store, nil)), tt.name+" /vaults/a", tt.rest...), http.StatusOK)
			expected := secrets()
			tt.change(&expected)
			same(t, "stored", expected, stored(t, store, "a"))
		})
	}
}

// TestSecretsCannotBeRead: no patch operation copies a secret to a readable member or confirms a
// guess.
func TestSecretsCannotBeRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		op, pointer string
		refused     bool
	}{
		{`{"op":"copy","from":"/pin","path":"/name"}`, "/pin", true},
		{`{"op":"move","from":"/pin","path":"/name"}`, "/pin", true},
		{`{"op":"test","path":"/pin","value":"hush-pin"}`, "/pin", true},
		{`{"op":"test","path":"/pin","value":"wrong"}`, "/pin", true},
		{`{"op":"copy","from":"","path":"/free"}`, "", false},
		{`{"op":"copy","from":"/main","path":"/free"}`, "", false},
		{`{"op":"copy","from":"/main/secret","path":"/free"}`, "/main/secret", true},
		{`{"op":"copy","from":"/more","path":"/free"}`, "", false},
		{`{"op":"copy","from":"/more/0/secret","path":"/free"}`, "/more/0/secret", true},
		{`{"op":"copy","from":"/named/x~1y/secret","path":"/free"}`, "/named/x~1y/secret", true},
		{`{"op":"move","from":"/named/x~1y","path":"/free"}`, "", false},
		{`{"op":"copy","from":"/next","path":"/free"}`, "", false},
		{`{"op":"copy","from":"/next/pin","path":"/free"}`, "/next/pin", true},
		{`{"op":"copy","from":"/nothing","path":"/free"}`, "/nothing", true},
		{`{"op":"copy","from":"/main/user","path":"/name"}`, "", false},
		{`{"op":"test","path":"/more/0/user","value":"v"}`, "", false},
		{`{"op":"copy","from":"/next/name","path":"/free"}`, "", false},
		{`{"op":"test","path":"/free","value":null}`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.op, func(t *testing.T) {
			t.Parallel()
			store := stocked[vault](t)
			if _, err := store.Insert(t.Context(), "a", secrets()); err != nil {
				t.Fatal(err)
			}
			h := catalog(t, resource.New("vaults", store, nil))
			res := send(t, h, "PATCH /vaults/a", patchBody, "", `[{"op":"add","path":"/free","value":1},`+
				`{"op":"replace","path":"/free","value":null},`+tt.op+`]`)
			if strings.Contains(res.body, "hush") {
				t.Errorf("it tells: %s", res.body)
			}
			if !tt.refused {
				want(t, res, http.StatusOK)
				return
			}
			d := wantProblem(t, res, problem.PatchConflict)
			wantErrors(t, d, tt.pointer+" missing")
			if len(d.Errors) == 1 {
				same(t, "operation", new(2), d.Errors[0].Operation)
			}
			same(t, "stored", secrets(), stored(t, store, "a"))
		})
	}
}

// TestHiddenFieldsSurvive: no write of a client changes a field with json:"-".
func TestHiddenFieldsSurvive(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	h := catalog(t, resource.New("books", store, nil))
	for i, exchange := range [][]string{
		{"PUT /books/1", jsonBody, "", `{"title":"b"}`},
		{"PATCH /books/1", mergeBody, "", `{"title":"c"}`},
		{"PATCH /books/1", patchBody, "", `[{"op":"replace","path":"","value":{"id":1,"title":"d","authorId":1,"owner":"",` +
			`"stars":1,"note":null}}]`},
	} {
		want(t, send(t, h, exchange[0], exchange[1:]...), http.StatusOK)
		b := stored(t, store, "1")
		same(t, exchange[0], []string{"B3", string(rune('b' + i))}, []string{b.Shelf, b.Title})
	}
	for _, name := range []string{"Shelf", "shelf", "-"} {
		res := send(t, h, "PATCH /books/1", mergeBody, "", `{"`+name+`":"Z"}`)
		wantErrors(t, wantProblem(t, res, problem.Invalid), "/"+name+" unknown")
	}
}

// TestLargeNumbersSurvive: numbers are not converted to float64.
func TestLargeNumbersSurvive(t *testing.T) {
	t.Parallel()
	const large = "9007199254740993" // 2^53 + 1
	store := stocked[book](t)
	h := catalog(t, resource.New("books", store, &resource.Options[book]{Query: bookSupport()}))
	path := create(t, h, "/books", `{"title":"a","stars":`+large+`}`)
	check := func(res *response) {
		t.Helper()
		want(t, res, http.StatusOK)
		if !strings.Contains(res.body, `"stars":`+large+`,`) {
			t.Errorf("%s: %s", res.line, res.body)
		}
	}
	check(send(t, h, "GET "+path))
	check(send(t, h, "PATCH "+path, mergeBody, "", `{"title":"b"}`))
	check(send(t, h, "PATCH "+path, patchBody, "", `[{"op":"test","path":"/stars","value":`+large+`},`+
		`{"op":"copy","from":"/stars","path":"/authorId"}]`))
	wantProblem(t, send(t, h, "PATCH "+path, patchBody, "", `[{"op":"test","path":"/stars","value":9007199254740992}]`),
		problem.PatchConflict)
	check(send(t, h, "GET /books?stars="+large))
	wantBody(t, send(t, h, "GET /books?stars=9007199254740992"), http.StatusOK, `{"items":[]}`)
	same(t, "author", int64(9007199254740993), stored(t, store, "1").Author)

	want(t, send(t, h, "POST /books", jsonBody, "", `{"title":"z","stars":9007199254740992}`), http.StatusCreated)
	pages := walk[book](t, h, "/books?sort=stars&limit=1", "next") // and so do cursors
	same(t, "in order", [][]int64{{2}, {1}}, [][]int64{ids(pages[0]), ids(pages[1])})
	want(t, send(t, h, "GET /books/"+large), http.StatusNotFound)
}

// TestFieldsOfViews: the fields of a response have the names of its contract.
func TestFieldsOfViews(t *testing.T) {
	t.Parallel()
	books := resource.New("books", stocked(t, shelved()), nil)
	older := catalog(t, resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}}))
	wantBody(t, send(t, older, "GET /books?fields=name"), http.StatusOK, `{"items":[{"name":"Emma"}]}`)
	for _, target := range []string{"/books?fields=title", "/books/1?fields=title"} {
		wantErrors(t, wantProblem(t, send(t, older, "GET "+target), problem.InvalidParameter), "?fields unknownField")
	}
}
