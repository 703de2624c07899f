package main

// The start-up report: one line for each part, then what is weak about the chosen settings.

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/version"
)

// neutralReport is the line about paths without a version in the start-up report.
const neutralReport = "pages: / (start page), /health, /openapi (OpenAPI documents), /docs (documentation)\n"

// report returns the start-up report: where data is stored, the paths, and settings that weaken
// security or durability. With -v it has the capabilities of each collection and all contracts. A
// reader should be able to see every weak setting without knowing the options.
func report(
	s settings, c *collections, filled bool, contracts map[string]*contractHandler, n *version.Negotiator,
) string {
	storage := c.db.report(reportSeed(s, filled)) + c.folder.report() + reportFeed(c)
	text := storage + reportAuth(s) + neutralReport
	if !s.verbose {
		return contracts[defaultContract].briefReport(text) + n.BriefReport()
	}
	current := contracts[defaultContract].report()
	var b strings.Builder
	b.WriteString(text + current)
	for _, contract := range n.Contracts() {
		name := contract.Name
		if h := contracts[name]; h != nil && name != defaultContract {
			fmt.Fprintf(&b, "in contract %s only\n%s", name, differing(h.report(), current))
		}
	}
	return b.String() + n.Report()
}

// reportWeak returns a line for each weakness, about the line that precedes it.
func reportWeak(weak ...string) string {
	var b strings.Builder
	for _, text := range weak {
		b.WriteString("    weak: " + text + "\n")
	}
	return b.String()
}

// reportAuth returns the line about callers. No authentication is a weakness even on localhost,
// where every local program can connect.
func reportAuth(s settings) string {
	rate := "no rate limit (see -rate)\n"
	if s.rate.Quota > 0 {
		rate = "rate limit " + s.rate.String() + "\n"
	}
	if s.auth {
		return "callers: writes need a bearer token, customers see only their own user and orders; " + rate
	}
	return "callers: every caller is " + guest + "; " + rate + reportWeak("no authentication (see -auth)")
}

// reportSeed returns whether the database has been seeded, for the start-up report.
func reportSeed(s settings, filled bool) string {
	switch {
	case filled && s.places != "":
		return "not seeded, it has data; " + s.places + " was not read"
	case filled:
		return "not seeded, it has data"
	case !s.seed:
		return "not seeded (-seed=false)"
	}
	return "seeded"
}

// differing returns the parts of a report that are not in the other report. Most resources are
// alike in all contracts, and repeating them would hide the differences.
func differing(report, other string) string {
	known := map[string]bool{}
	for _, part := range reportParts(other) {
		known[part] = true
	}
	var b strings.Builder
	for _, part := range reportParts(report) {
		if !known[part] {
			b.WriteString(part)
		}
	}
	return b.String()
}

// reportParts splits a report before each line that begins with a path.
func reportParts(report string) (parts []string) {
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "/") || len(parts) == 0 {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	return parts
}
