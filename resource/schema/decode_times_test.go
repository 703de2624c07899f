package schema_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

// TestTimesOutOfRange decodes times that are outside of the years 0 to 9999 in UTC, which many stores and JSON in UTC
// cannot represent.
func TestTimesOutOfRange(t *testing.T) {
	t.Parallel()
	type event struct {
		At time.Time `json:"at"`
	}
	tests := []struct{ at, want string }{
		{"9999-12-31T23:59:59Z", ""},
		{"9999-12-31T23:59:59-00:01", "/at range"},
		{"9999-12-31T23:59:59+23:59", ""},
		{"0000-01-01T00:00:00Z", ""},
		{"0000-01-01T00:00:00+00:01", "/at range"},
		{"0000-01-01T00:00:00-00:01", ""},
	}
	for _, tt := range tests {
		_, err := schema.For[event]().Decode([]byte(`{"at":"`+tt.at+`"}`), nil)
		found, _ := errors.AsType[schema.Violations](err)
		if diff := cmp.Diff(tt.want, strings.Join(codes(t, found), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.at, diff)
		}
	}
}
