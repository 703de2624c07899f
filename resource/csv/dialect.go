package csv

// Dialects, and the parameters of the media type that name them. Called by package rest.

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
)

// MediaType is the media type of CSV without parameters (RFC 7111).
const MediaType = "text/csv"

// Dialect is a form of CSV. The zero value is that of RFC 4180 with a header row, in UTF-8 without a
// byte order mark.
type Dialect struct {
	// Delimiter separates cells: ',', ';', '|' or a tab. Default comma. Spreadsheets in languages
	// with a decimal comma expect semicolons.
	Delimiter byte
	// NoHeader omits the row with the names of the columns.
	NoHeader bool
	// BOM writes a byte order mark before the first row. Excel reads content as UTF-8 only if it has
	// one. A [Decoder] skips it in every dialect.
	BOM bool
	// EscapeFormulas writes an apostrophe before text that a spreadsheet would calculate: text that
	// begins with =, +, -, @, a tab, CR, LF, or one of the full-width forms of =, +, - and @. Text
	// that begins with apostrophes before such a character gets one more, so that a Decoder with the
	// same option restores every text. Numbers, also in strings of the format decimal, and JSON text are
	// not changed. Default false, because other readers receive the apostrophe as part of the text.
	EscapeFormulas bool
}

// delimiters are the valid delimiters.
const delimiters = ",;|\t"

// Check returns an error if the delimiter is not one of those that [Dialect] lists.
func (d Dialect) Check() error {
	if d.Delimiter != 0 && strings.IndexByte(delimiters, d.Delimiter) < 0 {
		return fmt.Errorf("csv: delimiter is %q, but must be a comma, a semicolon, | or a tab", d.Delimiter)
	}
	return nil
}

// delimiter returns the delimiter or its default.
func (d Dialect) delimiter() byte {
	if d.Delimiter == 0 {
		return ','
	}
	return d.Delimiter
}

// MediaType returns the media type with the parameters of the dialect, such as
//
//	text/csv; charset=utf-8; header=present
//
// Parameters that RFC 4180 does not register are omitted if they have the default value.
// [Dialect.With] parses all of them.
func (d Dialect) MediaType() string {
	name := MediaType + "; charset=utf-8; header=present"
	if d.NoHeader {
		name = MediaType + "; charset=utf-8; header=absent"
	}
	switch c := d.delimiter(); c {
	case ',':
	case '\t':
		name += "; delimiter=tab"
	default:
		name += `; delimiter="` + string(rune(c)) + `"`
	}
	if d.BOM {
		name += "; bom=present"
	}
	if d.EscapeFormulas {
		name += "; formulas=escaped"
	}
	return name
}

// With returns the dialect that parameters of the media type select; the others are those of d:
//
//   - charset: utf-8.
//   - header: present or absent (RFC 4180 section 3).
//   - delimiter: one of the characters of [Dialect], as in delimiter=";", or tab.
//   - bom: present or absent.
//   - formulas: escaped or plain.
//
// Values of parameters are case-insensitive. Any other name or value is an error. Its text names the
// parameter and what is accepted, and can be sent to the client.
func (d Dialect) With(params []header.Param) (Dialect, error) {
	for _, p := range params {
		value := strings.ToLower(p.Value)
		var on, ok bool
		accepted := "present or absent"
		switch p.Name {
		case "charset":
			ok, accepted = value == "utf-8", "utf-8"
		case "header":
			on, ok = choice(value, "absent", "present")
			d.NoHeader = on
		case "delimiter":
			if value == "tab" {
				value = "\t"
			}
			if ok = len(value) == 1 && strings.Contains(delimiters, value); ok {
				d.Delimiter = value[0]
			}
			accepted = `",", ";", "|" or tab`
		case "bom":
			on, ok = choice(value, "present", "absent")
			d.BOM = on
		case "formulas":
			on, ok = choice(value, "escaped", "plain")
			d.EscapeFormulas, accepted = on, "escaped or plain"
		default:
			return d, fmt.Errorf("parameter %q of text/csv is not supported; "+
				"the parameters are charset, header, delimiter, bom and formulas", p.Name)
		}
		if !ok {
			return d, fmt.Errorf("parameter %s of text/csv must be %s", p.Name, accepted)
		}
	}
	return d, nil
}

// choice returns true for the value yes and false for no. ok is false for any other value.
func choice(value, yes, no string) (on, ok bool) { return value == yes, value == yes || value == no }
