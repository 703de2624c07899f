package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/stoa-go/stoa/version/versiontest"
)

// TestContracts compares the contracts with the snapshots in the folder contracts. A contract that
// clients use must not change. While a contract is not released, delete its file and run
//
//	VERSIONTEST=update go test -C examples ./shop -run 'TestContracts$'
func TestContracts(t *testing.T) {
	t.Parallel()
	s := openShopOn(t, settings{cache: "private, no-cache"})
	catalogs := s.catalogsAgain(t)
	contracts := newContractHandlers(s.collections, catalogs)
	n := newNegotiator(contracts, settings{addr: "127.0.0.1:8080"}, func() time.Time { return s.now })
	neutral := newNeutral(n, catalogs, s.collections.restOptions(), settings{}, nil)
	versiontest.Run(t, &versiontest.API{
		Versions: n,
		Handler:  s.Handler,
		OpenAPI:  func(contract string) http.Handler { return neutral[documentPath(contract)] },
		SDL:      func(contract string) string { return contracts[contract].graphql.SDL() },
		Now:      s.now,
	}, "contracts")
}
