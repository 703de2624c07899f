package resourcetest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource/schema"
)

// text sets v to a string, bytes, a time, or another value that is a JSON string.
func (b *builder) text(v reflect.Value, f *schema.Field, t *schema.Type) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(b.moment()))
	case t.Format == "byte":
		b.bytes(v)
	case v.Kind() != reflect.String || reflect.PointerTo(v.Type()).Implements(unmarshaler):
		b.marshaled(v, f)
	default:
		v.SetString(b.words(f))
	}
}

// bytes fills a slice or an array of bytes.
func (b *builder) bytes(v reflect.Value) {
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), 2+b.n%3, 2+b.n%3))
	}
	for i := range v.Len() {
		v.Index(i).SetUint(uint64(byte(b.n + i*255)))
	}
}

// words returns a string that satisfies the constraints of f.
func (b *builder) words(f *schema.Field) string {
	switch {
	case len(f.Enum) > 0:
		s, _ := f.Enum[b.pick(len(f.Enum))].(string)
		return s
	case f.Pattern != nil:
		return b.matching(f)
	}
	if s, ok := b.formatted(f); ok {
		return s
	}
	lo, hi := lengths(f)
	switch b.style {
	case clustered:
		return fit(commonTexts[b.rng.IntN(len(commonTexts))], lo, hi)
	case extreme:
		return fit(edge(b, extremeTexts), lo, hi)
	case hard:
		return fit(b.hardText(), lo, hi)
	default:
		return fit(b.word(hi), lo, hi)
	}
}

// commonTexts are few and similar: they differ in case, accents and the special characters of LIKE.
var commonTexts = []string{"a", "A", "aa", "ab", "a%b", "a_b", "axb", "%", `a\b`, "b", "B", "é", "e", ""}

// extremeTexts are valid texts that stores have changed in the past.
var extremeTexts = []string{
	"", " ", " leading and trailing ", "a\tb\r\nc", `"quoted" and \escaped\`, "'; DROP TABLE items; --",
	"null", "e\u0301 combining", "é composed", "👩‍👩‍👧‍👦 family", "עברית and العربية", "\U0010ffff last",
	"\ufffd replacement", "\u2028 separators \u2029", "\x01\x7f controls", "\ufeff byte order mark",
	"İstanbul ß ſ",
	strings.Repeat("long ", 2000),
}

// hardText returns a text with NUL or, outside of lists, one that is too long for many columns.
func (b *builder) hardText() string {
	if b.depth == 0 && b.turn%3 == 0 {
		return strings.Repeat("0123456789abcdef", 1<<16)
	}
	return edge(b, []string{"before\x00after", "\x00"})
}

// lengths returns the minimum and maximum length in code points. A maximum of -1 means no limit.
func lengths(f *schema.Field) (lo, hi int) {
	hi = -1
	if f.MinLength != nil {
		lo = *f.MinLength
	}
	if f.MaxLength != nil {
		hi = *f.MaxLength
	}
	return lo, hi
}

// fit cuts and pads s to a valid length.
func fit(s string, lo, hi int) string {
	if hi >= 0 && utf8.RuneCountInString(s) > hi {
		r := []rune(s)
		s = string(r[len(r)-hi:]) // the end, which has the number of a distinct word
	}
	if n := utf8.RuneCountInString(s); n < lo {
		s += strings.Repeat("x", lo-n)
	}
	return s
}

// word returns the nth word. Short words have no prefix, so that they stay distinct.
func (b *builder) word(most int) string {
	n := strconv.FormatInt(int64(b.n), 36)
	if s := b.prefix + "-" + n; most < 0 || len(s) <= most {
		return s
	}
	return n
}

// formatted returns a string of a format that package schema checks.
func (b *builder) formatted(f *schema.Field) (string, bool) {
	switch {
	case f.IsDecimal():
		return b.decimal(f), true
	case f.IsDuration():
		return b.duration(), true
	}
	if b.style == clustered {
		own := *b
		own.style, own.n = distinct, b.rng.IntN(4)
		b = &own
	}
	switch f.Format {
	case "date-time":
		return b.moment().Format(time.RFC3339Nano), true
	case "date":
		return b.moment().AddDate(0, 0, b.n%1000).Format(time.DateOnly), true
	case "time":
		return b.moment().Format("15:04:05Z"), true
	case "time-local":
		return b.moment().Format("15:04:05"), true
	case "email":
		return fmt.Sprintf("user%d@example.com", b.n), true
	case "uuid":
		return b.uuid(), true
	case "uri":
		return fmt.Sprintf("https://example.com/%d", b.n), true
	case "hostname":
		return fmt.Sprintf("host%d.example.com", b.n), true
	case "ipv4":
		return b.address(), true
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", b.n%0xffff+1), true
	}
	return "", false
}

// uuid returns the nth UUID, with the version bits of version 7.
func (b *builder) uuid() string { return fmt.Sprintf("0192f0c1-2345-7abc-8def-%012x", b.n) }

// address returns the nth address of a private network.
func (b *builder) address() string {
	return fmt.Sprintf("10.%d.%d.%d", b.n>>16&255, b.n>>8&255, b.n&255)
}

// matching generates a string for a pattern from its syntax tree. It ignores anchors and word
// boundaries, so the result may not match, and the caller tries again.
func (b *builder) matching(f *schema.Field) string {
	re, err := syntax.Parse(f.Pattern.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	rng := b.rng
	if b.style == clustered {
		rng = rand.New(rand.NewPCG(1, b.rng.Uint64N(4)))
	}
	lo, hi := lengths(f)
	var s string
	for try := range 200 {
		var out strings.Builder
		spell(&out, re.Simplify(), rng, 1+try/20)
		s = out.String()
		n := utf8.RuneCountInString(s)
		if f.Pattern.MatchString(s) && n >= lo && (hi < 0 || n <= hi) {
			break
		}
	}
	return s
}

// spell returns a string that re matches, with up to more additional repetitions.
func spell(out *strings.Builder, re *syntax.Regexp, rng *rand.Rand, more int) {
	repeat := func(least, most int) {
		if most < 0 || most > least+more {
			most = least + more
		}
		for range least + rng.IntN(most-least+1) {
			spell(out, re.Sub[0], rng, more)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		out.WriteRune(fromClass(re.Rune, rng))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte(byte('a' + rng.IntN(26)))
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			spell(out, sub, rng, more)
		}
	case syntax.OpAlternate:
		spell(out, re.Sub[rng.IntN(len(re.Sub))], rng, more)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
}

// fromClass returns a character from pairs of bounds, a printable ASCII one if possible.
func fromClass(pairs []rune, rng *rand.Rand) rune {
	var plain []rune
	for i := 0; i+1 < len(pairs); i += 2 {
		for r := max(pairs[i], ' '); r <= min(pairs[i+1], '~'); r++ {
			plain = append(plain, r)
		}
	}
	if len(plain) > 0 {
		return plain[rng.IntN(len(plain))]
	}
	if len(pairs) == 0 {
		return ' '
	}
	return pairs[0]
}
