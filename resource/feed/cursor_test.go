package feed_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
)

func TestCursorText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cursor feed.Cursor
		text   string
	}{
		{feed.Cursor{}, ""},
		{feed.Cursor{Epoch: 1}, "AAAAAAAAAAEAAAAAAAAAAAA"},
		{feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}, "AAAAAAAAAAEBAAAAAAAAAAE"},
		{feed.Cursor{Epoch: 1, Seq: 300, Mark: 2}, "AAAAAAAAAAGsAgAAAAAAAAAC"},
		{
			feed.Cursor{Epoch: math.MaxUint64, Seq: math.MaxUint64, Mark: math.MaxUint64},
			strings.Repeat("_", 22) + "8B" + strings.Repeat("_", 10) + "8",
		},
	}
	for _, tt := range tests {
		if got := tt.cursor.String(); got != tt.text || len(got) > 35 {
			t.Errorf("String of %+v: %q, want %q", tt.cursor, got, tt.text)
		}
		if tt.cursor.IsZero() {
			continue
		}
		if got, err := feed.ParseCursor(tt.text); err != nil || got != tt.cursor {
			t.Errorf("ParseCursor(%q): %+v, %v, want %+v", tt.text, got, err, tt.cursor)
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"the zero value", "AAAAAAAAAAAAAAAAAAAAAAA"},
		{"padded", "AAAAAAAAAAEAAAAAAAAAAAA="},
		{"too short", "AAAAAAAAAAEBAAAAAAAAAA"},
		{"no sequence number", "AAAAAAAAAAEAAAAAAAAAAQ"},
		{"trailing bytes", "AAAAAAAAAAGsAgAAAAAAAAAC" + "AB"},
		{"other bits at the end", "AAAAAAAAAAEBAAAAAAAAAAF"},
		{"a varint with padding", "AAAAAAAAAAGBAAAAAAAAAAAB"},
		{"an unterminated varint", "AAAAAAAAAAGBgQAAAAAAAAAB"},
		{"a line feed", "AAAAAAAAAAEBAAAA\nAAAAAAE"},
		{"a space", " AAAAAAAAAAEBAAAAAAAAAAE"},
		{"the other alphabet", "+++++++++++BAAAAAAAAAAE"},
		{"long", strings.Repeat("A", 36)},
		{"very long", strings.Repeat("A", 1<<20)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if c, err := feed.ParseCursor(tt.text); !errors.Is(err, feed.ErrCursor) || !c.IsZero() {
				t.Errorf("ParseCursor: %+v, %v, want ErrCursor", c, err)
			}
		})
	}
}

// FuzzParseCursor checks that each accepted text is the only text of its cursor.
func FuzzParseCursor(f *testing.F) {
	f.Add("AAAAAAAAAAEBAAAAAAAAAAE")
	f.Add("AAAAAAAAAAGsAgAAAAAAAAAC")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := feed.ParseCursor(text)
		if err != nil {
			if err != feed.ErrCursor || !c.IsZero() {
				t.Errorf("ParseCursor(%q): %+v, %v", text, c, err)
			}
			return
		}
		if c.IsZero() || c.String() != text {
			t.Errorf("ParseCursor(%q) is %+v, which has the text %q", text, c, c)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add(uint64(1), uint64(300), uint64(7))
	f.Fuzz(func(t *testing.T, epoch, seq, mark uint64) {
		c := feed.Cursor{Epoch: epoch, Seq: seq, Mark: mark}
		if c.IsZero() {
			return
		}
		if got, err := feed.ParseCursor(c.String()); err != nil || got != c {
			t.Errorf("%+v has the text %q, which is %+v, %v", c, c, got, err)
		}
	})
}

func ExampleParseCursor() {
	c, err := feed.ParseCursor("AAAAAAAAAAEBAAAAAAAAAAE")
	fmt.Println(c, err)
	_, err = feed.ParseCursor("yesterday")
	fmt.Println(err)
	// Output:
	// AAAAAAAAAAEBAAAAAAAAAAE <nil>
	// feed: invalid cursor
}
