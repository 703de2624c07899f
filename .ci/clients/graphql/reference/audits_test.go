//go:build reference

package reference_test

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// audits is how many there are in the version of graphql-http that is installed.
const audits = 61

// TestAudits runs the audits of npm graphql-http against a handler over TCP, and sees that they can fail.
func TestAudits(t *testing.T) {
	t.Run("handler", func(t *testing.T) {
		places := resource.New("places", memory.New[Place](nil), nil)
		said, err := audit(t, graphql.New(resource.NewCatalog(nil, places), nil))
		if err != nil || strings.Count("\n"+said, "\nok ") != audits {
			t.Errorf("%v", err)
		}
		t.Logf("\n%s", said)
	})
	t.Run("another server", func(t *testing.T) {
		said, err := audit(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("{}")) }))
		if err == nil || strings.Count("\n"+said, "\nok ") == audits {
			t.Errorf("it passes, too:\n%s", said)
		}
	})
}

func audit(t *testing.T, h http.Handler) (said string, err error) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/graphql", h)
	server := httptest.NewServer(mux)
	defer server.Close()
	out, err := exec.CommandContext(t.Context(), "node", "audits.mjs", server.URL+"/graphql").CombinedOutput()
	return string(out), err
}
