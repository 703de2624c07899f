package version_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// manyContracts has what makes short names hard: two digits, a retired one on top, a preview on top of that.
func manyContracts(m *market) {
	m.options.Default = "1.9.0"
	m.contracts = []version.Contract{
		{Name: "1.9.0"}, {Name: "1.10.0"}, {Name: "1.10.2"}, {Name: "1.10.10"},
		{Name: "1.11.0", Sunset: lastYear},
		{Name: "1.12.0", Preview: true}, {Name: "2.0.0", Preview: true}, {Name: "3.1.4", Sunset: lastYear},
		{Name: "10.0.0"}, {Name: "0.1.0"},
	}
}

// resolutions are the names of manyContracts, and what rule 24 makes of them: "410" for retired, "no" for what selects
// nothing, "bad" for what is no name.
var resolutions = map[string]string{
	"1": "1.10.10", "v1": "1.10.10", "1.9": "1.9.0", "1.10": "1.10.10", "v1.10": "1.10.10",
	"1.10.0": "1.10.0",
	"1.10.2": "1.10.2", "v1.10.10": "1.10.10", "1.9.0": "1.9.0", "10": "10.0.0", "10.0": "10.0.0",
	"0":   "0.1.0",
	"0.1": "0.1.0", "0.1.0": "0.1.0",
	"1.12.0": "1.12.0", "v2.0.0": "2.0.0",
	"1.11": "410", "1.11.0": "410", "3": "410", "3.1": "410", "v3.1.4": "410",
	"2": "no", "2.0": "no", "1.12": "no", "1.1": "no", "1.10.1": "no", "100": "no", "4": "no", "3.1.5": "no",
	"99999": "no",
	"0.0.0": "no", "1.99999.99999": "no",
	"v": "bad", "V1": "bad", "vv1": "bad", "01": "bad", "1.09": "bad", "1.10.00": "bad", "+1": "bad",
	"-1": "bad",
	"1.": "bad", ".1": "bad", "1..0": "bad", "1.10.0.0": "bad", "100000": "bad", "1.100000": "bad",
	"1x": "bad",
	"x":  "bad", "latest": "bad", "1.x": "bad", "1.10.0-rc1": "bad", "1.10.0+1": "bad", "0x1": "bad",
	"1e1": "bad",
	"v 1": "bad", "1 0": "bad", "*": "bad", "１": "bad", "v1.10.v0": "bad", "1_0": "bad", "00": "bad",
	"1,5": "bad",
}

func TestRule024NamesResolve(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, manyContracts)
	for name, want := range resolutions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			served := want
			if !strings.Contains(want, ".") {
				served = ""
			}
			if got := api.Resolve(name); got != served {
				t.Errorf("Resolve(%q) = %q, want %q", name, got, served)
			}
			res := ask(t, api, "GET /orders?version="+escaped(name))
			switch want {
			case "410":
				res.refused(t, http.StatusGone, problem.VersionRetired)
			case "no":
				res.refused(t, http.StatusBadRequest, problem.UnsupportedVersion)
			case "bad":
				res.refused(t, http.StatusBadRequest, problem.MalformedVersion)
			default:
				res.saw(t, want)
				res.has(t, http.StatusOK, "API-Version: "+want)
			}
		})
	}
	if got := api.Resolve(""); got != "" {
		t.Errorf(`Resolve("") = %q`, got)
	}
}

// escaped writes a name into a query, every octet as %XX.
func escaped(name string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(name) {
		b.WriteString("%" + string(hex[name[i]>>4]) + string(hex[name[i]&15]))
	}
	return b.String()
}

// Every strategy resolves a name like any other.
func TestRule024EveryStrategyResolves(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, manyContracts)
	for name, want := range resolutions {
		if !strings.Contains(want, ".") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := strings.TrimPrefix(name, "v")
			ask(t, api, "GET /"+name+"/orders").saw(t, want)
			ask(t, api, "GET /orders", "API-Version: "+name).saw(t, want)
			ask(t, api, "GET /orders", "Host: api-v"+strings.ReplaceAll(plain, ".", "-")+
				".market.example").saw(t, want)
			ask(t, api, "GET /orders", "Accept: application/vnd.shop."+plain+".order+json").saw(t, want)
			ask(t, api, "POST /orders", "Content-Type: application/vnd.shop."+plain+".order+json", "",
				"{}").saw(t, want)
			ask(t, api, "POST /orders", asJSON, "", `{"version":"`+name+`"}`).saw(t, want)
		})
	}
}

func TestRule024NamesOfAContract(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, manyContracts)
	want := map[string][]string{
		"1.10.10": {"1", "1.10", "1.10.10"}, "1.10.2": {"1.10.2"}, "1.10.0": {"1.10.0"},
		"1.9.0":  {"1.9", "1.9.0"},
		"10.0.0": {"10", "10.0", "10.0.0"}, "1.12.0": {"1.12.0"}, "2.0.0": {"2.0.0"},
		"0.1.0": {"0", "0.1", "0.1.0"},
		"3.1.4": nil, "1.11.0": nil, "7.0.0": nil, "1": nil, "": nil,
	}
	for contract, names := range want {
		if diff := cmp.Diff(names, api.Names(contract)); diff != "" {
			t.Errorf("Names(%q) (-want +got):\n%s", contract, diff)
		}
		for _, name := range names {
			if got := api.Resolve(name); got != contract {
				t.Errorf("Resolve(%q) = %q, want %q", name, got, contract)
			}
		}
	}
	var order []string
	for _, c := range api.Contracts() {
		order = append(order, c.Name)
	}
	newest := []string{
		"10.0.0", "3.1.4", "2.0.0", "1.12.0", "1.11.0", "1.10.10", "1.10.2", "1.10.0", "1.9.0", "0.1.0",
	}
	if diff := cmp.Diff(newest, order); diff != "" {
		t.Errorf("Contracts, newest first (-want +got):\n%s", diff)
	}
}

// A short name moves on when the contract it selected is retired, and is 410 when there is nothing to move on to.
func TestRule024ShortNamesFollowTheClock(t *testing.T) {
	t.Parallel()
	api, clock := openMarket(t, func(m *market) {
		m.contracts = []version.Contract{
			{Name: "1.0.0", Deprecated: sinceJune, Sunset: today.Add(2 * time.Hour)},
			{Name: "1.1.0", Deprecated: sinceJune, Sunset: today.Add(time.Hour)},
			{Name: "2.0.0"},
		}
	})
	ask(t, api, "GET /v1/orders").saw(t, "1.1.0")
	clock.set(today.Add(time.Hour))
	ask(t, api, "GET /v1/orders").saw(t, "1.0.0")
	ask(t, api, "GET /v1.1/orders").refused(t, http.StatusGone, problem.VersionRetired)
	if diff := cmp.Diff([]string{"1", "1.0", "1.0.0"}, api.Names("1.0.0")); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	clock.set(today.Add(2 * time.Hour))
	ask(t, api, "GET /v1/orders").refused(t, http.StatusGone, problem.VersionRetired)
	if got := api.Resolve("1"); got != "" {
		t.Errorf("Resolve(1) = %q after the end of both", got)
	}
	ask(t, api, "GET /orders").saw(t, "2.0.0")
}

func TestRule044NothingFallsToTheLatest(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*market){withDefault("2.0.0"), withDefault("")} {
		api, _ := openMarket(t, change)
		for _, rest := range [][]string{
			{"GET /v7/orders"}, {"GET /v0/orders"}, {"GET /v01/orders"},
			{"GET /orders?version=7"}, {"GET /orders?version=0.9"}, {"GET /orders?version="},
			{"GET /orders?version=latest"},
			{"GET /orders", "API-Version: 7"}, {"GET /orders", "API-Version: 0.9.0"},
			{"GET /orders", "API-Version:"},
			{"GET /orders", "Accept: application/vnd.shop.7.order+json"},
			{"GET /orders", "Accept: application/vnd.shop.0.9.order+json"},
			{"GET /orders", "Host: api-v7.market.example"}, {"GET /orders", "Host: api-v0-9.market.example"},
			{"POST /orders", asJSON, "", `{"version":"7"}`}, {"POST /orders", asJSON, "", `{"version":null}`},
			{"PUT /orders/1", "Content-Type: application/vnd.shop.7.order+json", "", `{}`},
		} {
			res := ask(t, api, rest[0], rest[1:]...)
			if res.status < 400 {
				t.Errorf("%q: status %d: %s", rest, res.status, res.body)
			}
		}
	}
}

func TestRule044TheDefaultIsAName(t *testing.T) {
	t.Parallel()
	old, _ := openMarket(t, serving("1.0.0", "2.0.0"), withDefault("1.0.0"))
	next, _ := openMarket(t, serving("1.0.0", "1.1.0", "2.0.0", "3.0.0"), withDefault("1.0.0"))
	for _, api := range []*version.Negotiator{old, next} {
		if s := ask(t, api, "GET /orders").saw(t, "1.0.0"); s.Source != "" {
			t.Errorf("the source of a default is %q", s.Source)
		}
		if api.Default() != "1.0.0" {
			t.Errorf("Default() = %q", api.Default())
		}
	}
	none, _ := openMarket(t, serving("1.0.0"), func(m *market) {
		m.strategies = []version.Strategy{version.Query{}}
	})
	r := ask(t, none, "GET /orders").refused(t, http.StatusBadRequest, problem.VersionRequired)
	if diff := cmp.Diff([]string{"1.0.0"}, r.Supported); diff != "" {
		t.Errorf("supported-versions (-want +got):\n%s", diff)
	}
	if none.Default() != "" {
		t.Errorf("Default() = %q", none.Default())
	}
}
