package main

import (
	"strings"
	"testing"
)

// TestAdminHides checks that the description has the collections of contract 2.0.0, and nothing of the
// tables that are not served. TestPagePaths has the paths, and .ci/clients/run admin uses the page.
func TestAdminHides(t *testing.T) {
	t.Parallel()
	body := ask(t, openShop(t), "GET", "/admin/description.json", "").Body.String()
	for _, name := range []string{`"orders"`, `"users"`, `"places"`, `"jobs"`, `"files"`, `"places/import"`, `"orders/cancel-stale"`, `"lines"`} {
		if !strings.Contains(body, name) {
			t.Errorf("the description lacks %s", name)
		}
	}
	for _, name := range []string{`"passwords"`, `"tokens"`, "file_owners"} {
		if strings.Contains(strings.ToLower(body), name) {
			t.Errorf("the description contains %q", name)
		}
	}
}
