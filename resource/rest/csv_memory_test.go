package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
)

// TestCSVMemory: an export and an import of 100,000 rows, 21 MB, use the memory of a few pages.
// .ci/clients/run csv does the same with 1,000,000 rows. It is not parallel, because it measures the
// whole process.
func TestCSVMemory(t *testing.T) {
	const items, bound = 100_000, 4 << 20
	h := catalog(t, resource.New[thing]("things", endless{n: items}, nil))
	for accept, least := range map[string]int{"identity": 20 << 20, "gzip": 100 << 10} {
		r := request(t, "GET /things", asCSV, "Accept-Encoding: "+accept)
		w := &meter{discard: discard{header: http.Header{}}}
		before := inUse()
		h.ServeHTTP(w, r)
		same(t, "status", http.StatusOK, w.status)
		if w.bytes < least {
			t.Errorf("%s: %d bytes, want %d at least", accept, w.bytes, least)
		}
		if w.most > before+bound {
			t.Errorf("%s: %d bytes of memory more than before, want %d at most", accept, w.most-before, bound)
		}
	}

	store := &swallowing{}
	villages := resource.New[village]("villages", store, nil)
	h = catalog(t, villages, command.NewImport("villages/import", villages))
	r := request(t, "POST /villages/import", csvBody, "", "x")
	content := &generated{rows: items}
	r.Body = io.NopCloser(content)
	w := httptest.NewRecorder()
	before := inUse()
	h.ServeHTTP(w, r)
	if want := fmt.Sprintf(`{"created":%d,"replaced":0,"rejected":[]}`, items); w.Body.String() != want {
		t.Errorf("result %s, want %s", w.Body, want)
	}
	if content.most > before+bound {
		t.Errorf("import: %d bytes of memory more than before, want %d at most", content.most-before, bound)
	}
}

// generated is CSV that is written while it is read. It measures the memory in use from time to time.
type generated struct {
	rows, next, reads int
	rest              string
	most              uint64
}

func (g *generated) Read(p []byte) (int, error) {
	if g.reads++; g.reads%32 == 1 {
		g.most = max(g.most, inUse())
	}
	for g.rest == "" {
		switch {
		case g.next == 0:
			g.rest = "name,id\r\n"
		case g.next > g.rows:
			return 0, io.EOF
		default:
			g.rest = fmt.Sprintf("\"%s\",%09d\r\n", strings.Repeat("x", 200), g.next)
		}
		g.next++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// swallowing is a store that keeps nothing.
type swallowing struct{ readOnly[village] }

func (s *swallowing) Insert(_ context.Context, id string, v village) (resource.Item[village], error) {
	return resource.Item[village]{ID: id, Rev: "1", Value: v}, nil
}
