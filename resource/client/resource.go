package client

// Reading and writing the items of a resource.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/problem"
)

// maxURL is the length of a path with its query above which a list is read by QUERY (RFC 10008).
const maxURL = 4096

// Resource reads and writes the items of one resource. E is a type that JSON of an item is decoded
// into, usually a struct. It may lack members of the item; Update preserves these, and Replace does
// not. Members that the server sets, such as the id, need the option omitzero: Create rejects them (422).
// A Resource is safe for concurrent use.
type Resource[E any] struct {
	client *Client
	path   string
}

// NewResource returns the resource with a name, such as "orders".
func NewResource[E any](c *Client, name string) *Resource[E] {
	return &Resource[E]{c, "/" + strings.Trim(name, "/")}
}

// Item is an item and its entity tag.
type Item[E any] struct {
	Value E
	// ID is the last segment of the item's path.
	ID string
	// Tag is the entity tag of this state of the item, with its quotes.
	Tag string
	// Replayed means that an earlier request with the same key has made the write.
	Replayed bool
}

// Page is a part of a list.
type Page[E any] struct {
	Items []E `json:"items"`
	// Next is the position of the next page. It is empty for the last page.
	Next string `json:"next"`
	// Cursor is the position in the feed of changes at which the page was read. It is empty if the
	// resource has no feed.
	Cursor string `json:"-"`
}

func (r *Resource[E]) item(id string) string { return r.path + "/" + url.PathEscape(id) }

// Get returns an item.
func (r *Resource[E]) Get(ctx context.Context, id string) (*Item[E], error) {
	resp, err := r.client.send(ctx, &request{method: http.MethodGet, path: r.item(id)})
	if err != nil {
		return nil, err
	}
	return decodeItem[E](resp, id)
}

func decodeItem[E any](resp *response, id string) (*Item[E], error) {
	item := &Item[E]{ID: id, Tag: resp.header.Get("ETag")}
	item.Replayed = resp.header.Get("Idempotency-Replayed") == "true"
	return item, resp.decode(&item.Value)
}

// List returns the items of all pages. q.Limit limits their number; q.After and q.Token are not used.
// Items that are created, deleted or moved in the order while the pages are read may be missing.
func (r *Resource[E]) List(ctx context.Context, q query.Query) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		position, left := "", q.Limit
		for {
			page, err := r.Page(ctx, q, position)
			if err != nil {
				yield(*new(E), err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
			if position = page.Next; position == "" {
				return
			}
		}
	}
}

// Page returns the page of a list that starts at a position: Page.Next of the page before, or empty
// for the first. The number of items is Options.PageSize, or q.Limit if that is smaller.
func (r *Resource[E]) Page(ctx context.Context, q query.Query, position string) (*Page[E], error) {
	return r.page(ctx, q, position, false)
}

func (r *Resource[E]) page(ctx context.Context, q query.Query, position string, watched bool) (
	*Page[E], error,
) {
	values := q.Values()
	values.Del("limit")
	size := r.client.opts.PageSize
	if q.Limit > 0 && (size <= 0 || q.Limit < size) {
		size = q.Limit
	}
	if size > 0 {
		values.Set("limit", strconv.Itoa(size))
	}
	if position != "" {
		values.Set("after", position)
	}
	req := r.listing(values)
	req.watched = watched
	resp, err := r.client.send(ctx, req)
	if err != nil {
		return nil, err
	}
	page := &Page[E]{Cursor: resp.header.Get("Event-Cursor")}
	return page, resp.decode(page)
}

// listing is the request of a list: GET, or QUERY if the URL would be long.
func (r *Resource[E]) listing(values url.Values) *request {
	text := values.Encode()
	switch {
	case text == "":
		return &request{method: http.MethodGet, path: r.path}
	case len(r.path)+1+len(text) <= maxURL:
		return &request{method: http.MethodGet, path: r.path + "?" + text}
	}
	return &request{method: "QUERY", path: r.path, media: mediaForm, content: []byte(text)}
}

// Create creates an item and returns it as the server has stored it.
func (r *Resource[E]) Create(ctx context.Context, value *E) (*Item[E], error) {
	return r.write(ctx, &request{method: http.MethodPost, path: r.path}, "", value)
}

// Replace replaces an item with a value. If tag is not empty, the item must still have it; otherwise
// the error is of the kind [problem.PreconditionFailed]. The tag "*" only requires that the item
// exists. Without a tag the item is created if it is missing and the resource allows that.
func (r *Resource[E]) Replace(ctx context.Context, id, tag string, value *E) (*Item[E], error) {
	return r.write(ctx, &request{method: http.MethodPut, path: r.item(id), tag: tag}, id, value)
}

func (r *Resource[E]) write(ctx context.Context, req *request, id string, value *E) (*Item[E], error) {
	content, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("client: %s %s: %w", req.method, req.path, err)
	}
	req.content, req.write = content, true
	resp, err := r.client.send(ctx, req)
	if err != nil {
		return nil, err
	}
	if id == "" {
		at := resp.header.Get("Location")
		if id, err = url.PathUnescape(at[strings.LastIndexByte(at, '/')+1:]); err != nil {
			return nil, fmt.Errorf("client: %s: Location: %w", resp.target, err)
		}
	}
	if len(resp.content) == 0 { // 204
		return &Item[E]{Value: *value, ID: id, Tag: resp.header.Get("ETag")}, nil
	}
	return decodeItem[E](resp, id)
}

// Update changes an item. It reads the item, calls change with it, and sends the members that change
// has changed as a merge patch (RFC 7396), on the condition that the item is unchanged. If another
// client was faster, it starts again. So change may be called several times and must not have other
// effects. If change changes nothing, nothing is sent. Members with a null value are removed.
//
// With a key of [WithKey], an Update that an earlier call has made fails with
// [problem.KeyReused], unless it sends the same change.
func (r *Resource[E]) Update(ctx context.Context, id string, change func(*E) error) (*Item[E], error) {
	for attempt := 1; ; attempt++ {
		item, err := r.update(ctx, id, change)
		var d *problem.Details
		if !errors.As(err, &d) || d.Kind != problem.PreconditionFailed || attempt == r.client.opts.Attempts {
			return item, err
		}
		delay, _ := r.client.delay(attempt, &lost{err})
		if err := wait(ctx, delay); err != nil {
			return nil, fmt.Errorf("client: PATCH %s: %w", r.item(id), err)
		}
	}
}

func (r *Resource[E]) update(ctx context.Context, id string, change func(*E) error) (*Item[E], error) {
	item, err := r.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(&item.Value)
	if err != nil {
		return nil, fmt.Errorf("client: PATCH %s: %w", r.item(id), err)
	}
	if err := change(&item.Value); err != nil {
		return nil, err
	}
	after, err := json.Marshal(&item.Value)
	if err != nil {
		return nil, fmt.Errorf("client: PATCH %s: %w", r.item(id), err)
	}
	patch, changed, err := mergePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("client: PATCH %s: %w", r.item(id), err)
	}
	if !changed {
		return item, nil
	}
	return r.patch(ctx, item, patch)
}

// Patch changes members of an item by a merge patch (RFC 7396): the JSON of patch, such as a
// map[string]any, in which null removes a member. The tag is that of [Resource.Replace]. It is for a
// caller that holds the tag of the state which its user has seen; otherwise use Update.
func (r *Resource[E]) Patch(ctx context.Context, id, tag string, patch any) (*Item[E], error) {
	content, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("client: PATCH %s: %w", r.item(id), err)
	}
	return r.patch(ctx, &Item[E]{ID: id, Tag: tag}, content)
}

// patch sends a merge patch on the condition that an item has its tag.
func (r *Resource[E]) patch(ctx context.Context, item *Item[E], content []byte) (*Item[E], error) {
	resp, err := r.client.send(ctx, &request{method: http.MethodPatch, path: r.item(item.ID),
		media: mediaMerge, content: content, tag: item.Tag, write: true})
	if err != nil {
		return nil, err
	}
	if len(resp.content) == 0 {
		item.Tag = resp.header.Get("ETag")
		return item, nil
	}
	return decodeItem[E](resp, item.ID)
}

// Delete deletes an item. If tag is not empty, the item must still have it. An item that is already
// deleted is an error of the kind [problem.Gone] or [problem.NotFound].
func (r *Resource[E]) Delete(ctx context.Context, id, tag string) error {
	req := &request{method: http.MethodDelete, path: r.item(id), tag: tag, write: true}
	resp, err := r.client.send(ctx, req)
	if err != nil || len(resp.content) == 0 {
		return err
	}
	return resp.decode(new(json.RawMessage)) // the page of a proxy is no success
}
