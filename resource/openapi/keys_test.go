package openapi_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
)

// keyedREST names the items of its collections apart, which have one Go type.
var keyedREST = &rest.Options{Resources: map[string]rest.ResourceOptions{"named": {Media: "name"},
	"loose": {Media: "leaf"}}}

// keyedCatalog has a collection for each level of a key.
func keyedCatalog(opts *idempotency.Options) *resource.Catalog {
	type memo struct {
		ID    string `json:"id" readOnly:"true"`
		Title string `json:"title" required:"true"`
	}
	db := memory.NewDB()
	exact := resource.New("exact", memory.New(&memory.Options[memo]{DB: db}),
		&resource.Options[memo]{Public: true})
	ops := resource.OpsOf(memory.New[memo](nil))
	ops.Transactions = nil
	named := ops.Resource("named", &resource.Options[memo]{Public: true})
	ops.Insert = nil
	loose := ops.Resource("loose", &resource.Options[memo]{Public: true})
	nothing := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	return resource.NewCatalog(&resource.CatalogOptions{
		Idempotency: idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), opts),
		Principal:   signedIn,
	}, exact, named, loose,
		command.New("exact/tidy", nothing, &command.Options[struct{}]{Public: true,
			Transactions: db}),
		command.New("loose/tidy", nothing, &command.Options[struct{}]{Public: true}),
		command.New("loose/token", nothing, &command.Options[struct{}]{Public: true,
			Secret: true}))
}

func TestGoldenKeys(t *testing.T) {
	t.Parallel()
	golden(t, "keys.json",
		full(openapi.New(keyedCatalog(nil), &openapi.Options{REST: keyedREST, Title: "Memos"})))
}

// TestKeysOfTheCatalog: the guarantee of keys is taken from the catalog, for each operation.
func TestKeysOfTheCatalog(t *testing.T) {
	t.Parallel()
	const exactly, identity, atMost = "exactly once", "the id is derived from the key", "at most once"
	worth := map[string]string{
		"POST /exact": exactly, "PUT /exact/{id}": exactly, "PATCH /exact/{id}": exactly,
		"DELETE /exact/{id}": exactly,
		"POST /named":        identity, "PUT /named/{id}": atMost, "PATCH /named/{id}": atMost,
		"DELETE /named/{id}": atMost,
		"POST /loose":        atMost, "PUT /loose/{id}": atMost, "PATCH /loose/{id}": atMost,
		"DELETE /loose/{id}": atMost,
		"POST /exact/tidy":   exactly, "POST /loose/tidy": atMost,
	}
	d := described(t, openapi.New(keyedCatalog(&idempotency.Options{Required: true, TTL: 90 * time.Minute,
		TimeOrdered: true}), &openapi.Options{REST: keyedREST}))
	seen := 0
	d.operations(func(path, method string, op object) {
		key := d.parameters(path, method)["Idempotency-Key"]
		word, writes := worth[method+" "+path]
		if (key != nil) != writes {
			t.Errorf("%s %s has a key: %v", method, path, key != nil)
		}
		if !writes {
			return
		}
		seen++
		if text := op["description"].(string); !strings.Contains(text, word) {
			t.Errorf("%s %s says %q, want %q in it", method, path, text, word)
		}
		for _, status := range []string{"400", "409", "422", "429"} {
			if d.at(op, "responses", status) == nil {
				t.Errorf("%s %s does not document %s", method, path, status)
			}
		}
	})
	if seen != len(worth) {
		t.Errorf("%d operations have keys, want %d", seen, len(worth))
	}
	p := d.at(d.root, "components", "parameters", "IdempotencyKey").(object)
	if text := p["description"].(string); p["required"] != true ||
		!strings.Contains(text, "stored for 1h30m.") ||
		!strings.Contains(text, "version 7") {
		t.Errorf("the parameter is %v", p)
	}
}

// TestKeyPattern: what the document takes for a key, and only that, is one.
func TestKeyPattern(t *testing.T) {
	t.Parallel()
	const v7 = "0193f2a4-7c1e-7d3b-9a55-2f6d1c0b8e11"
	for _, opts := range []*idempotency.Options{nil, {Strict: true}, {TimeOrdered: true, TTL: 1 << 62},
		{TimeOrdered: true, Strict: true, TTL: 1 << 62}} {
		catalog := keyedCatalog(opts)
		d := described(t, openapi.New(catalog, nil))
		p := d.at(d.root, "components", "parameters", "IdempotencyKey", "schema", "pattern").(string)
		re := regexp.MustCompile(p)
		keys := []string{v7, `"` + v7 + `"`, `"` + v7, v7 + `"`, strings.Replace(v7, "-7", "-4", 1), "a",
			`"a b;c,d"`, "a b", "a;b", "a,b", `a\b`, `a"b`, "a-b", `""`,
			strings.Repeat("k", 255), strings.Repeat("k", 256), `"` + strings.Repeat("k", 255) + `"`, "ä",
			"~!#$%&'()*+./:<=>?@[]^_`{|}", "12", "-1.5", "007", `"12"`, "?1", ":YQ==:", "@12", `%"a"`, "%a", "(a)",
			"a?:@%(", "12a", "12:30", "12345678-1234-4234-8234-123456789012", "/a", "+1", "*a", ".5",
			"01ARZ3NDEKTSV4RRFFQ69G5FAV", strings.Repeat("1", 33) + strings.Repeat("k", 223)}
		for _, key := range keys {
			_, err := catalog.Idempotency().Key(http.Header{"Idempotency-Key": {key}})
			if re.MatchString(key) != (err == nil) {
				t.Errorf("%+v: %q is matched by %s: %v, and the keeper says %v", opts, key, p,
					re.MatchString(key), err)
			}
		}
	}
}

// signedIn returns the caller of every request.
func signedIn(context.Context) string { return "ann" }
