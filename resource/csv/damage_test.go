package csv_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/csv"
)

// TestDamage reads files of which some bytes were changed, inserted or removed. Each line is part of one
// row, or it is empty: no line is lost, whatever the quotation marks are.
func TestDamage(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(48, 7))
	for range 3000 {
		content := []byte("a,b,c\n")
		for range rnd.IntN(20) {
			content = append(content, []string{"x,y,z\n", "\"x\",\"y\n,\",z\r\n", "1,\"\"\"2\"\"\",\"\"\n", ",,\n", "\n"}[rnd.IntN(5)]...)
		}
		for range 1 + rnd.IntN(4) {
			at := 6 + rnd.IntN(len(content)-5)
			with := []string{"\"", "\"", "\\\"", "\n", "\r", ",", "\xff", "", ""}[rnd.IntN(9)]
			content = append(append(append([]byte{}, content[:at]...), with...), content[min(len(content), at+rnd.IntN(3)):]...)
		}
		lines := strings.SplitAfter(string(content), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		d, err := csv.NewDecoder(strings.NewReader(string(content)), tripleType, nil)
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		for next := 2; ; next = d.LastLine() + 1 {
			_, err := d.Append(nil)
			end := d.Line()
			if err == io.EOF {
				end = len(lines) + 1
			}
			for n := next; n < end; n++ {
				if strings.Trim(lines[n-1], "\r\n") != "" {
					t.Fatalf("%q: line %d is lost", content, n)
				}
			}
			if err == io.EOF {
				break
			}
			if d.Line() < next || d.LastLine() < d.Line() || d.LastLine() > len(lines) {
				t.Fatalf("%q: lines %d to %d after line %d of %d", content, d.Line(), d.LastLine(), next-1, len(lines))
			}
		}
	}
}
