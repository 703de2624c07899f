package graphql_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestReadTimeout: a store that does not respond holds a field for Options.ReadTimeout. The other fields are answered.
func TestReadTimeout(t *testing.T) {
	t.Parallel()
	type leaf struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	for _, field := range []string{`leaves { nodes { id } }`, `leaf(id: "1") { id }`} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ops := resource.OpsOf(memory.New[leaf](nil))
				ops.InMemory = false
				ops.Get = func(ctx context.Context, _ string) (resource.Item[leaf], error) {
					<-ctx.Done()
					return resource.Item[leaf]{}, ctx.Err()
				}
				ops.GetMany = nil
				ops.List = func(ctx context.Context, _ query.Query) iter.Seq2[resource.Item[leaf], error] {
					return func(yield func(resource.Item[leaf], error) bool) {
						<-ctx.Done()
						yield(resource.Item[leaf]{}, ctx.Err())
					}
				}
				h := graphql.New(resource.NewCatalog(nil, ops.Resource("leaves", &resource.Options[leaf]{Public: true})), nil)
				began := time.Now()
				res := send(t, h, ask("{ __typename "+field+" }"), acceptNew)
				want(t, res, http.StatusOK)
				if !strings.Contains(res.body, "temporarily unavailable") || !strings.Contains(res.body, `"__typename":"Query"`) {
					t.Errorf("the response is %s", res.body)
				}
				if took := time.Since(began); took != 10*time.Second {
					t.Errorf("the response is sent after %v, want 10s", took)
				}
			})
		})
	}
}
