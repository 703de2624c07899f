package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
)

// A command with a secret output is executed again for the same key, also for an anonymous caller.
// No record contains the output.
func TestSecretCommand(t *testing.T) {
	t.Parallel()
	type token struct {
		Token string `json:"token"`
	}
	given := 0
	give := func(context.Context, tidyIn) (token, error) {
		given++
		return token{Token: fmt.Sprint("t", given)}, nil
	}
	keys := idempotency.NewMemory(nil)
	catalog := resource.NewCatalog(&resource.CatalogOptions{Idempotency: idempotency.New(keys, nil), Principal: caller},
		command.New("auth/login", give, &command.Options[tidyIn]{Public: true, Secret: true}))
	if got := catalog.Guarantees(); len(got) != 0 || strings.Contains(catalog.Report(), "keys: ") {
		t.Errorf("a key is worth %v:\n%s", got, catalog.Report())
	}
	for _, who := range []string{asAnn, asAnn, ""} {
		lines := []string{jsonBody, keyField("k")}
		if who != "" {
			lines = append(lines, who)
		}
		got := send(t, byCaller(rest.New(catalog, nil)), "POST /auth/login", append(lines, "", `{"title":"a"}`)...)
		want(t, got, 200)
		if text := fmt.Sprintf(`{"token":"t%d"}`, given); got.body != text {
			t.Errorf("%q got %s, want %s", who, got.body, text)
		}
	}
	if given != 3 {
		t.Errorf("%d tokens were given, want 3", given)
	}
}
