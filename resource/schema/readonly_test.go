package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/schema"
)

type seat struct {
	Number string `json:"number"`
	Price  *price `json:"price,omitzero"`
	Block  price  `json:"block"`
}

type price struct {
	Label string  `json:"label"`
	Net   int     `json:"net" readOnly:"true"`
	Parts []*seat `json:"parts,omitempty"`
}

type hall struct {
	Seats []seat  `json:"seats"`
	Fixed [2]seat `json:"fixed"`
}

// TestClaimsInside checks read-only members of structs, and of pointers to structs, in array
// elements.
func TestClaimsInside(t *testing.T) {
	t.Parallel()
	base := &hall{Seats: []seat{
		{"1", &price{Net: 5}, price{Net: 50}},
		{"2", nil, price{Net: 60}},
		{"3", &price{Net: 7, Parts: []*seat{{Block: price{Net: 1}}}}, price{}},
	}}
	good := []string{
		`{"number":"1","price":{"net":5},"block":{"net":50}}`,
		`{"number":"2","block":{"net":60}}`,
		`{"number":"2","price":{"label":"new"},"block":{"net":60}}`,
		`{"number":"2","price":null,"block":{"label":"x","net":60}}`,
		`{"number":"3","price":{"net":7,"parts":[null,{"number":"p"}]}}`,
		`{"number":"4"}`,
		`{"number":"4","price":{"net":0,"label":"free"},"block":{"net":0}}`,
	}
	bad := []string{
		`{"number":"1","price":{"net":5},"block":{"net":60}}`,
		`{"number":"1","block":{"net":50}}`,
		`{"number":"1","price":{"net":6},"block":{"net":50}}`,
		`{"number":"4","price":{"net":1}}`,
	}
	for _, mode := range []schema.Mode{schema.Replace, schema.Patched} {
		opts := &schema.DecodeOptions{Mode: mode, Base: base}
		wrap := func(seat string) string { return `{"seats":[` + seat + `],"fixed":[{},{}]}` }
		for _, data := range good {
			decode[hall](t, wrap(data), opts)
		}
		for _, data := range bad {
			if diff := cmp.Diff([]string{"/seats/0 readOnly"}, found[hall](t, wrap(data), opts)); diff != "" {
				t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, data, diff)
			}
		}
		// Read-only members in nested arrays have no counterpart in the base.
		data := wrap(`{"number":"3","price":{"net":7,"parts":[{"block":{"net":1}}]}}`)
		if diff := cmp.Diff([]string{"/seats/0/price/parts/0 readOnly"},
			found[hall](t, data, opts)); diff != "" {
			t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, data, diff)
		}
		fixed := `{"seats":[],"fixed":[{"block":{"net":1}},{}]}`
		if diff := cmp.Diff([]string{"/fixed/0 readOnly"}, found[hall](t, fixed, opts)); diff != "" {
			t.Errorf("mode %d: Decode(%s) mismatch (-want +got):\n%s", mode, fixed, diff)
		}
	}
}

// TestClaimsOfRecursiveTypes checks that comparisons of recursive types terminate.
func TestClaimsOfRecursiveTypes(t *testing.T) {
	t.Parallel()
	type node struct {
		ID   int   `json:"id" readOnly:"true"`
		Next *node `json:"next,omitzero"`
	}
	type chain struct {
		Nodes []node `json:"nodes"`
	}
	base := &chain{[]node{{1, nil}, {2, &node{3, &node{4, nil}}}}}
	opts := &schema.DecodeOptions{Mode: schema.Patched, Base: base}
	decode[chain](t,
		`{"nodes":[{"id":2,"next":{"id":3,"next":{"id":4,"next":{}}}},{"id":1,"next":{}},`+
			`{"next":{"next":{}}}]}`, opts)
	if diff := cmp.Diff([]string{"/nodes/0 readOnly"},
		found[chain](t, `{"nodes":[{"id":2,"next":{"id":3,"next":{"id":5}}}]}`, opts)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
}

// TestClaimsInMaps checks maps in array elements. Like nested arrays, they have no counterpart.
func TestClaimsInMaps(t *testing.T) {
	t.Parallel()
	type row struct {
		Cells map[string]line `json:"cells"`
	}
	type sheet struct {
		Rows []row `json:"rows"`
	}
	type priced struct {
		Rows []struct {
			row
			Total int `json:"total" readOnly:"true"`
		} `json:"rows"`
	}
	data := `{"rows":[{"cells":{"a":{"sku":"A","price":1}}}]}`
	opts := &schema.DecodeOptions{Mode: schema.Replace,
		Base: &sheet{[]row{{map[string]line{"a": {"A", 1, 1}}}}}}
	if diff := cmp.Diff([]string{"/rows/0/cells/a/price readOnly"}, found[sheet](t, data, opts)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	opts.Base = &priced{}
	if diff := cmp.Diff([]string{"/rows/0/cells/a readOnly"}, found[priced](t, data, opts)); diff != "" {
		t.Errorf("Decode mismatch (-want +got):\n%s", diff)
	}
	decode[priced](t, `{"rows":[{"cells":{"a":{"sku":"A","price":0}}}]}`, opts)
}

// TestClaimsAreBounded checks that a long array in the worst order is rejected without quadratic
// time: 20,000 elements would need 200 million comparisons. In the same order, each needs one.
func TestClaimsAreBounded(t *testing.T) {
	t.Parallel()
	const n = 20_000
	base := &hall{Seats: make([]seat, n)}
	forward, backward := make([]string, n), make([]string, n)
	for i := range n {
		base.Seats[i].Block.Net = i + 1
		forward[i] = fmt.Sprintf(`{"block":{"net":%d}}`, i+1)
		backward[n-1-i] = forward[i]
	}
	document := func(seats []string) string {
		return `{"seats":[` + strings.Join(seats, ",") +
			`],"fixed":[{},{}]}`
	}
	opts := &schema.DecodeOptions{Mode: schema.Replace, Base: base}
	decode[hall](t, document(forward), opts)
	decode[hall](t, document(forward[n/2:]), opts)
	if got := found[hall](t, document(backward), opts); len(got) != 1000 {
		t.Errorf("%d elements are refused, want as many as are listed", len(got))
	}
}
