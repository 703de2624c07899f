package openapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// commanded describes a catalog of one command, called a/b.
func commanded[In, Out any](t *testing.T, opts *command.Options[In]) (d reader, post object) {
	t.Helper()
	c := command.New("a/b", func(context.Context, In) (out Out, err error) { return out, nil }, opts)
	d = described(t, openapi.New(resource.NewCatalog(nil, c), nil))
	return d, d.at(d.root, "paths", "/a/b", "post").(object)
}

// TestCommandExamplesAreTaken sends what the document gives as examples.
func TestCommandExamplesAreTaken(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	for path, want := range map[string]int{"/auth/login": 200, "/auth/logout": 200,
		"/orders/cancel-stale": 202, "/orders/newest": 200} {
		body := ""
		if d.at(d.root, "paths", path, "post", "requestBody") != nil {
			body = d.sample(t, path, "post", "application/json")
		}
		res := send(shop.handler(), "POST "+path, body)
		if res.StatusCode != want {
			t.Errorf("POST %s: %d, want %d", path, res.StatusCode, want)
		}
		d.check(t, path, "POST "+path, res)
	}
}

// TestLinksLead from an answer to an operation that takes what is found there.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	const path = "/orders/cancel-stale"
	link := d.at(d.root, "paths", path, "post", "responses", "202", "links", "job").(object)
	at := ""
	d.operations(func(path, method string, op object) {
		if op["operationId"] == link["operationId"] {
			at = method + " " + path
		}
	})
	if at != "GET /jobs/{id}" {
		t.Errorf("the link leads to %q", at)
	}
	if diff := cmp.Diff(object{"id": "$response.body#/id"}, link["parameters"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	res := send(shop.handler(), "POST "+path, `{"olderThan":"24h"}`)
	var job struct{ ID string }
	if err := json.NewDecoder(res.Body).Decode(&job); err != nil || res.StatusCode != http.StatusAccepted {
		t.Fatalf("%d: %v", res.StatusCode, err)
	}
	if got := res.Header.Get("Location"); got != "/jobs/"+job.ID || send(shop.handler(), "GET "+got,
		"").StatusCode != http.StatusOK {
		t.Errorf("the job is at %q", got)
	}
}

// TestWhatCommandsCanAnswer checks the responses of commands, which depend on input, output,
// policy and declared errors.
func TestWhatCommandsCanAnswer(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, *credentials) error { return nil }
	statuses := func(_ reader, post object) string {
		var out []string
		for status := range post["responses"].(object) {
			out = append(out, status)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	tests := []struct{ name, got, want string }{
		{"nothing", statuses(commanded[nothing, nothing](t, nil)), "200 204 400 406 414 500 503 default"},
		{"gives", statuses(commanded[nothing, token](t, nil)), "200 204 400 406 414 500 503 default"},
		{"takes", statuses(commanded[credentials, nothing](t, nil)),
			"200 204 400 406 413 414 415 422 500 503 default"},
		{"policy", statuses(commanded[credentials, nothing](t,
			&command.Options[credentials]{Authorize: allow})),
			"200 204 400 401 403 404 406 413 414 415 422 500 503 default"},
		{"problems", statuses(commanded[nothing, nothing](t, &command.Options[nothing]{
			Problems: []problem.Kind{problem.Exists, problem.TooManyRequests, problem.Unavailable,
				"https://example.com/mine"}})),
			"200 204 400 406 409 414 429 500 503 default"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestCommandDescriptions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Long ", 30)
	tests := []struct{ doc, summary, description string }{
		{"", "The command a/b", "The response is sent when the command has ended."},
		{"Counts.", "Counts", "Counts. The response is sent when the command has ended."},
		{"Counts. Slowly", "Counts", "Counts. Slowly. The response is sent when the command has ended."},
		{long, "The command a/b", strings.TrimSpace(long) +
			". The response is sent when the command has ended."},
		{"A\nB. C", "The command a/b", "A\nB. C. The response is sent when the command has ended."},
	}
	for _, tt := range tests {
		_, post := commanded[nothing, nothing](t, &command.Options[nothing]{Doc: tt.doc})
		if diff := cmp.Diff([]any{tt.summary, tt.description},
			[]any{post["summary"], post["description"]}); diff != "" {
			t.Errorf("%.20q (-want +got):\n%s", tt.doc, diff)
		}
	}
}

// TestCommandsAreSecured by name, as something that is invoked.
func TestCommandsAreSecured(t *testing.T) {
	t.Parallel()
	bearer := []openapi.SecurityScheme{{Name: "bearer", Type: "http", Scheme: "bearer"}}
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST, Security: bearer,
		Secured: func(name string, op resource.Op) bool {
			return op == command.OpInvoke && name != "auth/login" || name == "photos" && op == resource.OpGet
		}}))
	for at, want := range map[string]bool{"/auth/login post": false, "/auth/logout post": true,
		"/orders/newest post": true,
		"/orders post":        false, "/photos/{id} get": true, "/photos/{id} put": false,
		"/files/{id} get": false} {
		path, method, _ := strings.Cut(at, " ")
		if got := d.at(d.root, "paths", path, method).(object)["security"] == nil; got != want {
			t.Errorf("%s needs a token: %v", at, got)
		}
	}
}

// example returns what is made up for the input of a command, as JSON; "" if nothing is.
func example[In any](t *testing.T) string {
	t.Helper()
	d, post := commanded[In, nothing](t, nil)
	v := d.at(post, "requestBody", "content", "application/json", "examples", "sample", "value")
	if v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestInventedExamples are what the library takes, or are not there.
func TestInventedExamples(t *testing.T) {
	t.Parallel()
	type texts struct {
		Day   string    `json:"day" required:"true" format:"date"`
		At    time.Time `json:"at" required:"true"`
		URI   string    `json:"uri" required:"true" format:"uri"`
		Host  string    `json:"host" required:"true" format:"hostname"`
		IP    string    `json:"ip" required:"true" format:"ipv4"`
		UUID  string    `json:"uuid" required:"true" format:"uuid"`
		Raw   []byte    `json:"raw" required:"true"`
		Short string    `json:"short" required:"true" maxLength:"2"`
		Long  string    `json:"long" required:"true" minLength:"6"`
		Own   string    `json:"own" required:"true" format:"x-colour"`
	}
	type numbers struct {
		Some  int     `json:"some" required:"true"`
		Least float64 `json:"least" required:"true" minimum:"2.5"`
		Most  int     `json:"most" required:"true" maximum:"-4"`
		Text  int64   `json:"text,string" required:"true"`
		Yes   bool    `json:"yes" required:"true"`
		One   string  `json:"one" required:"true" enum:"a,b"`
		Maybe *int    `json:"maybe"`
		Ten   int     `json:"ten" default:"10"`
		Six   int     `json:"six" example:"6"`
	}
	type composed struct {
		Line  line           `json:"line" required:"true"`
		Lines []line         `json:"lines" required:"true" minItems:"1"`
		Pair  [2]int         `json:"pair" required:"true"`
		Map   map[string]int `json:"map" required:"true"`
		Any   any            `json:"any" required:"true"`
	}
	type secret struct {
		Code string `json:"code" required:"true" pattern:"^[0-9]{3}$"`
	}
	type many struct {
		IDs []int `json:"ids" required:"true" minItems:"2"`
	}
	type endless struct {
		Next *endless `json:"next" required:"true"`
	}
	tests := []struct{ name, want, got string }{
		{"texts", `{"at":"2026-11-21T06:00:00Z","day":"2026-11-21","host":"example.com","ip":"192.0.2.1","long":"xxxxxx",` +
			`"own":"text","raw":"AAEC","short":"te","uri":"https://example.com/","uuid":"019ab3a1-7c00-7b3e-8a5e-3d1f0c2b4a69"}`,
			example[texts](t)},
		{"numbers", `{"least":2.5,"most":-4,"one":"a","six":6,"some":1,"ten":10,"text":"1","yes":true}`,
			example[numbers](t)},
		{"composed", `{"any":{},"line":{"itemId":1,"qty":1},"lines":[{"itemId":1,"qty":1}],"map":{},"pair":[1,1]}`,
			example[composed](t)},
		{"a pattern", "", example[secret](t)},
		{"more than one", "", example[many](t)},
		{"without an end", "", example[endless](t)},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestProblemsInAnswers have the schema of all problems, and an example that is one.
func TestProblemsInAnswers(t *testing.T) {
	t.Parallel()
	type report struct {
		Line    int              `json:"line"`
		Problem *problem.Details `json:"problem" required:"true"`
	}
	d, post := commanded[nothing, report](t, nil)
	media := d.at(post, "responses", "200", "content", "application/json")
	member := d.at(media, "schema", "properties", "problem", "anyOf").([]any)
	if diff := cmp.Diff(object{"$ref": "#/components/schemas/Problem"}, member[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	v := d.at(media, "examples", "sample", "value")
	if bad := d.invalid(d.at(media, "schema"), v, ""); v == nil || len(bad) > 0 {
		t.Errorf("the example %v: %v", v, bad)
	}
}

// TestImports: the example is accepted, and a transaction is described where the store has one.
func TestImports(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	const path, media = "/places/import", "application/x-ndjson"
	lines, _ := d.at(d.root, "paths", path, "post", "requestBody", "content", media, "examples", "sample",
		"value").(string)
	for _, tt := range []struct {
		target, body string
		status       int
	}{
		{path, lines, http.StatusOK},
		{path + "?atomic=true", lines, http.StatusOK},
		{path, lines + "{}\n", http.StatusOK},
		{path + "?atomic=true", lines + "{}\n", http.StatusUnprocessableEntity},
		{path + "?atomic=perhaps", lines, http.StatusBadRequest},
	} {
		res := send(shop.handler(), "POST "+tt.target, tt.body, "Content-Type: "+media)
		if res.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d", tt.target, res.StatusCode, tt.status)
		}
		d.check(t, path, "POST "+tt.target, res)
	}
	if get := send(shop.handler(), "GET /places/264371", ""); get.StatusCode != http.StatusOK {
		t.Errorf("the place of the example is answered with %d", get.StatusCode)
	}
	if d.parameters(path, "POST")["atomic"] == nil {
		t.Error("atomic is not described")
	}
}

// TestImportsWithoutTransactions are never all or nothing.
func TestImportsWithoutTransactions(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[country](&memory.Options[country]{ID: "code"}))
	ops.Transactions = nil
	countries := ops.Resource("countries", &resource.Options[country]{ID: "code"})
	d := described(t, openapi.New(resource.NewCatalog(nil, command.NewImport("countries/import", countries)),
		nil))
	const path = "/countries/import"
	if d.parameters(path, "POST")["atomic"] != nil || d.at(d.root, "paths", path, "post", "responses",
		"422") != nil {
		t.Error("without transactions an import is said to be all or nothing")
	}
	content := d.at(d.root, "paths", path, "post", "requestBody", "content", "application/x-ndjson").(object)
	if content["examples"] != nil || d.at(content, "schema", "type") != "string" {
		t.Errorf("lines of a resource that is no part of the catalog are %v", content)
	}
}

// TestCSVExample: the example of an import has the form without parameters.
func TestCSVExample(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		dialect csv.Dialect
		want    string // in the header row; "" means that there is no example
	}{
		{"default", csv.Dialect{}, ","},
		{"semicolons", csv.Dialect{Delimiter: ';'}, ";"},
		{"no header", csv.Dialect{NoHeader: true}, ""},
	}
	for _, tt := range tests {
		d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: &rest.Options{CSV: tt.dialect}}))
		sample, _ := d.at(d.root, "components", "examples", "PlacesImportCSV", "value").(string)
		row, _, _ := strings.Cut(sample, "\r\n")
		if (row == "") != (tt.want == "") || !strings.Contains(row, tt.want) {
			t.Errorf("%s: the header row is %q, want one with %q", tt.name, row, tt.want)
		}
	}
}
