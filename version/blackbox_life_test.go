package version_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule144Deprecation(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	// A Structured Field Date: an integer after an at sign (RFC 9651 section 3.3.7).
	ask(t, api, "GET /v1/x").has(t, http.StatusOK, "Deprecation: @1780272000")
	ask(t, api, "GET /v2/x").has(t, http.StatusOK, "Deprecation:")
	zoned, _ := openMarket(t, func(m *market) {
		zone := time.FixedZone("", 3600)
		m.contracts[1].Deprecated = time.Date(2027, 1, 1, 1, 0, 0, 999, zone) // still to come, and not in UTC
	})
	ask(t, zoned, "GET /1.0/x").has(t, http.StatusOK, "Deprecation: @1798761600")
	if got := zoned.Status("1.0.0"); got != version.Current {
		t.Errorf("Status before the deprecation is %q", got)
	}
}

func TestRule145Sunset(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	ask(t, api, "GET /v1/x").has(t, http.StatusOK, "Sunset: Wed, 30 Jun 2027 23:59:59 GMT")
	ask(t, api, "GET /v2/x").has(t, http.StatusOK, "Sunset:")
	zoned, _ := openMarket(t, func(m *market) {
		zone := time.FixedZone("", -7200)
		m.contracts[1].Sunset = time.Date(2027, 2, 3, 23, 0, 0, 0, zone)
	})
	ask(t, zoned, "GET /1.0/x").has(t, http.StatusOK, "Sunset: Thu, 04 Feb 2027 01:00:00 GMT")
	for name, change := range map[string]func(*version.Contract){
		"before the deprecation": func(c *version.Contract) { c.Sunset = c.Deprecated.Add(-time.Second) },
	} {
		raw := panics(func() { openMarket(t, func(m *market) { change(&m.contracts[1]) }) })
		if !strings.Contains(raw, "1.0.0") {
			t.Errorf("%s: New said %q", name, raw)
		}
	}
	// RFC 9745 allows the same time.
	openMarket(t, func(m *market) {
		m.contracts[1].Sunset = m.contracts[1].Deprecated
		m.options.MinDeprecation = -1
	})
}

// The period between the dates has a minimum, which clients need to migrate.
func TestRule145MinDeprecation(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	tests := []struct {
		name     string
		contract version.Contract
		least    time.Duration
		want     string // of the panic
	}{
		{name: "the default minimum",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(60 * day)}},
		{name: "a second less",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(60*day - time.Second)},
			want: "version: contract 1.0.0: Deprecated 2026-06-01T00:00:00Z is 1439h59m59s before " +
				"Sunset 2026-07-30T23:59:59Z, want at least 60 days; " +
				"set Sunset to 2026-07-31T00:00:00Z or later, or change Options.MinDeprecation"},
		{name: "dates in other zones",
			contract: version.Contract{Deprecated: sinceJune.In(time.FixedZone("", 7200)),
				Sunset: sinceJune.Add(30 * day).In(time.FixedZone("", -7200))},
			want: "version: contract 1.0.0: Deprecated 2026-06-01T00:00:00Z is 30 days before " +
				"Sunset 2026-07-01T00:00:00Z, want at least 60 days; " +
				"set Sunset to 2026-07-31T00:00:00Z or later, or change Options.MinDeprecation"},
		{name: "a longer minimum",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(60 * day)}, least: 61 * day,
			want: "version: contract 1.0.0: Deprecated 2026-06-01T00:00:00Z is 60 days before " +
				"Sunset 2026-07-31T00:00:00Z, want at least 61 days; " +
				"set Sunset to 2026-08-01T00:00:00Z or later, or change Options.MinDeprecation"},
		{name: "a shorter minimum",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(day)}, least: day},
		{name: "less than a day",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(time.Hour)}, least: day,
			want: "version: contract 1.0.0: Deprecated 2026-06-01T00:00:00Z is 1h0m0s before " +
				"Sunset 2026-06-01T01:00:00Z, want at least 1 day; " +
				"set Sunset to 2026-06-02T00:00:00Z or later, or change Options.MinDeprecation"},
		{name: "no minimum",
			contract: version.Contract{Deprecated: sinceJune, Sunset: sinceJune.Add(time.Hour)}, least: -1},
		{name: "a sunset that is not announced",
			contract: version.Contract{Sunset: nextJune},
			want: "version: contract 1.0.0 has Sunset 2027-06-30T23:59:59Z but no Deprecated; " +
				"set Deprecated to 2027-05-01T23:59:59Z or earlier (Options.MinDeprecation is 60 days)"},
		{name: "no minimum for a sunset that is not announced",
			contract: version.Contract{Sunset: nextJune}, least: -1},
		{name: "a retired contract with one date", contract: version.Contract{Sunset: lastYear}},
		{name: "a retired contract with two dates",
			contract: version.Contract{Deprecated: lastYear.Add(-day), Sunset: lastYear},
			want: "version: contract 1.0.0: Deprecated 2026-01-30T00:00:00Z is 1 day before " +
				"Sunset 2026-01-31T00:00:00Z, want at least 60 days; " +
				"set Sunset to 2026-03-31T00:00:00Z or later, or change Options.MinDeprecation"},
		{name: "a preview", contract: version.Contract{Preview: true, Sunset: nextJune}},
		{name: "no end", contract: version.Contract{Deprecated: sinceJune}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.contract.Name, tt.contract.Handler = "1.0.0", seenBy("1.0.0")
			got := panics(func() {
				version.New([]version.Contract{tt.contract}, []version.Strategy{version.Path{}},
					&version.Options{MinDeprecation: tt.least, Now: func() time.Time { return today }})
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("New panicked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRule146Links(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct {
		line   string
		fields []string
		target string // of the successor
	}{
		{"GET /1.0/orders", nil, "/v2/orders"},
		{"GET /1.0/a%2Fb?x=%20&y", nil, "/v2/a%2Fb"},
		{"GET /1.0", nil, "/v2"},
		{"GET /orders?a=1&version=1.0", nil, "/orders?version=2"},
		{"GET /orders", []string{"Host: api-v1-0.market.example:81"}, "//api-v2.market.example:81/orders"},
		{"GET /orders", []string{"API-Version: 1.0"}, "/v2/orders"},
		{"GET /orders?x=y", []string{"Accept: " + vnd("1.0.order")}, "/v2/orders"},
		{"POST /orders", []string{asJSON, "", `{"version":"1.0"}`}, "/v2/orders"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, tt.line, tt.fields...)
			res.saw(t, "1.0.0")
			got := linkTo(res, "successor-version")
			if sorted(t, got) != sorted(t, tt.target) && sorted(t, got) != sorted(t, tt.target+"/") {
				t.Errorf("successor %s, want %s", got, tt.target)
			}
			follow, err := url.Parse(got)
			if err != nil {
				t.Fatal(err)
			}
			if follow.Host != "" {
				ask(t, api, "GET "+follow.RequestURI(), "Host: "+follow.Host).saw(t, "2.0.0")
			} else {
				ask(t, api, "GET "+got).saw(t, "2.0.0")
			}
		})
	}
	links := strings.Join(ask(t, api, "GET /1.0/x").header["Link"], ", ")
	for _, link := range []string{
		`<https://market.example/moving>; rel="deprecation"; type="text/html"`,
		`<https://market.example/sunsets>; rel="sunset"; type="text/html"`, `rel="successor-version"`,
	} {
		if !strings.Contains(links, link) {
			t.Errorf("no %s in %s", link, links)
		}
	}
	if got := linkTo(ask(t, api, "GET /v2/x"), "service-desc"); got != "/openapi/2.0.0.json" {
		t.Errorf("service-desc is %q", got)
	}
	if got := linkTo(ask(t, api, "GET /v2/x"), "successor-version"); got != "" {
		t.Errorf("the current contract has the successor %s", got)
	}
}

// sorted is a URL with its query in order.
func sorted(t testing.TB, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = u.Query().Encode()
	return u.String()
}

// A policy can be announced without dates, and a successor can be chosen.
func TestRule146PolicyAndChosenSuccessor(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, func(m *market) {
		m.contracts[3].DeprecationLink, m.contracts[3].SunsetLink = "https://a.example/ü?\"x\"",
			"https://a.example/s"
		m.contracts[1].Successor = "1.1.0"
	})
	res := ask(t, api, "GET /v2/x")
	res.has(t, http.StatusOK, "Deprecation:", "Sunset:")
	if got := linkTo(res, "sunset"); got != "https://a.example/s" {
		t.Errorf("sunset is %q", got)
	}
	if got := linkTo(res, "deprecation"); strings.ContainsAny(got, "ü\" ") || got == "" {
		t.Errorf("deprecation is %q, want it escaped", got)
	}
	res = ask(t, api, "GET /1.0/x")
	ask(t, api, "GET "+linkTo(res, "successor-version")).saw(t, "1.1.0")
	// No successor where nothing suits, and where nothing in the request could lead to one.
	alone, _ := openMarket(t, only(version.Path{}), withDefault(""), func(m *market) {
		m.contracts = []version.Contract{{Name: "1.0.0", Deprecated: sinceJune},
			{Name: "2.0.0", Preview: true}}
	})
	if got := linkTo(ask(t, alone, "GET /v1/x"), "successor-version"); got != "" {
		t.Errorf("a preview is the successor: %s", got)
	}
	headers, _ := openMarket(t, only(version.Header{Name: "API-Version"}))
	if got := linkTo(ask(t, headers, "GET /x", "API-Version: 1"), "successor-version"); got != "" {
		t.Errorf("the successor %s is the same URL", got)
	}
	query, _ := openMarket(t, only(version.Header{Name: "API-Version"}, version.Query{}))
	if got := linkTo(ask(t, query, "GET /x?a=b", "API-Version: 1"),
		"successor-version"); got != "/x?version=2" {
		t.Errorf("the successor is %s", got)
	}
}

func TestRule147LifeCycleOnEveryAnswer(t *testing.T) {
	t.Parallel()
	for _, code := range []int{200, 204, 304, 404, 412, 500} {
		api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
		}))
		for _, method := range []string{"GET", "HEAD", "DELETE"} {
			res := ask(t, api, method+" /1.0/x")
			res.has(t, code, "Deprecation: *", "Sunset: *", "API-Version: 1.0.0")
			for _, rel := range []string{"deprecation", "sunset", "successor-version"} {
				if linkTo(res, rel) == "" {
					t.Errorf("%s, %d: no link %s in %v", res.line, code, rel, res.header["Link"])
				}
			}
		}
	}
	api, _ := openMarket(t)
	// A response before a contract was selected names none.
	for _, line := range []string{"GET /v7/x", "GET /v1/x?version=2", "GET /x?version=y"} {
		ask(t, api, line).has(t, ask(t, api, line).status, "Deprecation:", "Sunset:", "API-Version:")
	}
}

func TestRule148RetiredFromTheInstant(t *testing.T) {
	t.Parallel()
	api, clock := openMarket(t)
	clock.set(nextJune.Add(-time.Nanosecond))
	ask(t, api, "GET /v1/x").saw(t, "1.1.0")
	if got := api.Status("1.1.0"); got != version.Deprecated {
		t.Errorf("Status = %q", got)
	}
	clock.set(nextJune)
	if got := api.Status("1.1.0"); got != version.Retired {
		t.Errorf("Status = %q", got)
	}
	for _, rest := range [][]string{
		{"GET /v1/x"}, {"HEAD /v1.1/x"}, {"GET /x?version=1"}, {"GET /x", "API-Version: 1.1.0"},
		{"GET /x", "Host: api-v1.market.example"}, {"GET /x", "Accept: " + vnd("1.order")}, {"DELETE /v1/x"},
		{"POST /x", "Content-Type: " + vnd("1.order"), "", `{}`}, {"PUT /x", asJSON, "", `{"version":"1"}`},
		{"BREW /v1"},
	} {
		res := ask(t, api, rest[0], rest[1:]...)
		r := res.refused(t, http.StatusGone, problem.VersionRetired)
		res.has(t, http.StatusGone, "Sunset: Wed, 30 Jun 2027 23:59:59 GMT", "Deprecation: @1780272000",
			"API-Version: 1.1.0", "Retry-After:")
		res.varies(t, "Accept", "API-Version")
		if linkTo(res, "successor-version") == "" {
			t.Errorf("%q: no successor in %v", rest, res.header["Link"])
		}
		if diff := cmp.Diff([]string{"3.0.0", "2.0.0"}, r.Supported); diff != "" &&
			!strings.HasPrefix(rest[0], "HEAD") {
			t.Errorf("%q: supported-versions (-want +got):\n%s", rest, diff)
		}
	}
	ask(t, api, "GET /x").saw(t, "2.0.0")
	clock.set(today) // clocks go back, too
	ask(t, api, "GET /v1/x").saw(t, "1.1.0")
}

func TestRule148Brownouts(t *testing.T) {
	t.Parallel()
	noon, later := today.AddDate(0, 1, 0), today.AddDate(0, 2, 0)
	api, clock := openMarket(t, func(m *market) {
		m.contracts[2].Brownouts = []version.Window{
			{From: later, Until: later.Add(time.Hour)},
			{From: noon, Until: noon.Add(10*time.Minute + time.Millisecond)},
		}
	})
	tests := []struct {
		at    time.Time
		after string // Retry-After; "" if it is served
	}{
		{noon.Add(-time.Nanosecond), ""},
		{noon, "601"},
		{noon.Add(time.Second), "600"},
		{noon.Add(10 * time.Minute), "1"},
		{noon.Add(10*time.Minute + time.Millisecond), ""},
		{later.Add(-time.Minute), ""},
		{later, "3600"},
		{later.Add(time.Hour - time.Nanosecond), "1"},
		{later.Add(time.Hour), ""},
	}
	for _, tt := range tests {
		clock.set(tt.at)
		if got := api.Status("1.1.0"); got != version.Deprecated {
			t.Errorf("%v: Status = %q", tt.at, got)
		}
		// The other one of the two is not asked instead, since that would hide it.
		res := ask(t, api, "GET /v1/x")
		if tt.after == "" {
			res.saw(t, "1.1.0")
			continue
		}
		res.refused(t, http.StatusGone, problem.VersionRetired)
		res.has(t, http.StatusGone, "Retry-After: "+tt.after, "Sunset: *", "Deprecation: *",
			"API-Version: 1.1.0")
		ask(t, api, "GET /1.0/x").saw(t, "1.0.0")
	}
}

// Apart from its fields, a deprecated contract is like any other.
func TestRule149DeprecationChangesNothing(t *testing.T) {
	t.Parallel()
	dated, _ := openMarket(t)
	plain, _ := openMarket(t, func(m *market) {
		for i := range m.contracts {
			if c := &m.contracts[i]; c.Name != "0.9.0" {
				c.Deprecated, c.Sunset, c.DeprecationLink, c.SunsetLink = time.Time{}, time.Time{}, "", ""
			}
		}
	})
	for _, rest := range [][]string{
		{"GET /v1/x"}, {"HEAD /1.0/x"}, {"GET /x", "Accept: " + vnd("1.order", "2.order")},
		{"GET /x?version=1.0"},
		{"POST /x", asJSON, "", `{"version":"1","a":1}`}, {"GET /v1.7/x"}, {"GET /v1/x?version=1.0"},
		{"GET /x"},
		{"GET /v0/x"},
	} {
		got, want := ask(t, dated, rest[0], rest[1:]...), ask(t, plain, rest[0], rest[1:]...)
		for _, name := range []string{"Deprecation", "Sunset", "Link"} {
			got.header.Del(name)
			want.header.Del(name)
		}
		if diff := cmp.Diff(comparable153(want), comparable153(got)); diff != "" {
			t.Errorf("%q (-current +deprecated):\n%s", rest, diff)
		}
	}
}
