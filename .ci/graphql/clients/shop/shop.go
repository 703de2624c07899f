// Package shop is the way of the generated clients to the shop that the script run has started.
package shop

import (
	"errors"
	"net/http"
	"os"
	"testing"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// Client returns a client for the door at a path of the shop whose URL is in the environment.
func Client(t *testing.T, path string) graphql.Client {
	t.Helper()
	url := os.Getenv("SHOP_URL")
	if url == "" {
		t.Fatal("SHOP_URL is not set: start .ci/graphql/clients/run")
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
