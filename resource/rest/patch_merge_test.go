package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// story has members of all kinds, stamps and members that a hook sets.
type story struct {
	ID       string            `json:"id"`
	Title    string            `json:"title" required:"true" minLength:"1" maxLength:"12"`
	Words    int               `json:"words" minimum:"0"`
	Length   int               `json:"length" readOnly:"true"`
	Note     *string           `json:"note"`
	Kind     string            `json:"kind,omitempty" enum:"news,essay"`
	Price    string            `json:"price" format:"decimal" default:"1.0"`
	Tags     []string          `json:"tags" unique:"true" maxItems:"3"`
	Address  address           `json:"address"`
	Labels   map[string]string `json:"labels"`
	Any      any               `json:"any"`
	Created  time.Time         `json:"created" set:"created"`
	Modified *time.Time        `json:"modified" set:"modified"`
	By       string            `json:"by" set:"modifiedBy"`
	Draft    bool              `json:"draft" default:"true"`
}

type address struct {
	City string `json:"city" maxLength:"5"`
	Zip  string `json:"zip,omitempty"`
}

// headline is an older contract of a story. Its down loses the case of the title.
type headline struct {
	ID    string  `json:"id"`
	Line  string  `json:"line" required:"true"`
	Note  *string `json:"note"`
	Words int     `json:"words"`
}

// byDocument is the merge patch as a format of the application, which is always applied to the document.
var byDocument = patch.Format{MediaType: "application/vnd.example.merge+json",
	Apply: func(doc, text []byte) ([]byte, error) {
		p, err := patch.ParseMergePatch(text, patch.Limits{})
		if err != nil {
			return nil, err
		}
		return p.Apply(doc)
	}}

// newsroom serves stories and headlines, and logs what hooks and subscribers get.
type newsroom struct {
	http.Handler
	log    []string
	events *feed.Memory
	start  feed.Cursor
}

func (n *newsroom) add(name string, op resource.Op, before, after *story) {
	b, _ := json.Marshal([]*story{before, after})
	n.log = append(n.log, fmt.Sprintf("%s %v %s", name, op, b))
}

func newNewsroom(t *testing.T) *newsroom {
	t.Helper()
	n := &newsroom{events: feed.NewMemory(nil)}
	var err error
	if n.start, err = n.events.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := modified
	tick := func() time.Time { now = now.Add(time.Second); return now }
	store := memory.New(&memory.Options[story]{Now: func() time.Time { return modified }})
	stories := resource.New("stories", store, &resource.Options[story]{
		Now: tick,
		Before: func(_ context.Context, op resource.Op, before, after *story) error {
			n.add("before", op, before, after)
			after.Length = len(after.Title)
			if after.Kind == "essay" && len(after.Tags) > 0 {
				after.Tags[0] = strings.ToUpper(after.Tags[0])
			}
			return nil
		},
		Authorize: func(_ context.Context, op resource.Op, before, after *story) error {
			if op == resource.OpPatch {
				n.add("authorize", op, before, after)
				if after.Words == 13 {
					return resource.ErrForbidden
				}
			}
			return nil
		},
		After: func(_ context.Context, op resource.Op, before, after *story) { n.add("after", op, before, after) },
	})
	old := resource.View(stories,
		func(a story) (headline, error) {
			return headline{a.ID, strings.ToLower(a.Title), a.Note, a.Words}, nil
		},
		func(h headline, base story) (story, error) {
			base.Title, base.Note, base.Words = h.Line, h.Note, h.Words
			return base, nil
		}, &resource.ViewOptions{Fields: map[string]string{"line": ""},
			Where: query.Where("words", query.Lt, int64(1000))})
	changes := feed.New(n.events, nil)
	t.Cleanup(func() { changes.Close() })
	opts := &rest.Options{PatchFormats: []patch.Format{byDocument}}
	name := func(context.Context) string { return "ann" }
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(resource.NewCatalog(&resource.CatalogOptions{Principal: name, Feed: changes},
		stories), opts))
	mux.Handle("/old/", http.StripPrefix("/old", rest.New(
		resource.NewCatalog(&resource.CatalogOptions{Principal: name, Feed: changes}, old), opts)))
	n.Handler = mux
	return n
}

// allEvents returns the events of the newsroom, without revisions, as texts.
func (n *newsroom) allEvents(t *testing.T) (all []string) {
	t.Helper()
	for at := n.start; ; {
		events, next, err := n.events.Tail(t.Context(), at, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			return all
		}
		for _, e := range events {
			all = append(all, fmt.Sprintf("%v %s %s: %s, %s", e.Kind, e.Collection, e.ID, e.Before, e.After))
		}
		at = next
	}
}

// randomStoryPatch returns a merge patch with mostly valid members.
func randomStoryPatch(random *rand.Rand) string {
	members := []string{`"title":"Title"`, `"title":"x"`, `"title":""`, `"title":null`, `"title":7`,
		`"words":1`, `"words":2e0`, `"words":-1`, `"words":13`, `"words":1001`, `"words":null`,
		`"note":"n"`, `"note":null`, `"note":""`, `"kind":"news"`, `"kind":"essay"`, `"kind":""`,
		`"kind":null`, `"kind":"poem"`, `"price":"2.50"`, `"price":"x"`, `"price":null`,
		`"tags":["a","b"]`, `"tags":["a","a"]`, `"tags":[]`, `"tags":null`, `"tags":{"a":1}`,
		`"address":{"city":"Graz"}`, `"address":{"city":"Klagenfurt"}`, `"address":{"zip":null}`,
		`"address":null`, `"labels":{"a":"1","b":null}`, `"labels":null`, `"any":{"a":{"b":1}}`,
		`"any":[1,null]`, `"any":12345678901234567890`, `"any":null`, `"draft":false`, `"draft":null`,
		`"length":5`, `"length":null`, `"by":"bob"`, `"by":"ann"`, `"id":"1"`, `"id":"2"`, `"id":null`,
		`"unknown":1`, `"Title":"x"`, `"modified":null`, `"line":"Line"`, `"line":"title"`,
		`"line":null`, `"title":"TITLE"`}
	random.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return "{" + strings.Join(members[:random.IntN(3)], ",") + "}"
}

// TestMergePatchIsThatOfTheDocument sends merge patches and the same as a format that is applied to the
// document, and compares responses, hooks and events.
func TestMergePatchIsThatOfTheDocument(t *testing.T) {
	t.Parallel()
	merged, full := newNewsroom(t), newNewsroom(t)
	const create = `{"id":"1","title":"Title","words":1,"note":"n","tags":["a"],"labels":{"a":"1"},"any":{"a":1}}`
	for _, h := range []*newsroom{merged, full} {
		want(t, send(t, h, "POST /stories", jsonBody, "", create), http.StatusCreated)
	}
	random := rand.New(rand.NewPCG(1, 2))
	statuses := map[int]int{}
	for range 1500 {
		target := []string{"/stories/1", "/old/stories/1", "/stories/1?fields=title,modified"}[random.IntN(3)]
		text := randomStoryPatch(random)
		got := send(t, merged, "PATCH "+target, mergeBody, "", text)
		want := send(t, full, "PATCH "+target, "Content-Type: "+byDocument.MediaType, "", text)
		for _, r := range []*response{got, want} {
			if r.header.Get("Etag") != "" {
				r.header.Set("Etag", "any") // each store has revisions of its own
			}
			r.line = ""
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(response{})); diff != "" {
			t.Fatalf("PATCH %s %s (-document +merge patch):\n%s", target, text, diff)
		}
		if diff := cmp.Diff(full.log, merged.log); diff != "" {
			t.Fatalf("hooks of PATCH %s %s (-document +merge patch):\n%s", target, text, diff)
		}
		merged.log, full.log = nil, nil
		statuses[got.status]++
	}
	for _, status := range []int{http.StatusOK, http.StatusForbidden, http.StatusUnprocessableEntity} {
		if statuses[status] < 10 {
			t.Errorf("%d of 1500 responses have the status %d, want at least 10: %v", statuses[status], status, statuses)
		}
	}
	if diff := cmp.Diff(full.allEvents(t), merged.allEvents(t)); diff != "" {
		t.Errorf("events (-document +merge patch):\n%s", diff)
	}
}
