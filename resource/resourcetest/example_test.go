package resourcetest_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
)

// The whole test of a collection. As TestThings(t *testing.T) in a test file it is run by go test.
func ExampleRun() {
	// The resource as the program serves it, which declares the queries to test.
	things := resource.New("things", newTable(""), &resource.Options[thing]{
		Query: query.Support{
			Filter: map[string][]query.Op{"color": {query.Eq, query.In}},
			Sort:   []string{"size"},
		},
	})
	testThings := func(t *testing.T) {
		resourcetest.Run(t, func(t *testing.T) resource.Collection[thing] {
			return newTable("") // a new, empty collection each time
		}, &resourcetest.Options[thing]{
			Resource: things,
			Require:  []string{"Creator", "Replacer", "Deleter"},
		})
	}
	_ = testThings
}

// A decorated collection is tested by its functions. So is the client of a server: its functions
// send requests and convert status codes to the errors of package resource.
func ExampleRunOps() {
	testLoggedThings := func(t *testing.T) {
		resourcetest.RunOps(t, func(t *testing.T) resource.Ops[thing] {
			things := resource.OpsOf(newTable(""))
			insert := things.Insert
			things.Insert = func(ctx context.Context, id string, v thing) (resource.Item[thing], error) {
				t.Logf("insert %s", id)
				return insert(ctx, id, v)
			}
			return things
		}, nil)
	}
	_ = testLoggedThings
}

// A patch format is tested over HTTP, with patches that are valid for a new item.
func ExampleRunPatches() {
	raise := patch.Format{MediaType: rawType, Idempotent: true, Apply: changeBox(raiseBox)}
	testRaise := func(t *testing.T) {
		boxes := memory.New[box](nil)
		catalog := resource.NewCatalog(nil, resource.New("boxes", boxes, nil))
		server := httptest.NewServer(rest.New(catalog, &rest.Options{PatchFormats: []patch.Format{raise}}))
		defer server.Close()
		resourcetest.RunPatches(t, raise, func(t *testing.T) string {
			it, err := boxes.Create(t.Context(), box{Count: 1})
			if err != nil {
				t.Fatal(err)
			}
			return server.URL + "/boxes/" + it.ID
		}, []string{`{"raise":5}`}, nil)
	}
	_ = testRaise
}
