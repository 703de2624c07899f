package schema

// Mistakes in struct tags: misspelled ones, those of other libraries, and unknown formats. Called by
// tags.go. A constraint that is ignored in silence is noticed in production, if at all.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/internal/near"
)

// unknownTag returns an error if a tag is not one of this package and its author probably expects
// that it is. Tags of other purposes, such as db and yaml, are ignored.
func unknownTag(key, value string, t reflect.Type) error {
	elem, _ := indirect(t)
	switch key {
	case "validate", "binding":
		if value == "" || value == "-" {
			return nil
		}
		return fmt.Errorf("tag %s is not enforced; %s", key, equivalents(value, elem))
	case "form": // of HTML forms, two edits from format
		return nil
	case "min", "max", "minlen", "maxlen":
		return fmt.Errorf("unknown tag %s; use %s", key, limitTag(key[:3], elem))
	case "oneof":
		return fmt.Errorf("unknown tag %s; use enum", key)
	case "regex", "regexp":
		return fmt.Errorf("unknown tag %s; use pattern", key)
	}
	if known := near.Of(key, tagKeys[:]); known != "" {
		return fmt.Errorf("unknown tag %s; use %s", key, known)
	}
	return nil
}

// limitTag returns the tag that limits values of a Go type. side is min or max.
func limitTag(side string, t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return side + "Length"
	case reflect.Slice, reflect.Array, reflect.Map:
		return side + "Items"
	}
	return side + "imum"
}

// ruleTags are the tags for the rules of go-playground/validator that need no argument.
var ruleTags = map[string]string{
	"required": `required:"true"`, "unique": `unique:"true"`,
	"email": `format:"email"`, "uri": `format:"uri"`, "url": `format:"uri"`, "http_url": `format:"uri"`,
	"uuid": `format:"uuid"`, "uuid3": `format:"uuid"`, "uuid4": `format:"uuid"`, "uuid5": `format:"uuid"`,
	"hostname": `format:"hostname"`, "hostname_rfc1123": `format:"hostname"`, "fqdn": `format:"hostname"`,
	"ipv4": `format:"ipv4"`, "ip4_addr": `format:"ipv4"`,
	"ipv6": `format:"ipv6"`, "ip6_addr": `format:"ipv6"`,
	"alpha": `pattern:"^[A-Za-z]+$"`, "alphanum": `pattern:"^[A-Za-z0-9]+$"`,
	"numeric": `pattern:"^[-+]?[0-9]+(\\.[0-9]+)?$"`, "number": `pattern:"^[0-9]+$"`,
	"lowercase": `pattern:"^[^A-Z]+$"`, "uppercase": `pattern:"^[^a-z]+$"`,
	"e164": `pattern:"^\\+[1-9]?[0-9]{7,14}$"`,
}

// equivalents returns what to write in place of a validate or binding tag on a field of this Go
// type, as the rest of a sentence.
func equivalents(rules string, t reflect.Type) string {
	var tags, others []string
	notEmpty := t.Kind() == reflect.String && slices.Contains(strings.Split(rules, ","), "required")
	for rule := range strings.SplitSeq(rules, ",") {
		name, argument, _ := strings.Cut(rule, "=")
		switch name = strings.TrimSpace(name); name {
		case "", "omitempty", "omitnil", "omitzero": // optional is the default
		case "dive":
			if t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
				t, _ = indirect(t.Elem())
			}
		default:
			if tag := equivalent(name, argument, t); tag == "" {
				others = append(others, rule)
			} else if !slices.Contains(tags, tag) {
				tags = append(tags, tag)
			}
		}
	}
	// The rule required also rejects an empty string.
	if notEmpty && len(tags) == 1 {
		tags = append(tags, `minLength:"1"`)
	}
	var fixes []string
	if len(tags) > 0 {
		fixes = append(fixes, "use "+strings.Join(tags, " "))
	}
	if len(others) > 0 {
		fixes = append(fixes, "check "+strings.Join(others, ", ")+" in Options.Before")
	}
	if len(fixes) == 0 {
		return "remove it: members are optional by default"
	}
	return strings.Join(fixes, ", and ")
}

// equivalent returns the tag for one rule, or "" if there is none.
func equivalent(name, argument string, t reflect.Type) string {
	if tag := ruleTags[name]; tag != "" {
		return tag
	}
	integers := t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
	switch {
	case name == "oneof":
		return fmt.Sprintf("enum:%q", strings.Join(strings.Fields(argument), ","))
	case name == "datetime":
		switch argument {
		case "2006-01-02":
			return `format:"date"`
		case "2006-01-02T15:04:05Z07:00":
			return `format:"date-time"`
		case "15:04:05":
			return `format:"time-local"`
		}
	case name == "min", name == "gte":
		return fmt.Sprintf("%s:%q", limitTag("min", t), argument)
	case name == "max", name == "lte":
		return fmt.Sprintf("%s:%q", limitTag("max", t), argument)
	case name == "len" && limitTag("min", t) != "minimum":
		return fmt.Sprintf("%s:%q %s:%q", limitTag("min", t), argument, limitTag("max", t), argument)
	case name == "gt" && (integers || limitTag("min", t) != "minimum"):
		return next(limitTag("min", t), argument, +1)
	case name == "lt" && (integers || limitTag("max", t) != "maximum"):
		return next(limitTag("max", t), argument, -1)
	}
	return ""
}

// next returns a tag for an exclusive integer limit, because the limits of the tags are inclusive.
func next(tag, limit string, step int) string {
	n, err := strconv.Atoi(limit)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s:%q", tag, strconv.Itoa(n+step))
}

// join returns an error with each mistake of errs on a line of its own, and nil if there is none.
// prefix precedes each line.
func join(prefix string, errs ...error) error {
	var lines []string
	for _, err := range errs {
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				lines = append(lines, prefix+strings.TrimPrefix(line, "schema: "))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// report returns the error of Of for the mistakes of a type, each on a line.
func report(err error) error {
	text := strings.TrimPrefix(err.Error(), "schema: ")
	if n := strings.Count(text, "\n"); n > 0 {
		text = fmt.Sprintf("%d mistakes:\n\t%s", n+1, strings.ReplaceAll(text, "\n", "\n\t"))
	}
	return errors.New("schema: " + text)
}
