package version_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// vnd writes vendor types as the tests do for short: "1.order" is application/vnd.shop.1.order+json.
func vnd(members ...string) string {
	for i, m := range members {
		if !strings.Contains(m, "/") {
			name, rest, _ := strings.Cut(m, ";")
			members[i] = strings.TrimSuffix("application/vnd.shop."+name+"+json;"+rest, ";")
		}
	}
	return strings.Join(members, ", ")
}

func TestRule033AcceptNamesContracts(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	const full = "application/vnd.shop."
	tests := []struct {
		accept, contract string
		offer, answer    string // Range and ContentType, if they matter
	}{
		{vnd("1.order"), "1.1.0", full + "1.order+json", full + "1.1.0.order+json"},
		{vnd("1.0.order"), "1.0.0", full + "1.0.order+json", full + "1.0.0.order+json"},
		{vnd("1.1.0.order"), "1.1.0", full + "1.1.0.order+json", full + "1.1.0.order+json"},
		{vnd("3.0.0.order"), "3.0.0", full + "3.0.0.order+json", full + "3.0.0.order+json"},
		{"Application/VND.Shop.1.Order+JSON", "1.1.0", full + "1.order+json", full + "1.1.0.order+json"},
		{full + "1.order", "1.1.0", full + "1.order", full + "1.1.0.order"},
		{vnd("1.order;charset=utf-8"), "1.1.0", full + "1.order+json", full + "1.1.0.order+json"},
		// Without a version they name nothing, but can be asked for.
		{vnd("order"), "2.0.0", full + "order+json", full + "2.0.0.order+json"},
		{full + "order", "2.0.0", full + "order", full + "2.0.0.order"},
		{"application/vnd.shop+json", "2.0.0", "application/vnd.shop+json", full + "2.0.0.order+json"},
		// A type of something else names the contract, and nothing is offered.
		{vnd("1.user"), "1.1.0", "", "application/json"},
		{vnd("1.order.line"), "1.1.0", "", "application/json"},
		{vnd("1.orders"), "1.1.0", "", "application/json"},
		// No vendor types of ours.
		{"application/json", "2.0.0", "", "application/json"},
		{"*/*", "2.0.0", "", "application/json"},
		{"", "2.0.0", "", "application/json"},
		{"application/vnd.other.1.order+json", "2.0.0", "", "application/json"},
		{"application/vnd.shopping.1.order+json", "2.0.0", "", "application/json"},
		{"text/vnd.shop.1.order+json", "2.0.0", "", "application/json"},
		{"application/vnd.shop-1.order+json", "2.0.0", "", "application/json"},
	}
	for _, tt := range tests {
		t.Run(tt.accept, func(t *testing.T) {
			t.Parallel()
			s := ask(t, api, "GET /orders", "Accept: "+tt.accept).saw(t, tt.contract)
			if s.Range != tt.offer || tt.offer != "" && s.Answer != tt.answer {
				t.Errorf("Range %q and ContentType %q, want %q and %q", s.Range, s.Answer, tt.offer,
					tt.answer)
			}
			if want := full + tt.contract + ".order+json"; s.Media != want {
				t.Errorf("MediaType %q, want %q", s.Media, want)
			}
		})
	}
}

// acceptByQuality are Accept fields, perhaps beside an API-Version, and what they select: a contract, or a status.
var acceptByQuality = []struct {
	accept []string
	header string
	want   string // a contract, "406", "410" or "400"
}{
	{[]string{vnd("1.order;q=0.5", "2.order")}, "", "2.0.0"},
	{[]string{vnd("1.order", "2.order;q=0.999")}, "", "1.1.0"},
	{[]string{vnd("1.order;q=0.5"), vnd("1.0.order")}, "", "1.0.0"}, // lines are one list
	{[]string{",, " + vnd("1.order") + " ,"}, "", "1.1.0"},
	{[]string{"application/vnd.shop.1.order+json ; Q=0.5 , " + vnd("2.order;q=0.4")}, "", "1.1.0"},
	// Equally liked: the default if it is among them, else the newest.
	{[]string{vnd("1.order", "2.order")}, "", "2.0.0"},
	{[]string{vnd("2.order", "3.0.0.order")}, "", "2.0.0"},
	{[]string{vnd("1.0.order", "1.1.order")}, "", "1.1.0"},
	// Another source settles it, and may choose what is liked less.
	{[]string{vnd("1.order", "2.order")}, "1", "1.1.0"},
	{[]string{vnd("2.order", "1.order;q=0.1")}, "1", "1.1.0"},
	{[]string{vnd("1.0.order", "1.1.order")}, "2", "400"},
	{[]string{vnd("2.order", "1.order;q=0")}, "1", "400"},
	// Contracts that are not served are ignored, and so are malformed types.
	{[]string{vnd("7.order", "1.order;q=0.1")}, "", "1.1.0"},
	{[]string{vnd("0.9.order", "1.order;q=0.1")}, "", "1.1.0"},
	{[]string{vnd("01.order", "1.order;q=0.1")}, "", "1.1.0"},
	{[]string{vnd("1.order;q=2", "2.order;q=0.1")}, "", "2.0.0"}, // no weight
	{[]string{vnd("7.order", "application/json;q=0.1")}, "", "2.0.0"},
	{[]string{vnd("01.order", "application/json;q=0.1")}, "", "2.0.0"},
	{[]string{vnd("7.order", "*/*;q=0.1")}, "", "2.0.0"},
	{[]string{vnd("7.order", "application/*;q=0.1")}, "1", "1.1.0"},
	// Wildcards name nothing, and take nothing away.
	{[]string{vnd("1.order;q=0.5", "*/*")}, "", "1.1.0"},
	{[]string{vnd("1.order", "*/*;q=0.1")}, "", "1.1.0"},
	{[]string{vnd("1.order;q=0.5", "application/*;q=0.9")}, "", "1.1.0"},
	// Plain JSON that is liked better means no contract; that is liked as much does not.
	{[]string{vnd("application/json", "1.order;q=0.5")}, "", "2.0.0"},
	{[]string{vnd("application/json", "1.order;q=0.5")}, "1.0", "1.0.0"},
	{[]string{vnd("application/json", "1.order")}, "", "1.1.0"},
	{[]string{vnd("application/json;q=0.5", "1.order")}, "", "1.1.0"},
	{[]string{vnd("text/html", "1.order;q=0.9")}, "", "1.1.0"}, // what the handler may not have is no way out
	{[]string{vnd("*/*", "1.order;q=0.1")}, "", "1.1.0"},
	// Nothing else is left.
	{[]string{vnd("7.order")}, "", "406"},
	{[]string{vnd("3.order")}, "", "406"},
	{[]string{vnd("7.order", "8.order;q=0.1")}, "", "406"},
	{[]string{vnd("7.order", "*/*;q=0")}, "", "406"},
	{[]string{vnd("01.order")}, "", "406"},
	{[]string{vnd("1.2.3.4.order")}, "", "406"},
	{[]string{vnd("1.7up")}, "", "406"},
	{[]string{vnd("7")}, "", "406"},
	{[]string{vnd("1.", "1..order")}, "", "406"},
	{[]string{vnd("1.order$" + strings.Repeat("x", 128))}, "", "406"},
	{[]string{vnd("0.9.order")}, "", "410"},
	{[]string{vnd("7.order", "0.9.order;q=0.1")}, "", "410"},
}

func TestRule033AcceptByQuality(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for _, tt := range acceptByQuality {
		t.Run(strings.Join(tt.accept, " | ")+" "+tt.header, func(t *testing.T) {
			t.Parallel()
			var fields []string
			for _, line := range tt.accept {
				fields = append(fields, "Accept: "+line)
			}
			if tt.header != "" {
				fields = append(fields, "API-Version: "+tt.header)
			}
			res := ask(t, api, "GET /orders", fields...)
			switch tt.want {
			case "400":
				res.refused(t, http.StatusBadRequest, problem.AmbiguousVersion)
			case "410":
				res.refused(t, http.StatusGone, problem.VersionRetired)
			case "406":
				res.has(t, http.StatusNotAcceptable, "Content-Type: "+problem.MediaType,
					"Cache-Control: no-store")
				res.varies(t, "Accept", "API-Version")
			default:
				res.saw(t, tt.want)
			}
		})
	}
	// With another default, another one of the equally liked.
	old, _ := openMarket(t, withDefault("1.0.0"))
	ask(t, old, "GET /orders", "Accept: "+vnd("2.order", "1.0.order", "1.1.order")).saw(t, "1.0.0")
	ask(t, old, "GET /orders", "Accept: "+vnd("2.order", "1.1.order")).saw(t, "2.0.0")
	none, _ := openMarket(t, withDefault(""))
	ask(t, none, "GET /orders", "Accept: "+vnd("1.order", "1.0.order")).saw(t, "1.1.0")
	ask(t, none, "GET /orders", "Accept: "+vnd("order")).refused(t, http.StatusBadRequest,
		problem.VersionRequired)
}

func TestRule033ContentTypeNamesContracts(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	const full = "application/vnd.shop."
	tests := []struct {
		field    string
		contract string
		claimed  bool
		answer   string // where nothing is asked for
	}{
		{vnd("1.order"), "1.1.0", true, full + "1.1.0.order+json"},
		{vnd("1.0.0.order"), "1.0.0", true, full + "1.0.0.order+json"},
		{full + "1.order", "1.1.0", true, full + "1.1.0.order"},
		{"APPLICATION/vnd.SHOP.1.ORDER+json; Charset=UTF-8", "1.1.0", true, full + "1.1.0.order+json"},
		{vnd("order"), "2.0.0", true, full + "2.0.0.order+json"},
		{"application/vnd.shop+json", "2.0.0", true, full + "2.0.0.order+json"},
		{vnd("1.user"), "1.1.0", false, ""},
		{"application/json", "2.0.0", false, "application/json"},
		{"application/vnd.other.1.order+json", "2.0.0", false, "application/json"},
		{"text/plain", "2.0.0", false, "application/json"},
	}
	for _, tt := range tests {
		t.Run(tt.field, func(t *testing.T) {
			t.Parallel()
			for _, line := range []string{"POST /orders", "PUT /orders/1"} {
				s := ask(t, api, line, "Content-Type: "+tt.field, "", `{}`).saw(t, tt.contract)
				if s.Claimed != tt.claimed || tt.answer != "" && s.Answer != tt.answer {
					t.Errorf("%s: Content %v, want %v; ContentType %q, want %q",
						line, s.Claimed, tt.claimed, s.Answer, tt.answer)
				}
				if s.Type != tt.field {
					t.Errorf("%s: the handler saw the type %q", line, s.Type)
				}
			}
			s := ask(t, api, "POST /orders", "Content-Type: "+tt.field, "Accept: */*", "", `{}`).saw(t,
				tt.contract)
			if tt.answer != "" && s.Answer != tt.answer {
				t.Errorf("with Accept */*: ContentType %q, want %q", s.Answer, tt.answer)
			}
			s = ask(t, api, "POST /orders", "Content-Type: "+tt.field, "Accept: application/json", "", `{}`).
				saw(t, tt.contract)
			if s.Answer != "application/json" || s.Range != "" {
				t.Errorf("with Accept application/json: ContentType %q, Range %q", s.Answer, s.Range)
			}
		})
	}
}

func TestRule034ContentTypesThatAreRefused(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for field, kind := range map[string]problem.Kind{
		vnd("7.order"):       problem.UnsupportedVersion,
		vnd("3.order"):       problem.UnsupportedVersion,
		vnd("01.order"):      problem.MalformedVersion,
		vnd("1.2.3.4.order"): problem.MalformedVersion,
		vnd("1.7up"):         problem.MalformedVersion,
	} {
		for line, post := range map[string]string{"POST /orders": "Accept-Post: *",
			"PUT /orders/1": "Accept-Post:"} {
			res := ask(t, api, line, "Content-Type: "+field, "", `{}`)
			res.refused(t, http.StatusUnsupportedMediaType, kind).wantSupported(t)
			res.has(t, http.StatusUnsupportedMediaType, "Accept: *", post)
			vendor := "application/vnd.shop.2.0.0.order+json"
			if field == vnd("1.7up") { // it has no name that could be repeated
				vendor = "application/vnd.shop+json"
			}
			if accept := res.header.Get("Accept"); !strings.Contains(accept, "application/json") ||
				!strings.Contains(accept, vendor) || strings.Contains(accept, "0.9.0") {
				t.Errorf("%s %s: Accept: %s", line, field, accept)
			}
		}
	}
	ask(t, api, "POST /orders", "Content-Type: "+vnd("0.9.order"), "", `{}`).
		refused(t, http.StatusGone, problem.VersionRetired)
}

func TestRule034SuffixesAreTypesOfTheirOwn(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	// application/json is no range for vendor types, and so none is offered.
	s := ask(t, api, "GET /orders", "Accept: application/json", "API-Version: 1").saw(t, "1.1.0")
	if s.Range != "" || s.Answer != "application/json" {
		t.Errorf("Range %q, ContentType %q", s.Range, s.Answer)
	}
	// Content of GET has no meaning (RFC 9110 section 9.3.1), so its type asks for nothing.
	s = ask(t, api, "GET /orders", "Content-Type: "+vnd("order")).saw(t, "2.0.0")
	if s.Claimed || s.Answer != "application/json" {
		t.Errorf("Content %t, ContentType %q", s.Claimed, s.Answer)
	}
	// Of both forms the one that is liked better is offered.
	const plain = "application/vnd.shop.1.order"
	s = ask(t, api, "GET /orders", "Accept: "+plain+";q=0.5, "+plain+"+json;q=0.6").saw(t, "1.1.0")
	if s.Range != plain+"+json" || s.Answer != "application/vnd.shop.1.1.0.order+json" {
		t.Errorf("Range %q, ContentType %q", s.Range, s.Answer)
	}
	s = ask(t, api, "GET /orders", "Accept: "+plain+", "+plain+"+json;q=0.6").saw(t, "1.1.0")
	if s.Range != plain || s.Answer != "application/vnd.shop.1.1.0.order" {
		t.Errorf("Range %q, ContentType %q", s.Range, s.Answer)
	}
	// Quality zero offers nothing.
	s = ask(t, api, "GET /orders", "Accept: "+plain+"+json;q=0, */*", "API-Version: 1").saw(t, "1.1.0")
	if s.Range != "" {
		t.Errorf("Range %q of quality zero", s.Range)
	}
}

// A range selects the contract of the response and no other one.
func TestRule035TheFullTypeIsAnswered(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct{ accept, header, contract, offer, answer string }{
		{vnd("order"), "1", "1.1.0", vnd("order"), vnd("1.1.0.order")},
		{"application/vnd.shop+json", "1.0", "1.0.0", "application/vnd.shop+json", vnd("1.0.0.order")},
		{vnd("2.order", "1.order;q=0.1"), "1", "1.1.0", vnd("1.order"), vnd("1.1.0.order")},
		{vnd("1.1.order;q=0.2", "1.1.0.order;q=0.3"), "", "1.1.0", vnd("1.1.0.order"), vnd("1.1.0.order")},
		{vnd("1.user", "1.order;q=0.1"), "", "1.1.0", vnd("1.order"), vnd("1.1.0.order")},
		{vnd("order", "application/json;q=0.5"), "", "2.0.0", vnd("order"), vnd("2.0.0.order")},
	}
	for _, tt := range tests {
		t.Run(tt.accept+" "+tt.header, func(t *testing.T) {
			t.Parallel()
			fields := []string{"Accept: " + tt.accept}
			if tt.header != "" {
				fields = append(fields, "API-Version: "+tt.header)
			}
			s := ask(t, api, "GET /orders", fields...).saw(t, tt.contract)
			if s.Range != tt.offer || s.Answer != tt.answer {
				t.Errorf("Range %q and ContentType %q, want %q and %q", s.Range, s.Answer, tt.offer,
					tt.answer)
			}
		})
	}
	noTypes, _ := openMarket(t, only(version.Path{}))
	s := ask(t, noTypes, "GET /v1/orders", "Accept: "+vnd("7.order")).saw(t, "1.1.0")
	want := seen{Answer: "application/json"}
	if diff := cmp.Diff(want, seen{Media: s.Media, Range: s.Range, Answer: s.Answer,
		Claimed: s.Claimed}); diff != "" {
		t.Errorf("without media types (-want +got):\n%s", diff)
	}
}

func TestRule038ContentTypeAndAcceptAgree(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct{ content, accept, want string }{
		{vnd("1.order"), vnd("1.1.0.order"), "1.1.0"},
		{vnd("1.order"), vnd("1.user"), "1.1.0"},
		{vnd("1.order"), vnd("order"), "1.1.0"},
		{vnd("1.order"), vnd("2.order", "1.order;q=0.1"), "1.1.0"},
		{vnd("1.order"), "application/json", "1.1.0"},
		{"application/json", vnd("1.order"), "1.1.0"},
		{vnd("order"), vnd("1.order"), "1.1.0"},
		{vnd("1.order"), vnd("2.order"), ""},
		{vnd("2.order"), vnd("1.order"), ""},
		{vnd("1.0.order"), vnd("1.order"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.content+" "+tt.accept, func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, "POST /orders", "Content-Type: "+tt.content, "Accept: "+tt.accept, "", `{}`)
			if tt.want == "" {
				res.refused(t, http.StatusBadRequest, problem.AmbiguousVersion)
				return
			}
			res.saw(t, tt.want)
		})
	}
}

// Patches and requests without content are of no contract by their type.
func TestRule039PatchesCarryNoVersion(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for _, line := range []string{
		"PATCH /orders/1", "DELETE /orders/1", "GET /orders", "QUERY /orders", "OPTIONS /orders",
	} {
		for _, name := range []string{"1.order", "7.order", "01.order", "0.9.order"} {
			ask(t, api, line, "Content-Type: "+vnd(name), "", `{}`).saw(t, "2.0.0")
		}
	}
	s := ask(t, api, "PATCH /orders/1", asMerge, "Accept: "+vnd("1.order"), "", `{"version":"2"}`).saw(t,
		"1.1.0")
	if s.Body != `{"version":"2"}` {
		t.Errorf("the handler saw %q", s.Body)
	}
	ask(t, api, "PATCH /v1/orders/1", asPatch, "", `[]`).saw(t, "1.1.0")
}
