package middleware_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, want string // want is "" for none
		rate       middleware.Rate
	}{
		{"", "off", middleware.Rate{}},
		{"off", "off", middleware.Rate{}},
		{"100/1m", "100/1m", middleware.Rate{Quota: 100, Window: time.Minute}},
		{"10/s", "10/1s", middleware.Rate{Quota: 10, Window: time.Second}},
		{"5/h", "5/1h", middleware.Rate{Quota: 5, Window: time.Hour}},
		{"5/24h", "5/24h", middleware.Rate{Quota: 5, Window: 24 * time.Hour}},
		{"60/90s", "60/90s", middleware.Rate{Quota: 60, Window: 90 * time.Second}},
		{"60/1h30m", "60/90m", middleware.Rate{Quota: 60, Window: 90 * time.Minute}},
		{"1/1000h", "1/1000h", middleware.Rate{Quota: 1, Window: 1000 * time.Hour}},
	}
	for _, tt := range tests {
		got, err := middleware.ParseRate(tt.text)
		if diff := cmp.Diff(tt.rate, got); diff != "" || err != nil || got.String() != tt.want {
			t.Errorf("%q: %v %v (-want +got):\n%s", tt.text, got, err, diff)
		}
	}
	for _, text := range []string{"0/1m", "-1/1m", "+1/1m", " 1/1m", "1/1m ", "1", "/", "1/", "/1m", "1/0s",
		"1/-1m", "1/+1m", "1/500ms", "1/1500ms",
		"1/1001h", "1000000001/1s", "99999999999999999999/1m", "1/1", "1.5/1m", "1/1m/1m", "Off", "1/ms",
		"1/d", "0x10/1m"} {
		if got, err := middleware.ParseRate(text); err == nil || got != (middleware.Rate{}) {
			t.Errorf("%q is %v, want none", text, got)
		}
	}
}

var ratePattern = regexp.MustCompile(`^[0-9]+/([0-9a-z.]|µ|μ)+$`)

// FuzzParseRate: a rate that is accepted is in range, and its text parses to the same rate. The
// seeds are in testdata.
func FuzzParseRate(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		rate, err := middleware.ParseRate(text)
		if err != nil {
			return
		}
		if again, err := middleware.ParseRate(rate.String()); err != nil || again != rate {
			t.Errorf("%q is %v, and that %v %v", text, rate, again, err)
		}
		if rate != (middleware.Rate{}) && !ratePattern.MatchString(text) {
			t.Errorf("%q is %v", text, rate)
		}
		middleware.RateLimit(rate, nil) // which panics if it cannot count it
	})
}

func ExampleParseRate() {
	rate, err := middleware.ParseRate("100/1m")
	fmt.Println(rate.Quota, rate.Window, err)
	// Output: 100 1m0s <nil>
}
