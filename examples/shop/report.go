package main

import (
	"fmt"
	"strings"

	"github.com/stoa-go/stoa/version"
)

// neutralReport is what the start-up report says of what has no version.
const neutralReport = `/  a page about all this
/health  GET, HEAD
/openapi  the contracts; their documents are below
/docs  the documents, to read and to try
`

// report is what whoever starts the shop gets to read: where everything is kept and what that promises, what is served in
// each contract, and what is weaker than it could be.
func report(s settings, c *collections, filled bool, contracts map[string]*doors, n *version.Negotiator) string {
	var b strings.Builder
	b.WriteString(c.db.report + reportSeed(s, filled) + c.folder.report() + reportFeed(c) + reportAuth(s) + neutralReport)
	current := contracts[defaultContract].report()
	b.WriteString(current)
	for _, contract := range n.Contracts() {
		name := contract.Name
		if d := contracts[name]; d != nil && name != defaultContract {
			fmt.Fprintf(&b, "in contract %s only\n%s", name, differing(d.report(), current))
		}
	}
	return b.String() + reportContracts(n)
}

func reportAuth(s settings) string {
	rate := "    they may ask as often as they like: see -rate\n"
	if s.rate.Quota > 0 {
		rate = "    each may ask " + s.rate.String() + "\n"
	}
	if s.auth {
		return "callers: who writes shows a token, and customers see only their own orders\n" + rate
	}
	return "callers: everybody is " + guest + "\n" + rate + "    weak: nobody has to say who they are: see -auth\n"
}

// reportSeed says what has been put into the database.
func reportSeed(s settings, filled bool) string {
	switch {
	case filled && s.places != "":
		return "    it was filled already: " + s.places + " has not been read\n"
	case filled:
		return "    it was filled already\n"
	case !s.seed:
		return "    nothing has been put into it\n"
	}
	return "    it was empty, and has been filled\n"
}

// differing returns the parts of a report that another one does not have as they are.
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

// reportParts splits a report where a line names a path. What is said of it is indented below.
func reportParts(report string) (parts []string) {
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "/") || len(parts) == 0 {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	return parts
}
