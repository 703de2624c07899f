package header_test

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/header"
)

// This file has a reference implementation of Accept. It follows the rules of the RFC with regular
// expressions, sorting and floating point, and shares no code with the package.

const (
	patternToken  = "[-!#$%&'*+.^_`|~0-9A-Za-z]+"
	patternQuoted = `"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x08\x0a-\x1f\x7f])*"`
	patternParam  = `(` + patternToken + `)=(` + patternToken + `|` + patternQuoted + `)`
)

var (
	reMember = regexp.MustCompile(
		`^(` + patternToken + `)/(` + patternToken + `)((?:[ \t]*;(?:[ \t]*` + patternParam + `)?)*)[ \t]*$`)
	reParam  = regexp.MustCompile(`;[ \t]*` + patternParam)
	reWeight = regexp.MustCompile(`^(?:0?\.[0-9]{1,3}|0\.?|1(?:\.0{0,3})?)$`)
	reEscape = regexp.MustCompile(`\\((?s).)`)
)

// slowRange is a media range, or an offer.
type slowRange struct {
	typ, subtype string
	params       [][2]string
	weight       float64
}

func (r slowRange) specificity() []int {
	switch {
	case r.typ == "*":
		return []int{0, len(r.params)}
	case r.subtype == "*":
		return []int{1, len(r.params)}
	}
	return []int{2, len(r.params)}
}

func (r slowRange) matches(offer slowRange) bool {
	if r.typ != "*" && r.typ != offer.typ || r.subtype != "*" && r.subtype != offer.subtype {
		return false
	}
	json := offer.subtype == "json" || len(offer.subtype) > 5 && strings.HasSuffix(offer.subtype, "+json")
	for _, p := range r.params {
		isCharset := p[0] == "charset"
		has := slices.ContainsFunc(offer.params, func(o [2]string) bool {
			return o[0] == p[0] && (o[1] == p[1] || isCharset && strings.EqualFold(o[1], p[1]))
		})
		if !has && !(json && isCharset && strings.EqualFold(p[1], "utf-8")) {
			return false
		}
	}
	return true
}

func slowParse(member string) (r slowRange, ok bool) {
	m := reMember.FindStringSubmatch(member)
	if m == nil || m[1] == "*" && m[2] != "*" {
		return r, false
	}
	r = slowRange{typ: strings.ToLower(m[1]), subtype: strings.ToLower(m[2]), weight: 1}
	weights := 0
	for _, p := range reParam.FindAllStringSubmatch(m[3], -1) {
		name, value := strings.ToLower(p[1]), p[2]
		if name == "q" {
			if weights++; weights > 1 || !reWeight.MatchString(value) {
				return r, false
			}
			r.weight, _ = strconv.ParseFloat(value, 64)
			continue
		}
		if value[0] == '"' {
			value = slowUnquote(value)
		}
		r.params = append(r.params, [2]string{name, value})
	}
	return r, true
}

func slowUnquote(s string) string {
	return reEscape.ReplaceAllString(s[1:len(s)-1], "$1")
}

// slowSplit splits a line at the commas outside quoted strings. It trims members and drops empty
// ones.
func slowSplit(line string) (members []string) {
	var member []byte
	quoted, escaped := false, false
	for _, c := range []byte(line + ",") {
		if c == ',' && !quoted {
			if m := strings.Trim(string(member), " \t"); m != "" {
				members = append(members, m)
			}
			member = nil
			continue
		}
		member = append(member, c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		}
	}
	if m := strings.Trim(strings.TrimSuffix(string(member), ","), " \t"); m != "" {
		members = append(members, m) // the closing quotation mark is missing
	}
	return members
}

func slowAccept(lines, offers []string) (index int, ok bool) {
	var members []string
	for _, line := range lines {
		members = append(members, slowSplit(line)...)
	}
	if len(members) == 0 {
		members = []string{"*/*"}
	}
	var ranges []slowRange
	for _, member := range members {
		if r, ok := slowParse(member); ok {
			ranges = append(ranges, r)
		}
	}
	// The most specific range is first, then the one with the higher weight.
	slices.SortFunc(ranges, func(a, b slowRange) int {
		if c := slices.Compare(b.specificity(), a.specificity()); c != 0 {
			return c
		}
		return cmp.Compare(b.weight, a.weight)
	})
	index, best := -1, 0.0
	for i, text := range offers {
		offer, ok := slowParse(text)
		if !ok {
			continue
		}
		decisive := slices.IndexFunc(ranges, func(r slowRange) bool { return r.matches(offer) })
		if decisive >= 0 && ranges[decisive].weight > best {
			index, best = i, ranges[decisive].weight
		}
	}
	return index, index >= 0
}

func FuzzAccept(f *testing.F) {
	all := []string{
		typeJSON, typeWidget, typeProblem, "text/html;level=1", typeHTML, "text/plain;charset=utf-8",
		`image/png;a="b,c"`, `a/b;x=1;y="\"2"`,
	}
	f.Add("application/*;q=0.1, application/json;q=0", uint8(0b101))
	f.Add(`text/html;LEVEL="1";q=.5, */*;q=0.500`+"\n,,", uint8(0b11000))
	f.Add(`image/*;a="b\,c", A/B;y="\"2";x=1`, uint8(0b11000000))
	f.Add("*/*;charset=utf-8", uint8(0xff))
	f.Add("a/b;q=1;q=1", uint8(0xff))
	f.Fuzz(func(t *testing.T, field string, subset uint8) {
		lines := strings.Split(field, "\n")
		var offers []string
		for i, offer := range all {
			if subset&(1<<i) != 0 {
				offers = append(offers, offer)
			}
		}
		want, wantOK := slowAccept(lines, offers)
		got, ok := header.Accept(lines, offers)
		if got != want || ok != wantOK {
			t.Errorf("Accept(%q, %q) = %d, %v, want %d, %v", lines, offers, got, ok, want, wantOK)
		}
	})
}
