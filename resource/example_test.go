package resource_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is what the examples serve.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" maxLength:"500"`
	Done bool   `json:"done"`
}

// show sends a request and prints status and content of the answer.
func show(h http.Handler, method, target, mediaType, content string) {
	r := httptest.NewRequest(method, target, strings.NewReader(content))
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
}

// A collection is served as an HTTP API: items are created, found, changed and deleted, and errors
// are problem details.
func Example() {
	notes := memory.New[Note](nil) // or a store of your own
	api := rest.New(resource.NewCatalog(nil, resource.New("notes", notes, &resource.Options[Note]{
		Query:  query.Support{Filter: map[string][]query.Op{"done": {query.Eq}}, Sort: []string{"text"}},
		Public: true,
	})), nil)

	show(api, "POST", "/notes", "application/json", `{"text":"water the plants"}`)
	show(api, "POST", "/notes", "application/json", `{"text":"feed the cat","done":true}`)
	show(api, "PATCH", "/notes/1", patch.MergeType, `{"done":true}`)
	show(api, "GET", "/notes?done=true&sort=text&fields=id,text", "", "")
	show(api, "DELETE", "/notes/1", "", "")
	show(api, "GET", "/notes/1", "", "")

	// Output:
	// 201 {"id":1,"text":"water the plants","done":false}
	// 201 {"id":2,"text":"feed the cat","done":true}
	// 200 {"id":1,"text":"water the plants","done":true}
	// 200 {"items":[{"id":2,"text":"feed the cat"},{"id":1,"text":"water the plants"}]}
	// 204
	// 410 {"type":"https://stoa-go.github.io/problems/gone","title":"Gone","status":410,"detail":"The item has been deleted."}
}

// notesOf serves a store with one note.
func notesOf(opts *resource.Options[Note]) http.Handler {
	store := memory.New[Note](nil)
	if _, err := store.Create(context.Background(), Note{Text: "water the plants"}); err != nil {
		panic(err)
	}
	return rest.New(resource.NewCatalog(nil, resource.New("notes", store, opts)), nil)
}

func ExampleNew() {
	r := resource.New("notes", memory.New[Note](nil), nil)
	fmt.Println(r.Name(), r.Can(resource.OpCreate), r.Type().Field("text").Required)
	// Output: notes true true
}

func ExampleNewCatalog() {
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(nil, notes)
	fmt.Print(catalog.Report())
	// Output:
	// /notes  GET, HEAD, QUERY, POST, OPTIONS
	// /notes/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
	//     store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker
	//     batches: POST of application/vnd.stoa.batch+json
	// keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored
}

func ExampleCatalog_BriefReport() {
	notes := resource.New("notes", memory.New[Note](nil), nil)
	fmt.Print(resource.NewCatalog(nil, notes).BriefReport())
	// Output:
	// keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored
	// /notes  GET POST PUT PATCH DELETE
	// weak: /notes: no Authorize and no Scope: every caller may read and write; set Public if intended
}

// A note that is sent again with its key is taken once, and answered alike.
func ExampleCatalog_Guarantees() {
	db := memory.NewDB()
	store := memory.New(&memory.Options[Note]{DB: db})
	records := idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}) // package sqlrecords keeps them in a database
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(records, nil),
		Principal:   func(context.Context) string { return "guest" }, // or the user of the session
	}, resource.New("notes", store, &resource.Options[Note]{Public: true}))
	for _, g := range catalog.Guarantees() {
		fmt.Println(g.Name, "exactly once:", g.Create == idempotency.ExactlyOnce && g.Others == idempotency.ExactlyOnce)
	}
	api := rest.New(catalog, nil)
	for _, text := range []string{"water the plants", "water the plants", "feed the cat"} {
		r := httptest.NewRequest("POST", "/notes", strings.NewReader(`{"text":"`+text+`"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", `"8e03978e-40d5-43e8-bc93-6894a57f9324"`)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		fmt.Printf("%d location=%q replayed=%q\n", w.Code, w.Header().Get("Location"), w.Header().Get("Idempotency-Replayed"))
	}
	// Output:
	// notes exactly once: true
	// 201 location="/notes/1" replayed=""
	// 201 location="/notes/1" replayed="true"
	// 422 location="" replayed=""
}

// Where the store has transactions, several writes can be one. The second is refused here, so the first is taken back.
func ExampleTransactor() {
	h := notesOf(nil)
	const batch = "application/vnd.stoa.batch+json"
	show(h, "POST", "/notes", batch, `{"operations":[
		{"op":"create","value":{"text":"feed the cat"}},
		{"op":"patch","id":"7","patch":{"done":true}}]}`)
	show(h, "GET", "/notes/2", "", "")
	show(h, "POST", "/notes", batch, `{"operations":[{"op":"delete","id":"1"}]}`)
	// Output:
	// 404 {"type":"https://stoa-go.github.io/problems/not-found","title":"Not Found","status":404,"detail":"There is no such item.","operation":1}
	// 404 {"type":"https://stoa-go.github.io/problems/not-found","title":"Not Found","status":404,"detail":"There is no such item."}
	// 200 {"results":[{"status":204,"id":"1"}]}
}

// OpsOf returns the functions of a collection, some of which can be wrapped. The others stay the
// same.
func ExampleOpsOf() {
	ops := resource.OpsOf(memory.New[Note](nil))
	create := ops.Create
	ops.Create = func(ctx context.Context, v Note) (resource.Item[Note], error) {
		item, err := create(ctx, v)
		fmt.Println("created", item.ID)
		return item, err
	}
	h := rest.New(resource.NewCatalog(nil, ops.Resource("notes", nil)), nil)
	show(h, "POST", "/notes", "application/json", `{"text":"water the plants"}`)
	// Output:
	// created 1
	// 201 {"id":1,"text":"water the plants","done":false}
}

// A function that is removed from the Ops is not served.
func ExampleOps_Resource() {
	ops := resource.OpsOf(memory.New[Note](nil))
	ops.Create, ops.Insert, ops.Replace, ops.Delete = nil, nil, nil, nil
	r := ops.Resource("notes", nil)
	fmt.Println(r.Can(resource.OpGet), r.Can(resource.OpPatch))
	// Output: true false
}

// TaskV1 is what a note was in the first contract.
type TaskV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Title string `json:"title" required:"true"`
}

// The same notes in an older contract. A PUT through it keeps done, which the contract does not
// have.
func ExampleView() {
	notes := resource.New("notes", memory.New[Note](nil), nil)
	v1 := resource.View(notes,
		func(n Note) (TaskV1, error) { return TaskV1{ID: n.ID, Title: n.Text}, nil },
		func(v TaskV1, base Note) (Note, error) { base.Text = v.Title; return base, nil },
		&resource.ViewOptions{Fields: map[string]string{"title": "text"}})
	current, older := rest.New(resource.NewCatalog(nil, notes), nil), rest.New(resource.NewCatalog(nil, v1), nil)

	show(current, "POST", "/notes", "application/json", `{"text":"water the plants","done":true}`)
	show(older, "GET", "/notes/1", "", "")
	show(older, "PUT", "/notes/1", "application/json", `{"title":"water the garden"}`)
	show(current, "GET", "/notes/1", "", "")
	// Output:
	// 201 {"id":1,"text":"water the plants","done":true}
	// 200 {"id":1,"title":"water the plants"}
	// 200 {"id":1,"title":"water the garden"}
	// 200 {"id":1,"text":"water the garden","done":true}
}

func ExampleNewLookup() {
	type input struct {
		Done bool `json:"done" required:"true"`
	}
	notes := memory.New[Note](nil)
	next := resource.NewLookup("next", "notes", func(ctx context.Context, in input) (string, error) {
		for item, err := range notes.List(ctx, query.Query{Filter: query.Where("done", query.Eq, in.Done), Limit: 1}) {
			return item.ID, err
		}
		return "", resource.ErrNotFound
	})
	h := rest.New(resource.NewCatalog(nil, resource.New("notes", notes, nil), next), nil)
	show(h, "POST", "/notes", "application/json", `{"text":"water the plants"}`)
	show(h, "GET", "/next?done=false", "", "")
	// Output:
	// 201 {"id":1,"text":"water the plants","done":false}
	// 200 {"id":1,"text":"water the plants","done":false}
}

// Planet is an item of a store that is a slice.
type Planet struct {
	ID    string `json:"id"`
	Moons int    `json:"moons"`
}

// Planets is a whole store, for reading: what a list is asked, Slice answers.
type Planets []resource.Item[Planet]

// Get finds a planet by its name.
func (p Planets) Get(_ context.Context, id string) (resource.Item[Planet], error) {
	i := slices.IndexFunc(p, func(item resource.Item[Planet]) bool { return item.Value.ID == id })
	if i < 0 {
		return resource.Item[Planet]{}, resource.ErrNotFound
	}
	return p[i], nil
}

// List answers whatever can be asked.
func (p Planets) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[Planet], error] {
	return memory.List(p, q)
}

func ExampleCollection() {
	planets := Planets{{Value: Planet{"venus", 0}}, {Value: Planet{"earth", 1}}, {Value: Planet{"mars", 2}}}
	h := rest.New(resource.NewCatalog(nil, resource.New("planets", planets, &resource.Options[Planet]{
		Query: query.Support{Filter: map[string][]query.Op{"moons": {query.Gte}}, Sort: []string{"moons"}}})), nil)
	show(h, "GET", "/planets?moons.gte=1&sort=-moons", "", "")
	show(h, "GET", "/planets?moons=1", "", "")
	// Output:
	// 200 {"items":[{"id":"mars","moons":2},{"id":"earth","moons":1}]}
	// 400 {"type":"https://stoa-go.github.io/problems/invalid-parameter","title":"Invalid Parameter","status":400,"detail":"A parameter of the request is not valid.","errors":[{"parameter":"moons","code":"unsupportedFilter","detail":"moons can be compared with gte"}]}
}

func ExampleNewRev() {
	a, b := resource.NewRev(), resource.NewRev()
	fmt.Println(len(a), a == b)
	// Output: 24 false
}

// A hook, or a store, refuses a value that breaks a rule of its own.
func ExampleInvalid() {
	h := notesOf(&resource.Options[Note]{
		Before: func(_ context.Context, _ resource.Op, _, after *Note) error {
			if after != nil && strings.Contains(after.Text, "never") {
				return resource.Invalid("text", "pessimistic")
			}
			return nil
		},
	})
	show(h, "PATCH", "/notes/1", patch.MergeType, `{"text":"never again"}`)
	// Output: 422 {"type":"https://stoa-go.github.io/problems/invalid-content","title":"Invalid Content","status":422,"detail":"The content is not valid.","errors":[{"pointer":"/text","code":"pessimistic","detail":"text is not valid (pessimistic)"}]}
}

// A store reports which field has a value that another item already has.
func ExampleTaken() {
	ops := resource.OpsOf(memory.New[Note](nil))
	ops.Create = func(context.Context, Note) (resource.Item[Note], error) {
		return resource.Item[Note]{}, resource.Taken("text")
	}
	h := rest.New(resource.NewCatalog(nil, ops.Resource("notes", nil)), nil)
	show(h, "POST", "/notes", "application/json", `{"text":"water the plants"}`)
	// Output: 409 {"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,"detail":"Another item already has the same value of a unique field.","errors":[{"pointer":"/text","code":"taken","detail":"text must be unique; another item has this value"}]}
}

// A handler that is not HTTP changes an item by the same loop, in which no update is lost.
func ExampleResource_Patch() {
	ctx := context.Background()
	notes := resource.New("notes", memory.New[Note](nil), nil)
	if _, err := notes.Create(ctx, []byte(`{"text":"water the plants"}`), nil); err != nil {
		fmt.Println(err)
	}
	done, err := patch.ParseJSONPatch([]byte(`[
		{"op": "test", "path": "/done", "value": false},
		{"op": "replace", "path": "/done", "value": true}
	]`), patch.Limits{})
	if err != nil {
		fmt.Println(err)
	}
	entry, err := notes.Patch(ctx, "1", done, nil)
	fmt.Println(entry.Value.(*Note).Done, err)

	_, err = notes.Patch(ctx, "1", done, nil) // it is done already
	fmt.Println(resource.Problem(err).Errors[0].Detail)
	// Output:
	// true <nil>
	// the value at "/done" differs from the tested value
}
