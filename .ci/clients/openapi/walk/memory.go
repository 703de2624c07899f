package walk

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// memory is what a walk has learnt about a collection from responses.
type memory struct {
	alive []string
	dead  []string
	tags  map[string]string         // by id: the entity tag seen last
	items map[string]map[string]any // by id: what was shown last of it
	pages []string                  // queries that lead to other pages of the list
}

func newMemory() *memory {
	return &memory{tags: map[string]string{}, items: map[string]map[string]any{}}
}

// recent bounds what is remembered: what was met long ago is not worth more than what was met just now.
const recent = 200

func (m *memory) add(id string) {
	for _, known := range m.alive {
		if known == id {
			return
		}
	}
	if len(m.alive) == recent {
		m.alive = m.alive[1:]
	}
	m.alive = append(m.alive, id)
}

func (m *memory) remove(id string) {
	for i, known := range m.alive {
		if known == id {
			m.alive = append(m.alive[:i], m.alive[i+1:]...)
			break
		}
	}
	delete(m.tags, id)
	delete(m.items, id)
	if len(m.dead) < recent {
		m.dead = append(m.dead, id)
	}
}

func (m *memory) isAlive(id string) bool {
	for _, known := range m.alive {
		if known == id {
			return true
		}
	}
	return false
}

func some(r *rand.Rand, from []string) (string, bool) {
	if len(from) == 0 {
		return "", false
	}
	return pick(r, from), true
}

// link is one of the field Link, RFC 8288.
var link = regexp.MustCompile(`<([^>]*)>; rel="?(\w+)"?`)

// learn notes ids, tags, cursors and items.
func (w *walker) learn(q *question, resp *http.Response, body []byte) {
	m := w.memory[q.op.collection]
	switch {
	case q.method() == http.MethodOptions: // which speaks of any id
	case q.op.isCommand(), q.isBatch(): // which speak of other things
	case q.id == "" && q.op.method == http.MethodGet:
		m.learnList(resp, body)
	case resp.StatusCode == http.StatusGone, resp.StatusCode == http.StatusNoContent && q.op.method == http.MethodDelete:
		m.remove(q.id)
	case resp.StatusCode < 300 && q.op.method != http.MethodDelete:
		m.learnItem(q, resp, body)
	}
}

func (m *memory) learnList(resp *http.Response, body []byte) {
	var list struct {
		Items []struct{ ID any } `json:"items"`
	}
	if resp.StatusCode != http.StatusOK || json.Unmarshal(body, &list) != nil {
		return
	}
	for _, item := range list.Items {
		if id := idText(item.ID); id != "" {
			m.add(id)
		}
	}
	for _, l := range link.FindAllStringSubmatch(strings.Join(resp.Header.Values("Link"), ", "), -1) {
		if _, query, ok := strings.Cut(l[1], "?"); ok && (l[2] == "next" || l[2] == "last" || l[2] == "prev") {
			m.pages = append(m.pages[max(0, len(m.pages)-recent):], query)
		}
	}
}

func (m *memory) learnItem(q *question, resp *http.Response, body []byte) {
	id := q.id
	if location := resp.Header.Get("Location"); id == "" && location != "" {
		path, _, _ := strings.Cut(location, "?")
		id, _ = url.PathUnescape(path[strings.LastIndexByte(path, '/')+1:])
	}
	if id == "" {
		return
	}
	m.add(id)
	if tag := resp.Header.Get("ETag"); tag != "" {
		m.tags[id] = tag
	} else if q.op.method != http.MethodGet {
		delete(m.tags, id) // it has changed
	}
	var item map[string]any
	if json.Unmarshal(body, &item) == nil && item != nil {
		m.items[id] = item
	}
}

// idText converts an id in JSON to its form in a path.
func idText(id any) string {
	switch id := id.(type) {
	case string:
		return id
	case float64:
		text, _ := json.Marshal(id)
		return string(text)
	}
	return ""
}
