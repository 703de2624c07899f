package header_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestParseDigests(t *testing.T) {
	t.Parallel()
	sum256, sum512 := sha256.Sum256([]byte("x")), sha512.Sum512([]byte("x"))
	text256 := "sha-256=:" + base64.StdEncoding.EncodeToString(sum256[:]) + ":"
	text512 := "sha-512=:" + base64.StdEncoding.EncodeToString(sum512[:]) + ":"
	zeros := "sha-256=:" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + ":"
	d256, d512 := header.Digest{Algorithm: "sha-256", Sum: sum256[:]},
		header.Digest{Algorithm: "sha-512", Sum: sum512[:]}
	tests := []struct {
		name  string
		lines []string
		want  []header.Digest
		bad   bool
	}{
		{"absent", nil, nil, false},
		{"empty", []string{""}, nil, false},
		{"one", []string{text256}, []header.Digest{d256}, false},
		{"both", []string{text256 + " ,\t" + text512}, []header.Digest{d256, d512}, false},
		{"two lines", []string{text512, text256}, []header.Digest{d512, d256}, false},
		{"twice", []string{zeros + ", " + text256}, []header.Digest{d256}, false},
		{"without padding", []string{strings.TrimSuffix(text256, "=:") + ":"},
			[]header.Digest{d256}, false},
		{"unknown", []string{"unixsum=:AAA=:, " + text256}, []header.Digest{d256}, false},
		{"broken ones", []string{"md5=:AAAA:, sha=:AAAA:"}, nil, false},
		{"no value", []string{"sha-256"}, nil, true},
		{"a token", []string{"sha-256=abc"}, nil, true},
		{"a string", []string{`sha-256="abc"`}, nil, true},
		{"open", []string{"sha-256=:abc"}, nil, true},
		{"no base64", []string{"sha-256=:a b:"}, nil, true},
		{"line feed", []string{"sha-256=:AAAA\nAAAA:"}, nil, true},
		{"too short", []string{"sha-256=:AAAA:"}, nil, true},
		{"other length", []string{"sha-512=" + text256[8:]}, nil, true},
		{"capitals", []string{strings.ToUpper(text256)}, nil, true},
		{"comma at the end", []string{text256 + ","}, nil, true},
		{"comma in front", []string{"," + text256}, nil, true},
		{"no comma", []string{text256 + " " + text512}, nil, true},
		{"parameter", []string{text256 + ";a=1"}, nil, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := header.ParseDigests(tt.lines)
			if (err != nil) != tt.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseDigests(%q) (-want +got):\n%s", tt.lines, diff)
			}
		})
	}
}

func FuzzParseDigests(f *testing.F) {
	sum := sha256.Sum256(nil)
	f.Add(string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-256", Sum: sum[:]})))
	f.Add("sha-512=:AAAA:, md5=:AA==:")
	f.Add("a=:::")
	f.Fuzz(func(t *testing.T, line string) {
		digests, err := header.ParseDigests([]string{line})
		if err != nil && digests != nil {
			t.Error("digests beside an error")
		}
		var again []byte
		for i, d := range digests {
			if i > 0 {
				again = append(again, ',')
			}
			again = header.AppendDigest(again, d)
		}
		same, err := header.ParseDigests([]string{string(again)})
		if err != nil || len(same) != len(digests) {
			t.Fatalf("%q came back from %q as %v, %v", again, line, same, err)
		}
		for i := range same {
			if same[i].Algorithm != digests[i].Algorithm || !bytes.Equal(same[i].Sum, digests[i].Sum) {
				t.Errorf("%q changed what %q means", again, line)
			}
		}
	})
}

func ExampleParseDigests() {
	digests, err := header.ParseDigests([]string{"sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:"})
	fmt.Printf("%s %x %v\n", digests[0].Algorithm, digests[0].Sum[:4], err)
	// Output:
	// sha-256 b94d27b9 <nil>
}
