package version_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
)

// The policy table of the rulebook, for every pair of places in which a request can name a contract, and in every pair of
// conditions: against an oracle that is the table, written down.

// place is the position of a name.
type place int

const (
	inPath place = iota
	inHost
	inQuery
	inBody
	inHeader
	inAccept
	inContentType
	places
)

var placeNames = [places]string{"path", "host", "query", "body", "header", "accept", "content type"}

// condition is what about the name.
type condition int

const (
	good  condition = iota
	alike           // spelled otherwise, and the same contract
	other           // another contract
	malformed
	unsupported
	retired
	conditions
)

// spelling is how a condition is spelled; a text in a path or a type must look like a version to
// be malformed.
var spelling = [conditions]string{"1.1", "1", "2", "01", "7", "0.9"}

// contractOf is what a condition selects.
var contractOf = [conditions]string{"1.1.0", "1.1.0", "2.0.0", "", "", "0.9.0"}

// naming is a name in a place.
type naming struct {
	place
	condition
}

// apply writes the name into its place.
func (n naming) apply(r *pairRequest) {
	name := spelling[n.condition]
	switch n.place {
	case inPath:
		r.target = "/v" + name + "/orders"
	case inHost:
		r.host = "api-v" + strings.ReplaceAll(name, ".", "-") + ".market.example"
	case inQuery:
		r.query = "?version=" + name
	case inBody:
		r.body = `{"version":"` + name + `"}`
	case inHeader:
		r.fields = append(r.fields, "API-Version: "+name)
	case inAccept:
		r.fields = append(r.fields, "Accept: "+vnd(name+".order"))
	case inContentType:
		r.kind = vnd(name + ".order")
	}
}

type pairRequest struct {
	target, query, host, body, kind string
	fields                          []string
}

// verdict is the expected result of the table.
type pairVerdict struct {
	contract string // of the answer; if it is served, statuses is empty
	kinds    []problem.Kind
	statuses []int
}

// statusOf is the row of a condition, in the column of a place.
func (n naming) statusOf() int {
	switch {
	case n.condition == retired:
		return http.StatusGone
	case n.place == inPath || n.place == inHost:
		return http.StatusNotFound
	case n.place == inAccept:
		return http.StatusNotAcceptable
	case n.place == inContentType:
		return http.StatusUnsupportedMediaType
	}
	return http.StatusBadRequest
}

// grave is the rank of a condition: how early it is noticed. The ranges of Accept that are
// malformed are ignored, so that what is wrong with them is that nothing else is left.
func (n naming) grave() int {
	switch {
	case n.condition != malformed && n.condition != unsupported:
		return 0
	case n.place == inPath || n.place == inHost:
		return 4
	case n.condition == malformed && n.place != inAccept:
		return 3
	}
	return 1
}

const ambiguousGrave = 2

// judge is the oracle. Where two of equal gravity meet the table allows either problem.
func judge(pair ...naming) pairVerdict {
	worst := 0
	for _, n := range pair {
		worst = max(worst, n.grave())
	}
	contracts := map[string]bool{}
	for _, n := range pair {
		if c := contractOf[n.condition]; c != "" {
			contracts[c] = true
		}
	}
	if len(contracts) > 1 && worst < ambiguousGrave {
		return pairVerdict{kinds: []problem.Kind{problem.AmbiguousVersion},
			statuses: []int{http.StatusBadRequest}}
	}
	var v pairVerdict
	for _, n := range pair {
		switch {
		case worst > 0 && n.grave() == worst && n.condition == malformed && n.place != inAccept:
			v.kinds = append(v.kinds, problem.MalformedVersion)
		case worst > 0 && n.grave() == worst && n.condition == malformed:
			v.kinds = append(v.kinds, problem.UnsupportedVersion, problem.NotAcceptable,
				problem.MalformedVersion)
		case worst > 0 && n.grave() == worst:
			v.kinds = append(v.kinds, problem.UnsupportedVersion)
		case worst == 0 && n.condition == retired:
			v.kinds, v.contract = append(v.kinds, problem.VersionRetired), "0.9.0"
		case worst == 0:
			v.contract = contractOf[n.condition]
			continue
		default:
			continue
		}
		v.statuses = append(v.statuses, n.statusOf())
	}
	return v
}

func TestRule038EveryPairOfSources(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	asked := 0
	for a := range places {
		for b := a + 1; b < places; b++ {
			t.Run(placeNames[a]+" and "+placeNames[b], func(t *testing.T) {
				t.Parallel()
				for i := range conditions {
					for j := range conditions {
						checkPair(t, api, naming{a, i}, naming{b, j})
					}
				}
			})
			asked += int(conditions * conditions)
		}
	}
	if asked != 21*36 {
		t.Errorf("%d pairs", asked)
	}
}

func checkPair(t *testing.T, api http.Handler, pair ...naming) {
	t.Helper()
	r := pairRequest{target: "/orders", host: "market.example", body: `{}`, kind: "application/json"}
	name := "POST"
	for _, n := range pair {
		n.apply(&r)
		name += fmt.Sprintf(" %s=%s", placeNames[n.place], spelling[n.condition])
	}
	fields := append(r.fields, "Host: "+r.host, "Content-Type: "+r.kind, "", r.body)
	res := ask(t, api, "POST "+r.target+r.query, fields...)
	res.line = name
	res.varies(t, "Accept", "API-Version")
	want := judge(pair...)
	if len(want.statuses) == 0 {
		if s := res.saw(t, want.contract); s.Path != "/orders" || s.Query != "" || s.Body != `{}` {
			t.Errorf("%s: the handler saw %s?%s %s", name, s.Path, s.Query, s.Body)
		}
		res.has(t, http.StatusOK, "API-Version: "+want.contract)
		return
	}
	if !slices.Contains(want.statuses, res.status) {
		t.Errorf("%s: status %d, want one of %v: %s", name, res.status, want.statuses, res.body)
		return
	}
	res.has(t, res.status, "API-Version: "+want.contract, "Cache-Control: no-store")
	if !slices.ContainsFunc(want.kinds, func(k problem.Kind) bool { return kindOf(t, res) == k.URI() }) {
		t.Errorf("%s: a problem of kind %s, want one of %v", name, kindOf(t, res), want.kinds)
	}
	for _, n := range pair {
		raw := spelling[n.condition]
		if len(pair) == 2 && want.kinds[0] == problem.AmbiguousVersion && !mentions(res.body, raw) {
			t.Errorf("%s: the conflict does not name %s: %s", name, raw, res.body)
		}
	}
}

// Three sources, of which one, in any position, names another contract.
func TestRule038TheOddOneOut(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for odd := range places {
		var three []naming
		for _, p := range []place{odd, (odd + 2) % places, (odd + 4) % places} {
			c := good
			if p == odd {
				c = other
			}
			three = append(three, naming{p, c})
		}
		checkPair(t, api, three...)
		three[0].condition = alike
		checkPair(t, api, three...)
	}
	var all []naming
	for p := range places {
		all = append(all, naming{p, condition(int(p) % 2)})
	}
	checkPair(t, api, all...)
}
