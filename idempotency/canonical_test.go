package idempotency_test

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
)

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, doc, want string }{
		{"white space", " { \"a\" :\t[1,\n2] } ", `{"a":[1,2]}`},
		{"order of members", `{"b":{"d":1,"c":2},"a":3}`, `{"a":3,"b":{"c":2,"d":1}}`},
		{"order of elements", `[2,1]`, `[2,1]`},
		{"escapes", `"\u00e9\/"`, `"é/"`},
		{"digits in a string", `"1.0 \" 1e0"`, `"1.0 \" 1e0"`},
		{"digits in a name", `{"1.0":1.0}`, `{"1.0":1}`},
		{"integer", `[1,1.0,1e0,10e-1,0.1E+1]`, `[1,1,1,1,1]`},
		{"negative", `[-1,-1.50,-10e-1]`, `[-1,-15e-1,-1]`},
		{"zero", `[0,-0,0.00,-0e9,0e-9]`, `[0,0,0,0,0]`},
		{"zeros", `[100,1e2,1.00e2,1000e-1]`, `[100,100,100,100]`},
		{"fraction", `[0.1,1e-1,0.10,100e-3]`, `[1e-1,1e-1,1e-1,1e-1]`},
		{"digits beyond a double", `[9007199254740993,0.1000000000000000055511151231257827]`,
			`[9007199254740993,1000000000000000055511151231257827e-34]`},
		{"long integer", `[100000000000000000000,1e20,1e21,1000000000000000000000]`,
			`[100000000000000000000,100000000000000000000,1e21,1e21]`},
		{"large exponent", `[1e2147483647,1e99999999999,10e99999999999]`,
			`[1e2147483647,1e99999999999,10e99999999999]`},
		{"null and absent", `{"a":null}`, `{"a":null}`},
		{"duplicate names", `{"a":1, "a":2}`, `{"a":1, "a":2}`},
		{"trailing data", `1 2`, `1 2`},
		{"not JSON", `{"a": `, `{"a": `},
		{"empty", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := []byte(tt.doc)
			if diff := cmp.Diff(tt.want, string(idempotency.CanonicalJSON(doc))); diff != "" {
				t.Errorf("canonical form (-want +got):\n%s", diff)
			}
			if string(doc) != tt.doc {
				t.Errorf("the document was changed to %s", doc)
			}
		})
	}
}

// FuzzCanonicalJSON compares the values of a document and of its canonical form, which must be the same
// for all spellings of a number.
func FuzzCanonicalJSON(f *testing.F) {
	for _, doc := range []string{`1.50e1`, `-0.0`, `{"b":[1e3,"\u00e9"],"a":null}`, `"1.0"`, `100000000000000000000`,
		`1e-400`, `{"a":1,"a":2}`, `[12345678901234567890123.000]`} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		canonical := idempotency.CanonicalJSON([]byte(doc))
		if again := idempotency.CanonicalJSON(canonical); string(again) != string(canonical) {
			t.Errorf("%q is %q, and again %q", doc, canonical, again)
		}
		before, ok := decodeExact(doc, 1000)
		if !ok || len(doc) > 1000 {
			return
		}
		after, ok := decodeExact(string(canonical), 10000)
		if !ok {
			t.Fatalf("%q has the canonical form %q, which is not valid", doc, canonical)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q has another value than %q (-before +after):\n%s", canonical, doc, diff)
		}
	})
}

// decodeExact decodes JSON with exact numbers. It reports false if the document is not valid or has an
// exponent above the limit, because the numbers are written out.
func decodeExact(doc string, limit int) (any, bool) {
	dec := json.NewDecoder(strings.NewReader(doc))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil, false
	}
	return exact(v, limit)
}

func exact(v any, limit int) (result any, ok bool) {
	ok = true
	switch v := v.(type) {
	case json.Number:
		if _, exponent, ok := strings.Cut(strings.ToLower(v.String()), "e"); ok {
			if e, err := strconv.Atoi(exponent); err != nil || max(e, -e) > limit {
				return nil, false
			}
		}
		r, ok := new(big.Rat).SetString(v.String())
		return r.String(), ok
	case []any:
		for i := range v {
			if v[i], ok = exact(v[i], limit); !ok {
				break
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], ok = exact(v[name], limit); !ok {
				break
			}
		}
	}
	return v, ok
}
