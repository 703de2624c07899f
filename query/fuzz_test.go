package query_test

import (
	"errors"
	"math"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// sameFloats treats NaN as equal to itself, as Compare does.
var sameFloats = cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })

// checkReadBack fails if the parameters of q, a result of Parse, do not parse as an equal query.
func checkReadBack(t *testing.T, q query.Query) {
	t.Helper()
	text := q.Values().Encode() // through a real URL
	again, err := parse(t, text, orders())
	if err != nil {
		t.Fatalf("Parse(%q), of %+v: %v", text, q, err)
	}
	if diff := cmp.Diff(q, again, sameFloats); diff != "" {
		t.Fatalf("Parse(%q) (-want +got):\n%s", text, diff)
	}
}

// checkFaults fails if err does not conform to the documentation of Parse.
func checkFaults(t *testing.T, err error) {
	t.Helper()
	var faults query.Errors
	if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > 20 {
		t.Fatalf("error %T %v, want some query.Errors", err, err)
	}
	for i, fault := range faults {
		if fault.Code == "" || fault.Detail == "" {
			t.Errorf("incomplete error %+v", fault)
		}
		if i > 0 && faults[i-1].Parameter > fault.Parameter {
			t.Errorf("%q is before %q", faults[i-1].Parameter, fault.Parameter)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := query.Parse(values, orders())
		if err != nil {
			checkFaults(t, err)
			return
		}
		if q.Limit < 1 || q.Limit > 200 || q.Filter.Terms() > 6 || len(q.Sort) > 3 {
			t.Errorf("Parse(%q) = %+v, beyond the bounds", text, q)
		}
		opts := orders()
		if err := opts.Support.Check(q, "id"); err != nil {
			t.Errorf("Parse(%q) made what Check refuses: %v", text, err)
		}
		checkReadBack(t, q)
	})
}

func FuzzFilterJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, tree string) {
		q, err := query.Parse(url.Values{"filter": {tree}}, orders())
		if err != nil {
			checkFaults(t, err)
			return
		}
		row := item{"status": "paid", "total": int64(1), "few": "1"}
		if query.Match(q.Filter, row.field) == query.Match(query.Not(q.Filter), row.field) {
			t.Errorf("%s and its negation are the same", tree)
		}
		checkReadBack(t, q)
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, parts string) {
		// As given, and with a valid tag, which the fuzzer would not find.
		for _, text := range []string{text, forge(parts, "list")} {
			c, err := query.DecodeCursor(text, "list")
			var fault *query.Error
			switch {
			case err == nil && c.Encode("list") != text:
				t.Errorf("cursor %v of %q is written as %q", c, text, c.Encode("list"))
			case err == nil && c.Token != "" && c.Values != nil:
				t.Errorf("cursor %v of %q is two things", c, text)
			case err != nil && (!errors.As(err, &fault) || fault.Code != "invalidCursor"):
				t.Errorf("DecodeCursor(%q): %v", text, err)
			}
		}
		// Each token and string is preserved.
		for _, c := range []query.Cursor{{Token: text}, {Values: []any{text, nil, parts}}} {
			again, err := query.DecodeCursor(c.Encode(parts), parts)
			if err != nil {
				t.Fatalf("DecodeCursor of %v: %v", c, err)
			}
			if diff := cmp.Diff(c, again); diff != "" {
				t.Errorf("cursor (-want +got):\n%s", diff)
			}
		}
	})
}
