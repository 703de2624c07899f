// Command walk holds a server against its OpenAPI document with random requests, as package walk describes.
//
//	walk -url http://127.0.0.1:8080 -contract 1.0.0 -requests 5000 -seed 1
//
// With -proxy it sends valid requests only, to a Prism proxy before the server, and what that notes
// is a violation.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/openapi/walk"
	"github.com/stoa-go/stoa/query/graphql/internal/clients/shop"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	url := flag.String("url", "http://127.0.0.1:8080", "`URL` of the shop")
	proxy := flag.String("proxy", "", "`URL` of a Prism proxy whose upstream is the contract")
	file := flag.String("document", "", "OpenAPI `file`; if empty, the shop is asked for it")
	contract := flag.String("contract", "2.0.0", "full `name` of the contract")
	requests := flag.Int("requests", 5000, "`number` of requests")
	seed := flag.Uint64("seed", 1, "`number` that makes a walk ask the same again")
	flag.Parse()

	document, err := os.ReadFile(*file)
	if *file == "" {
		document, err = shop.Document(ctx, *url, *contract)
	}
	if err != nil {
		return err
	}
	opts := &walk.Options{Document: document, URL: *url, Requests: *requests, Seed: *seed}
	if *proxy != "" {
		opts.URL, opts.Prism = *proxy, true
	}
	report, err := walk.Run(ctx, opts)
	if err != nil {
		return err
	}
	fmt.Printf("contract %s, seed %d: %v\n", *contract, *seed, report)
	if len(report.Violations) > 0 {
		for _, v := range report.Violations {
			fmt.Printf("\n%s\n", v)
		}
		return fmt.Errorf("%d violations", len(report.Violations))
	}
	return nil
}
