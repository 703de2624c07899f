package rest_test

import (
	"net/http"
	"strings"
	"testing"
)

// FuzzImport imports any content, in chunks and atomically. Each line is stored or rejected, and
// every line that is reported as stored exists.
func FuzzImport(f *testing.F) {
	f.Fuzz(func(t *testing.T, content string) {
		for _, query := range []string{"", "?atomic=true"} {
			h := api(t, withImports())
			create(t, h, "/users", `{"id":"ann","name":"Ann","email":"a@example.com"}`)
			res := send(t, h, "POST /users/import"+query, linesBody, "", content)
			got := value[summary](t, res)
			lines := 0
			for line := range strings.SplitSeq(strings.TrimPrefix(content, "\ufeff"), "\n") {
				if strings.Trim(line, " \t\r") != "" {
					lines++
				}
			}
			there := strings.Count(send(t, h, "GET /users", asLines).body, "\n") - 1
			rejected := max(got.Total, len(got.Rejected))
			switch {
			case res.status == http.StatusOK:
				same(t, "lines", lines, got.Created+got.Replaced+rejected)
				same(t, "new users", got.Created, there)
			case query != "" && res.status == http.StatusUnprocessableEntity:
				same(t, "new users", 0, there)
				if rejected == 0 || rejected > lines {
					t.Errorf("%d lines of %d are rejected: %s", rejected, lines, res.body)
				}
			case res.status == http.StatusBadRequest && strings.Contains(res.body, "UTF-16"):
				same(t, "new users", 0, there)
			default:
				t.Errorf("status %d: %s", res.status, res.body)
			}
		}
	})
}
