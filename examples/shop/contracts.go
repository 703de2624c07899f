package main

// The contracts: their dates, and how a request chooses one. graphql.go serves each of them.

import (
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/version"
)

const (
	defaultContract = "2.0.0"
	// part of the media types of all contracts
	vendor = "shop" // application/vnd.shop.1.order+json
)

// lifeCycle holds the dates of the contracts. A contract is available until the last second of its
// final day, UTC. Dates are constants, so all servers agree on them.
type lifeCycle struct{ retired09, deprecated1, sunset1 time.Time }

// newLifeCycle returns the dates of the contracts. Deprecation announces a date; only the sunset
// changes responses, to 410.
func newLifeCycle() lifeCycle {
	endOf := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 23, 59, 59, 0, time.UTC)
	}
	return lifeCycle{
		retired09:   endOf(2026, time.January, 31),
		deprecated1: time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC),
		sunset1:     endOf(2027, time.June, 30),
	}
}

// newNegotiator serves the contracts side by side, with every strategy for naming one. The host of
// addr, the listen address, names no contract. now is the clock of the life cycle.
func newNegotiator(
	contracts map[string]*contractHandler, addr string, now func() time.Time,
) *version.Negotiator {
	dates := newLifeCycle()
	old := func(name string) version.Contract {
		return version.Contract{
			Name: name, Handler: contracts[name], OpenAPI: documentPath(name),
			Deprecated: dates.deprecated1, DeprecationLink: contractsPage,
			Sunset: dates.sunset1, SunsetLink: contractsPage,
		}
	}
	// A request may name its contract by any of the strategies. Two different names in one request
	// are an error. A service needs only one or two of them; see package version.
	return version.New(
		[]version.Contract{
			{Name: "2.0.0", Handler: contracts["2.0.0"], OpenAPI: documentPath("2.0.0")},
			old("1.1.0"),
			old("1.0.0"),
			{Name: "0.9.0", Sunset: dates.retired09, SunsetLink: contractsPage},
		},
		[]version.Strategy{
			version.Path{},
			version.Host{Domains: []string{versionDomain}, Others: otherHosts(addr)},
			version.Query{},
			version.Header{Name: "API-Version"},
			version.MediaType{Vendor: vendor},
			version.Body{},
		},
		&version.Options{Default: defaultContract, Now: now},
	)
}

// contractsPage is the section of the start page about deprecated contracts.
const contractsPage = "/#contracts"

// documentPath returns the path of the OpenAPI document of a contract.
func documentPath(contract string) string { return "/openapi/" + contract + ".json" }

// reportContracts describes the contracts for the start-up report.
func reportContracts(n *version.Negotiator) string {
	var b strings.Builder
	for _, c := range n.Contracts() {
		fmt.Fprintf(&b, "contract %s  %s", c.Name, n.Status(c.Name))
		if names := n.Names(c.Name); len(names) > 0 {
			fmt.Fprintf(&b, ", named %s", strings.Join(names, " "))
		}
		if c.Name == n.Default() {
			b.WriteString(", default")
		}
		if !c.Deprecated.IsZero() {
			fmt.Fprintf(&b, ", deprecated %s", c.Deprecated.Format(time.RFC3339))
		}
		if !c.Sunset.IsZero() {
			fmt.Fprintf(&b, ", sunset %s", c.Sunset.Format(time.RFC3339))
		}
		b.WriteByte('\n')
	}
	return b.String() + reportStrategies(n)
}

// briefContracts is reportContracts in two lines.
func briefContracts(n *version.Negotiator) string {
	var all []string
	for _, c := range n.Contracts() {
		text := c.Name + " " + string(n.Status(c.Name))
		if c.Name == n.Default() {
			text += " (default)"
		}
		if !c.Sunset.IsZero() {
			text += ", sunset " + c.Sunset.Format(time.DateOnly)
		}
		all = append(all, text)
	}
	return "contracts: " + strings.Join(all, "; ") + "\n" + reportStrategies(n)
}

// reportStrategies returns the line about where requests name a contract.
func reportStrategies(n *version.Negotiator) string {
	var all []string
	for _, s := range n.Strategies() {
		all = append(all, s.Source())
	}
	return "    named in: " + strings.Join(all, ", ") + "\n"
}

// shiftedClock returns a clock that starts at instant and then runs. The zero instant means the
// real clock. Tests use it to show how responses change at a sunset.
func shiftedClock(instant time.Time) func() time.Time {
	if instant.IsZero() {
		return time.Now
	}
	start := time.Now()
	return func() time.Time { return instant.Add(time.Since(start)) }
}
