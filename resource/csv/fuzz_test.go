package csv_test

import (
	stdcsv "encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/schema"
)

// triple has one text in each column, so that cells can be compared with those of another reader.
type triple struct {
	A *string `json:"a"`
	B *string `json:"b"`
	C *string `json:"c"`
}

var tripleType = schema.For[triple]()

// FuzzDecode reads any content. Each row is valid JSON or one of the documented errors, and its line
// number grows. Rows that encoding/csv reads have the same cells, except that it removes carriage
// returns.
func FuzzDecode(f *testing.F) {
	f.Add("a,b,c\n", byte(','))
	f.Add("\ufeff1;\"2\n\"\"\";\r\n\r\n;;\r\n", byte(';'))
	f.Add("\"a\"b,c,d\n\"\",,\"x", byte(','))
	f.Add("a\rb,c,d\r\n\xff,\x00,=1\n", byte('|'))
	f.Fuzz(func(t *testing.T, content string, delimiter byte) {
		dialect := csv.Dialect{Delimiter: delimiter, NoHeader: true}
		if dialect.Check() != nil {
			t.Skip()
		}
		d, err := csv.NewDecoder(strings.NewReader(content), tripleType, &csv.DecoderOptions{Dialect: dialect, MaxRow: 1 << 10})
		if err != nil {
			t.Fatal(err)
		}
		var rows [][3]string
		good := true
		for line := 0; ; line = d.Line() {
			doc, err := d.Append(nil)
			if err == io.EOF {
				break
			}
			if d.Line() <= line {
				t.Fatalf("line %d after line %d", d.Line(), line)
			}
			if err != nil {
				good = false
				if !errors.Is(err, csv.ErrTooLong) && !errors.As(err, new(*csv.SyntaxError)) {
					t.Fatalf("error %v", err)
				}
				continue
			}
			var row triple
			if err := json.Unmarshal(doc, &row); err != nil {
				t.Fatalf("%q: %v", doc, err)
			}
			rows = append(rows, [3]string{text(row.A), text(row.B), text(row.C)})
		}
		if !good || strings.Contains(content, "\r") {
			return
		}
		r := stdcsv.NewReader(strings.NewReader(strings.TrimPrefix(content, "\ufeff")))
		r.Comma, r.FieldsPerRecord = rune(dialect.Delimiter), 3
		if dialect.Delimiter == 0 {
			r.Comma = ','
		}
		all, err := r.ReadAll()
		if err != nil {
			t.Fatalf("encoding/csv: %v", err)
		}
		var want [][3]string
		for _, row := range all {
			want = append(want, [3]string(row))
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("rows (-encoding/csv +got):\n%s", diff)
		}
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// FuzzRoundTrip writes an item in any dialect and reads it again. The items are equal.
func FuzzRoundTrip(f *testing.F) {
	f.Add("a", "", int64(1), true, []byte("\x00"), byte(0))
	f.Add("=1", "'=\"\r\n", int64(-1), false, []byte{}, byte(0xff))
	f.Add("\ufeff=1", "\ufeff", int64(0), true, []byte{}, byte(5))
	f.Add("\\.", " ,;|\t", int64(0), true, []byte("a,b"), byte(0x2d))
	f.Fuzz(func(t *testing.T, id, note string, n int64, set bool, raw []byte, bits byte) {
		want := place{ID: id, Name: note, Count: n, Lat: float64(n) / 7, Open: set, Size: uint64(n), Raw: raw}
		if set {
			level := int8(n)
			want.Note, want.Kind, want.Level = &note, &id, &level
			want.Tags, want.Labels = []string{id, note}, map[string]string{id: note}
			want.Address, want.Extra = &address{note}, []any{note, nil}
		}
		dialect := csv.Dialect{Delimiter: ",;|\t"[bits>>3&3], NoHeader: bits&1 != 0, BOM: bits&2 != 0, EscapeFormulas: bits&4 != 0}
		e, err := csv.NewEncoder(placeType, dialect)
		if err != nil {
			t.Fatal(err)
		}
		content, err := e.Append(e.AppendHeader(nil), &want)
		if err != nil {
			t.Skip() // not valid UTF-8
		}
		d, err := csv.NewDecoder(strings.NewReader(string(content)), placeType, &csv.DecoderOptions{Dialect: dialect})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := d.Append(nil)
		if err != nil {
			t.Fatalf("%q: %v", content, err)
		}
		got, err := placeType.Decode(doc, nil)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		was, _ := placeType.Append(nil, &want)
		is, _ := placeType.Append(nil, got)
		if diff := cmp.Diff(string(was), string(is)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", content, diff)
		}
		if _, err := d.Append(nil); err != io.EOF {
			t.Errorf("after the row: %v", err)
		}
	})
}
