package query_test

import (
	"fmt"
	"testing"

	"github.com/stoa-go/stoa/query"
)

// duration returns the duration of a text, for tables.
func duration(text string) query.Duration {
	d, err := query.ParseDuration(text)
	if err != nil {
		panic(fmt.Sprintf("ParseDuration(%q): %v", text, err))
	}
	return d
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want string // empty for an error
	}{
		{"PT0S", "PT0S"},
		{"P0D", "PT0S"},
		{"PT-0S", "PT0S"},
		{"P1Y2M3DT4H5M6S", "P1Y2M3DT4H5M6S"},
		{"P1Y3D", "P1Y3D"}, // as PostgreSQL writes, contrary to RFC 3339
		{"P14M", "P1Y2M"},
		{"P2W", "P14D"},
		{"P1M1W1D", "P1M8D"},
		{"PT90M", "PT1H30M"},
		{"PT3600S", "PT1H"},
		{"P1DT24H", "P1DT24H"}, // a day can have 23 hours
		{"PT1.5S", "PT1.5S"},
		{"PT0.000001S", "PT0.000001S"},
		{"PT-0.5S", "PT-0.5S"},
		{"PT1.500000S", "PT1.5S"},
		{"PT1H-1M", "PT59M"},
		{"P1M-1D", "P1M-1D"},
		{"P-1Y-2M3DT-4H-5M-6.75S", "P-1Y-2M3DT-4H-5M-6.75S"},
		{"P1Y-14M", "P-2M"},
		{"P178956970Y7M", "P178956970Y7M"},
		{"P-178956970Y-8M", "P-178956970Y-8M"},
		{"PT2562047788H54.775807S", "PT2562047788H54.775807S"},
		{text: ""},
		{text: "P"},
		{text: "PT"},
		{text: "P1DT"},
		{text: "1D"},
		{text: "p1d"},
		{text: "-P1D"},
		{text: "P1"},
		{text: "PD"},
		{text: "P-D"},
		{text: "P+1D"},
		{text: "P--1D"},
		{text: "P1D1D"},
		{text: "P1D2M"},
		{text: "P1H"},
		{text: "PT1D"},
		{text: "PT1H1D"},
		{text: "P1.5D"},
		{text: "PT1.5M"},
		{text: "PT.5S"},
		{text: "PT1.S"},
		{text: "PT1,5S"},
		{text: "PT1.1234567S"},
		{text: "PT1HT1M"},
		{text: "P1D "},
		{text: "P1é"},
		{text: "1 day"},
		{text: "P178956970Y8M"},
		{text: "P2147483648D"},
		{text: "P306783379W"},
		{text: "P2147483647D1W"},
		{text: "P9223372036854775807Y"},
		{text: "P99999999999999999999D"},
		{text: "PT2562047788H54.775808S"},
		{text: "PT2562047789H"},
		{text: "PT9223372036854.775808S"},
		{text: "PT-2562047788H-60M"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			got, err := query.ParseDuration(tt.text)
			if (err == nil) != (tt.want != "") || err == nil && got.String() != tt.want {
				t.Fatalf("ParseDuration = %v, %v, want %s", got, err, tt.want)
			}
			if err == nil && !got.Equal(duration(tt.want)) {
				t.Errorf("differs from %s", tt.want)
			}
		})
	}
}

func TestDurationsWithOtherParts(t *testing.T) {
	t.Parallel()
	month, days := duration("P1M"), duration("P30D")
	if query.Compare(month, days) != 0 || month.Equal(days) || month == days {
		t.Error("P1M and P30D must have the same length and different parts")
	}
}

// FuzzDuration checks that each text has one normal form, and that the order is one of lengths.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{
		"PT0S", "P1Y2M3DT4H5M6.789S", "P-1Y-2M-3DT-4H-5M-6.789S", "P2W", "P1M-30D", "PT1.000001S", "P",
		"PT2562047788H54.775807S", "P178956970Y7M", "P2147483647D",
	} {
		f.Add(text, "P1M")
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		d, err := query.ParseDuration(text)
		if err != nil {
			return
		}
		again, err := query.ParseDuration(d.String())
		if err != nil || again != d || again.String() != d.String() {
			t.Fatalf("ParseDuration(%q) = %v, %v", d.String(), again, err)
		}
		e, err := query.ParseDuration(other)
		if err != nil {
			return
		}
		if got, reverse := query.Compare(d, e), query.Compare(e, d); got != -reverse || d == e && got != 0 {
			t.Errorf("Compare(%v, %v) = %d, and %d in reverse", d, e, got, reverse)
		}
	})
}
