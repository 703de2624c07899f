package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario keys-callers sends pairs of requests with the same key to the shop with -auth. Most second requests have nothing to
// do with the first, and must not reveal anything of it. The others mean the same, or conflict with it.

// pairs is a trial with pairs of requests.
type pairs struct {
	trial
	tokens map[string]string
	orders map[string][]string // ids of two orders of each user
}

// call is a request to the shop.
type call struct {
	request
	user, accept string
}

// users of the shop, as it is seeded. Their passwords are their names.
var users = []string{"ann", "bob", "cat"}

func keyCallers(ctx context.Context, e *env) error {
	p := &pairs{}
	// At a time at which all versions are served, so that the scenario does not fail when one is retired.
	p.trial = trial{title: "pairs of requests with one key, to a shop with -auth", engine: sqlite,
		command: []string{shop, "-auth", "-now", "2026-12-01T00:00:00Z"},
		do:      func(ctx context.Context) error { return p.run(ctx, size(e, 500, 1000)) }}
	return e.try(ctx, &p.trial)
}

// pairKinds are the kinds of pairs, and how the second request has to be answered.
var pairKinds = []struct {
	name, want string
	first      func(p *pairs, rng *rand.Rand, user string, n int) call
	second     func(p *pairs, rng *rand.Rand, first call) call
	check      func(first, second client.Answer) error
}{
	{"another caller, the same request", "done", (*pairs).newOrder, (*pairs).otherCaller, independent},
	{"another caller, another request", "done", (*pairs).newNote, (*pairs).otherRequest, independent},
	{"no caller, the same request", "401", (*pairs).newOrder, (*pairs).noCaller, unauthorized},
	{"another path", "done", (*pairs).newNote, (*pairs).otherPath, independent},
	{"another method", "done", (*pairs).newNote, (*pairs).otherMethod, independent},
	{"another protocol", "done", (*pairs).newOrder, (*pairs).otherProtocol, independent},
	{"another version, the same meaning", "replayed in its shape", (*pairs).newOrder, (*pairs).otherVersion, replayedInOtherShape},
	{"another Accept", "replayed in that type", (*pairs).newOrder, (*pairs).otherAccept, replayedInOtherType},
	{"another spelling", "replayed", (*pairs).newOrder, (*pairs).otherSpelling, replayed},
	{"the same request", "replayed", (*pairs).newOrder, (*pairs).same, replayed},
	{"another meaning", "422", (*pairs).newOrder, (*pairs).otherMeaning, keyReused},
	{"GraphQL, another caller", "done", (*pairs).newMutation, (*pairs).otherCaller, independent},
	{"GraphQL, the same request", "replayed", (*pairs).newMutation, (*pairs).same, replayed},
	{"GraphQL, another meaning", "422", (*pairs).newMutation, (*pairs).otherMeaning, keyReused},
}

func (p *pairs) run(ctx context.Context, n int) error {
	rng := p.random(0)
	if err := p.login(ctx, rng); err != nil {
		return err
	}
	rows := make([][]any, len(pairKinds))
	var sent, good [32]int
	for i := range n {
		at := i % len(pairKinds)
		kind := &pairKinds[at]
		first := kind.first(p, rng, users[rng.IntN(len(users))], i)
		second := kind.second(p, rng, first)
		first.key = fmt.Sprintf("pair-%d", i)
		second.key = first.key
		one := p.sendCall(ctx, first)
		if !one.OK() || one.Replayed() {
			return one.Unexpected(first.String())
		}
		sent[at]++
		if err := kind.check(one, p.sendCall(ctx, second)); err != nil {
			p.Add(history.Leaked, 1, "%s: %+v and %+v: %v", kind.name, first, second, err)
			continue
		}
		good[at]++
	}
	for at, kind := range pairKinds {
		rows[at] = []any{good[at], "of", sent[at], kind.name + ": " + kind.want}
	}
	p.table("", rows...)
	return nil
}

// login logs all users in and places two orders of each.
func (p *pairs) login(ctx context.Context, rng *rand.Rand) error {
	p.tokens, p.orders = map[string]string{}, map[string][]string{}
	for _, user := range users {
		var login struct{ Token string }
		body := fmt.Sprintf(`{"email":"%s@example.com","password":%q}`, user, user)
		a := p.sendCall(ctx, newCall("", http.MethodPost, "/auth/login", body))
		if err := a.Decode("POST /auth/login", &login); err != nil || login.Token == "" {
			return a.Unexpected("POST /auth/login")
		}
		p.tokens[user] = login.Token
		for i := range 2 {
			a := p.sendCall(ctx, p.newOrder(rng, user, i))
			if !a.OK() {
				return a.Unexpected("POST /orders")
			}
			location := a.Header.Get("Location")
			p.orders[user] = append(p.orders[user], location[strings.LastIndexByte(location, '/')+1:])
		}
	}
	return nil
}

func (p *pairs) sendCall(ctx context.Context, c call) client.Answer {
	var header []string
	if c.accept != "" {
		header = append(header, "Accept: "+c.accept)
	}
	if c.user != "" {
		header = append(header, "Authorization: Bearer "+p.tokens[c.user])
	}
	return p.sendRequest(ctx, p.URL(0), c.request, header...)
}

func newCall(user, method, path, body string) call {
	media := client.JSON
	if method == http.MethodPatch {
		media = client.MergePatch
	}
	return call{request{method: method, path: path, media: media, body: body}, user, ""}
}

// newOrder, newNote and newMutation contain a secret, which shows where it is revealed.
func (p *pairs) newOrder(_ *rand.Rand, user string, n int) call {
	return newCall(user, http.MethodPost, "/v1.1/orders", fmt.Sprintf(`{"itemId":7,"qty":%d,"note":"secret %d"}`, 1+n%1000, n))
}

func (p *pairs) newNote(rng *rand.Rand, user string, n int) call {
	return newCall(user, http.MethodPatch, "/orders/"+p.orders[user][rng.IntN(2)], fmt.Sprintf(`{"note":"secret %d"}`, n))
}

func (p *pairs) newMutation(_ *rand.Rand, user string, n int) call {
	return newCall(user, http.MethodPost, "/graphql", fmt.Sprintf(
		`{"query":"mutation{createOrder(input:{lines:[{itemId:7,qty:%d}],note:\"secret %d\"}){id note}}"}`, 1+n%1000, n))
}

func (p *pairs) otherUser(rng *rand.Rand, user string) string {
	for {
		if other := users[rng.IntN(len(users))]; other != user {
			return other
		}
	}
}

func (p *pairs) otherCaller(rng *rand.Rand, c call) call {
	c.user = p.otherUser(rng, c.user)
	return c
}

func (p *pairs) noCaller(_ *rand.Rand, c call) call {
	c.user = ""
	return c
}

func (p *pairs) same(_ *rand.Rand, c call) call { return c }

// otherProtocol is another operation, whatever its content is.
func (p *pairs) otherProtocol(rng *rand.Rand, c call) call { return p.newMutation(rng, c.user, 1) }

func (p *pairs) otherRequest(rng *rand.Rand, c call) call {
	return p.newNote(rng, p.otherUser(rng, c.user), -1)
}

func (p *pairs) otherPath(_ *rand.Rand, c call) call {
	for _, id := range p.orders[c.user] {
		if path := "/orders/" + id; path != c.path {
			c.path = path
			break
		}
	}
	return c
}

func (p *pairs) otherMethod(_ *rand.Rand, c call) call {
	body := fmt.Sprintf(`{"lines":[{"itemId":1,"qty":1}],"customerId":%d}`, 1+slices.Index(users, c.user))
	return newCall(c.user, http.MethodPut, c.path, body)
}

// otherVersion is newOrder in version 2.0.0.
func (p *pairs) otherVersion(_ *rand.Rand, c call) call {
	var o struct {
		ItemID, Qty int
		Note        string
	}
	if err := json.Unmarshal([]byte(c.body), &o); err != nil {
		panic(err) // newOrder made it
	}
	c.path, c.body = "/v2/orders", fmt.Sprintf(`{"note":%q,"lines":[{"itemId":%d,"qty":%d}]}`, o.Note, o.ItemID, o.Qty)
	return c
}

func (p *pairs) otherAccept(_ *rand.Rand, c call) call {
	c.accept = "application/vnd.shop.1.1.0.order+json"
	return c
}

// otherSpelling has other white space, another order of members, and an escaped character.
func (p *pairs) otherSpelling(_ *rand.Rand, c call) call {
	head, note, _ := strings.Cut(strings.TrimSuffix(c.body, "}"), `,"note":`)
	note = strings.Replace(note, "s", `\u0073`, 1)
	c.body = "{ \"note\" :\t" + note + " ,\n" + strings.TrimPrefix(head, "{") + "}\r\n"
	return c
}

func (p *pairs) otherMeaning(_ *rand.Rand, c call) call {
	c.body = strings.Replace(c.body, "secret", "other", 1)
	return c
}

// independent is for a second request that has nothing to do with the first: it is done as if that had not been sent.
func independent(first, second client.Answer) error {
	location := second.Header.Get("Location")
	switch {
	case second.Replayed():
		return errors.New("the second request got the response of the first")
	case !second.OK() || strings.Contains(string(second.Body), `"errors"`):
		return fmt.Errorf("%d %s", second.Status, second.Body)
	case string(second.Body) == string(first.Body) || location != "" && location == first.Header.Get("Location"):
		return errors.New("both made the same order")
	}
	return nil
}

// unauthorized is for a second request without a caller: the response does not reveal that there was a first.
func unauthorized(_, second client.Answer) error {
	if second.Status != http.StatusUnauthorized || second.Replayed() || strings.Contains(string(second.Body), "secret") {
		return fmt.Errorf("%d %s", second.Status, second.Body)
	}
	return nil
}

func replayed(first, second client.Answer) error {
	if !second.Replayed() || first.Essence() != second.Essence() {
		return fmt.Errorf("want %s, got %s", first.Essence(), second.Essence())
	}
	return nil
}

// replayedInOtherShape wants the same order in version 2.0.0.
func replayedInOtherShape(first, second client.Answer) error {
	var one struct {
		ID          int64
		ItemID, Qty int
		Note        string
	}
	var two struct {
		ID    int64
		Lines []struct{ ItemID, Qty int }
		Note  string
	}
	if err := errors.Join(json.Unmarshal(first.Body, &one), json.Unmarshal(second.Body, &two)); err != nil {
		return err
	}
	if !second.Replayed() || second.Status != first.Status || one.ID != two.ID || one.Note != two.Note || len(two.Lines) != 1 ||
		two.Lines[0].Qty != one.Qty {
		return fmt.Errorf("want %s, got %d %s", first.Body, second.Status, second.Body)
	}
	return nil
}

func replayedInOtherType(first, second client.Answer) error {
	media := second.Header.Get("Content-Type")
	if !second.Replayed() || second.Status != first.Status || string(second.Body) != string(first.Body) ||
		media != "application/vnd.shop.1.1.0.order+json" {
		return fmt.Errorf("want %s, got %d %s %s", first.Body, second.Status, media, second.Body)
	}
	return nil
}

// keyReused is for another request with the key: it is refused, and the response reveals nothing of the first.
func keyReused(_, second client.Answer) error {
	if second.Status != http.StatusUnprocessableEntity || second.Replayed() ||
		!strings.Contains(string(second.Body), "/idempotency-key-reused") || strings.Contains(string(second.Body), "secret") {
		return fmt.Errorf("%d %s", second.Status, second.Body)
	}
	return nil
}
