package version

// The start-up report of a Negotiator. Called by applications.

import (
	"fmt"
	"strings"
	"time"
)

// Report returns a description of the contracts in plain text, to be logged at start-up. Each
// contract has a line with its status, names, dates and server. Another line lists the strategies. A line
// that begins with "weak: " reports a major version that a newer one replaces and of which no
// contract is deprecated, or a contract without a snapshot. [Negotiator.BriefReport] shortens the
// report.
func (n *Negotiator) Report() string {
	var b strings.Builder
	now := n.opts.Now()
	for _, c := range n.contracts {
		fmt.Fprintf(&b, "contract %s  %s", c.Name, c.status(now))
		if names := n.names(c, now); len(names) > 0 {
			fmt.Fprintf(&b, ", named %s", strings.Join(names, " "))
		}
		if c == n.defaultContract {
			b.WriteString(", default")
		}
		if at := c.Contract.Deprecated; !at.IsZero() {
			fmt.Fprintf(&b, ", deprecated %s", date(at))
		}
		if !c.Sunset.IsZero() {
			fmt.Fprintf(&b, ", sunset %s", date(c.Sunset))
		}
		b.WriteString(c.elsewhere() + "\n")
	}
	return b.String() + n.reportStrategies() + n.reportMajors(now) + n.reportSnapshots(now)
}

// elsewhere returns the other server of the contract, "" if there is none.
func (c *contract) elsewhere() string {
	switch {
	case c.remote == nil:
		return ""
	case c.Proxy:
		return ", forwarded to " + c.remote.base.String()
	}
	return ", redirected to " + c.remote.base.String()
}

// BriefReport is [Negotiator.Report] with one line for all contracts.
func (n *Negotiator) BriefReport() string {
	var all []string
	now := n.opts.Now()
	for _, c := range n.contracts {
		text := c.Name + " " + string(c.status(now))
		if c == n.defaultContract {
			text += " (default)"
		}
		if !c.Sunset.IsZero() {
			text += ", sunset " + c.Sunset.UTC().Format(time.DateOnly)
		}
		text += c.elsewhere()
		all = append(all, text)
	}
	return "contracts: " + strings.Join(all, "; ") + "\n" + n.reportStrategies() + n.reportMajors(now) +
		n.reportSnapshots(now)
}

// reportStrategies returns the line about where requests name a contract.
func (n *Negotiator) reportStrategies() string {
	var all []string
	for _, s := range n.strategies {
		all = append(all, s.Source())
	}
	return "    named in: " + strings.Join(all, ", ") + "\n"
}

// reportMajors returns a line for each replaced major version without a deprecated contract,
// because its clients have no date until which to migrate. A date in the future is enough. Retired
// contracts have no clients, and a preview does not replace anything.
func (n *Negotiator) reportMajors(now time.Time) string {
	var newest *contract
	var majors []string
	deprecated := map[string]bool{}
	for _, c := range n.contracts {
		if c.Preview || c.retired(now) {
			continue
		}
		if newest == nil {
			newest = c
		}
		major := cutParts(c.Name, 1)
		if major == cutParts(newest.Name, 1) {
			continue
		}
		if _, known := deprecated[major]; !known {
			majors = append(majors, major)
		}
		deprecated[major] = deprecated[major] || c.deprecation != nil
	}
	var b strings.Builder
	for _, major := range majors {
		if !deprecated[major] {
			fmt.Fprintf(&b, "weak: contract %s replaces major version %s, of which no contract "+
				"is deprecated (see Contract.Deprecated)\n", newest.Name, major)
		}
	}
	return b.String()
}
