package rest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// clock is a kind of part that package rest does not know.
type clock struct{}

func (clock) Part() resource.PartInfo {
	return resource.PartInfo{Name: "clock", Report: "/clock  the time\n"}
}

// TestUnknownPart has a catalog with a part of another package. REST leaves it out and serves the
// others.
func TestUnknownPart(t *testing.T) {
	t.Parallel()
	type note struct {
		ID int64 `json:"id" readOnly:"true"`
	}
	notes := resource.New("notes", memory.New[note](nil), nil)
	c := resource.NewCatalog(nil, clock{}, notes)
	h := rest.New(c, nil)
	for path, want := range map[string]int{"/notes": 200, "/clock": 404} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != want {
			t.Errorf("GET %s is %d, want %d", path, w.Code, want)
		}
	}
	if report := c.Report(); !strings.Contains(report, "/clock  the time\n") {
		t.Errorf("the report does not contain the part:\n%s", report)
	}
}
