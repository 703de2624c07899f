package graphql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

type (
	agent struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Hidden bool   `json:"hidden"`
	}
	publicAgent struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	mission struct {
		ID      string `json:"id"`
		AgentID string `json:"agentId"`
		ByID    string `json:"byId"`
		Author  string `json:"author" set:"createdBy"`
	}
)

// twoCatalogs returns handlers of one resource of missions in two catalogs, which share a feed. The second
// catalog has the agents in a View that does not have the hidden one.
func twoCatalogs(t *testing.T) (all, public *graphql.Handler, missions *resource.Resource) {
	t.Helper()
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	people, work := memory.New[agent](nil), memory.New[mission](nil)
	for _, a := range []agent{{"ann", "Ann", false}, {"zed", "Zed", true}} {
		if _, err := people.Insert(t.Context(), a.ID, a); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := work.Insert(t.Context(), "m1", mission{ID: "m1", AgentID: "ann", ByID: "zed"}); err != nil {
		t.Fatal(err)
	}
	ops := []query.Op{query.Eq, query.In}
	agents := resource.New("agents", people, &resource.Options[agent]{Public: true,
		Query:     query.Support{Filter: map[string][]query.Op{"id": ops, "name": ops}},
		Relations: []resource.Relation[agent]{{Name: "missions", Target: "missions", By: "agentId"}}})
	visible := resource.View(agents, func(a agent) (publicAgent, error) { return publicAgent{a.ID, a.Name}, nil },
		func(v publicAgent, a agent) (agent, error) { return agent{v.ID, v.Name, a.Hidden}, nil },
		&resource.ViewOptions{Where: query.Where("hidden", query.Eq, false)})
	missions = resource.New("missions", work, &resource.Options[mission]{Public: true,
		Query: query.Support{Relations: []string{"by"},
			Filter: map[string][]query.Op{"agentId": ops, "byId": ops}},
		Relations: []resource.Relation[mission]{{Name: "agent", Target: "agents", Field: "agentId"},
			{Name: "by", Target: "agents", Field: "byId"}}})
	serving := func(name string, parts ...resource.Part) *graphql.Handler {
		return graphql.New(resource.NewCatalog(&resource.CatalogOptions{Feed: f,
			Principal: func(context.Context) string { return name }}, parts...), nil)
	}
	return serving("staff", missions, agents), serving("public", missions, visible), missions
}

// TestCatalogOfEachEntryPoint: each way to execute an operation uses the relations and the principal of its
// catalog. A filter finds the hidden agent in the first catalog only.
func TestCatalogOfEachEntryPoint(t *testing.T) {
	t.Parallel()
	const (
		found  = `missionsConnection(filter: {by: {name: {eq: "Zed"}}}) { nodes { id } }`
		asked  = `{ agent(id: "ann") { ` + found + ` } }`
		hidden = `"missionsConnection":{"nodes":[]}`
		shown  = `"missionsConnection":{"nodes":[{"id":"m1"}]}`
		events = `subscription { missionChanged { mission { author agent { ` + found + ` } } } }`
		make   = `mutation { createMission(input: {id: "ID", agentId: "ann", byId: "ann"}) { author agent { ` + found + ` } } }`
	)
	// Each entry point returns the response to a document. For subscriptions it calls change when the
	// subscription has begun.
	type entry func(t *testing.T, h *graphql.Handler, document string, change func()) string
	post := func(fields ...string) entry {
		return func(t *testing.T, h *graphql.Handler, document string, _ func()) string {
			rest := append(append([]string{jsonBody}, fields...), "", body(t, document))
			return send(t, h, postGraphQL, rest...).body
		}
	}
	requests := map[string]entry{
		"Execute": func(t *testing.T, h *graphql.Handler, document string, _ func()) string {
			res := h.Execute(t.Context(), graphql.Request{Query: document})
			if err := res.Err(); err != nil {
				t.Error(err)
			}
			return string(res.Data)
		},
		"POST":   post(),
		"events": post(acceptEvents),
		"WebSocket": func(t *testing.T, h *graphql.Handler, document string, _ func()) string {
			c := serve(t, h, h).socket(t)
			c.talk(initMessage, ackMessage, startMessage("1", document))
			return c.receive()
		},
	}
	streams := map[string]entry{
		"Subscribe": func(t *testing.T, h *graphql.Handler, document string, change func()) string {
			messages := h.Subscribe(t.Context(), graphql.Request{Query: document})
			change()
			for res, err := range messages {
				if err := errors.Join(err, res.Err()); err != nil {
					t.Error(err)
				}
				return string(res.Data)
			}
			return ""
		},
		"events": func(t *testing.T, h *graphql.Handler, document string, change func()) string {
			l := serve(t, h, h).subscribe(t, document)
			synctest.Wait()
			change()
			for {
				e, err := l.Next()
				if err != nil || strings.Contains(string(e.Data), "mission") {
					return fmt.Sprint(string(e.Data), err)
				}
			}
		},
		"WebSocket": func(t *testing.T, h *graphql.Handler, document string, change func()) string {
			c := serve(t, h, h).socket(t)
			c.talk(initMessage, ackMessage, startMessage("1", document))
			synctest.Wait()
			change()
			return c.receive()
		},
	}
	check := func(name string, entries map[string]entry, document string) {
		for way, ask := range entries {
			t.Run(name+" by "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					staff, public, missions := twoCatalogs(t)
					for i, h := range []*graphql.Handler{staff, public} {
						id := fmt.Sprint("m", i+2)
						change := func() {
							doc := fmt.Sprintf(`{"id":%q,"agentId":"ann","byId":"ann"}`, id)
							if _, _, err := missions.Put(t.Context(), id, []byte(doc), nil); err != nil {
								t.Error(err)
							}
						}
						got := ask(t, h, strings.Replace(document, "ID", id, 1), change)
						want := []string{shown, hidden}[i]
						if !strings.Contains(got, want) {
							t.Errorf("catalog %d: %s, want %s", i+1, got, want)
						}
						author := []string{`"author":"staff"`, `"author":"public"`}[i]
						if name == "mutation" && !strings.Contains(got, author) {
							t.Errorf("catalog %d: %s, want %s", i+1, got, author)
						}
					}
				})
			})
		}
	}
	requests["GET"] = func(t *testing.T, h *graphql.Handler, document string, _ func()) string {
		return send(t, h, "GET /graphql?query="+strings.NewReplacer(" ", "%20", `"`, "%22").Replace(document)).body
	}
	check("query", requests, asked)
	delete(requests, "GET")
	check("mutation", requests, make)
	check("subscription", streams, events)
}
