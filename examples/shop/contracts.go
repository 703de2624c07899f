package main

// The contracts: their dates, and how a request chooses one. graphql.go serves each of them.

import (
	"embed"
	"io/fs"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
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
// s.addr, the listen address, names no contract. now is the clock of the life cycle.
func newNegotiator(
	contracts map[string]*contractHandler, s settings, now func() time.Time,
) *version.Negotiator {
	dates := newLifeCycle()
	old := func(name string) version.Contract {
		c, elsewhere := s.elsewhere[name]
		if !elsewhere {
			c.Handler = contracts[name]
		}
		c.Name, c.OpenAPI = name, documentPath(name)
		c.Deprecated, c.DeprecationLink = dates.deprecated1, changesPage
		c.Sunset, c.SunsetLink = dates.sunset1, contractsPage
		return c
	}
	// Without this limit another shop that accepts a connection and sends nothing would hold requests.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = answerTime
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
			version.Host{Domains: []string{versionDomain}, Others: otherHosts(s.addr)},
			version.Query{},
			version.Header{Name: "API-Version"},
			version.MediaType{Vendor: vendor},
			version.Body{},
		},
		&version.Options{Default: defaultContract, Transport: transport, Logger: s.logger, Now: now,
			Snapshots: compat.MustLoad(recorded())},
	)
}

// snapshots are what clients can observe of each contract. TestContracts writes and checks them. A
// contract that breaks the rules of version names keeps the shop from starting.
//
//go:embed contracts/*.json
var snapshots embed.FS

// recorded returns the folder of the snapshots.
func recorded() fs.FS {
	folder, err := fs.Sub(snapshots, "contracts")
	if err != nil {
		panic(err) // the name is valid
	}
	return folder
}

const (
	// changesPage lists what changed in each contract.
	changesPage = "/openapi/changes"
	// contractsPage is the section of the start page about deprecated contracts.
	contractsPage = "/#contracts"
)

// documentPath returns the path of the OpenAPI document of a contract.
func documentPath(contract string) string { return "/openapi/" + contract + ".json" }

// shiftedClock returns a clock that starts at instant and then runs. The zero instant means the
// real clock. Tests use it to show how responses change at a sunset.
func shiftedClock(instant time.Time) func() time.Time {
	if instant.IsZero() {
		return time.Now
	}
	start := time.Now()
	return func() time.Time { return instant.Add(time.Since(start)) }
}
