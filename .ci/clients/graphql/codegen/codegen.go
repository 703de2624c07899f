// Package codegen connects the generated clients below it to the shop that .ci/clients/run has
// started. genqlient and GraphQL Code Generator make them from the SDL at /graphql/schema.graphql.
package codegen

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Client returns a client of the GraphQL endpoint at path, in the shop at the URL in SHOP_URL.
func Client(t *testing.T, path string) graphql.Client {
	t.Helper()
	url := os.Getenv("SHOP_URL")
	if url == "" {
		t.Fatal("SHOP_URL is not set: start .ci/clients/run codegen")
	}
	return graphql.NewClient(url+path, http.DefaultClient)
}

// Code returns the code of the only error of an answer, and "" if there are none or several.
func Code(err error) string {
	var list gqlerror.List
	if !errors.As(err, &list) || len(list) != 1 {
		return ""
	}
	code, _ := list[0].Extensions["code"].(string)
	return code
}
