package graphql_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// pupil is kept after its deletion, and is unique by email in a school.
type pupil struct {
	ID         string    `json:"id"`
	School     string    `json:"school"`
	Email      string    `json:"email" unique:"school"`
	CreatedAt  time.Time `json:"createdAt" set:"created"`
	ModifiedBy *string   `json:"modifiedBy" set:"modifiedBy"`
}

// TestStampsAndRestore: the stamps are no input, and the mutation restorePupil undoes deletePupil.
func TestStampsAndRestore(t *testing.T) {
	t.Parallel()
	pupils := resource.New("pupils", memory.New[pupil](&memory.Options[pupil]{SoftDelete: true}),
		&resource.Options[pupil]{Public: true, Restore: true,
			Now: func() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) }})
	api := graphql.New(resource.NewCatalog(&resource.CatalogOptions{
		Principal:   func(context.Context) string { return "ann" },
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
	}, pupils), nil)
	steps := []struct {
		name, query, key, want string
	}{
		{"inputs", `{ c: __type(name: "CreatePupilInput") { inputFields { name } } r: __type(name: "ReplacePupilInput") { inputFields { name } } }`, "",
			`{"data":{"c":{"inputFields":[{"name":"id"},{"name":"school"},{"name":"email"}]},"r":{"inputFields":[{"name":"school"},{"name":"email"}]}}}`},
		{"creation", `mutation { createPupil(input: {id: "1", school: "a", email: "x"}) { createdAt modifiedBy } }`, "",
			`{"data":{"createPupil":{"createdAt":"2026-11-25T12:00:00Z","modifiedBy":"ann"}}}`},
		{"email of the school", `mutation { createPupil(input: {id: "2", school: "a", email: "x"}) { id } }`, "",
			`{"errors":[{"message":"Another item already has the same value of a unique field. input.email must be unique; ` +
				`another item has this value","locations":[{"line":1,"column":12}],"path":["createPupil"],"extensions":` +
				`{"code":"CONFLICT","errors":[{"argument":"input.email","code":"taken","detail":"email must be unique; another ` +
				`item has this value","pointer":"/email"}],"type":"https://stoa-go.github.io/problems/conflict"}}],` +
				`"data":{"createPupil":null}}`},
		{"email of another school", `mutation { createPupil(input: {id: "3", school: "b", email: "x"}) { id } }`, "",
			`{"data":{"createPupil":{"id":"3"}}}`},
		{"item exists", `mutation { restorePupil(id: "1") { id } }`, "",
			`{"errors":[{"message":"The item is not deleted.","locations":[{"line":1,"column":12}],"path":["restorePupil"],"extensions":` +
				`{"code":"CONFLICT","type":"https://stoa-go.github.io/problems/already-exists"}}],"data":{"restorePupil":null}}`},
		{"unknown item", `mutation { restorePupil(id: "9") { id } }`, "",
			`{"errors":[{"message":"There is no such item.","locations":[{"line":1,"column":12}],"path":["restorePupil"],"extensions":` +
				`{"code":"NOT_FOUND","type":"https://stoa-go.github.io/problems/not-found"}}],"data":{"restorePupil":null}}`},
		{"deletion", `mutation { deletePupil(id: "1") { id } }`, "", `{"data":{"deletePupil":{"id":"1"}}}`},
		{"deleted", `{ pupil(id: "1") { id } pupils(first: 9) { nodes { id } } }`, "",
			`{"data":{"pupil":null,"pupils":{"nodes":[{"id":"3"}]}}}`},
		{"restoration", `mutation { restorePupil(id: "1") { id email } }`, "k", `{"data":{"restorePupil":{"id":"1","email":"x"}}}`},
		{"replay", `mutation { restorePupil(id: "1") { id email } }`, "k", `{"data":{"restorePupil":{"id":"1","email":"x"}}}`},
		{"restored", `{ pupil(id: "1") { email modifiedBy } }`, "", `{"data":{"pupil":{"email":"x","modifiedBy":"ann"}}}`},
		{"second deletion", `mutation { deletePupil(id: "1") { id } }`, "", `{"data":{"deletePupil":{"id":"1"}}}`},
		{"email of the deleted item", `mutation { createPupil(input: {id: "4", school: "a", email: "x"}) { id } }`, "",
			`{"data":{"createPupil":{"id":"4"}}}`},
		{"email is taken", `mutation { restorePupil(id: "1") { id } }`, "",
			`{"errors":[{"message":"Another item already has the same value of a unique field. email must be unique; ` +
				`another item has this value","locations":[{"line":1,"column":12}],"path":["restorePupil"],"extensions":` +
				`{"code":"CONFLICT","errors":[{"argument":"email","code":"taken","detail":"email must be unique; another ` +
				`item has this value","pointer":"/email"}],"type":"https://stoa-go.github.io/problems/conflict"}}],` +
				`"data":{"restorePupil":null}}`},
	}
	for _, step := range steps {
		res := api.Execute(t.Context(), graphql.Request{Query: step.query, IdempotencyKey: step.key})
		got, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
}
