package idempotency_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
)

// read returns the key of a field, or the kind of the problem.
func read(g *idempotency.Guard, lines ...string) string {
	h := http.Header{}
	if lines != nil {
		h["Idempotency-Key"] = lines
	}
	key, err := g.Key(h)
	var d *problem.Details
	if errors.As(err, &d) {
		if d.StatusCode() != http.StatusBadRequest || len(d.Errors) != 1 ||
			d.Errors[0].Header != "Idempotency-Key" {
			return fmt.Sprintf("not a refusal of the field: %+v", d)
		}
		return string(d.Kind)
	}
	if err != nil {
		return err.Error()
	}
	return "<" + key + ">"
}

func TestRule141Key(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 255)
	tests := []struct {
		name            string
		lines           []string
		lenient, strict string
	}{
		{"none", nil, "<>", "<>"},
		{
			"quoted",
			[]string{`"8e03978e-40d5-43dd-bc93-6894a57f9324"`},
			"<8e03978e-40d5-43dd-bc93-6894a57f9324>",
			"<8e03978e-40d5-43dd-bc93-6894a57f9324>",
		},
		{"bare", []string{"abc"}, "<abc>", "invalid-header"},
		{"blank inside", []string{`"a b"`}, "<a b>", "<a b>"},
		{"escaped", []string{`"a\"\\b"`}, `<a"\b>`, `<a"\b>`},
		{"255", []string{long}, "<" + long + ">", "invalid-header"},
		{"256", []string{`"` + long + `k"`}, "invalid-header", "invalid-header"},
		{"empty field", []string{""}, "invalid-header", "invalid-header"},
		{"empty string", []string{`""`}, "invalid-header", "invalid-header"},
		{"two lines", []string{"a", "a"}, "invalid-header", "invalid-header"},
		{"list", []string{"a, b"}, "invalid-header", "invalid-header"},
		{"parameter", []string{`"a";q=1`}, "invalid-header", "invalid-header"},
		{"not closed", []string{`"a`}, "invalid-header", "invalid-header"},
		{"no ASCII", []string{"\"ä\""}, "invalid-header", "invalid-header"},
		{"control", []string{"\"a\tb\""}, "invalid-header", "invalid-header"},
		{"boolean", []string{"?1"}, "invalid-header", "invalid-header"},
		{"integer", []string{"12"}, "invalid-header", "invalid-header"},
		{"decimal", []string{"-1.5"}, "invalid-header", "invalid-header"},
		{"byte sequence", []string{":YQ==:"}, "invalid-header", "invalid-header"},
		{"date", []string{"@1659578233"}, "invalid-header", "invalid-header"},
		{"display string", []string{`%"a"`}, "invalid-header", "invalid-header"},
		{"inner list", []string{"(a)"}, "invalid-header", "invalid-header"},
		{"quoted integer", []string{`"12"`}, "<12>", "<12>"},
		{
			"bare UUID that begins with a digit",
			[]string{"8e03978e-40d5-43dd-bc93-6894a57f9324"},
			"<8e03978e-40d5-43dd-bc93-6894a57f9324>",
			"invalid-header",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := idempotency.NewMemory(nil)
			if got := read(idempotency.New(store, nil), tt.lines...); got != tt.lenient {
				t.Errorf("leniently %s, want %s", got, tt.lenient)
			}
			if got := read(
				idempotency.New(store, &idempotency.Options{Strict: true}),
				tt.lines...); got != tt.strict {
				t.Errorf("strictly %s, want %s", got, tt.strict)
			}
		})
	}
	if got := read(
		idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Required: true}),
	); got != "idempotency-key-missing" {
		t.Errorf("where a key is required: %s", got)
	}
}

// uuid7 returns a UUID of version 7.
func uuid7(at time.Time) string {
	ms := fmt.Sprintf("%012x", at.UnixMilli())
	return ms[:8] + "-" + ms[8:] + "-7abc-8def-0123456789AB"
}

func TestTimeOrderedKeys(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := idempotency.New(
		idempotency.NewMemory(nil),
		&idempotency.Options{TimeOrdered: true, TTL: time.Hour, Skew: time.Minute,
			Now: func() time.Time { return now }},
	)
	const isInvalid, isExpired = "invalid-header", "idempotency-key-expired"
	tests := []struct{ name, key, want string }{
		{"now", uuid7(now), ""},
		{"as old as may be", uuid7(now.Add(-61*time.Minute + time.Millisecond)), ""},
		{"older", uuid7(now.Add(-61 * time.Minute)), isExpired},
		{"as new as may be", uuid7(now.Add(time.Minute)), ""},
		{"newer", uuid7(now.Add(time.Minute + time.Millisecond)), isInvalid},
		{"the latest there is", "ffffffff-ffff-7000-8000-000000000000", isInvalid},
		{"version 4", "8e03978e-40d5-43dd-bc93-6894a57f9324", isInvalid},
		{"other variant", strings.Replace(uuid7(now), "-8def", "-cdef", 1), isInvalid},
		{"no hyphens", strings.ReplaceAll(uuid7(now), "-", ""), isInvalid},
		{"misplaced hyphens", strings.Replace(uuid7(now), "-7", "7-", 1), isInvalid},
		{"no digits", strings.Replace(uuid7(now), "def", "xyz", 1), isInvalid},
		{"another word", "abc", isInvalid},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = "<" + tt.key + ">"
		}
		if got := read(g, tt.key); got != want {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}

// TestTimeOrderedLeavesNoGap: for any clock error within Skew, a key that is accepted still has its
// record.
func TestTimeOrderedLeavesNoGap(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Minute, 0, time.Minute} {
		d := newDesk(idempotency.AtMostOnce,
			idempotency.Options{TimeOrdered: true, TTL: time.Hour, Skew: time.Minute})
		op := anOperation()
		op.Key = uuid7(d.now.Add(off))
		for range 300 { // five hours in steps of a minute
			if _, err := d.Key(http.Header{"Idempotency-Key": {op.Key}}); err == nil {
				d.ask(t.Context(), op, nil)
			}
			d.now = d.now.Add(time.Minute)
		}
		if d.ran != 1 {
			t.Errorf("with a clock %v off it ran %d times", off, d.ran)
		}
	}
}

// FuzzKey: an accepted key conforms to the grammar, and is the same key when written as a String.
// The seeds are in testdata.
func FuzzKey(f *testing.F) {
	g := idempotency.New(idempotency.NewMemory(nil), nil)
	strict := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{Strict: true})
	ordered := idempotency.New(idempotency.NewMemory(nil), &idempotency.Options{TimeOrdered: true})
	f.Fuzz(func(t *testing.T, field string) {
		h := http.Header{"Idempotency-Key": {field}}
		key, err := g.Key(h)
		var d *problem.Details
		if err != nil {
			if !errors.As(err, &d) || d.StatusCode() != 400 || key != "" {
				t.Fatalf("%q: %q, %v", field, key, err)
			}
			if _, err := ordered.Key(h); err == nil {
				t.Fatalf("%q is a key only where keys are ordered", field)
			}
			return
		}
		if len(key) < 1 || len(key) > 255 ||
			strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%q is the key %q", field, key)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if again, err := strict.Key(http.Header{"Idempotency-Key": {quoted}}); err != nil || again != key {
			t.Fatalf("%q is %q, and as a String %q, %v", field, key, again, err)
		}
		if _, err := ordered.Key(h); err != nil && !errors.As(err, &d) {
			t.Fatalf("%q: %v", field, err)
		}
	})
}
