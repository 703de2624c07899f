package resourcetest

// The case of reads with a cache. It serves the collection by package rest.

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// cachedServer is a server of the collection with a cache of its own.
type cachedServer struct {
	name string
	http.Handler
	seen map[string]seenItem // by id: what was read outside of transactions
}

// seenItem is what a client knows of an item.
type seenItem struct {
	rev resource.Rev
	tag string
}

// cachedServers returns a server that uses all reads without values. In a second one the JSON of lists
// is only from the cache, and each item is requested by its revision first.
func (k *kit) cachedServers() []*cachedServer {
	reads := k.ops.FastReads()
	all := k.ops.serve(k.setup, reads, k.ops.InMemory)
	reads.ListJSON = nil
	return []*cachedServer{
		{"a server with all reads", all, map[string]seenItem{}},
		{"a server without ListJSON", k.ops.serve(k.setup, reads, true), map[string]seenItem{}},
	}
}

// request sends a GET request. tag is If-None-Match unless it is empty.
func (s *cachedServer) request(ctx context.Context, path, tag string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// checkServed compares the responses of servers with Get and List.
func (k *kit) checkServed(ctx context.Context, servers []*cachedServer, ids []string, when string) {
	outside := ctx == k.ctx
	for _, s := range servers {
		for range 4 { // the second list may have items from the cache, and the fourth the whole page
			for _, id := range ids {
				k.checkServedItem(ctx, s, id, when, outside)
			}
			k.checkServedList(ctx, s, when)
		}
		k.checkServedForms(ctx, s, when)
	}
}

// checkServedItem compares an item, and whether the response to a client that has an earlier revision is
// 304. With remember the server's entity tag is used for later calls.
func (k *kit) checkServedItem(ctx context.Context, s *cachedServer, id, when string, remember bool) {
	path := "/items/" + url.PathEscape(id)
	it, err := k.ops.Get(ctx, id)
	got := s.request(ctx, path, "")
	if err != nil {
		if got.Code != http.StatusNotFound && got.Code != http.StatusGone {
			k.errorf("GET of item %q from %s %s returned %d %s, but Get returned %q",
				id, s.name, when, got.Code, brief(got.Body.String()), err)
		}
		return
	}
	it = k.vet(it, "Get")
	want, err := k.typ.Append(nil, it.Value)
	k.must(err, "Encoding a value that Get returned")
	if got.Code != http.StatusOK || got.Body.String() != string(want) {
		k.errorf("GET of item %q from %s %s returned %d %s, but Get returned %s",
			id, s.name, when, got.Code, brief(got.Body.String()), brief(string(want)))
		return
	}
	if seen, ok := s.seen[id]; ok {
		status := http.StatusOK
		if seen.rev == it.Rev {
			status = http.StatusNotModified
		}
		if code := s.request(ctx, path, seen.tag).Code; code != status {
			k.errorf("GET of item %q from %s %s with If-None-Match of revision %q returned %d, want %d: "+
				"Get returned revision %q", id, s.name, when, seen.rev, code, status, it.Rev)
		}
	}
	if remember {
		s.seen[id] = seenItem{it.Rev, got.Header().Get("ETag")}
	}
}

// checkServedList compares a list of all items.
func (k *kit) checkServedList(ctx context.Context, s *cachedServer, when string) {
	items, ok := k.listed(ctx, when)
	if want := listOf(items); ok {
		k.checkServedText(s, s.request(ctx, "/items", ""), "the list", want, when)
	}
}

// checkServedForms compares lists of all items as NDJSON, in the reverse order, and with the id alone. The
// cache may have the items and the page of the plain list, which are other bytes.
func (k *kit) checkServedForms(ctx context.Context, s *cachedServer, when string) {
	items, ok := k.listed(ctx, when)
	if !ok {
		return
	}
	// With a limit, the export ends even if the tokens of the store lead nowhere.
	whole := "/items?limit=" + strconv.Itoa(max(1, len(items)))
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, whole, nil)
	r.Header.Set("Accept", "application/x-ndjson")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	k.checkServedText(s, w, "the list as NDJSON", strings.Join(append(items, ""), "\n"), when)

	var ids []string
	for _, item := range items {
		var members map[string]json.RawMessage
		k.must(json.Unmarshal([]byte(item), &members), "Decoding an encoded value")
		name, err := json.Marshal(k.IDField)
		k.must(err, "Encoding the name of the id")
		ids = append(ids, "{"+string(name)+":"+string(members[k.IDField])+"}")
	}
	id := url.QueryEscape(k.IDField)
	k.checkServedText(s, s.request(ctx, "/items?fields="+id, ""), "the list of ids", listOf(ids), when)

	if k.able.has(sorter) && k.id.Key == nil { // no order names an id of several fields
		slices.Reverse(items)
		k.checkServedText(s, s.request(ctx, "/items?sort=-"+id, ""), "the reversed list", listOf(items), when)
	}
}

// listed returns the JSON of all items that List returns, and whether it returns them.
func (k *kit) listed(ctx context.Context, when string) (encoded []string, ok bool) {
	items, err := k.drain(k.ops.List(ctx, k.ordered(query.Query{})), "List")
	if err != nil {
		k.errorf("List %s failed: %v", when, err)
		return nil, false
	}
	for i := range items {
		item, err := k.typ.Append(nil, items[i].Value)
		k.must(err, "Encoding a value that List returned")
		encoded = append(encoded, string(item))
	}
	return encoded, true
}

// listOf returns the beginning of a list of items.
func listOf(items []string) string { return `{"items":[` + strings.Join(items, ",") + "]" }

// checkServedText compares the beginning of a response with what List returned.
func (k *kit) checkServedText(
	s *cachedServer, got *httptest.ResponseRecorder, name, want, when string,
) {
	if got.Code != http.StatusOK || !strings.HasPrefix(got.Body.String(), want) {
		k.errorf("GET of %s from %s %s returned %d %s, but List returned %s",
			name, s.name, when, got.Code, brief(got.Body.String()), brief(want))
	}
}

// cacheRollback reads before, in, beside and after transactions that are rolled back. After each it makes
// the first writes of the transaction again, for which the store may issue the same revisions.
func cacheRollback(k *kit) {
	items := k.fill(3, distinct)
	ids := idsOf(items)
	servers := k.cachedServers()
	k.checkServed(k.ctx, servers, ids, "before a transaction")
	for range 2 {
		var beside sync.WaitGroup
		read := sync.OnceFunc(func() { // once, because a function may be run again
			beside.Go(func() {
				defer k.rec.catch()
				k.readBeside(servers, items[0])
			})
		})
		var after []resource.Item[any]
		err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
			if after, err = k.change(ctx, items); err != nil {
				return err
			}
			read()
			linger()
			k.checkServed(ctx, servers, append(idsOf(after), ids...), "in a transaction")
			return errRollback
		})
		k.wantError(err, "InTx with a function that failed", errRollback)
		beside.Wait()
		k.checkServed(k.ctx, servers, append(idsOf(after), ids...), "after a rollback")
		made := k.put(k.fresh())
		items[0] = k.replace(items[0], k.changed(items[0].Value))
		k.checkServed(k.ctx, servers, append(ids, made.ID), "after a write that followed a rollback")
	}
}

// readBeside reads an item while a transaction is open that has changed it.
func (k *kit) readBeside(servers []*cachedServer, it resource.Item[any]) {
	want, err := k.typ.Append(nil, it.Value)
	k.must(err, "Encoding a value")
	for _, s := range servers {
		got := s.request(k.ctx, "/items/"+url.PathEscape(it.ID), "")
		if got.Code == http.StatusServiceUnavailable {
			continue // the store is busy
		}
		if got.Code != http.StatusOK || got.Body.String() != string(want) {
			k.errorf("GET of item %q from %s beside a transaction returned %d %s, want %s",
				it.ID, s.name, got.Code, brief(got.Body.String()), brief(string(want)))
		}
	}
}
