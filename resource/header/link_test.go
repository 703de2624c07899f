package header_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

func TestRule129LinkQuoting(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		link header.Link
		want string
	}{
		{"plain", header.Link{Href: "/orders?first=2&after=x", Rel: "next"},
			`</orders?first=2&after=x>; rel="next"`},
		{"what is escaped stays so", header.Link{Href: "/a%2Fb?c=%3E+d#e", Rel: "next"},
			`</a%2Fb?c=%3E+d#e>; rel="next"`},
		{"brackets of an address stay", header.Link{Href: "http://[::1]:80/", Rel: "x"},
			`<http://[::1]:80/>; rel="x"`},
		{
			"what breaks out is escaped", header.Link{Href: `/a>; rel="b", <c`, Rel: "next"},
			`</a%3E;%20rel=%22b%22,%20%3Cc>; rel="next"`,
		},
		{"control characters", header.Link{Href: "/a\r\nX: y\x00\x7f", Rel: "x"},
			`</a%0D%0AX:%20y%00%7F>; rel="x"`},
		{"beyond ASCII", header.Link{Href: "/é", Rel: "x"}, `</%C3%A9>; rel="x"`},
		{
			"attributes", header.Link{Href: "/", Rel: "service-desc", Params: []header.Param{
				{Name: "type", Value: "application/vnd.oai.openapi+json;version=3.1"},
				{Name: "title", Value: `a "b" \c`},
			}},
			`</>; rel="service-desc"; type="application/vnd.oai.openapi+json;version=3.1"; title="a \"b\" \\c"`,
		},
		{
			"a value cannot end the line",
			header.Link{Href: "/", Rel: "a\r\nb", Params: []header.Param{{Name: "t", Value: "c\x00d\te"}}},
			"</>; rel=\"a  b\"; t=\"c d\te\"",
		},
		{
			"bad names are left out", header.Link{Href: "/", Rel: "x", Params: []header.Param{
				{Name: "", Value: "a"}, {Name: "a b", Value: "c"}, {Name: "a=", Value: "c"},
				{Name: "title*", Value: "UTF-8''a"},
				{Name: "ok", Value: "d"},
			}},
			`</>; rel="x"; ok="d"`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(header.AppendLink(nil, tt.link))); diff != "" {
				t.Errorf("AppendLink(%+v) mismatch (-want +got):\n%s", tt.link, diff)
			}
		})
	}
	if got := header.AppendLink([]byte("a")); string(got) != "a" {
		t.Errorf("AppendLink without links = %q, want %q", got, "a")
	}
}

func ExampleAppendLink() {
	next := header.Link{Href: "/orders?after=b", Rel: "next"}
	description := header.Link{Href: "/openapi.json", Rel: "service-desc"}
	description.Params = []header.Param{{Name: "type", Value: "application/json"}}
	field := header.AppendLink(nil, next, description)
	fmt.Println(string(field))
	// Output: </orders?after=b>; rel="next", </openapi.json>; rel="service-desc"; type="application/json"
}
