package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// pairs are two requests with one key each, to a shop that knows who is asking. Most of the second ones have nothing to do
// with the first and must not be told anything of it; the others mean the same, or another thing.
type pairs struct {
	client *client
	base   string
	tokens map[string]string
	orders map[string][]string // ids of two orders of each user

	rows     []row
	leaks    int
	examples []string
}

// row is what came of one sort of pairs.
type row struct {
	name, want  string
	pairs, good int
}

// call is a request to the shop.
type call struct {
	who, method, path, media, body, accept string
}

// reply is what the shop said to it.
type reply struct {
	answer
	media string
}

// users of the shop, as it is seeded. Their passwords are their names.
var users = []string{"ann", "bob", "cat"}

func pairsOf(ctx context.Context, args []string, out io.Writer) error {
	s := &settings{}
	flags := s.flags("pairs")
	shop := flags.String("shop", "", "the `program`")
	n := flags.Int("n", 1000, "pairs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// At a time at which all contracts are served: the check should not fail on the day on which one is retired.
	f := fleet.New(1, log, *shop, "-addr", "127.0.0.1:0", "-auth", "-db", s.db, "-now", "2026-12-01T00:00:00Z")
	defer f.KillAll()
	if err := f.Start(ctx); err != nil {
		return err
	}
	p := &pairs{client: newClient(1), base: f.URL(0)}
	if err := p.run(s.random(0), *n); err != nil {
		return fmt.Errorf("%w; -seed %d", err, s.seed)
	}
	p.print(out, s)
	if p.leaks > 0 {
		return fmt.Errorf("%d of the pairs are not as they should be; -seed %d", p.leaks, s.seed)
	}
	return nil
}

// sorts are what the two requests of a pair are, and how the second has to be answered.
var sorts = []struct {
	name, want string
	first      func(p *pairs, rng *rand.Rand, who string, n int) call
	second     func(p *pairs, rng *rand.Rand, first call) call
	judge      func(first, second reply) error
}{
	{"another caller, the same request", "done", (*pairs).newOrder, (*pairs).otherCaller, apartFrom},
	{"another caller, another request", "done", (*pairs).newNote, (*pairs).otherRequest, apartFrom},
	{"nobody, the same request", "401", (*pairs).newOrder, (*pairs).nobody, strangerTo},
	{"another path", "done", (*pairs).newNote, (*pairs).otherPath, apartFrom},
	{"another method", "done", (*pairs).newNote, (*pairs).otherMethod, apartFrom},
	{"another door", "done", (*pairs).newOrder, (*pairs).otherDoor, apartFrom},
	{"an older contract, the same meaning", "replayed in its shape", (*pairs).newOrder, (*pairs).otherContract, inOtherShape},
	{"another type accepted", "replayed in that type", (*pairs).newOrder, (*pairs).otherAccept, inOtherType},
	{"another spelling", "replayed", (*pairs).newOrder, (*pairs).otherSpelling, repeated},
	{"the same request", "replayed", (*pairs).newOrder, (*pairs).same, repeated},
	{"another meaning", "422", (*pairs).newOrder, (*pairs).otherMeaning, refusedFor},
	{"GraphQL, another caller", "done", (*pairs).newMutation, (*pairs).otherCaller, apartFrom},
	{"GraphQL, the same request", "replayed", (*pairs).newMutation, (*pairs).same, repeated},
	{"GraphQL, another meaning", "422", (*pairs).newMutation, (*pairs).otherMeaning, refusedFor},
}

func (p *pairs) run(rng *rand.Rand, n int) error {
	if err := p.prepare(rng); err != nil {
		return err
	}
	for _, s := range sorts {
		p.rows = append(p.rows, row{name: s.name, want: s.want})
	}
	for i := range n {
		at := rng.IntN(len(sorts))
		s := &sorts[at]
		first := s.first(p, rng, users[rng.IntN(len(users))], i)
		second := s.second(p, rng, first)
		key := fmt.Sprintf("pair-%d", i)
		one := p.send(key, first)
		if !one.done() || one.replayed {
			return fmt.Errorf("%s %s: %d %s %v", first.method, first.path, one.status, one.body, one.err)
		}
		err := s.judge(one, p.send(key, second))
		p.rows[at].pairs++
		if err == nil {
			p.rows[at].good++
			continue
		}
		p.leaks++
		if len(p.examples) < 10 {
			p.examples = append(p.examples, fmt.Sprintf("%s: %+v and %+v: %v", s.name, first, second, err))
		}
	}
	return nil
}

// prepare lets everybody log in, and place two orders.
func (p *pairs) prepare(rng *rand.Rand) error {
	p.tokens, p.orders = map[string]string{}, map[string][]string{}
	for _, who := range users {
		a := p.send("", call{method: http.MethodPost, path: "/auth/login", media: "application/json",
			body: fmt.Sprintf(`{"email":"%s@example.com","password":%q}`, who, who)})
		var login struct{ Token string }
		if err := json.Unmarshal([]byte(a.body), &login); err != nil || login.Token == "" {
			return fmt.Errorf("POST /auth/login: %d %s %v", a.status, a.body, a.err)
		}
		p.tokens[who] = login.Token
		for i := range 2 {
			a := p.send("", p.newOrder(rng, who, i))
			if !a.done() {
				return fmt.Errorf("POST /orders: %d %s %v", a.status, a.body, a.err)
			}
			p.orders[who] = append(p.orders[who], a.location[strings.LastIndexByte(a.location, '/')+1:])
		}
	}
	return nil
}

func (p *pairs) send(key string, c call) reply {
	req, err := http.NewRequest(c.method, p.base+c.path, strings.NewReader(c.body))
	if err != nil {
		return reply{answer: answer{err: err}}
	}
	req.Header.Set("Content-Type", c.media)
	for name, value := range map[string]string{"Idempotency-Key": key, "Accept": c.accept} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if c.who != "" {
		req.Header.Set("Authorization", "Bearer "+p.tokens[c.who])
	}
	res, err := p.client.http.Do(req)
	if err != nil {
		return reply{answer: answer{err: err}}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return reply{answer: answer{err: err}}
	}
	return reply{answerOf(res, body), res.Header.Get("Content-Type")}
}

// newOrder, newNote and newMutation have a secret in them, by which it is seen where it comes out.
func (p *pairs) newOrder(_ *rand.Rand, who string, n int) call {
	return call{who: who, method: http.MethodPost, path: "/v1.1/orders", media: "application/json",
		body: fmt.Sprintf(`{"itemId":7,"qty":%d,"note":"secret %d"}`, 1+n%1000, n)}
}

func (p *pairs) newNote(rng *rand.Rand, who string, n int) call {
	return call{who: who, method: http.MethodPatch, path: "/orders/" + p.orders[who][rng.IntN(2)],
		media: "application/merge-patch+json", body: fmt.Sprintf(`{"note":"secret %d"}`, n)}
}

func (p *pairs) newMutation(_ *rand.Rand, who string, n int) call {
	return call{who: who, method: http.MethodPost, path: "/graphql", media: "application/json", body: fmt.Sprintf(
		`{"query":"mutation{createOrder(input:{lines:[{itemId:7,qty:%d}],note:\"secret %d\"}){id note}}"}`, 1+n%1000, n)}
}

// print writes a table, and what was wrong below it.
func (p *pairs) print(out io.Writer, s *settings) {
	fmt.Fprintf(out, "pairs of requests with one key, to a shop with -auth, -seed %d\n", s.seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range p.rows {
		fmt.Fprintf(w, "%d\tof\t%d\t  %s: %s\n", r.good, r.pairs, r.name, r.want)
	}
	w.Flush()
	fmt.Fprintf(out, "leaks %d\n\n", p.leaks)
	for _, example := range p.examples {
		fmt.Fprintf(out, "    %.1000s\n", example)
	}
}

var errReplayed = errors.New("the second got the answer of the first")
