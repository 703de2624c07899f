package header_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestRule054AcceptEncoding(t *testing.T) {
	t.Parallel()
	var (
		both     = header.Encodings{Gzip: true, Identity: true}
		gzip     = header.Encodings{Gzip: true}
		identity = header.Encodings{Identity: true}
		neither  = header.Encodings{}
	)
	tests := []struct {
		name  string
		lines []string
		want  header.Encodings
	}{
		{"absent", nil, identity},
		{"empty", []string{""}, identity},
		{"only commas", []string{" ,,"}, identity},
		{"gzip", []string{"gzip"}, both},
		{"its old name", []string{"x-gzip"}, both},
		{"in upper case", []string{"GZip"}, both},
		{"among others", []string{"deflate, gzip, br, zstd"}, both},
		{"on the second line", []string{"br", "gzip"}, both},
		{"others only", []string{"br, deflate"}, identity},
		{"gzip excluded", []string{"gzip;q=0"}, identity},
		{"gzip excluded, everything else wanted", []string{"gzip;q=0, *"}, identity},
		{"a small weight is above silence", []string{"gzip;q=0.001"}, both},
		{"identity as much", []string{"gzip, identity"}, both},
		{"identity less", []string{"gzip;q=1.0, identity;q=0.5"}, both},
		{"identity more", []string{"gzip;q=0.5, identity"}, identity},
		{"identity more, by the wildcard", []string{"gzip;q=0.5, *"}, identity},
		{"wildcard", []string{"*"}, both},
		{"wildcard with weight", []string{"*;q=0.1"}, both},
		{"wildcard excluded", []string{"*;q=0"}, neither},
		{"all but gzip excluded", []string{"gzip, *;q=0"}, gzip},
		{"all but identity excluded", []string{"identity, *;q=0"}, identity},
		{"all but both excluded", []string{"identity;q=0.2, gzip;q=0.2, *;q=0"}, both},
		{"identity excluded", []string{"gzip, identity;q=0"}, gzip},
		{"identity excluded, wildcard", []string{"*, identity;q=0"}, gzip},
		{"identity excluded, gzip unnamed", []string{"br, identity;q=0"}, neither},
		{"identity and gzip excluded", []string{"identity;q=0, gzip;q=0, br"}, neither},
		{"twice: the greater weight", []string{"gzip;q=0, x-gzip;q=0.1"}, both},
		{"twice: the greater weight, turned", []string{"x-gzip;q=0.1, gzip;q=0"}, both},
		{"twice: identity", []string{"identity, identity;q=0, *, *;q=0, gzip;q=0.9"}, identity},
		{"blanks", []string{" gzip ; q=0.5 "}, both},
		{"bad weight", []string{"gzip;q=2"}, identity},
		{"a weight twice", []string{"gzip;q=1;q=1"}, identity},
		{"another parameter", []string{"gzip;level=9"}, identity},
		{"a parameter without value", []string{"gzip;q"}, identity},
		{"no token", []string{"(gzip), gzip/1"}, identity},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, header.AcceptEncoding(tt.lines)); diff != "" {
				t.Errorf("AcceptEncoding(%q) mismatch (-want +got):\n%s", tt.lines, diff)
			}
		})
	}
}

func TestAcceptEncodingAllocations(t *testing.T) {
	lines := []string{"gzip, deflate, br;q=0.9, *;q=0.1"}
	if n := testing.AllocsPerRun(100, func() { header.AcceptEncoding(lines) }); n != 0 {
		t.Errorf("AcceptEncoding allocates %v times, want 0", n)
	}
}

func ExampleAcceptEncoding() {
	fmt.Printf("%+v\n", header.AcceptEncoding([]string{"br, gzip;q=0.8"}))
	fmt.Printf("%+v\n", header.AcceptEncoding([]string{"gzip;q=0.5, identity"}))
	// Output:
	// {Gzip:true Identity:true}
	// {Gzip:false Identity:true}
}

func BenchmarkAcceptEncoding(b *testing.B) {
	lines := []string{"gzip, deflate, br, zstd"}
	b.ReportAllocs()
	for b.Loop() {
		header.AcceptEncoding(lines)
	}
}
