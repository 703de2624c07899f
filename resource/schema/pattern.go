package schema

// Patterns of one class of characters, such as ^[A-Z]{2}$, which are matched without package regexp.
// Called by tags.go and validate.go.

import (
	"regexp/syntax"
	"unicode/utf8"
)

// charRun is a pattern that requires a number of ASCII characters of one class. A third of the time of
// validating an item with such a pattern is that of package regexp.
type charRun struct {
	class    [utf8.RuneSelf]bool
	min, max int // number of characters; max is -1 if there is no limit
}

// newCharRun returns the charRun of a valid pattern, and nil if it has another form.
func newCharRun(pattern string) *charRun {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || re.Op != syntax.OpConcat || len(re.Sub) != 3 ||
		re.Sub[0].Op != syntax.OpBeginText || re.Sub[2].Op != syntax.OpEndText {
		return nil
	}
	run, class := &charRun{}, re.Sub[1]
	switch class.Op {
	case syntax.OpCharClass:
		run.min, run.max = 1, 1
		return run.ofClass(class)
	case syntax.OpStar:
		run.min, run.max = 0, -1
	case syntax.OpPlus:
		run.min, run.max = 1, -1
	case syntax.OpQuest:
		run.min, run.max = 0, 1
	case syntax.OpRepeat:
		run.min, run.max = class.Min, class.Max
	default:
		return nil
	}
	return run.ofClass(class.Sub[0])
}

// ofClass sets the class. It returns nil if that is not a class of ASCII characters.
func (r *charRun) ofClass(class *syntax.Regexp) *charRun {
	if class.Op != syntax.OpCharClass {
		return nil
	}
	for i := 0; i < len(class.Rune); i += 2 {
		low, high := class.Rune[i], class.Rune[i+1]
		if high >= utf8.RuneSelf {
			return nil
		}
		for c := low; c <= high; c++ {
			r.class[c] = true
		}
	}
	return r
}

// matches reports whether s matches the pattern. Each character of the class is one byte.
func (r *charRun) matches(s string) bool {
	if len(s) < r.min || r.max >= 0 && len(s) > r.max {
		return false
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || !r.class[s[i]] {
			return false
		}
	}
	return true
}

// matchesPattern reports whether a string matches Pattern, which is not nil.
func (f *Field) matchesPattern(s string) bool {
	if f.run != nil {
		return f.run.matches(s)
	}
	return f.Pattern.MatchString(s)
}
