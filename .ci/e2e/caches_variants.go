package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// variant is one way to request a version of the API, and the response to it. All variants request the same URLs, so that only Vary
// keeps their responses apart in a cache.
type variant struct {
	name          string
	header, value string // the header field that it adds
	status        int
	version       string // in the response; "" if the request names no known version
	mediaType     string
}

const (
	apiVersion = "API-Version"
	jsonType   = "application/json"
	problem    = "application/problem+json"
	unlabelled = "" // of no version
)

var variants = []variant{
	{"header 1", apiVersion, "1", 200, "1.1.0", jsonType},
	{"header 2", apiVersion, "2", 200, "2.0.0", jsonType},
	{"Accept 1", "Accept", "application/vnd.shop.1.order+json", 200, "1.1.0", "application/vnd.shop.1.1.0.order+json"},
	{"Accept 2", "Accept", "application/vnd.shop.2.order+json", 200, "2.0.0", "application/vnd.shop.2.0.0.order+json"},
	{"unnamed", "", "", 200, "2.0.0", jsonType},
	// A refusal must not be stored for other variants, nor be replaced by their responses.
	{"header 9", apiVersion, "9", 400, unlabelled, problem},
	{"retired", apiVersion, "0.9", 410, "0.9.0", problem},
	{"Accept 9", "Accept", "application/vnd.shop.9.order+json", 406, unlabelled, problem},
}

// cachedPaths are few, so that a cache soon has each of them in each variant. The shop is seeded with them.
var cachedPaths = []string{"/orders", "/orders/1", "/orders/2", "/orders/3"}

// cacheRequest is a request for a path in a variant.
type cacheRequest struct {
	variant variant
	path    string
}

// cachePlan returns n requests of each variant, in turns: no two in a row are of the same variant.
func cachePlan(n int) []cacheRequest {
	var requests []cacheRequest
	for i := range n {
		for _, v := range variants {
			requests = append(requests, cacheRequest{v, cachedPaths[i%len(cachedPaths)]})
		}
	}
	return requests
}

// cachedOrder has the members that differ between versions: before 2.0.0 an order had one line.
type cachedOrder struct {
	ID     int64            `json:"id"`
	ItemID *int64           `json:"itemId"`
	Lines  *json.RawMessage `json:"lines"`
	Items  []cachedOrder    `json:"items"` // of a list
}

// checkBody checks that a body is of the requested version and order.
func (q cacheRequest) checkBody(status int, body []byte) error {
	if status != q.variant.status {
		return fmt.Errorf("%d and not %d", status, q.variant.status)
	}
	var o cachedOrder
	if err := json.Unmarshal(body, &o); err != nil {
		return err
	}
	if q.variant.status != http.StatusOK {
		return nil
	}
	if path.Base(q.path) != strconv.FormatInt(o.ID, 10) && o.Items == nil {
		return fmt.Errorf("order %d", o.ID)
	}
	if o.Items == nil {
		return o.check(q.variant.version)
	}
	return checkList(o.Items, q)
}

func checkList(items []cachedOrder, q cacheRequest) error {
	if path.Base(q.path) != "orders" || len(items) == 0 {
		return fmt.Errorf("a list of %d", len(items))
	}
	for _, item := range items {
		if err := item.check(q.variant.version); err != nil {
			return err
		}
	}
	return nil
}

func (o cachedOrder) check(version string) error {
	first := strings.HasPrefix(version, "1.")
	if (o.ItemID != nil) != first || (o.Lines != nil) == first {
		return fmt.Errorf("itemId %t, lines %t", o.ItemID != nil, o.Lines != nil)
	}
	return nil
}

// checkHeader checks the version and media type of a response.
func (q cacheRequest) checkHeader(h http.Header) error {
	if got := strings.Join(h.Values(apiVersion), ", "); got != q.variant.version {
		return fmt.Errorf("%s is %q and not %q", apiVersion, got, q.variant.version)
	}
	if got := h.Get("Content-Type"); got != q.variant.mediaType {
		return fmt.Errorf("Content-Type is %q and not %q", got, q.variant.mediaType)
	}
	return nil
}
