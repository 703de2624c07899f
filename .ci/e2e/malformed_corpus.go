package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

// input is content that is sent as JSON.
type input struct {
	name    string
	content []byte
	bad     bool // not JSON, and must be refused
	whole   bool // not sent as a part of other content
}

// large reports whether a server may close the connection before it has read the content: net/http reads 256 KiB of content
// that the handler does not read.
func (in input) large() bool { return len(in.content) > 256<<10 }

// mutant damages a text as a bad connection or program does.
func mutant(rng *rand.Rand, text, other string) []byte {
	b := bytes.Clone([]byte(text))
	at := rng.IntN(len(b) + 1)
	switch rng.IntN(4) {
	case 0:
		return b[:at]
	case 1:
		return append(b[:at:at], append([]byte(other), b[at:]...)...)
	case 2:
		return append(b, other...)
	default:
		for range 1 + len(b)/10 {
			if len(b) > 0 {
				b[rng.IntN(len(b))] = byte(rng.IntN(256))
			}
		}
		return b
	}
}

// encodings are texts that are not UTF-8, or not as JSON wants it (RFC 8259 section 8.1).
func encodings() []input {
	bad := map[string]string{
		"a byte that UTF-8 does not have": "\xff",
		"a continuation byte":             "\x80",
		"a character that is cut off":     "\xe2\x82",
		"slash, overlong":                 "\xc0\xaf",
		"NUL, overlong":                   "\xc0\x80",
		"half of a pair":                  "\xed\xa0\x80",
		"both halves, each by itself":     "\xed\xa0\x80\xed\xb0\x80",
		"after the last character":        "\xf4\x90\x80\x80",
		"five bytes":                      "\xf8\x88\x80\x80\x80",
		"a control character":             "\x01",
		"a line feed":                     "\n",
		"NUL":                             "\x00",
		"an escape that is cut off":       `\u12`,
		"an unknown escape":               `\x41`,
		"half of a pair, as an escape":    `\ud800`,
		"the wrong half first, escaped":   `\udc00\ud800`,
		"a noncharacter":                  "\uffff",
		"a direction override":            "\u202e",
	}
	var all []input
	for name, text := range bad {
		valid := name == "a noncharacter" || name == "a direction override"
		all = append(all, input{name: "in a string: " + name, content: []byte(`"a` + text + `b"`), bad: !valid})
		all = append(all, input{name: "in a name: " + name, content: []byte(`{"a` + text + `b":1}`), bad: !valid})
	}
	return append(all,
		input{name: "UTF-16 with its mark", content: []byte("\xff\xfe{\x00}\x00"), bad: true},
		input{name: "UTF-16 without", content: []byte("{\x00}\x00"), bad: true},
		input{name: "UTF-32", content: []byte("{\x00\x00\x00}\x00\x00\x00"), bad: true},
		input{name: "the mark of UTF-8", content: []byte("\xef\xbb\xbf{}"), bad: true},
	)
}

// meanings are well-formed for some readers, and something else for others.
func meanings() []input {
	texts := []string{`NaN`, `Infinity`, `-Infinity`, `{"id":NaN}`, `[Infinity]`, `0x10`, `01`, `1.`, `.5`, `+1`, `1e`,
		`{"id":1,"id":2}`, `{"note":"a","note":"b"}`, `{"a":{"b":1,"b":2}}`, `{"a":1,"\u0061":2}`,
		`{"id":1}{"id":2}`, `{}x`, `[1,]`, `{"a":1,}`, `// c` + "\n{}", `/**/{}`, `'a'`, `{a:1}`, `nul`, `True`, `undefined`, ``, ` `}
	var all []input
	for _, text := range texts {
		all = append(all, input{name: "text " + text, content: []byte(text), bad: true})
	}
	for _, text := range []string{`1e999999999`, `-1e999999999`, `1e-999999999`, `9007199254740993`,
		`18446744073709551616`, `-9223372036854775809`, `1.0`, `1e2`, `-0`, `-0.0`, `{"__proto__":{"a":1}}`, `{"id":1,"ID":2}`, `{"":0}`, `[null]`,
		`"\u0000"`, `{"constructor":null}`, `true`, `null`, `[]`, `{}`} {
		all = append(all, input{name: "value " + text, content: []byte(text), bad: false})
	}
	return all
}

// sizes are larger, deeper or longer than any content of a program.
func sizes() []input {
	const million = 1_000_000
	repeat := func(text string, n int) []byte { return bytes.Repeat([]byte(text), n) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	quote := []byte(`"`)
	all := []input{
		{name: "a million lists, open", content: repeat("[", million), bad: true},
		{name: "a million lists", content: join(repeat("[", million), repeat("]", million))},
		{name: "a million objects, open", content: repeat(`{"a":`, million), bad: true},
		{name: "a million objects", content: join(repeat(`{"a":`, million), []byte("1"), repeat("}", million))},
		{name: "half a million lists, within the limit", content: join(repeat("[", million/2), repeat("]", million/2))},
		{name: "100 lists", content: join(repeat("[", 100), repeat("]", 100))},
		{name: "100,000 objects, within the limit", content: join(repeat(`{"a":`, million/10), []byte("1"), repeat("}", million/10))},
		{name: "a string of 10 MB", content: join(quote, repeat("x", 10*million), quote)},
		{name: "a string of 10 MB, open", content: join(quote, repeat("x", 10*million)), bad: true},
		{name: "a string of 10 MB of escapes", content: join(quote, repeat(`\u0041`, 10*million/6), quote)},
		{name: "a string of 900 kB", content: join(quote, repeat("x", 900_000), quote)},
		{name: "a name of 900 kB", content: join([]byte(`{"`), repeat("x", 900_000), []byte(`":1}`))},
		{name: "a number of 900 kB", content: repeat("9", 900_000)},
		{name: "a fraction of 900 kB", content: join([]byte("0."), repeat("9", 900_000))},
		{name: "an exponent of 900 kB", content: join([]byte("1e"), repeat("9", 900_000))},
		{name: "300,000 nulls", content: join([]byte("[null"), repeat(",null", 180_000), []byte("]"))},
		{name: "white space of 900 kB", content: repeat(" ", 900_000), bad: true},
	}
	var names bytes.Buffer
	for i := range 60_000 {
		fmt.Fprintf(&names, `,"n%d":%d`, i, i)
	}
	return append(all, input{name: "60,000 names", content: join([]byte(`{"n":0`), names.Bytes(), []byte("}"))})
}
