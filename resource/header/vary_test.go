package header_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestAddVary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		old  []string
		want []string
	}{
		{"nothing is there", nil, []string{"Accept, Accept-Encoding"}},
		{"something else is there", []string{"Origin"}, []string{"Origin, Accept, Accept-Encoding"}},
		{"in several lines", []string{"Origin", "Cookie"},
			[]string{"Origin, Cookie, Accept, Accept-Encoding"}},
		{"a part is there, in other letters", []string{"accept"}, []string{"accept, Accept-Encoding"}},
		{"everything varies", []string{"*"}, []string{"*"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			if tt.old != nil {
				h["Vary"] = tt.old
			}
			header.AddVary(h, []string{"Accept, Accept-Encoding"})
			if diff := cmp.Diff(tt.want, h["Vary"]); diff != "" {
				t.Errorf("Vary (-want +got):\n%s", diff)
			}
		})
	}
}
