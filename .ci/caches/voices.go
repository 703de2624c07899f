package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// A voice is one way of asking for a contract, and what has to be answered. All voices ask for the same URLs, so nothing
// but Vary keeps their answers apart in a cache.
type voice struct {
	name          string
	header, value string // the one header field that it adds
	status        int
	contract      string // to be echoed; "" if the request names none that is known
	mediaType     string
}

const (
	apiVersion = "API-Version"
	jsonType   = "application/json"
	problem    = "application/problem+json"
	unlabelled = "" // any contract could have written it
)

var voices = []voice{
	{"header 1", apiVersion, "1", 200, "1.1.0", jsonType},
	{"header 2", apiVersion, "2", 200, "2.0.0", jsonType},
	{"Accept 1", "Accept", "application/vnd.shop.1.order+json", 200, "1.1.0", "application/vnd.shop.1.1.0.order+json"},
	{"Accept 2", "Accept", "application/vnd.shop.2.order+json", 200, "2.0.0", "application/vnd.shop.2.0.0.order+json"},
	{"unnamed", "", "", 200, "2.0.0", jsonType},
	// A refusal must neither be kept for others nor be spared to those who earn it.
	{"header 9", apiVersion, "9", 400, unlabelled, problem},
	{"retired", apiVersion, "0.9", 410, "0.9.0", problem},
	{"Accept 9", "Accept", "application/vnd.shop.9.order+json", 406, unlabelled, problem},
}

// paths are few, so that a cache has each of them for each voice after a moment. They are what the shop is seeded with.
var paths = []string{"/orders", "/orders/1", "/orders/2", "/orders/3"}

// A question is one voice asking for one path.
type question struct {
	voice voice
	path  string
}

// plan returns n questions of each voice, in turns: no two neighbours are of the same voice.
func plan(n int) []question {
	var questions []question
	for i := range n {
		for _, v := range voices {
			questions = append(questions, question{v, paths[i%len(paths)]})
		}
	}
	return questions
}

// order has what tells the contracts of an order apart: one line was all that an order had before 2.0.0.
type order struct {
	ID     int64            `json:"id"`
	ItemID *int64           `json:"itemId"`
	Lines  *json.RawMessage `json:"lines"`
	Items  []order          `json:"items"` // of a list
}

// judgeBody returns what is wrong with an answer as its reader sees it: whether it is of the contract that was asked for,
// and of the right order.
func (q question) judgeBody(status int, body []byte) error {
	if status != q.voice.status {
		return fmt.Errorf("%d and not %d", status, q.voice.status)
	}
	var o order
	if err := json.Unmarshal(body, &o); err != nil {
		return err
	}
	if q.voice.status != http.StatusOK {
		return nil // that it is a problem and no order, the status says
	}
	if path.Base(q.path) != strconv.FormatInt(o.ID, 10) && o.Items == nil {
		return fmt.Errorf("order %d", o.ID)
	}
	if o.Items == nil {
		return o.judge(q.voice.contract)
	}
	return judgeList(o.Items, q)
}

func judgeList(items []order, q question) error {
	if path.Base(q.path) != "orders" || len(items) == 0 {
		return fmt.Errorf("a list of %d", len(items))
	}
	for _, item := range items {
		if err := item.judge(q.voice.contract); err != nil {
			return err
		}
	}
	return nil
}

func (o order) judge(contract string) error {
	first := strings.HasPrefix(contract, "1.")
	if (o.ItemID != nil) != first || (o.Lines != nil) == first {
		return fmt.Errorf("itemId %t, lines %t", o.ItemID != nil, o.Lines != nil)
	}
	return nil
}

// judgeHead returns what is wrong with how an answer is labelled.
func (q question) judgeHead(h http.Header) error {
	if got := strings.Join(h.Values(apiVersion), ", "); got != q.voice.contract {
		return fmt.Errorf("%s is %q and not %q", apiVersion, got, q.voice.contract)
	}
	if got := h.Get("Content-Type"); got != q.voice.mediaType {
		return fmt.Errorf("Content-Type is %q and not %q", got, q.voice.mediaType)
	}
	return nil
}
