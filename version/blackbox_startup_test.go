package version_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

// panics returns what f panicked with; "" if it did not.
func panics(f func()) (raw string) {
	defer func() {
		if p := recover(); p != nil {
			raw = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

// Whatever cannot work is found when the program starts, and the mistake is named.
func TestNewRefuses(t *testing.T) {
	t.Parallel()
	window := func(from, until time.Time) func(*market) {
		return func(m *market) { m.contracts[1].Brownouts = []version.Window{{From: from, Until: until}} }
	}
	first := func(change func(*version.Contract)) func(*market) {
		return func(m *market) { change(&m.contracts[1]) }
	}
	tests := []struct {
		name   string
		change func(*market)
		says   string
	}{
		{"no contracts", func(m *market) { m.contracts = nil }, "contract"},
		{"no strategies", only(), "strateg"},
		{"a nil strategy", only(version.Path{}, nil), "strateg"},
		{"a short name", first(func(c *version.Contract) { c.Name = "1.0" }), "1.0"},
		{"a name with v", first(func(c *version.Contract) { c.Name = "v1.0.0" }), "v1.0.0"},
		{"a leading zero", first(func(c *version.Contract) { c.Name = "1.00.0" }), "1.00.0"},
		{"a name that is too long", first(func(c *version.Contract) { c.Name = "1.0.100000" }), "1.0.100000"},
		{"four parts", first(func(c *version.Contract) { c.Name = "1.0.0.0" }), "1.0.0.0"},
		{"no name", first(func(c *version.Contract) { c.Name = "" }), "name"},
		{"a name twice", first(func(c *version.Contract) { c.Name = "1.1.0" }), "1.1.0"},
		{"an unknown default", withDefault("7.0.0"), "7.0.0"},
		{"a short default", withDefault("2"), "2"},
		{"a retired default", withDefault("0.9.0"), "0.9.0"},
		{"an unknown successor", first(func(c *version.Contract) { c.Successor = "7.0.0" }), "7.0.0"},
		{"itself as successor", first(func(c *version.Contract) { c.Successor = "1.0.0" }), "1.0.0"},
		{"no handler", func(m *market) { m.stall = func(string) http.Handler { return nil } }, "1.0.0"},
		{"a sunset before the deprecation", first(func(c *version.Contract) { c.Sunset = lastYear }),
			"1.0.0"},
		{"brownouts without sunset", func(m *market) {
			m.contracts[3].Brownouts = []version.Window{{From: today, Until: nextJune}}
		}, "2.0.0"},
		{"a brownout that ends before it begins", window(today.Add(time.Hour), today), "1.0.0"},
		{"a brownout of no length", window(today, today), "1.0.0"},
		{"a brownout beyond the sunset", window(today, nextJune.Add(time.Second)), "1.0.0"},
		{"a brownout after the sunset", window(nextJune, nextJune.Add(time.Hour)), "1.0.0"},
		{"a media type without vendor", only(version.MediaType{}), "endor"},
		{"a vendor with dots", only(version.MediaType{Vendor: "a.b"}), "a.b"},
		{"a vendor with blanks", only(version.MediaType{Vendor: "a b"}), "a b"},
		{"a header without name", only(version.Header{}), "eader"},
		{"a header named Version", only(version.Header{Name: "Version"}), "Version"},
		{"a header that is none", only(version.Header{Name: "A B"}), "A B"},
		{"a handler with an objection", func(m *market) {
			m.stall = func(string) http.Handler {
				return &reserver{err: errors.New("orders has a field version")}
			}
		}, "orders has a field version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			raw := panics(func() { openMarket(t, tt.change) })
			if !strings.Contains(raw, tt.says) || !strings.HasPrefix(raw, "version") {
				t.Errorf("New said %q, want it to begin with the package and to name %q", raw, tt.says)
			}
		})
	}
	if raw := panics(func() { openMarket(t, window(today, nextJune)) }); raw != "" {
		t.Errorf("a brownout up to the sunset: %s", raw)
	}
	if raw := panics(func() {
		version.New([]version.Contract{{Name: "1.0.0", Handler: seenBy("1.0.0")}},
			[]version.Strategy{version.Path{}}, nil)
	}); raw != "" {
		t.Errorf("nil options: %s", raw)
	}
}

// reserver is a handler with names of its own.
type reserver struct {
	asked [][2]string
	err   error
}

func (r *reserver) Reserve(member, parameter string) error {
	r.asked = append(r.asked, [2]string{member, parameter})
	return r.err
}

func (r *reserver) ServeHTTP(http.ResponseWriter, *http.Request) {}

func TestRule027ReserversAreTold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		strategies []version.Strategy
		want       [2]string
	}{
		{"all", everyStrategy(), [2]string{"version", "version"}},
		{"own names", []version.Strategy{version.Body{Name: "v"}, version.Query{Name: "w"}},
			[2]string{"v", "w"}},
		{"only a query", []version.Strategy{version.Query{}}, [2]string{"", "version"}},
		{"neither", []version.Strategy{version.Path{}}, [2]string{"", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var told []*reserver
			openMarket(t, only(tt.strategies...), func(m *market) {
				m.stall = func(string) http.Handler {
					told = append(told, new(reserver))
					return told[len(told)-1]
				}
			})
			for _, r := range told {
				if diff := cmp.Diff([][2]string{tt.want}, r.asked); diff != "" {
					t.Errorf("Reserve (-want +got):\n%s", diff)
				}
			}
			if len(told) != 4 {
				t.Errorf("%d handlers", len(told))
			}
		})
	}
}

// Changing the arguments of New or its results afterwards has no effect.
func TestNewKeepsCopies(t *testing.T) {
	t.Parallel()
	contracts := []version.Contract{{Name: "1.0.0", Handler: seenBy("1.0.0")},
		{Name: "2.0.0", Handler: seenBy("2.0.0")}}
	strategies := []version.Strategy{version.Path{}, version.Query{}}
	opts := &version.Options{Default: "2.0.0"}
	api := version.New(contracts, strategies, opts)
	contracts[0], contracts[1], strategies[0], *opts = version.Contract{}, version.Contract{}, nil,
		version.Options{}
	api.Contracts()[0].Name = "9.9.9"
	api.Strategies()[0] = nil
	if names := api.Names("2.0.0"); len(names) > 0 {
		names[0] = "9"
	}
	ask(t, api, "GET /v1/x").saw(t, "1.0.0")
	ask(t, api, "GET /x").saw(t, "2.0.0")
	if diff := cmp.Diff([]string{"2", "2.0", "2.0.0"}, api.Names("2.0.0")); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	if got := api.Contracts()[0].Name; got != "2.0.0" {
		t.Errorf("Contracts()[0] is %s", got)
	}
}
